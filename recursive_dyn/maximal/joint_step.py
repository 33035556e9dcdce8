"""What joints do to their bodies over a timestep, in machine code: ``joint_action`` of velocity constraints at speed.

Each kind of joint is one program for many of them at once, and ``block_ldlt`` solves for all of them. What it computes
is said by :class:`JointAction`, which goes on from where a joint has moved further than it is followed here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recursive_dyn.codegen import jit
from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.codegen.kernel import BatchCall, NotFinite
from recursive_dyn.errors import StateError
from recursive_dyn.integrators.integrator import joint_forces
from recursive_dyn.maximal.block_ldlt import JointEquations
from recursive_dyn.maximal.joint_action import EXPLICIT, IMPLICIT, JointAction
from recursive_dyn.maximal.joint_kinds import JointKind
from recursive_dyn.maximal.maximal_dynamics import PENALTY, MaximalDynamics
from recursive_dyn.maximal.row_functions import DRIFTING, ROWS, RowFunctions
from recursive_dyn.maximal.tree_ldlt import Blocks, Sixes

Array = np.ndarray

_CALLS = 4  # of a kind's program, each of some Gauss-Newton steps


@dataclass
class JointStep(JointAction):
    """Of one simulation's joints, with memory for one step."""

    _rows: _Rows | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Without the memory, which is made again where it is needed."""
        return vars(self) | {"_rows": None}

    def over_step(self, q: Array, v: Array, tau: Array, h: float) -> Array:
        rows = self._rows
        if rows is None:
            rows = self._rows = _Rows(self)
            return self._by_definition(rows, q, v, tau, h)
        d, n = self.dynamics, len(self.dynamics.joints)
        rows.poses[:n], rows.twists[:n] = q.reshape(n, 7), v.reshape(n, 6)
        _freed(rows.twists, d.free_accelerations(q, v, tau).reshape(n, 6), h, rows.free)
        if not rows.found(h):
            self.coordinates = rows.coordinates()
            return self._by_definition(rows, q, v, tau, h)
        self.coordinates = rows.coordinates()
        change = rows.equations.solve_once(d.inertias, rows.parent, rows.child, *rows.wanted(h, d.stabilization))
        forces = np.empty((n, 6))
        _forces(d.inertias, change, 1.0 / h, forces)
        return forces.reshape(-1)

    def _by_definition(self, rows: _Rows, q: Array, v: Array, tau: Array, h: float) -> Array:
        """The same as it is said, which finds joints wherever they are; rows go on from there."""
        result = super().over_step(q, v, tau, h)
        if self.coordinates is not None:
            rows.restart(self.coordinates)
        return result


@dataclass(frozen=True, eq=False)
class _Kind:
    """m equal joints, ``at`` these rows of the step's arrays; memory of what they are given, and of what is found."""

    kind: JointKind
    call: BatchCall
    at: slice
    parents: Array
    given: list[Array]
    found: list[Array]
    still: float


class _Rows:
    """All joints' rows, one kind after the other: memory, and what fills it.

    poses (n + 1, 7), twists, free (n + 1, 6): of the bodies, and of the world behind them; parent, child (n, 6, 6):
    coefficients.
    """

    def __init__(self, forces: JointAction) -> None:
        d = forces.dynamics
        kinds, n = d.joints.kinds, len(d.joints)
        order = np.concatenate([kind.numbers for kind in kinds]) if n else np.zeros(0, dtype=np.int64)
        self.poses, self.twists, self.free = np.zeros((n + 1, 7)), np.zeros((n + 1, 6)), np.zeros((n + 1, 6))
        self.poses[n, 6] = 1.0
        self.parent, self.child = np.empty((2, n, 6, 6))
        self._errors, self._rates, self._free_rates, self._drift = np.zeros((4, n, 6))
        self._order, self._hard = order, d.structural[order]
        self._own = _Passive.of(d, order)
        self._soft = self._own.any()
        used = np.where(self._soft.any(axis=1), 6, d.joints.counts[order])
        self.equations = JointEquations(n, d.joints.parents[order], order, used)
        self._joints, self._frames = d.joints, b"none yet"
        self._kinds, first = list[_Kind](), 0
        for kind in kinds:
            at = slice(first, first + len(kind.numbers))
            self._kinds.append(self._kind(kind, at, bool(self._soft[at].any())))
            first = at.stop

    def _kind(self, kind: JointKind, at: slice, drifts: bool) -> _Kind:
        m, joint = len(kind.numbers), kind.joint
        functions = RowFunctions(joint, [name for name, _ in self._joints.reduced.model.parameters])
        kernel = Evaluator(functions, kind.evaluator.parameters).kernel(DRIFTING if drifts else ROWS, jit.batch_width())
        given = [np.zeros((m, size)) for _, size in functions.inputs]
        own = [self.parent, self.child, self._errors, self._rates, self._free_rates]
        found = [a[at].reshape(m, -1) for a in own] + [np.empty((m, joint.nq)), np.empty((m, joint.nv))]
        return _Kind(
            kind, BatchCall(kernel), at, self._joints.parents[kind.numbers], given,
            [*found, self._drift[at]] if drifts else found, functions.still,
        )  # fmt: skip

    def restart(self, coordinates: Array) -> None:
        """Follow joints from these coordinates (nq,) on."""
        for own in self._kinds:
            own.given[0][:], own.given[1][:] = coordinates[own.kind.places] + own.kind.offsets, 0.0

    def coordinates(self) -> Array:
        """Those that the last step began with (nq,)."""
        q = np.zeros(self._joints.reduced.nq)
        for own in self._kinds:
            q[own.kind.places] = own.given[0] - own.kind.offsets
        return q

    def found(self, h: float) -> bool:
        """Fill the rows at the bodies' poses and twists, from where the last step of h led; False where a joint was
        not followed."""
        self._look_at_frames()
        values = self._joints.reduced.parameters.values_array.reshape(1, -1)
        try:
            for own in self._kinds:
                k, parents, given = own.kind.numbers, own.parents, own.given
                run = slice(k[0], k[0] + len(k)) if k[-1] - k[0] == len(k) - 1 else None
                for place, values_of in ((2, self.poses), (4, self.twists), (6, self.free)):
                    np.take(values_of, parents, axis=0, out=given[place], mode="wrap")
                    if run is None:
                        np.take(values_of, k, axis=0, out=given[place + 1])
                    else:
                        given[place + 1] = values_of[run]
                if not self._followed(own, values):
                    return False
        except NotFinite:
            return False
        for own in self._kinds:
            own.given[0][:] = own.found[5]
            np.multiply(self._rates[own.at, 6 - own.kind.joint.nv :], h, out=own.given[1])
        return True

    def _followed(self, own: _Kind, values: Array) -> bool:
        """Fill the rows of a kind; whether its joints were followed to where they are."""
        for _ in range(_CALLS):
            own.call([*own.given, values], len(own.kind.numbers), into=own.found)
            if np.abs(own.found[6]).max(initial=0.0) < own.still:
                return True
            own.given[0][:], own.given[1][:] = own.found[5], 0.0
        return False

    def _look_at_frames(self) -> None:
        """Frames at the present values of the parameters."""
        values = self._joints.reduced.parameters.values_array.tobytes()
        if self._frames != values:
            in_parents, in_children = self._joints.frames()
            for own in self._kinds:
                k, m = own.kind.numbers, len(own.kind.numbers)
                own.given[8][:] = in_parents[k, :3].reshape(m, 12)
                own.given[9][:] = in_children[k, :3].reshape(m, 12)
            self._frames = values

    def wanted(self, h: float, stabilization: float) -> tuple[Array | float, Array]:
        """(compliance, what the rows' rates are to change by (n, 6)) in a step of h."""
        c = np.multiply(self._errors, -stabilization / h)
        if not self._soft.any():
            return 0.0, np.subtract(c, self._free_rates, out=c)
        own, stretch = self._own, np.zeros_like(c)
        for each in self._kinds:
            nv = each.kind.joint.nv
            if nv == each.kind.joint.nq:
                stretch[each.at, 6 - nv :] = each.found[5] - each.kind.offsets
        w = own.rotor + h * own.damping + h * h * own.stiffness
        push = own.rotor * self._rates - h * own.stiffness * (stretch - own.rest)
        soft = w > 0.0
        e = np.where(self._hard, 0.0, np.divide(1.0, w, out=np.full_like(w, np.inf), where=soft))
        c += np.divide(push, w, out=np.zeros_like(w), where=soft) + h * self._drift - self._free_rates
        c[~self._hard & ~soft] = 0.0
        return e, c


@dataclass(frozen=True, eq=False)
class _Passive:
    """Rotors, dampers, springs and where these rest (n, 6), in the rows of joints' coordinates."""

    rotor: Array
    damping: Array
    stiffness: Array
    rest: Array

    @classmethod
    def of(cls, dynamics: MaximalDynamics, order: Array) -> _Passive:
        """Of joints in an order."""
        own = joint_forces(dynamics.reduced.model)
        rotor = np.array([c.armature for c in dynamics.reduced.model.coordinates], dtype=float)
        return cls(*(dynamics._in_rows(x)[order] for x in (rotor, own.damping, own.stiffness, own.rest)))

    def any(self) -> Array:
        """(n, 6): whether a row has a rotor, damper or spring."""
        return (self.rotor > 0.0) | (self.damping > 0.0) | (self.stiffness > 0.0)


def joint_action_of(dynamics: MaximalDynamics, integrator: str) -> JointAction:
    """Of a new simulation; StateError for an integrator that has no such form."""
    penalty = dynamics.method == PENALTY
    known = (EXPLICIT, IMPLICIT) if penalty else (EXPLICIT,)
    if integrator not in known:
        raise StateError(
            f"method '{dynamics.method}' is stepped by {' or '.join(map(repr, known))}, not by {integrator!r}; choose"
            f" {'one of these' if penalty else 'it'}, or compile with method='recursive' for others"
        )
    kind = JointAction if penalty or dynamics.joints.loops else JointStep
    return kind(dynamics, integrator == IMPLICIT)


@compiled
def _freed(V: Sixes, a: Sixes, h: float, free: Sixes) -> None:
    """free <- V + h (a + [0; omega x v]), in the axes of the step's start, of all but the last."""
    for i in range(len(a)):
        w, v, x, b = V[i], V[i, 3:], free[i], a[i]
        for k in range(3):
            x[k] = w[k] + h * b[k]
        x[3] = v[0] + h * (b[3] + w[1] * v[2] - w[2] * v[1])
        x[4] = v[1] + h * (b[4] + w[2] * v[0] - w[0] * v[2])
        x[5] = v[2] + h * (b[5] + w[0] * v[1] - w[1] * v[0])


@compiled
def _forces(M: Blocks, x: Sixes, scale: float, f: Sixes) -> None:
    """f <- scale M x."""
    for i in range(len(x)):
        for k in range(6):
            total = 0.0
            for m in range(6):
                total += M[i, k, m] * x[i, m]
            f[i, k] = scale * total

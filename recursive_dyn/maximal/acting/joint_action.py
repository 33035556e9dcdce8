"""What joints do to their bodies over a timestep: springs of no length, or impulses that meet a target velocity.

A timestep changes twists by h M^-1 (f + A^T lambda) and then moves bodies with the new ones; in the axes in which it
began these are

    x = v + h (a + [0; omega x v]) + M^-1 A^T Lambda,   Lambda = h lambda

with a what the bodies would do without joints. Rows ask of it, stiffness K, damper D,

    velocity constraints:   C-dot = half of what it would be if the bodies coasted from v
    implicit penalty:       A x + (h^2 K + h D)^-1 Lambda = -(h^2 K + h D)^-1 h K C
    explicit penalty:       lambda = -K C - D A v
    a coordinate's rotor, damper and spring, m, d, k:   q-dot + Lambda / w = (m q-dot_0 - h k (q - rest)) / w

of which q-dot is that at the step's end, S^+ of x less h times its bias, and w = m + h d + h^2 k: an implicit spring is
a constraint with a compliance, and one solve serves them all.

Velocity constraints are then brought to C = (1 - stabilization) C by the least displacement of the bodies, by their
masses (``joint_landing``). Half, so that velocities have nothing across the joints in the middle of a step, as bodies
move with them from its start to its end: none at its end would have what whirls gain energy, h^2 omega^2 of it a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from recursive_dyn.maximal.acting.coasting import coasting
from recursive_dyn.maximal.acting.joint_landing import displaced
from recursive_dyn.maximal.acting.momenta_kept import keep_momenta
from recursive_dyn.maximal.acting.passive_rows import coordinate_rows, passive_rows
from recursive_dyn.maximal.acting.step_system import AHEAD
from recursive_dyn.maximal.acting.whirl import asked_by_turning, asked_by_working
from recursive_dyn.maximal.holding import PENALTY
from recursive_dyn.maximal.joint_rows.held_joints import CoordinateDrives, HeldJoints, bounded, driven, joined, turned
from recursive_dyn.maximal.joint_rows.joint_rows import JointRows
from recursive_dyn.maximal.joint_rows.joint_solve import solved
from recursive_dyn.maximal.joint_rows.light_bodies import falling, solved_with_light
from recursive_dyn.maximal.joint_rows.row_system import RowSystem
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.poses import applied, by_body, flat

Array = np.ndarray
Drives = Callable[[Array], CoordinateDrives | None]  # of joint coordinates

EXPLICIT, IMPLICIT = "semi_implicit_euler", "implicit_euler"

MET, SMALL = 1e-6, 1e-3  # m or rad: joints that are met; displacements that need no second one
DISPLACEMENTS = 4  # after a step at most


@dataclass
class JointAction:
    """Of one simulation's joints; ``coordinates`` (jointed.nq,): where they were found last, not finite if nowhere;
    asked: by the last step, as ``whirl`` has it; whole: the timestep, s, of which steps are parts, for the stiffness
    of springs that nobody gave, 0 where they are whole."""

    dynamics: MaximalDynamics
    implicit: bool
    coordinates: Array = field(init=False)
    asked: tuple[int, int] = field(default=(1, -1), init=False)
    whole: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.coordinates = np.full(self.dynamics.jointed.nq, np.nan)

    @property
    def near(self) -> Array | None:
        """Where to look for joints first, None for anywhere."""
        return self.coordinates if np.isfinite(self.coordinates).all() else None

    def warm_up(self) -> None:
        """Compile, or load, what steps need."""

    @property
    def bounded(self) -> bool:
        """Whether any coordinate of a joint has limits or dry friction."""
        return self.dynamics.jointed.model.bounded

    def over_step(self, q: Array, v: Array, tau: Array, h: float) -> Array:
        """Generalized forces (6 n,) of the joints on the bodies over a step of h from q, v under forces tau."""
        d = self.dynamics
        rows = d.joint_rows(q, v, self.near)
        self.coordinates[:] = rows.q
        twists, inertias = by_body(v, 6), d.inertias
        explicit = by_body(d.element_forces(rows, q, v), 6)
        if d.method == PENALTY and not self.implicit:
            explicit += rows.forces(d.joints, d.spring_forces(rows, twists, self.whole or h) + passive_rows(d, rows))
        a = by_body(d.free_accelerations(q, v, tau + flat(explicit, len(tau))), 6)
        turned = np.zeros_like(twists)  # what twists in the axes of the step's start have more than their components
        turned[:, 3:] = np.cross(twists[:, :3], twists[:, 3:])
        passing = h * (rows.bias + rows.rates(d.joints, turned))
        straight = np.empty_like(twists)
        coasting(inertias, twists, straight)
        opening = h * rows.rates(d.joints, straight) - passing
        system = self._system(rows, passing, h, passing + AHEAD * opening)
        self.asked = asked_by_turning(d, rows, h, opening, q, twists)
        if np.isinf(system.softness).all():
            return flat(explicit, len(tau))
        free, before = twists + h * (a + turned), twists + h * falling(d, q)
        given = system.rows, inertias, free, system.softness, system.wanted
        x = solved_with_light(d.light, d.joints, *given, before)
        if d.method != PENALTY and self.asked[0] == 1:
            self.asked = asked_by_working(d, system, twists, (x, x - free, h * straight))
        return flat(explicit + applied(inertias, x - free) / h, len(tau))

    @property
    def lands(self) -> bool:
        """Whether bodies are brought onto joints after a step."""
        return self.dynamics.method != PENALTY and self.dynamics.stabilization > 0.0

    def landed(self, q: Array, v: Array) -> tuple[Array, Array]:
        """State (7 n,), (6 n,) of the bodies brought onto their joints, of one that a step led to."""
        d, share = self.dynamics, self.dynamics.stabilization
        for _ in range(DISPLACEMENTS):
            rows = d.joint_rows(q, v, self.near)
            self.coordinates[:] = rows.q
            if not (np.abs(rows.errors) > MET).any():
                break
            softness = np.where(d.structural, 0.0, np.inf)
            x, _ = solved(d.joints, rows, d.inertias, np.zeros((d.joints.links, 6)), softness, -share * rows.errors)
            q, v = q.copy(), v.copy()
            displaced(d.inertias, d.joints.assemblies, d.joints.roots, q, v, x)
            if share < 1.0 or np.abs(x).max() < SMALL:
                break
        return q, v

    def keep_momenta(self, q: Array, v: Array, moved: Array, after: Array) -> None:
        """Change twists ``after`` (6 n,) of bodies that were ``moved`` (7 n,) from q, v so that momenta stay."""
        keep_momenta(
            self.dynamics.inertias, self.dynamics.joints.assemblies, self.dynamics.joints.roots, q, v, moved, after
        )

    def allowed(self, q: Array, v: Array, ahead: float = 0.0) -> Array:
        """The velocities (6 n,) nearest to v, by the masses, that had nothing across the joints a time ``ahead`` before
        bodies came to q."""
        d, twists = self.dynamics, by_body(v, 6)
        rows = d.joint_rows(q, v, self.near)
        straight, turned = np.empty_like(twists), np.zeros_like(twists)
        coasting(d.inertias, twists, straight)
        turned[:, 3:] = np.cross(twists[:, :3], twists[:, 3:])
        opening = ahead * (rows.rates(d.joints, straight - turned) - rows.bias)
        softness = np.where(d.structural, 0.0, np.inf)
        return flat(solved(d.joints, rows, d.inertias, twists, softness, opening)[0], len(v))

    def held(
        self, q: Array, v: Array, h: float, links: Array, drives: Drives | None = None
    ) -> tuple[HeldJoints, Array]:
        """Rows of joints, their limits and ``drives`` for the solve of the impulses of a step that flew to q, v, and
        what v (nv,) has that joints do not allow; links: that contacts touch; drives: what they are where joints
        are found.

        A step's velocities lie half a step before its positions, where they are across the joints by the half that
        these opened by since. No contact is to answer that, least of all one that the joints keep from moving: rows are
        of the nearest velocities that joints allow, by the masses, and the others stay what they are.
        """
        d = self.dynamics
        rows = d.joint_rows(q, v, self.near)
        self.coordinates[:] = rows.q
        system, twists = self._system(rows, np.zeros_like(rows.errors), h), by_body(v, 6)
        rates = system.rows.rates(d.joints, twists)
        wanted = np.where(system.softness == 0.0, -rows.offsets, rates)
        allowed, _ = solved(d.joints, system.rows, d.inertias, twists, system.softness, wanted)
        own = None if drives is None else drives(rows.q)
        return self._held_of(system, allowed, h, links, own), flat(twists - allowed, len(v))

    def _held_of(
        self, system: RowSystem, twists: Array, h: float, links: Array, drives: CoordinateDrives | None
    ) -> HeldJoints:
        """The rows, of a system that is known, at twists (n, 6) of the bodies."""
        d = self.dynamics
        parts = [bounded(d.joints, system, twists, h), turned(d.joints, system, h)]
        if drives is not None:
            parts.insert(1, driven(d.joints, system, twists, drives))
        stops = HeldJoints.together(parts)
        touched = np.zeros(d.joints.links, dtype=bool)
        touched[links] = touched[stops.slots[:, 0] // 6] = True
        if not touched.any():
            return stops
        return HeldJoints.together([joined(d.joints, system, twists, touched), stops])

    def _system(self, rows: JointRows, passing: Array, h: float, kept: Array | None = None) -> RowSystem:
        """The rows that are solved for; passing (n, 6): what their rates at the step's end lack to be those of the
        coordinates, whose rotors resist accelerations and not rates; kept (n, 6): the rates that others are to have."""
        d = self.dynamics
        softness, wanted = coordinate_rows(d, rows, h, everything=d.method != PENALTY or self.implicit)
        wanted = wanted + passing
        told = d.structural & d.joints.told[:, None]
        hard = told if d.method == PENALTY else d.structural
        keeping = (0.0 if kept is None else kept) - rows.offsets
        if d.method == PENALTY and kept is not None:  # nothing else brings it back
            keeping = keeping - rows.errors / h
        softness, wanted = np.where(hard, 0.0, softness), np.where(hard, keeping, wanted - rows.offsets)
        if d.method != PENALTY or not self.implicit:
            return RowSystem(rows, softness, wanted)
        return self._springs(rows, softness, wanted, h, d.structural & ~told)

    def _springs(self, rows: JointRows, softness: Array, wanted: Array, h: float, soft: Array) -> RowSystem:
        """Those that are ``soft`` (N, 6) scaled by L^T with L L^T = h^2 K + h D, so that each has the compliance 1."""
        d = self.dynamics
        K, D = d.springs(rows, self.whole or h, implicit=True)
        L = np.linalg.cholesky(h * h * K + h * D + np.eye(6) * ~soft[:, :, None])
        T = np.swapaxes(L, -1, -2)
        target = applied(np.linalg.solve(L, h * K), rows.errors)
        scaled = rows.scaled(d.joints, T)
        wanted = np.where(soft, -target - applied(T, rows.offsets), wanted)
        return RowSystem(scaled, np.where(soft, 1.0, softness), wanted)

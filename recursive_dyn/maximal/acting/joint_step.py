"""What joints do to their bodies over a timestep, in machine code: what ``joint_action`` says, at speed.

Each kind of joint is one program for many of them at once, and ``block_ldlt`` solves for all of them. What it computes
is said by :class:`JointAction`, which finds joints that have moved further than they are followed here, and says what
is wrong where there is no result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, all_finite, evaluated, program_call
from recursive_dyn.errors import StateError
from recursive_dyn.maximal.acting.allowed_twists import allowed
from recursive_dyn.maximal.acting.coasting import coasting
from recursive_dyn.maximal.acting.held_arrays import HeldMemory, held_rows
from recursive_dyn.maximal.acting.joint_action import DISPLACEMENTS, EXPLICIT, IMPLICIT, MET, SMALL, Drives, JointAction
from recursive_dyn.maximal.acting.joint_landing import displaced
from recursive_dyn.maximal.acting.step_rows import StepRows
from recursive_dyn.maximal.acting.step_system import SPRUNG, SystemArrays, assemble, errors_taken, lacking_from, pulled
from recursive_dyn.maximal.holding import PENALTY
from recursive_dyn.maximal.joint_rows.held_joints import HeldJoints
from recursive_dyn.maximal.joint_rows.joint_elements import ElementCall, pushed
from recursive_dyn.maximal.joint_rows.light_bodies import LightBodies, light_bodies, lightened
from recursive_dyn.maximal.kinds.row_arrays import KindCalls, LoopCall, RowArrays, placed, rows_at
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.poses import flat
from recursive_dyn.maximal.sparse.block_ldlt import SparseEquations, solve_in_lanes, solve_once
from recursive_dyn.maximal.sparse.lanes import LaneBlocks
from recursive_dyn.maximal.sparse.tree_ldlt import Blocks, Sixes

Array = np.ndarray

FOUND, AWAY, LOST = range(3)  # what joints said: one is not where it was expected, or no number is finite


class BodyArrays(NamedTuple):
    """Of n bodies. q, v, tau, pushes, parameters: state, forces on them, those of elements of joints' coordinates, the
    scene's parameters; settings (2,): h, the share of
    C that is taken back; inertias, inverses (n, 6, 6); free (n + 1, 6): twists as if there were no joints, straight
    (n + 1, 6): rates of twists that nothing acts on, change (n, 6): of twists, forces (n + 1, 6): what joints do;
    elements, accelerations: programs of force elements and of free bodies."""

    q: Floats
    v: Floats
    tau: Floats
    pushes: Floats
    parameters: Floats
    settings: Floats
    inertias: Blocks
    inverses: Blocks
    free: Sixes
    straight: Sixes
    change: Sixes
    forces: Sixes
    elements: ProgramCall
    accelerations: ProgramCall


@dataclass
class JointStep(JointAction):
    """Of one simulation's joints, with memory for one step."""

    _memory: _Memory | None = field(default=None, init=False, repr=False)

    def __getstate__(self) -> dict[str, object]:
        """Without the memory, which is made again where it is needed."""
        return vars(self) | {"_memory": None}

    def over_step(self, q: Array, v: Array, tau: Array, h: float) -> Array:
        memory = self._at(q, v, h)
        memory.bodies.tau[:] = tau
        if self._called(memory, memory.over_step) != FOUND:
            return super().over_step(q, v, tau, h)
        return flat(memory.bodies.forces[:-1], len(tau))

    def held(
        self, q: Array, v: Array, h: float, links: Array, drives: Drives | None = None
    ) -> tuple[HeldJoints, Array]:
        memory = self._at(q, v, h)
        if self._called(memory, memory.at_rows) != FOUND:
            return super().held(q, v, h, links, drives)
        memory.held.write(links, None if drives is None else drives(self.coordinates))
        memory.bodies.change[:] = 0.0
        if (len(links) or drives is not None or self.bounded) and not memory.allowed():
            return super().held(q, v, h, links, drives)
        return memory.held.rows(*memory.held_rows()), flat(-memory.bodies.change, len(v))

    def landed(self, q: Array, v: Array) -> tuple[Array, Array]:
        memory = self._at(q, v, None)
        if self._called(memory, memory.landing) != FOUND:
            return super().landed(q, v)
        return memory.bodies.q.copy(), memory.bodies.v.copy()

    def warm_up(self) -> None:
        self._remembered()
        d = self.dynamics
        d.joint_rows(d.neutral(), None, d.start)  # code by which joints are looked for at first

    def _remembered(self) -> _Memory:
        if self._memory is None:
            self._memory = _Memory(self.dynamics, self.implicit)
        return self._memory

    def _at(self, q: Array, v: Array, h: float | None) -> _Memory:
        """Memory with this state of the bodies, for a step of h, None where one is over."""
        memory = self._remembered()
        bodies = memory.bodies
        if h is not None:
            bodies.settings[:] = h, self.dynamics.stabilization
        memory.rows.prepare(bodies.settings[0])
        bodies.q[:], bodies.v[:] = q, v
        memory.parametrize()
        return memory

    def _called(self, memory: _Memory, function: Bound) -> int:
        """What it says; where joints are away they are looked for once, as :class:`JointAction` finds them."""
        rows, near, said = memory.rows, self.near, AWAY
        if near is not None:
            rows.restart(near)
            said = function()
        if said == AWAY:
            rows.restart(self.dynamics.joint_rows(memory.bodies.q, memory.bodies.v, near).q)
            said = function()
        if said == FOUND:
            self.coordinates[:] = rows.coordinates()
        return int(said)


class _Memory:
    """Of one simulation: rows, bodies, and machine code bound to them."""

    def __init__(self, dynamics: MaximalDynamics, implicit: bool) -> None:
        self.dynamics, self.rows = dynamics, StepRows(dynamics, implicit)
        n, rows = dynamics.joints.links, self.rows
        inertias, inverses = np.zeros((2, n, 6, 6))
        free, straight, forces = np.zeros((3, n + 1, 6))
        elements = program_call(dynamics, "passive_forces") if dynamics.model.forces else NO_PROGRAM
        self.bodies = BodyArrays(
            np.zeros(dynamics.nq), np.zeros(dynamics.nv), np.zeros(dynamics.nv), np.zeros(dynamics.nv),
            dynamics.parameters.values_array.copy(),
            np.zeros(2), inertias, inverses, free, straight, np.zeros((n, 6)), forces, elements,
            program_call(dynamics, "forward_dynamics"),
        )  # fmt: skip
        self.acting = dynamics.elements.arrays(rows)
        given = rows.kinds, rows.loops, rows.arrays, rows.system, self.bodies
        self.at_rows = rows_of_state.bind(*given)
        self.allowed = allowed.bind(rows.arrays, rows.system, inertias, self.bodies.change, rows.solving, rows.blocks)
        self.light = light_bodies(dynamics.tree, len(dynamics.joints))
        self.over_step = over_step.bind(
            *given, rows.solving, rows.blocks, self.acting, self.light, arena=self.at_rows.arena
        )
        assemblies = dynamics.joints.assemblies
        self.landing = landing.bind(*given, rows.solving, rows.blocks, assemblies, arena=self.at_rows.arena)
        self._inertias: Array | None = None
        self.held = HeldMemory(rows, dynamics.joints)
        tables = self.held.bounds, self.held.drives, self.bodies.settings, self.bodies.parameters, self.held.room
        self.held_rows = held_rows.bind(rows.arrays, rows.system, *tables, arena=self.at_rows.arena)

    def parametrize(self) -> None:
        """Parameters and inertias as they are now."""
        self.bodies.parameters[:] = self.dynamics.parameters.values_array
        if len(self.light.links):
            self.light.gravity[:] = self.dynamics.model.gravity_at(self.bodies.parameters)
        inertias = self.dynamics.inertias
        if inertias is not self._inertias:
            self.dynamics.elements.parametrize(self.acting, self.dynamics)
            self.bodies.inertias[:], self._inertias = inertias, inertias
            if self.dynamics.method == PENALTY:  # whose explicit springs push bodies
                self.bodies.inverses[:] = np.linalg.inv(inertias)


@compiled
def rows_of_state(kinds: KindCalls, loops: LoopCall, it: RowArrays, s: SystemArrays, on: BodyArrays) -> int:
    """Rows at the state, as impulses meet them."""
    placed(it, on.q, on.v)
    if not rows_at(kinds, loops, it, on.parameters):
        return AWAY
    assemble(it, s, on.settings[0], on.straight, 0.0)
    return FOUND


@compiled
def over_step(
    kinds: KindCalls, loops: LoopCall, it: RowArrays, s: SystemArrays, on: BodyArrays, solving: SparseEquations,
    blocks: LaneBlocks, acting: ElementCall, light: LightBodies,
) -> int:  # fmt: skip
    """Forces of the joints over a step from the state."""
    h, n = on.settings[0], len(on.change)
    placed(it, on.q, on.v)
    if not rows_at(kinds, loops, it, on.parameters):
        return AWAY
    if on.elements.address:
        if not evaluated(on.elements, on.q, on.v, on.q[:0], on.parameters):
            return LOST
        for k in range(len(on.tau)):
            on.tau[k] += on.elements.outputs[k]
    on.pushes[:] = 0.0
    if not pushed(acting, it, on.pushes, on.parameters):
        return LOST
    for k in range(len(on.tau)):
        on.tau[k] += on.pushes[k]
    if not evaluated(on.accelerations, on.q, on.v, on.tau, on.parameters):
        return LOST
    on.forces[:] = 0.0
    if s.method[0] == SPRUNG:
        pulled(it, s, on.forces)
    for i in range(n):
        _free(on, i, h, s.method[0] == SPRUNG)
    coasting(on.inertias, it.twists, on.straight)
    assemble(it, s, h, on.straight, h)
    if lacking_from(it, s, on.free):
        on.change[:] = 0.0
        if len(light.links) > 0:
            light.given[:] = s.c
            if solve_once(solving, on.inertias, on.change, s.c) >= 0:
                return LOST
            lightened(light, h, on.q, on.v, on.free, solving, on.change, s.c)
        elif solve_in_lanes(solving, blocks, on.inertias, on.change, s.c) >= 0:
            return LOST
        for i in range(n):
            _push(on, i, 1.0 / h)
    for i in range(n):
        for k in range(6):
            on.forces[i, k] += on.pushes[6 * i + k]
        if not all_finite(on.forces[i]):
            return LOST
    return FOUND


@compiled
def landing(
    kinds: KindCalls, loops: LoopCall, it: RowArrays, s: SystemArrays, on: BodyArrays, solving: SparseEquations,
    blocks: LaneBlocks, assemblies: Integers,
) -> int:  # fmt: skip
    """Bring the state onto its joints."""
    share = on.settings[1]
    for _ in range(DISPLACEMENTS):
        placed(it, on.q, on.v)
        if not rows_at(kinds, loops, it, on.parameters):
            return AWAY
        if errors_taken(it, s, share) <= MET:
            return FOUND
        on.change[:] = 0.0
        if solve_in_lanes(solving, blocks, on.inertias, on.change, s.c) >= 0:
            return LOST
        most = 0.0
        for i in range(len(on.change)):
            if not all_finite(on.change[i]):
                return LOST
            for k in range(6):
                most = max(most, abs(on.change[i, k]))
        displaced(on.inertias, assemblies, on.q, on.v, on.change)
        if share < 1.0 or most < SMALL:
            return FOUND
    return FOUND


@compiled
def _free(on: BodyArrays, i: int, h: float, pushed: bool) -> None:
    """free <- v + h (a + [0; omega x v]), in the axes of the step's start, with the forces there are, if any."""
    x, a, f = on.v[6 * i : 6 * i + 6], on.accelerations.outputs[6 * i : 6 * i + 6], on.forces[i]
    to, M = on.free[i], on.inverses[i]
    for k in range(6):
        more = 0.0
        for m in range(6 if pushed else 0):
            more += M[k, m] * f[m]
        to[k] = x[k] + h * (a[k] + more)
    to[3] += h * (x[1] * x[5] - x[2] * x[4])
    to[4] += h * (x[2] * x[3] - x[0] * x[5])
    to[5] += h * (x[0] * x[4] - x[1] * x[3])


@compiled
def _push(on: BodyArrays, i: int, scale: float) -> None:
    """Add the force that makes a body's change of its twist."""
    x, M = on.change[i], on.inertias[i]
    for k in range(6):
        total = 0.0
        for m in range(6):
            total += M[k, m] * x[m]
        on.forces[i, k] += scale * total


def joint_action_of(dynamics: MaximalDynamics, integrator: str) -> JointAction:
    """Of a new simulation; StateError for an integrator that has no such form."""
    penalty = dynamics.method == PENALTY
    known = (EXPLICIT, IMPLICIT) if penalty else (EXPLICIT,)
    if integrator not in known:
        raise StateError(
            f"method '{dynamics.method}' is stepped by {' or '.join(map(repr, known))}, not by {integrator!r}; choose"
            f" {'one of these' if penalty else 'it'}, or compile with method='recursive' for others"
        )
    return JointStep(dynamics, integrator == IMPLICIT)

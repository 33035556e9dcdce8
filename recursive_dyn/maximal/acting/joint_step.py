"""What joints do to their bodies over a timestep, in machine code: what ``joint_action`` says, at speed.

Each kind of joint is one program for many of them at once, and ``block_ldlt`` solves for all of them. What it computes
is said by :class:`JointAction`, which finds joints that have moved further than they are followed here, and says what
is wrong where there is no result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, program_call
from recursive_dyn.errors import StateError
from recursive_dyn.maximal.acting.allowed_twists import allowed
from recursive_dyn.maximal.acting.held_arrays import HeldMemory, held_rows
from recursive_dyn.maximal.acting.joint_action import EXPLICIT, IMPLICIT, Drives, JointAction
from recursive_dyn.maximal.acting.step_parts import LARGE, step_of
from recursive_dyn.maximal.acting.step_phases import AWAY, FOUND, BodyArrays, Part, landing, rows_of_state
from recursive_dyn.maximal.acting.step_rows import StepRows
from recursive_dyn.maximal.acting.whirl import watched
from recursive_dyn.maximal.acting.whirl_measured import Whirl, asking
from recursive_dyn.maximal.holding import PENALTY
from recursive_dyn.maximal.joint_rows.held_joints import HeldJoints
from recursive_dyn.maximal.joint_rows.light_bodies import light_bodies
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.poses import flat

Array = np.ndarray


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
        self.asked = memory.asked
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
        memory.rows.prepare(bodies.settings[0], self.whole or bodies.settings[0])
        bodies.q[:], bodies.v[:] = q, v
        memory.parametrize()
        return memory

    def _called(self, memory: _Memory, function: Callable[[], int]) -> int:
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
        self.at_rows = rows_of_state.bind(rows.kinds, rows.loops, rows.arrays, rows.system, self.bodies)
        self.light = light_bodies(dynamics.tree, len(dynamics.joints))
        together = dynamics.joints.assemblies, dynamics.joints.roots
        rests = np.array([watched(dynamics)], dtype=np.int64)
        self.whirl = Whirl(np.array([1, -1]), rests, dynamics.joints.roots, np.zeros(n), np.zeros(n))
        self.over_step: Callable[[], int]
        self.landing: Callable[[], int]
        if n < LARGE or len(self.light.links):
            part = Part(rows.kinds, np.array([0, len(rows.order)]), np.array([0, n]), rows.blocks)
            given = part, rows.loops, rows.arrays, rows.system, self.bodies, rows.solving
            self.over_step = asking.bind(*given, self.acting, self.light, self.whirl, arena=self.at_rows.arena)
            self.landing = landing.bind(*given, *together, arena=self.at_rows.arena)
        else:
            parts = step_of(rows, self.bodies, self.acting, self.whirl, dynamics.joints.assemblies)
            self.over_step, self.landing = parts.over_step, parts.landing
        self._inertias: Array | None = None
        self.held = HeldMemory(rows, dynamics.joints)
        tables = self.held.bounds, self.held.drives, self.bodies.settings, self.bodies.parameters, self.held.room
        self.held_rows = held_rows.bind(rows.arrays, rows.system, *tables, arena=self.at_rows.arena)

    @property
    def asked(self) -> tuple[int, int]:
        """By the last step."""
        parts, link = self.whirl.asked.tolist()
        return parts, link

    @cached_property
    def allowed(self) -> Bound:
        """Twists that joints allow."""
        rows, on = self.rows, self.bodies
        return allowed.bind(rows.arrays, rows.system, on.inertias, on.change, rows.solving, rows.blocks)

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

"""A linear model of the next timestep as it is taken, with what touches, binds and drives: by centred differences.

    A e_i = (x'(x + eps e_i) - x'(x - eps e_i)) / (2 eps),    x' = [difference(q'(x), q'), v']

and B alike; where nothing pushes, it is the derivative of the integrator's rule (``dynamics.derivatives``). Steps are
taken from the same memory of the last one, contacts found anew, and solved to ``_TOLERANCE``. (As MuJoCo's
mjd_transitionFD; Todorov, Erez & Tassa 2012.)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.flying.applied_forces import Acted, AppliedForce, acting
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.joint_laws.actuation import MotorArrays
from recursive_dyn.simulation.results.sensors import Sensors
from recursive_dyn.simulation.state import State, real
from recursive_dyn.simulation.stepping.timesteps import Timesteps
from recursive_dyn.simulation.surroundings import Surrounded
from recursive_dyn.spatial.rotations import quaternion_exp, quaternion_product

Array = np.ndarray
EPSILON = 1e-6  # rad, m, rad/s, m/s: a thousandth of what moves a contact in a step; its square and rounding are less
TAU, MOTORS = "tau", "motors"  # what inputs may be
_TOLERANCE = 1e-13  # m/s, of solves: what they leave is divided by 2 eps
_ROUGH = 1e-2  # of that, beyond which a person is told


class _TakenBack(Exception):
    """A step is taken back."""


class StepDifferences:
    """Steps of a simulation from states near its own, each taken back: nothing is changed when all is done.

    tau (nv,), forces: on coordinates and on bodies, as the step that comes next has them; h: its length.
    """

    def __init__(
        self, simulation: Surrounded, dynamics: Dynamics, timesteps: Timesteps, state: State, integrator: str,
        h: float, tau: Array, forces: Sequence[AppliedForce], sensors: Sensors | None,
    ) -> None:  # fmt: skip
        self._simulation, self._dynamics, self._timesteps, self._state = simulation, dynamics, timesteps, state
        self._integrator, self._h, self._sensors = integrator, h, sensors
        self._q, self._v, self._time, self._tau = state.q.copy(), state.v.copy(), state.time, tau
        self._acting, self._forces = tau.copy(), tuple(forces)
        self._left = 0.0  # the largest residual of a solve, m/s

    def model(self, epsilon: float, inputs: str, sensors: bool) -> tuple[Array, ...]:
        """A (2 nv, 2 nv), B (2 nv, k), and of sensors' readings C (n, 2 nv), D (n, k) if asked for."""
        if not 0.0 < real(epsilon) < np.inf:
            raise StateError(f"linearize takes differences over an epsilon above 0, not {epsilon!r}")
        if inputs not in (TAU, MOTORS):
            raise StateError(f"the inputs of linearize are '{TAU}' or '{MOTORS}', not {inputs!r}")
        if sensors and not self._sensors:
            raise StateError("linearize has no sensors to read; add some to simulation.sensors, or leave them out")
        if not sensors:
            self._sensors = None
        with self._aside():
            nq, n = self._dynamics.nq, self._dynamics.nv
            self._end, rest = np.split(self._step(), [nq])
            if inputs == TAU and not sensors and self._alone():
                return self._rule()
            columns = [self._difference(*move) for move in self._moves(epsilon, inputs)]
        if self._left > _ROUGH * 2.0 * epsilon:
            warnings.warn(
                f"linearize: solves of contacts ended {self._left:.1g} m/s from convergence, which over an epsilon of"
                f" {epsilon:g} may be {self._left / (2.0 * epsilon):.1g} in some entries; take a larger epsilon, or"
                " more contact.iterations",
                stacklevel=3,
            )
        whole = np.array(columns).reshape(len(columns), n + len(rest)).T
        parts = np.split(whole, [2 * n], axis=0)[: 2 if sensors else 1]
        return tuple(block for rows in parts for block in np.split(rows, [2 * n], axis=1))

    def _alone(self) -> bool:
        """Whether the step just taken was a whole one of the rule, and only tau and the joints' forces acted."""
        timesteps = self._timesteps
        kept, touching = timesteps.memory.arrays, timesteps.memory.contacts
        pushed = touching.table.impulses[: touching.count].any() or kept.rows.any()
        cut = kept.parts[0] > 1 or timesteps.flight.parts > 1
        return not (pushed or timesteps.motors or self._forces or cut)

    def _rule(self) -> tuple[Array, ...]:
        """Its derivatives."""
        return self._dynamics.linearize(self._q, self._v, self._tau, self._h, self._integrator)

    def _moves(self, epsilon: float, inputs: str) -> Iterator[tuple[str, int, float]]:
        """What is moved, which number of it, and how far; forces as far as it takes to move v."""
        nv = self._dynamics.nv
        yield from ((name, k, epsilon) for name in ("q", "v") for k in range(nv))
        if inputs == TAU:
            masses = np.diag(self._dynamics.mass_matrix(self._q))
            yield from ((TAU, k, epsilon * masses[k] / self._h) for k in range(nv))
        else:
            yield from ((MOTORS, k, epsilon) for k in range(self._timesteps.motors.arrays.size[0]))

    def _difference(self, name: str, k: int, way: float) -> Array:
        """The rate of where the step ends, and of what sensors read there."""
        (q_ahead, rest_ahead), (q_behind, rest_behind) = (
            np.split(self._step(name, k, s * way), [self._dynamics.nq]) for s in (1.0, -1.0)
        )
        way_ahead, way_behind = (self._dynamics.difference(self._end, q) for q in (q_ahead, q_behind))
        change = np.concatenate([way_ahead - way_behind, rest_ahead - rest_behind])
        return np.asarray(change / (2.0 * way))

    def _move(self, name: str, k: int, way: float) -> None:
        """Move one number of what a step starts from."""
        if name == "q":
            self._state.q[:] = self._dynamics.integrate(self._q, np.eye(self._dynamics.nv)[k], way)
        elif name == MOTORS:
            _aim_elsewhere(self._timesteps.motors.arrays, k, way)
        else:
            (self._state.v if name == "v" else self._acting)[k] += way

    def _step(self, *move: Any) -> Array:
        """q', v' and readings (nq + nv + n,) of a step from where a move leads; the simulation is then at its end."""
        timesteps, simulation, dynamics = self._timesteps, self._simulation, self._dynamics
        self._back()
        timesteps.memory.arrays.acted[:] = 0.0  # another past would have led to another state
        if move:
            self._move(*move)
        timesteps.forget(simulation)
        readings = np.zeros(0)
        tau = acting(dynamics, timesteps.flight, self._state.q, self._acting.copy(), self._forces)
        try:
            with timesteps.together():
                timesteps.begin()
                timesteps.is_at()
                timesteps.run(simulation, tau, self._h, 1)
                self._left = max(self._left, timesteps.solution().residual)
                if self._sensors is not None:
                    timesteps.memory.acted = Acted(self._acting.copy(), self._forces)
                    readings = np.concatenate(list(self._sensors.values()))
                raise _TakenBack
        except _TakenBack:
            return np.concatenate([self._state.q, self._state.v, readings])

    def _back(self) -> None:
        """What a step starts from."""
        state = self._state
        state.q[:], state.v[:], state.time, self._acting[:] = self._q, self._v, self._time, self._tau
        self._timesteps.memory.become(self._memory)
        self._timesteps.flight.expected[:] = self._expected
        for numbers, kept in zip(_targets(self._timesteps.motors.arrays), self._targets, strict=True):
            numbers[:] = kept

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """A context in which steps are taken; all is then as it was, but for what surroundings remember."""
        timesteps = self._timesteps
        settings, touches, size = timesteps.settings, timesteps.events.touches, timesteps.step_size
        if not timesteps.motors.written:
            timesteps.motors.write()
        self._memory = timesteps.memory.copy()
        self._targets = [numbers.copy() for numbers in _targets(timesteps.motors.arrays)]
        counted, noted = timesteps.flight.tally.copy(), timesteps.noted.copy()
        self._expected, landed = timesteps.flight.expected.copy(), timesteps.landed
        timesteps.settings = replace(settings, tolerance=min(settings.tolerance, _TOLERANCE), detect="step")
        timesteps.events.touches = timesteps.events.copied()
        try:
            yield
        finally:
            with Held():
                self._back()
                timesteps.flight.drive_nothing()
                timesteps.settings, timesteps.events.touches, timesteps.step_size = settings, touches, size
                timesteps.flight.tally[:], timesteps.noted[:] = counted, noted
                timesteps.landed = landed
                timesteps.forget(self._simulation)


def _targets(it: MotorArrays) -> tuple[Array, ...]:
    return it.positions, it.velocity, it.aims, it.quaternions


def _aim_elsewhere(it: MotorArrays, k: int, way: float) -> None:
    """Move the target of motor k: of a number or a shaft by a number, of a quaternion about its own axis, or the
    velocity."""
    for which, aim in zip(it.points[: it.size[1]], it.aims, strict=False):
        if 0 <= k - which[0] < 3:
            aim[k - which[0]] += way
            return
    for which, aim in zip(it.turns[: it.size[2]], it.quaternions, strict=False):
        if 0 <= k - which[0] < 3:
            aim[:] = quaternion_product(aim, quaternion_exp(way * np.eye(3)[k - which[0]]))
            return
    (it.positions if it.places[k] >= 0 or it.sizes[k] > 0 else it.velocity)[k] += way

"""A motion that was planned, and what keeps to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.control.led_coordinates import LedCoordinates
from recursive_dyn.control.optimal.lqr import LQR
from recursive_dyn.control.optimal.time_varying_lqr import TimeVaryingLQR
from recursive_dyn.dynamics.dynamics import Dynamics

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """A motion of N steps of ``timestep`` s, as a simulation with these forces has it.

    q (N + 1, nq), v (N + 1, nv), tau (N, nv); gains K (N, nv, 2 nv) of tau - K [difference(q_i, now), v now - v_i],
    zero where a force is at its limit; costs: of the start and after every iteration, falling; converged: whether no
    change of the forces promises more; final (2 nv, 2 nv): the weight of the end, of which costs are told.
    """

    dynamics: Dynamics
    timestep: float
    q: Array
    v: Array
    tau: Array
    gains: Array
    costs: tuple[float, ...]
    converged: bool
    actuated: tuple[str, ...]
    limits: Array
    integrator: str
    regulator: LQR | None
    final: Array

    @property
    def start(self) -> float:
        """The time at which it begins, s: that in q, where time is a coordinate, else 0."""
        return LedCoordinates(self.dynamics).time(self.q[0])

    @property
    def cost(self) -> float:
        """What the motion costs."""
        return self.costs[-1]

    def tracker(self, Q: Any = None, R: Any = None, final: Any = None, frequency: float | None = None,
                start: float | None = None) -> TimeVaryingLQR:  # fmt: skip
        """The controller that keeps a simulation to this motion from the time ``start``, s (its own), on, and then to
        its goal.

        Weights as in ``TimeVaryingLQR``; final: None for the regulator of the goal, where there is one.
        """
        return TimeVaryingLQR(
            self.dynamics, self.q, self.v, self.tau, self.timestep, Q, R, self.regulator if final is None else final,
            self.actuated, self.limits, frequency=frequency, start=self.start if start is None else start,
            integrator=self.integrator,
        )  # fmt: skip

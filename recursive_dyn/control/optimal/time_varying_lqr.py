"""The regulator along a motion: feedback that changes from step to step, of least quadratic cost to its end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.control.controller import Controller
from recursive_dyn.control.led_coordinates import lasting
from recursive_dyn.control.optimal.backward_pass import Expansion, sweep
from recursive_dyn.control.optimal.equilibrium import uncharted
from recursive_dyn.control.optimal.lqr import LQR
from recursive_dyn.control.optimal.planning_problem import rows
from recursive_dyn.control.optimal.weights import checked_weights, state_labels, unled, weight
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.simulation.state import checked_time, checked_timestep

Array = np.ndarray
_EARLY = 1e-6  # share of a step by which rounding may have a time before its step


class TimeVaryingLQR(Controller):
    """tau_i - K_i x, x = [difference(q_i, now), v now - v_i], for the step i of a motion that a time falls in.

    q (N + 1, nq), v (N + 1, nv), tau (N, nv): a motion of N steps of ``timestep`` s, the first at the time ``start``,
    s, by default the one in q, 0 where it has none; it may be changed. Q, R and ``frequency`` as in ``LQR``; final
    (2 nv, 2 nv): the cost x^T final x of the end (Q), or an ``LQR``, whose cost to go it then is and which takes over
    there; else the last step's law goes on.
    K (N, nv, 2 nv), and x^T S x, S (N + 1, 2 nv, 2 nv), the cost to go. What time or a prescription leads is no part of
    x, and the motion may hold anything there; linear models are those of the times from the first ``start`` on.
    StateError for arrays of other sizes and weights of wrong size or sign; ModelError for joints that change charts.
    """

    def __init__(
        self, dynamics: Dynamics, q: Any, v: Any, tau: Any, timestep: float, Q: Any = None, R: Any = None,
        final: Any = None, actuated: Iterable[str] | None = None, limits: Any = None, *,
        frequency: float | None = None, start: float | None = None, integrator: str = registry.DEFAULT,
    ) -> None:  # fmt: skip
        super().__init__(dynamics, actuated, limits)
        uncharted(dynamics)
        nv = dynamics.nv
        self.timestep = checked_timestep(timestep)
        self.tau = rows("tau", tau, nv)
        steps = len(self.tau)
        led, ahead = self.drives.led, lasting(dynamics, "a TimeVaryingLQR")
        rows_q = rows("q", led.overlooked(q, True), dynamics.nq, steps + 1)
        rows_v = rows("v", led.overlooked(v, False), nv, steps + 1)
        self.start = led.time(rows_q[0]) if start is None else checked_time(start)
        self.q, self.v = led.at(self.start + self.timestep * np.arange(steps + 1), rows_q, rows_v)
        self.Q, self.R = checked_weights(dynamics, self.drives, self.q[-1], Q, R, frequency)
        self.regulator = final if isinstance(final, LQR) else None
        end = self.Q if final is None else unled(self.drives, final_weight(dynamics, final))
        A, B = ahead.linearize(self.q[:-1], self.v[:-1], self.tau, self.timestep, integrator)
        A[..., np.tile(led.mask, 2)] = 0.0  # where nothing deviates
        curvatures = np.concatenate([np.broadcast_to(self.Q, (steps, 2 * nv, 2 * nv)), end[None]])
        n, none = len(self.drives.slots), np.zeros((2 * nv, 2 * nv))
        expansion = Expansion(A, B[..., self.drives.slots], np.zeros((steps + 1, 2 * nv)), curvatures,
                              np.zeros((steps, n)), self.R)  # fmt: skip
        free = np.full((steps, n), np.inf)
        policy = sweep(expansion, -free, free, np.zeros((steps, n)), none)
        self.S = policy.V
        self.K = np.zeros((steps, nv, 2 * nv))
        self.K[:, self.drives.slots] = policy.K

    @property
    def end(self) -> float:
        """When the motion ends, s."""
        return self.start + self.timestep * len(self.tau)

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        i = int(np.floor((checked_time(time) - self.start) / self.timestep + _EARLY))
        if i >= len(self.tau) and self.regulator is not None:
            return self.regulator.forces(q, v, time, beside)
        i = min(max(i, 0), len(self.tau) - 1)
        x = np.concatenate([self.dynamics.difference(self.q[i], q), v - self.v[i]])
        return self.tau[i] - self.K[i] @ x


def final_weight(dynamics: Dynamics, final: Any) -> Array:
    """The weight (2 nv, 2 nv) of a motion's end: of an LQR, or as given; StateError for a bad one."""
    if not isinstance(final, LQR):
        return weight("final", final, state_labels(dynamics), positive=False)
    if final.dynamics.model is not dynamics.model:
        raise StateError("the regulator of the motion's end is of another scene")
    return final.S

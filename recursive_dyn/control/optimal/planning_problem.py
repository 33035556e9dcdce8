"""What a motion is planned for: its simulation, what it costs, and both to second order along it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.control.controller import Controller
from recursive_dyn.control.drives import Drives
from recursive_dyn.control.optimal.backward_pass import Expansion, Policy
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.simulation import Simulation

Array = np.ndarray


class Rollout(NamedTuple):
    """States q (N + 1, nq) and v (N + 1, nv), forces tau (N, nv), and the cost."""

    q: Array
    v: Array
    tau: Array
    cost: float


@dataclass(frozen=True, eq=False)
class PlanningProblem:
    """Least sum of x^T Q x + u^T R u over N steps, and x^T final x at the end, from a state (q, v).

    goal_q (N + 1, nq), goal_v (N + 1, nv), goal_tau (N, nv): what x = [difference(goal, q), v - goal] and u, of what is
    driven, are measured from.
    """

    dynamics: Dynamics
    drives: Drives
    q: Array
    v: Array
    timestep: float
    integrator: str
    goal_q: Array
    goal_v: Array
    goal_tau: Array
    Q: Array
    R: Array
    final: Array

    def simulated(self, tau: Array) -> Rollout:
        """The motion under forces (N, nv); StateError where it cannot be simulated."""
        return self._run(lambda i, q, v: tau[i])

    def regulated(self, law: Controller) -> Rollout | None:
        """The motion under a controller, within the limits; None where it cannot be simulated."""
        start = self.drives.led.time(self.q)
        try:
            return self._run(lambda i, q, v: self.drives.given(law(q, v, start + i * self.timestep))[0])
        except StateError:
            return None

    def changed(self, motion: Rollout, policy: Policy, share: float) -> Rollout | None:
        """The motion under a policy's feedback and a share of its changes; None where it cannot be simulated."""
        slots, difference = self.drives.slots, self.dynamics.difference
        low, high = self.drives.lows[slots], self.drives.highs[slots]
        wanted = motion.tau[:, slots] + share * policy.k

        def forces(i: int, q: Array, v: Array) -> Array:
            x = np.concatenate([difference(motion.q[i], q), v - motion.v[i]])
            tau = np.zeros(len(v))
            tau[slots] = np.minimum(np.maximum(wanted[i] - policy.K[i] @ x, low), high)
            return tau

        try:
            return self._run(forces)
        except StateError:
            return None

    def expanded(self, motion: Rollout) -> Expansion:
        """The steps' linear models, and half the cost to second order."""
        dynamics, slots, nv = self.dynamics, self.drives.slots, self.dynamics.nv
        A, B = dynamics.linearize(motion.q[:-1], motion.v[:-1], motion.tau, self.timestep, self.integrator)
        A[..., np.tile(self.drives.led.mask, 2)] = 0.0  # where nothing deviates
        x, u = self._deviations(motion.q, motion.v, motion.tau)
        E = np.zeros((len(x), 2 * nv, 2 * nv))  # dx by moves of the state, in its own tangent space
        E[:, :nv, :nv] = dynamics.derivatives("difference", self.goal_q, motion.q)[1]
        E[:, nv:, nv:] = np.eye(nv)
        Q = np.concatenate([np.broadcast_to(self.Q, (len(u), *self.Q.shape)), self.final[None]])
        QE = Q @ E
        return Expansion(
            A, B[..., slots], np.einsum("kij,ki->kj", QE, x), np.swapaxes(E, -1, -2) @ QE, u @ self.R, self.R
        )

    def _run(self, forces: Any) -> Rollout:
        simulation = Simulation(self.dynamics, self.timestep, self.integrator)
        simulation.time = self.drives.led.time(self.q)
        simulation.q, simulation.v = self.q, self.v
        steps = len(self.goal_tau)
        q, v = np.empty(self.goal_q.shape), np.empty(self.goal_v.shape)
        tau = np.empty(self.goal_tau.shape)
        q[0], v[0] = self.q, self.v
        for i in range(steps):
            simulation.tau = tau[i] = forces(i, q[i], v[i])
            simulation.step()
            q[i + 1], v[i + 1] = simulation.q, simulation.v
        x, u = self._deviations(q, v, tau)
        with np.errstate(over="ignore", invalid="ignore"):
            cost = float(((x[:-1] @ self.Q) * x[:-1]).sum() + x[-1] @ self.final @ x[-1] + ((u @ self.R) * u).sum())
        if not np.isfinite(cost):
            raise StateError("the motion runs away, so that it has no cost; give forces 'tau' to start from")
        return Rollout(q, v, tau, cost)

    def _deviations(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """x (N + 1, 2 nv) and u (N, n)."""
        x = np.concatenate([self.dynamics.difference(self.goal_q, q), v - self.goal_v], axis=-1)
        return x, (tau - self.goal_tau)[:, self.drives.slots]


def rows(name: str, value: Any, size: int, steps: int | None = None) -> Array:
    """(steps, size) finite numbers from as many rows or from one for all; one or more rows where steps is None.

    StateError for anything else.
    """
    given = real_array(value)
    wanted = f"({size},) or ({'steps' if steps is None else steps}, {size})"
    if given is None or given.ndim not in (1, 2) or given.shape[-1] != size or not given.size:
        raise StateError(f"{name} must be real numbers, {wanted}")
    table = np.atleast_2d(given)
    if steps is not None and len(table) not in (1, steps):
        raise StateError(f"{name} has {len(table)} rows, but {wanted} is needed")
    if not np.isfinite(table).all():
        raise StateError(f"{name} is not finite in row {int(np.argmin(np.isfinite(table).all(axis=1)))}")
    return table.copy() if steps is None else np.broadcast_to(table, (steps, size)).copy()

"""Motions of least quadratic cost by the iterative linear-quadratic regulator, with forces within limits.

A motion is simulated, linearised along its steps, and changed by the best policy of that linear problem; the change
is simulated. Li & Todorov 2004, Iterative linear quadratic regulator design for nonlinear biological movement
systems; limits in the sweep as in Tassa, Mansard & Todorov 2014; line search and damping as in Tassa, Erez & Todorov
2012, Synthesis and stabilization of complex behaviors through online trajectory optimization.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from recursive_dyn.control.drives import Drives
from recursive_dyn.control.goal_spaces import Configurations
from recursive_dyn.control.led_coordinates import lasting
from recursive_dyn.control.optimal.backward_pass import Expansion, Policy, sweep
from recursive_dyn.control.optimal.equilibrium import holding_forces, uncharted
from recursive_dyn.control.optimal.lqr import LQR
from recursive_dyn.control.optimal.planned_motion import PlannedMotion
from recursive_dyn.control.optimal.planning_problem import PlanningProblem, Rollout, rows
from recursive_dyn.control.optimal.time_varying_lqr import final_weight
from recursive_dyn.control.optimal.weights import checked_weights, natural_weights, unled
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.simulation.state import checked_timestep, whole

Array = np.ndarray
_SHARES = 0.5 ** np.arange(10)  # of a change of the forces that are tried
_KEPT = 0.05  # share of the promised saving that a change must keep
_ENOUGH = 1e-9  # share of the cost: who promises less has converged
_HOME = 0.01  # share of the cost to go that a regulator which brings the motion home leaves
_MILDER = (1e-3, 1e-2, 1e-1)  # of the steepest of a regulator's cost to go: natural weights on the way to it
_APPROACH, _NEARLY = 40, 1e-4  # iterations under each, and the share of the cost that is enough there
_LEAST, _MOST, _FACTOR = 1e-6, 1e8, 3.0  # of the damping, beside natural weights of a state


class ILQR:
    """Plans motions to a goal, of least sum over N steps of x^T Q x + u^T R u, and x^T final x at the end.

    x = [difference(q of the goal, q), v - v of the goal]; u is what is driven, beyond ``tau``. q (nq,) and v (nv,) are
    the goal, or rows (N + 1, ...) to be followed, a row a step; tau (nv,) or (N, nv), None for the forces that come
    nearest to holding the goal. Q, R and ``frequency`` as in ``LQR``; final (2 nv, 2 nv), or an ``LQR``, whose cost to
    go it is: by default that of the goal where it is an equilibrium that can be kept, else Q / (w h). Far from the
    goal, where its regulator alone does not come home, such a cost to go is untrue, and small in some directions:
    natural weights are added to it, and the end is weighed mildly at first. Forces keep to ``limits`` by
    control-limited differential dynamic programming. Steps are those of simulations, h = ``timestep``.

    What time or a prescription leads is simulated as it moves, from the time in the first q on, and is no part of x:
    goals may hold anything there. Forces that nobody gave hold the goal at every step's time.

    ``Q``, ``R``, ``final`` are what is used, ``regulator`` the goal's LQR or None.
    StateError for weights and goals of wrong size or sign; ModelError for joints that change charts.
    """

    def __init__(
        self, dynamics: Dynamics, q: Any, v: Any = None, tau: Any = None, Q: Any = None, R: Any = None,
        final: Any = None, *, timestep: float, actuated: Iterable[str] | None = None, limits: Any = None,
        frequency: float | None = None, integrator: str = registry.DEFAULT,
    ) -> None:  # fmt: skip
        if not isinstance(dynamics, Dynamics):
            raise StateError(
                f"motions are planned of compiled dynamics, scene.compile(), not {type(dynamics).__name__}"
            )
        uncharted(dynamics)
        self.dynamics, self.timestep, self.integrator = dynamics, checked_timestep(timestep), integrator
        self.drives, nv = Drives(dynamics, actuated, limits), dynamics.nv
        led, self._ahead = self.drives.led, lasting(dynamics, "an ILQR")
        self._q = rows("q", led.overlooked(q, True), dynamics.nq)
        self._v = np.zeros((1, nv)) if v is None else rows("v", led.overlooked(v, False), nv)
        last_q, last_v = led.completed(self._q[-1], self._v[-1])
        self._tau = None if tau is None else rows("tau", tau, nv)
        self.Q, self.R = checked_weights(dynamics, self.drives, last_q, Q, R, frequency)
        own_Q, _ = natural_weights(dynamics, self.drives, last_q, frequency)
        moved = led.free[0]
        rate = np.sqrt(own_Q[moved, moved] / own_Q[nv + moved, nv + moved])
        self._damping = own_Q / (rate * self.timestep)
        self.regulator = final if isinstance(final, LQR) else None
        self._given, self._milder = final is not None, list[Array]()
        if final is not None:
            self.final = unled(self.drives, final_weight(dynamics, final))
        else:
            self.final = self.Q / (rate * self.timestep)
            self._regulate(last_q, last_v)

    def _regulate(self, q: Array, v: Array) -> None:
        """The goal's regulator, if it has one."""
        if v[self.drives.led.free].any() or len(self._q) > 1:
            return
        names = self.dynamics.velocity_coordinates
        driven = [names[i] for i in self.drives.slots]
        bounds = np.column_stack([self.drives.lows, self.drives.highs])
        try:
            self.regulator = LQR(
                self.dynamics, q, v, None, self.Q, self.R, self.timestep, driven, bounds, integrator=self.integrator
            )
        except StateError:
            return
        self.final = self.regulator.S
        moved = np.flatnonzero(np.tile(~self.drives.led.mask, 2))
        root = np.linalg.inv(np.linalg.cholesky(self._damping[np.ix_(moved, moved)]))
        steepest = float(np.linalg.eigvalsh(root @ self.final[np.ix_(moved, moved)] @ root.T).max())
        self._milder = [share * steepest * self._damping for share in _MILDER]

    def solve(self, q: Any, v: Any = None, steps: int = 200, tau: Any = None, iterations: int = 200) -> PlannedMotion:
        """The motion from q (nq,), v (nv,) (0) in so many steps.

        tau (nv,) or (N, nv): forces to start from; None for those of the goal's regulator where it brings the motion
        home, else for what is approached under milder weights of the end. iterations: at most, for each of the weights.
        ``converged`` of the plan says whether they sufficed for the last. StateError for a state or forces of wrong
        size, and where the first motion cannot be simulated.
        """
        most, problem = whole(iterations), self._problem(q, v, steps)
        home = None if self._given or self.regulator is None else self._brought_home(problem, self.regulator)
        if home is None and not self._given and self.regulator is not None:
            problem = replace(problem, final=self.final + self._milder[-1])
        if tau is not None:
            motion = self._driven(problem, tau)
        elif home is not None:
            motion = home
        else:
            motion = self._driven(problem, holding_forces(self._ahead, self.drives, problem.q, problem.v))
            for final in () if self._given else self._milder:
                mild = replace(problem, final=final)
                motion = self._descent(mild, mild.simulated(motion.tau), min(most, _APPROACH), _NEARLY)[0]
            motion = problem.simulated(motion.tau)
        return self._plan(problem, *self._descent(problem, motion, most, _ENOUGH))

    def _descent(
        self, problem: PlanningProblem, motion: Rollout, most: int, enough: float
    ) -> tuple[Rollout, Expansion, list[float], bool]:
        """(motion, its expansion, costs, converged) from a motion on, until changes promise no more than a share
        ``enough`` of the cost."""
        expansion, damping, converged = problem.expanded(motion), 0.0, False
        costs, k = [motion.cost], np.zeros((len(motion.tau), len(self.drives.slots)))
        bounds = np.array([self.drives.lows, self.drives.highs])[:, None, self.drives.slots]
        for _ in range(most):
            low, high = bounds - motion.tau[:, self.drives.slots]
            policy = sweep(expansion, low, high, k, damping * self._damping)
            promised = -(2 * policy.slope + policy.curvature)
            if damping <= _LEAST and promised <= enough * motion.cost:
                converged = True
                break
            better = _improved(problem, motion, policy)
            if better is None and damping >= _MOST:
                break
            if better is None:
                damping = max(_LEAST, damping * _FACTOR**2)
                continue
            damping = damping / _FACTOR if damping > _LEAST else 0.0
            motion, k = better, policy.k
            costs.append(motion.cost)
            expansion = problem.expanded(motion)
        return motion, expansion, costs, converged

    def _brought_home(self, problem: PlanningProblem, law: LQR) -> Rollout | None:
        """The motion under the goal's regulator, if that brings it there."""
        motion, far = problem.regulated(law), law.cost_to_go(problem.q, problem.v)
        if motion is None or law.cost_to_go(motion.q[-1], motion.v[-1]) >= _HOME * far:
            return None
        return motion

    def _driven(self, problem: PlanningProblem, tau: Any) -> Rollout:
        """The motion under forces (nv,) or (N, nv), within the limits."""
        given = rows("tau", tau, self.dynamics.nv, len(problem.goal_tau))
        return problem.simulated(np.array([self.drives.given(one)[0] for one in given]))

    def _problem(self, q: Any, v: Any, steps: int) -> PlanningProblem:
        dynamics, count, nv = self.dynamics, whole(steps), self.dynamics.nv
        if count == 0:
            raise StateError("a motion has one step or more")
        space, led = Configurations(dynamics), self.drives.led
        start_q, start_v = space.read(q), np.zeros(nv) if v is None else space.read_rate(v, order=1)
        begin = led.time(start_q)
        start_q, start_v = led.at(begin, start_q, start_v)
        goal_q, goal_v = led.at(
            begin + self.timestep * np.arange(count + 1),
            rows("q of the goal", self._q, dynamics.nq, count + 1), rows("v of the goal", self._v, nv, count + 1),
        )  # fmt: skip
        tau = self._holding(goal_q, goal_v) if self._tau is None else rows("tau of the goal", self._tau, nv, count)
        return PlanningProblem(
            self._ahead, self.drives, start_q, start_v, self.timestep, self.integrator, goal_q, goal_v, tau, self.Q,
            self.R, self.final,
        )  # fmt: skip

    def _holding(self, goal_q: Array, goal_v: Array) -> Array:
        """The forces (N, nv), within limits, that come nearest to holding the goal: its last state, led or not."""
        count = len(goal_q) - 1
        if not self.drives.led:
            return np.tile(
                self.drives.given(holding_forces(self._ahead, self.drives, goal_q[-1], goal_v[-1]))[0], (count, 1)
            )
        states = zip(goal_q[:-1], goal_v[:-1], strict=True)
        return np.array([self.drives.given(holding_forces(self._ahead, self.drives, q, v))[0] for q, v in states])

    def _plan(
        self, problem: PlanningProblem, motion: Rollout, expansion: Expansion, costs: list[float], converged: bool
    ) -> PlannedMotion:
        """With the feedback of the motion itself."""
        slots, bounds = self.drives.slots, np.array([self.drives.lows, self.drives.highs])
        low, high = bounds[:, None, slots] - motion.tau[:, slots]
        policy = sweep(expansion, low, high, np.zeros(low.shape), np.zeros(self.Q.shape))
        gains = np.zeros((len(motion.tau), self.dynamics.nv, 2 * self.dynamics.nv))
        gains[:, slots] = policy.K
        names = tuple(self.dynamics.velocity_coordinates[i] for i in slots)
        return PlannedMotion(
            self.dynamics, self.timestep, motion.q, motion.v, motion.tau, gains, tuple(costs), converged, names,
            bounds.T, self.integrator, self.regulator, problem.final,
        )  # fmt: skip


def _improved(problem: PlanningProblem, motion: Rollout, policy: Policy) -> Rollout | None:
    """The first motion on the line that keeps enough of what was promised."""
    for share in _SHARES:
        promised = -(2 * policy.slope * share + policy.curvature * share**2)
        found = problem.changed(motion, policy, share)
        if found is not None and promised > 0 and motion.cost - found.cost > _KEPT * promised:
            return found
    return None

"""Whole-body inverse dynamics: one quadratic program for accelerations, forces of the ground and torques.

Kuindersma, Permenter & Tedrake 2014, An efficiently solvable quadratic program for stabilizing dynamic locomotion;
Del Prete, Mansard, Ramos, Stasse & Nori 2016, Implementing torque control with high-ratio gear boxes and without
joint-torque sensors (TSID).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from recursive_dyn.control.conflicts import Demand, conflict
from recursive_dyn.control.controller import Controller
from recursive_dyn.control.footholds import Foothold, Footholds
from recursive_dyn.control.gains import checked_gain
from recursive_dyn.control.quadratic_program import Answer, QuadraticProgram, solve
from recursive_dyn.control.tasks.task import Task
from recursive_dyn.control.tasks.task_stack import TaskStack
from recursive_dyn.dynamics.dynamics import Dynamics

Array = np.ndarray
_LITTLE = 1e-8  # weight of accelerations, where no task says more
_RANK = 2e-3  # share of the largest singular value below which a row repeats others, or a leg is straight
_FACETS = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


class Plan(NamedTuple):
    """What a call of ``WholeBodyQP`` decided.

    a, tau (nv,): accelerations and torques; forces (k, 3): of the footholds on their bodies, N, world axes;
    constraint_forces (m,): multipliers of the scene's constraints; solver: who found it; program, answer: what it
    solved, for whoever checks it.
    """

    a: Array
    tau: Array
    forces: Array
    constraint_forces: Array
    solver: str
    program: QuadraticProgram
    answer: Answer


class WholeBodyQP(Controller):
    """Torques whose accelerations do the tasks best, by weight, with forces of the ground inside their friction cones.

    min sum of w |J a - wanted|^2 + force_weight |f|^2 + effort_weight |tau|^2 over a and f, so that
    M a + bias = tau + passive forces + Jc^T f, with tau = 0 in what is not driven, and a as given in what time or a
    prescription leads; footholds keep their places; f lies in the pyramids inside the cones; tau stays within its
    limits, and coordinates do ``horizon`` seconds ahead.

    tasks: as of ``OperationalSpace``; their weights compare (m/s^2)^2. footholds: ``control.Foothold``s, which may be
    assigned while it runs, as feet come and go; a plan is no better than they are true. What carries them may move,
    as it is led or freely (``Foothold.on``): what carries a body that is free has to be said, too. settling, 1/s: how
    fast what still moves at them is stopped.

    Where nothing meets all of that, ``feasible`` is False, ``plan`` None, ``conflict`` says why, and the last command
    is held (0 if there is none). ``errors``: what was left to go at the last call, by task.
    """

    def __init__(
        self, dynamics: Dynamics, tasks: Iterable[Task], footholds: Iterable[Foothold] = (), *,
        force_weight: float = 1e-6, effort_weight: float = 0.0, settling: float = 20.0, horizon: float = 0.05,
        actuated: Iterable[str] | None = None, limits: object = None,
    ) -> None:  # fmt: skip
        super().__init__(dynamics, actuated, limits)
        self._stack = TaskStack(dynamics, tasks)
        self._footholds = Footholds(dynamics)
        self._footholds.assign(footholds)
        given = {"force_weight": force_weight, "effort_weight": effort_weight, "settling": settling, "horizon": horizon}
        checked = {name: float(checked_gain(name, value, 1)[0]) for name, value in given.items()}
        self.force_weight, self.effort_weight = checked["force_weight"] or _LITTLE, checked["effort_weight"]
        self.settling, self.horizon = checked["settling"], checked["horizon"]
        self._limits = _Limits(dynamics, self.horizon)
        self.feasible = True
        self.plan: Plan | None = None
        self._last = np.zeros(dynamics.nv)
        self._unmet: tuple[QuadraticProgram, list[Demand]] | None = None

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks."""
        return self._stack.tasks

    @property
    def errors(self) -> dict[str, Array]:
        """What was left to go at the last call, by the name of the task."""
        return self._stack.errors

    @property
    def conflict(self) -> str:
        """What could not be had at the last call, whose it is, and what to do; empty where there was a plan."""
        return conflict(*self._unmet) if self._unmet else ""

    @property
    def footholds(self) -> tuple[Foothold, ...]:
        """What carries, from the next call on."""
        return self._footholds.given

    @footholds.setter
    def footholds(self, footholds: Iterable[Foothold]) -> None:
        self._footholds.assign(footholds)

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        dynamics, k = self.dynamics, len(self._footholds)
        given, led = self.drives.led.accelerations(q, v), self.drives.led.slots  # a = z of what is free, and given
        J, velocity, drift, axes = self._footholds.look(q, v)
        along = (axes @ J.reshape(k, 3, dynamics.nv)).reshape(3 * k, dynamics.nv)
        C = dynamics.constraint_jacobian(q) if dynamics.constraints else np.zeros((0, dynamics.nv))
        M = dynamics.mass_matrix(q)
        rest = dynamics.bias(q, v) + M @ given - dynamics.passive_forces(q, v) - beside
        torque = np.hstack([M, -along.T, -C.T])  # tau = torque z + rest
        stays, values = J, -drift - self.settling * velocity
        if len(C):
            allowed = dynamics.forward_dynamics(q, v)  # any accelerations that the constraints allow
            stays, values = np.vstack([J, C]), np.concatenate([values, C @ allowed])
        values = values - stays @ given
        torque[:, led] = stays[:, led] = 0.0
        rows = [self._torques(torque, rest), _stay(stays, values), self._cones(), self._limits.look(q, v)]
        places = [0, 0, dynamics.nv, 0]
        program = self._program(torque, rest, rows, places, given, q, v, time)
        answer = solve(program)
        self.feasible, self.plan = answer is not None, None
        self._unmet = None if answer is not None else (program, self._demands([len(own) for own, _, _ in rows]))
        if answer is not None:
            z, nv = answer.z, dynamics.nv
            f = np.einsum("kij,ki->kj", axes, z[nv : nv + 3 * k].reshape(k, 3))
            tau = self.drives.given(torque @ z + rest)[0]  # rounding may be beyond the limits
            self.plan = Plan(
                np.where(self.drives.led.mask, given, z[:nv]), tau, f, z[nv + 3 * k :], answer.solver, program, answer
            )
            self._last = tau
        return self._last

    def _program(
        self, torque: Array, rest: Array, rows: list[tuple[Array, Array, Array]], places: list[int], given: Array,
        q: Array, v: Array, time: float,
    ) -> QuadraticProgram:  # fmt: skip
        nv, n = torque.shape
        hessian = np.diag(np.concatenate([np.full(nv, _LITTLE), np.full(n - nv, self.force_weight)]))
        gradient = np.zeros(n)
        if self._stack.rows:
            it = self._stack.look(q, v, time)
            kp, kd = (np.concatenate([getattr(task, gain) for task in self.tasks]) for gain in ("kp", "kd"))
            J = np.where(self.drives.led.mask, 0.0, it.J)
            weighted = J.T * it.weights
            hessian[:nv, :nv] += weighted @ J
            gradient[:nv] -= weighted @ (it.drift - it.J @ given + kd * it.rate + kp * it.e)
        if self.effort_weight:
            driven = torque[self.drives.slots]
            hessian += self.effort_weight * driven.T @ driven
            gradient += self.effort_weight * driven.T @ rest[self.drives.slots]
        A = np.zeros((sum(len(own) for own, _, _ in rows), n))
        end = 0
        for (own, _, _), place in zip(rows, places, strict=True):
            A[end : end + len(own), place : place + own.shape[1]] = own
            end += len(own)
        return QuadraticProgram(
            hessian, gradient, A, np.concatenate([r[1] for r in rows]), np.concatenate([r[2] for r in rows])
        )

    def _demands(self, counts: list[int]) -> list[Demand]:
        """Of what the rows of each kind are, in their order; that nothing drives a floating base is no demand."""
        drives, names = self.drives, self.dynamics.velocity_coordinates
        torques, stays, cones, limits = np.split(np.arange(sum(counts)), np.cumsum(counts)[:-1])
        bounded = np.flatnonzero(self._bounded())
        driven = drives.mask[bounded]
        bodies = [self.dynamics.bodies[self.dynamics.model.body_index(f.body)] for f in self.footholds]
        whole = "' or '".join(dict.fromkeys(bodies)) or "the scene's constraints"
        return [
            Demand(
                "limits of torques", torques[driven], tuple(names[slot] for slot in bounded[driven]),
                "raise them, or ask for other footholds",
            ),
            Demand(
                "limits of coordinates", limits, tuple(names[slot] for slot in self._limits.slots),
                "move away from them, or lengthen 'horizon'",
            ),
            Demand(
                "friction cones", cones, tuple(body for body in bodies for _ in range(5)),
                "give footholds that carry the weight, or more friction",
            ),
            Demand("places", stays, (whole,) * len(stays), "take footholds away that cannot all be kept"),
        ]  # fmt: skip

    def _bounded(self) -> Array:
        """Which torques (nv,) have rows."""
        limited = np.isfinite(self.drives.lows) | np.isfinite(self.drives.highs)
        return ~self.drives.led.mask & (~self.drives.mask | limited)

    def _torques(self, torque: Array, rest: Array) -> tuple[Array, Array, Array]:
        """Nothing drives what is not driven; the rest has limits."""
        drives = self.drives
        lows, highs = np.where(drives.mask, drives.lows, 0.0), np.where(drives.mask, drives.highs, 0.0)
        bounded = self._bounded()
        return torque[bounded], (lows - rest)[bounded], (highs - rest)[bounded]

    def _cones(self) -> tuple[Array, Array, Array]:
        """Normal forces push; of the others each is at most mu f_n / sqrt 2: the square inside the cone's circle."""
        k = len(self._footholds)
        rows = np.zeros((k, 5, k, 3))
        for i, mu in enumerate(self._footholds.friction):
            rows[i, 0, i, 0] = 1.0
            rows[i, 1:, i, 0] = mu / np.sqrt(2.0)
            rows[i, 1:, i, 1:] = _FACETS
        return rows.reshape(5 * k, 3 * k), np.zeros(5 * k), np.full(5 * k, np.inf)


class _Limits:
    """Rows of accelerations with which coordinates, ``slots`` (k,), are within their limits after the horizon."""

    def __init__(self, dynamics: Dynamics, horizon: float) -> None:
        limits = dynamics.limits
        limits[sorted(dynamics.model.prescribed)] = -np.inf, np.inf  # a motion prevails
        plain = [(place, slot) for place, slot in dynamics.model.plain_slots if np.isfinite(limits[slot]).any()]
        self._places, self.slots = np.array(plain, dtype=int).reshape(-1, 2).T
        self._bounds, self._horizon = limits[self.slots].T, horizon
        self._rows = np.eye(dynamics.nv)[self.slots]
        if not horizon:
            self._rows, self._bounds = self._rows[:0], self._bounds[:, :0]
            self._places, self.slots = self._places[:0], self.slots[:0]

    def look(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        h = self._horizon
        lower, upper = 2.0 * (self._bounds - q[self._places] - h * v[self.slots]) / h**2 if h else self._bounds
        return self._rows, lower, upper


def _stay(rows: Array, values: Array) -> tuple[Array, Array, Array]:
    """As few rows as say the same as rows a = values, orthonormal; least squares where these contradict."""
    left, sizes, right = np.linalg.svd(rows, full_matrices=False)
    kept = sizes > _RANK * sizes.max(initial=0.0)
    met = (left.T @ values)[kept] / sizes[kept]
    return right[kept], met, met

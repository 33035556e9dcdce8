"""Operational space control: forces that give tasks the accelerations they want, more important ones first.

Khatib 1987, A unified approach for motion and force control of robot manipulators: the operational space formulation,
IEEE Journal of Robotics and Automation 3; Sentis & Khatib 2005, Synthesis of whole-body behaviors through hierarchical
control of behavioral primitives. With u the forces of the driven coordinates, a = a_0 + G u, G = M^-1 S (its response
under constraints, where there are any), forces are written as u = W y with W^T S^T G W = 1: |y| is what a force costs
in the metric of the kinetic energy, and what is orthogonal to the rows J G W of a task does not accelerate it
(dynamical consistency).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.control.controller import Controller
from recursive_dyn.control.gains import checked_gain
from recursive_dyn.control.tasks.task import Task
from recursive_dyn.control.tasks.task_stack import TaskStack
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError

Array = np.ndarray
_SETTLE = 5.0  # 1/s
_NEAR = 0.05  # sine, about, between what is left to a row and what others use already, from which it is damped
_RANK = 1e-9  # below which nothing is left to it


class OperationalSpace(Controller):
    """Tasks by rank: ``levels`` are tasks, or lists of tasks that count by their weights.

    Each level has e'' = -kd e' - kp e exactly where those above it leave that free; what all leave free loses its
    velocity at the rate ``settle``, 1/s. Gravity and the joints' dampers and springs are taken off. Near singularities,
    its own or where little is left to it, a row is damped (Chiaverini 1997, Singularity-robust task-priority redundancy
    resolution). ``singular`` names the tasks that were damped at the last call, ``yielding`` those that could not be
    had whole beside what is more important; ``errors`` are what was left to go. Rows count by weight over their
    mobility. On a floating base forces of the driven coordinates do what they can; what moves a base that time or a
    prescription leads is known, and taken off. ModelError for a task of more rows than there are driven coordinates.
    """

    def __init__(
        self, dynamics: Dynamics, levels: Iterable[Task | Iterable[Task]], *, settle: float = _SETTLE,
        actuated: Iterable[str] | None = None, limits: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(dynamics, actuated, limits)
        ranks = [[level] if isinstance(level, Task) else list(level) for level in levels]
        self._stack = TaskStack(dynamics, [task for rank in ranks for task in rank])
        self._settle = float(checked_gain("settle", settle, 1)[0])
        self.singular: tuple[str, ...] = ()
        self.yielding: tuple[str, ...] = ()
        for task in self.tasks:
            if task.rows > len(self.drives.slots):
                raise ModelError(
                    f"the {task.name} has {task.rows} rows, but only {len(self.drives.slots)} coordinates are driven;"
                    " ask for less of it, as a Position instead of a Pose"
                )
        ends = np.cumsum([sum(task.rows for task in rank) for rank in ranks], dtype=int).tolist()
        self._ranks = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        self._owners = [
            name for name, task in zip(self._stack.names, self.tasks, strict=True) for _ in range(task.rows)
        ]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks, the most important first."""
        return self._stack.tasks

    @property
    def errors(self) -> dict[str, Array]:
        """What was left to go at the last call, by the name of the task."""
        return self._stack.errors

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        it, slots = self._stack.look(q, v, time), self.drives.slots
        free, G = self._responses(q, v)
        kp, kd = (np.concatenate([getattr(task, gain) for task in self.tasks]) for gain in ("kp", "kd"))
        wanted = it.drift + kd * it.rate + kp * it.e - it.J @ free
        W = self._whitened(G[slots])
        rows = it.J @ G @ W
        y = W.T @ (-self._settle * v[slots] - free[slots])
        left, damped, yielding = None, set[int](), set[int]()
        scale = it.weights / self._mobility(rows)
        for rank in self._ranks:
            A, missing = scale[rank, None] * rows[rank], scale[rank] * (wanted[rank] - rows[rank] @ y)
            change, left, weak, lost = _least(A, missing, left)
            y = y + change
            damped.update(rank.start + i for i in weak)
            yielding.update(rank.start + i for i in lost)
        self.singular, self.yielding = self._named(damped), self._named(yielding)
        tau = np.zeros(self.dynamics.nv)
        tau[slots] = W @ y
        return tau

    def _whitened(self, B: Array) -> Array:
        """W (n, m) with W^T B W = 1; constraints leave some forces without any effect."""
        if not self.dynamics.model.constraints:
            return np.linalg.inv(np.linalg.cholesky(B)).T
        sizes, axes = np.linalg.eigh(B)
        moving = sizes > _RANK * sizes.max(initial=0.0)
        return axes[:, moving] / np.sqrt(sizes[moving])

    def _named(self, rows: set[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._owners[row] for row in sorted(rows)))

    def _mobility(self, rows: Array) -> Array:
        """How far a row (k, n) moves for what it costs, over rows of the same unit, which do not all vanish at once."""
        groups = self._stack.groups
        squares = np.bincount(groups, (rows * rows).sum(axis=1)) / np.bincount(groups)
        return np.sqrt(np.where(squares > 0.0, squares, 1.0))[groups]

    def _responses(self, q: Array, v: Array) -> tuple[Array, Array]:
        """a_0 (nv,) without forces of the controller, and G (nv, n), what unit forces of the driven coordinates add."""
        dynamics, slots = self.dynamics, self.drives.slots
        passive = dynamics.passive_forces(q, v)
        if not dynamics.model.constraints:
            moved, G = self.drives.led.free, np.eye(dynamics.nv)[:, slots]
            G[moved] = np.linalg.solve(dynamics.mass_matrix(q)[np.ix_(moved, moved)], G[moved])
            return dynamics.forward_dynamics(q, v, passive), G
        free, *pushed = dynamics.forward_dynamics(q, v, np.vstack([passive, passive + np.eye(dynamics.nv)[slots]]))
        return free, (np.reshape(pushed, (len(slots), -1)) - free).T


def _least(A: Array, missing: Array, left: Array | None) -> tuple[Array, Array, list[int], list[int]]:
    """The change (n,) of y within ``left`` (n, m), orthonormal, or within all (None), by which A y grows by
    ``missing``; what is left then; rows of A (k, n), each of about unit length, that were damped, and those that had to
    yield.

    What the level wants by itself is the least y; what is left of that is the nearest, in the metric of the kinetic
    energy. Sizes of the first are about sines of angles between the rows, those of the second cosines of the angles
    between the rows' space and what is left.
    """
    U, sines, V = np.linalg.svd(A, full_matrices=left is None)
    rank = int((sines > _RANK).sum())
    own = _inverse(sines[:rank]) * (U[:, :rank].T @ missing)
    if left is None:  # all cosines are 1
        return V[:rank].T @ own, V[rank:].T, _largest(U[:, : len(sines)][:, sines < _NEAR]), []
    P, cosines, Q = np.linalg.svd(V[:rank] @ left)
    kept = int((cosines > _RANK).sum())
    change = left @ (Q[:kept].T @ (_inverse(cosines[:kept]) * (P[:, :kept].T @ own)))
    among = U[:, :rank] @ P
    weak = np.hstack([U[:, sines < _NEAR], among[:, :kept][:, cosines[:kept] < _NEAR]])
    return change, left @ Q[kept:].T, _largest(weak), _largest(among[:, kept:])


def _largest(columns: Array) -> list[int]:
    """The row in which each column is largest."""
    return np.unique(np.abs(columns).argmax(axis=0)).tolist() if columns.size else []


def _inverse(sizes: Array) -> Array:
    """1 / size, which turns to 0 where it is below ``_NEAR``."""
    gain: Array = sizes / (sizes**2 + np.maximum(0.0, 1.0 - (sizes / _NEAR) ** 2) * (_NEAR / 2) ** 2)
    return gain

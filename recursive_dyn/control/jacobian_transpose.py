"""Virtual model control: springs, dampers and forces that are not there, through the transposed Jacobians of tasks.

Pratt, Chew, Torres, Dilworth & Pratt 2001, Virtual model control: an intuitive approach for bipedal locomotion,
International Journal of Robotics Research 20.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.control.controller import Controller
from recursive_dyn.control.gains import checked_gain
from recursive_dyn.control.tasks.task import Task
from recursive_dyn.control.tasks.task_stack import TaskStack
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError

Array = np.ndarray


class VirtualSpring:
    """Between a task and its target: stiffness e + damping e' + force, each a number or (rows,), N or N m and so on.

    A force alone, as a push on a body's point, needs no stiffness. They may be changed. Raises StateError for negative
    stiffness or damping.
    """

    def __init__(self, task: Task, stiffness: Any = 0.0, damping: Any = 0.0, force: Any = 0.0) -> None:
        if not isinstance(task, Task):
            raise StateError(f"a virtual spring pulls a task, a Position, Pose, CenterOfMass, ..., not {task!r}")
        self.task = task
        self.stiffness = checked_gain("stiffness", stiffness, task.rows)
        self.damping = checked_gain("damping", damping, task.rows)
        given = real_array(force)
        if given is None or given.shape not in ((), (task.rows,)) or not np.isfinite(given).all():
            raise StateError(f"force is a finite number, or {task.rows} of them, not {force!r}")
        self.force = np.broadcast_to(given, task.rows).copy()


class JacobianTranspose(Controller):
    """tau = sum of J^T (stiffness e + damping e' + force): as if springs pulled the tasks to their targets.

    Springs have energies, as e is exact and J its derivative: with gravity compensated (``+ GravityCompensation``), and
    targets that stand still, nothing can take up energy. Held over a timestep: stiff ones need short steps. ``errors``
    are what was left to go at the last call, by task.
    """

    def __init__(
        self, dynamics: Dynamics, springs: Iterable[VirtualSpring], *, actuated: Iterable[str] | None = None,
        limits: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(dynamics, actuated, limits)
        self.springs = tuple(springs)
        for spring in self.springs:
            if not isinstance(spring, VirtualSpring):
                raise StateError(f"virtual model control takes VirtualSpring(task, stiffness, damping), not {spring!r}")
        self._stack = TaskStack(dynamics, [spring.task for spring in self.springs])

    @property
    def errors(self) -> dict[str, Array]:
        """What was left to go at the last call, by the name of the task."""
        return self._stack.errors

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        it = self._stack.look(q, v, time)
        pulls = [
            spring.stiffness * it.e[span] + spring.damping * it.rate[span] + spring.force
            for spring, span in zip(self.springs, it.spans, strict=True)
        ]
        return it.J.T @ np.concatenate(pulls) if pulls else np.zeros(self.dynamics.nv)

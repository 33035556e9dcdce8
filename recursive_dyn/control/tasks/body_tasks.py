"""Tasks of one body: where it is, how it is turned, where it looks."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.control.goal_spaces import Poses, Rotations, Vectors
from recursive_dyn.control.references import Goal
from recursive_dyn.control.tasks.task import LOOK, POINT, TURN, Task, TaskPart
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError

Array = np.ndarray


class Position(Task):
    """A point (3,) of a body, its origin unless another is given, is to be at the target (3,), world axes.

    body: a Body or its name. velocity, acceleration (3,) of the target; what else there is to give: ``Task``.
    """

    def __init__(
        self, body: Any, target: Any, *, point: Any = (0.0, 0.0, 0.0), velocity: Any = None, acceleration: Any = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        name = f"position of '{_name(body)}'"
        goal = Goal(Vectors(f"target of the {name}", 3), target, velocity, acceleration)
        super().__init__(name, 3, goal, **settings)
        self.body, self.point = body, _three(f"point of the {name}", point)

    @property
    def structure(self) -> Hashable:
        return ("position", _name(self.body), self.point.tobytes())

    def parts(self, dynamics: Dynamics) -> list[TaskPart]:
        return [TaskPart(POINT, 3, dynamics.model.body_index(self.body), self.point)]


class Orientation(Task):
    """A body is to be turned as the target, a matrix (3, 3) or a quaternion x, y, z, w: its axes in the world's.

    The error is the rotation vector to it, world axes, as velocity and acceleration are: angular, (3,).
    """

    def __init__(
        self, body: Any, target: Any, *, velocity: Any = None, acceleration: Any = None, **settings: Any
    ) -> None:
        name = f"orientation of '{_name(body)}'"
        super().__init__(name, 3, Goal(Rotations(f"target of the {name}"), target, velocity, acceleration), **settings)
        self.body = body

    @property
    def structure(self) -> Hashable:
        return ("orientation", _name(self.body))

    def parts(self, dynamics: Dynamics) -> list[TaskPart]:
        return [TaskPart(TURN, 3, dynamics.model.body_index(self.body))]


class Pose(Task):
    """A body, or a frame at ``point`` of it with its axes, is to be at a pose (4, 4): rows [turn; way], world axes.

    velocity, acceleration (6,): angular, then linear. weight=(1, 1, 1, 10, 10, 10) would hold a metre equal to 10 rad.
    """

    def __init__(
        self, body: Any, target: Any, *, point: Any = (0.0, 0.0, 0.0), velocity: Any = None, acceleration: Any = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        name = f"pose of '{_name(body)}'"
        super().__init__(name, 6, Goal(Poses(f"target of the {name}"), target, velocity, acceleration), **settings)
        self.body, self.point = body, _three(f"point of the {name}", point)

    @property
    def structure(self) -> Hashable:
        return ("pose", _name(self.body), self.point.tobytes())

    def parts(self, dynamics: Dynamics) -> list[TaskPart]:
        body = dynamics.model.body_index(self.body)
        return [TaskPart(TURN, 3, body), TaskPart(POINT, 3, body, self.point)]

    def goals(self, time: float) -> list[Array]:
        pose, velocity, acceleration = self.goal.at(time)
        return [
            np.concatenate([pose[:9], velocity[:3], acceleration[:3]]),
            np.concatenate([pose[9:], velocity[3:], acceleration[3:]]),
        ]


class LookAt(Task):
    """The ray from ``point`` of a body along its ``axis`` is to go through the target (3,), world axes.

    Two rows: the rotation vector to it about two axes at right angles; how the body is turned about the ray is left.
    Opposite to the target any way round is the shortest: there the error is that of one of them.
    """

    def __init__(
        self, body: Any, target: Any, *, axis: Any = (1.0, 0.0, 0.0), point: Any = (0.0, 0.0, 0.0),
        velocity: Any = None, acceleration: Any = None, **settings: Any,
    ) -> None:  # fmt: skip
        name = f"look of '{_name(body)}'"
        goal = Goal(Vectors(f"target of the {name}", 3), target, velocity, acceleration)
        super().__init__(name, 2, goal, **settings)
        self.body, self.point, self.axis = body, _three(f"point of the {name}", point), _three("axis", axis)
        length = float(np.linalg.norm(self.axis))
        if not length:
            raise StateError(f"the axis of the {name} is zero; give a direction in the body's axes")
        self.axis /= length

    @property
    def structure(self) -> Hashable:
        return ("look", _name(self.body), self.point.tobytes(), self.axis.tobytes())

    def parts(self, dynamics: Dynamics) -> list[TaskPart]:
        beside = np.linalg.svd(self.axis[None])[2][1:]
        return [
            TaskPart(LOOK, 2, dynamics.model.body_index(self.body), np.concatenate([self.point, self.axis, *beside]))
        ]


def _name(body: Any) -> str:
    return str(getattr(body, "name", body))


def _three(what: str, value: Any) -> Array:
    given = real_array(value)
    if given is None or given.shape != (3,) or not np.isfinite(given).all():
        raise StateError(f"the {what} must be 3 finite numbers, not {value!r}")
    return given.copy()

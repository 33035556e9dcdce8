"""Tasks of everything that moves: its centre of mass, its angular momentum, its posture."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from recursive_dyn.control.drives import named_coordinates
from recursive_dyn.control.goal_spaces import Configurations, Vectors
from recursive_dyn.control.led_coordinates import LedCoordinates
from recursive_dyn.control.references import Goal
from recursive_dyn.control.tasks.task import CENTER, POSTURE, SPIN, Task, TaskPart
from recursive_dyn.dynamics.dynamics import Dynamics

Array = np.ndarray


class CenterOfMass(Task):
    """The centre of mass of all that moves is to be at the target (3,), world axes."""

    def __init__(self, target: Any, *, velocity: Any = None, acceleration: Any = None, **settings: Any) -> None:
        goal = Goal(Vectors("target of the centre of mass", 3), target, velocity, acceleration)
        super().__init__("centre of mass", 3, goal, **settings)

    @property
    def structure(self) -> Hashable:
        return "centre of mass"

    def parts(self, dynamics: Dynamics) -> list[TaskPart]:
        return [TaskPart(CENTER, 3)]


class AngularMomentum(Task):
    """The angular momentum about the centre of mass is to be the target (3,), world axes.

    It has no position: e is 0, and with e' = target - momentum its error decays by kd alone. ``velocity`` is the
    target's rate. Rotors' armatures are not in it.
    """

    def __init__(self, target: Any = (0.0, 0.0, 0.0), *, velocity: Any = None, **settings: Any) -> None:
        super().__init__("angular momentum", 3, Goal(Vectors("angular momentum", 3), target, velocity), **settings)

    @property
    def structure(self) -> Hashable:
        return "angular momentum"

    def parts(self, dynamics: Dynamics) -> list[TaskPart]:
        return [TaskPart(SPIN, 3)]

    def goals(self, time: float) -> list[Array]:
        momentum, rate, _ = self.goal.at(time)
        return [np.concatenate([momentum, rate])]


class Posture(Task):
    """A configuration (nq,), or its ``coordinates``, names of velocity coordinates: e = difference(q, target).

    Nothing is asked of coordinates that time or a prescription leads. velocity, acceleration (nv,) as ``Dynamics`` has
    them. ModelError for an unknown coordinate, and one that is led.
    """

    def __init__(
        self, dynamics: Dynamics, target: Any = None, *, coordinates: Iterable[str] | None = None,
        velocity: Any = None, acceleration: Any = None, **settings: Any,
    ) -> None:  # fmt: skip
        names = dynamics.velocity_coordinates
        led = LedCoordinates(dynamics)
        mask = ~led.mask if coordinates is None else named_coordinates(names, coordinates, "coordinates")
        led.refuse(mask, "a posture")
        self.slots = np.flatnonzero(mask).astype(np.int64)
        target = dynamics.neutral() if target is None else target
        goal = Goal(Configurations(dynamics), target, velocity, acceleration)
        super().__init__("posture", len(self.slots), goal, **settings)

    @property
    def structure(self) -> Hashable:
        return ("posture", self.slots.tobytes())

    def parts(self, dynamics: Dynamics) -> list[TaskPart]:
        return [TaskPart(POSTURE, self.rows, slots=self.slots)]

"""What a task is: an error that is to vanish, what it is about, and how it weighs and decays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.control.gains import checked_gain, decay_gains
from recursive_dyn.control.references import Goal
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError

Array = np.ndarray
POINT, TURN, LOOK, CENTER, SPIN, POSTURE = range(6)  # sorts of rows


class TaskPart(NamedTuple):
    """Rows of one sort, ``size`` of them: of a body, by its number, with constants; or of coordinates in v (slots)."""

    sort: int
    size: int
    body: int = -1
    constants: Array = np.zeros(0)
    slots: Array = np.zeros(0, dtype=np.int64)


class Task(ABC):
    """Something to do: an error e (rows,), what is left to go, with e' = goal's part - J v, e'' = drift - J a.

    ``target``, ``velocity``, ``acceleration`` of the goal are numbers or functions of time, and may be changed; what is
    None follows from the others (see ``Goal``). weight: of each row, or of all, against other tasks of the same rank.
    Under controllers of accelerations e'' = -kd e' - kp e: kp, 1/s^2, and kd, 1/s, numbers or (rows,), are given, or
    follow from a frequency, Hz (2), and a damping ratio (1). ``name`` says what it is, for reports.
    """

    def __init__(
        self, name: str, rows: int, goal: Goal, weight: Any = 1.0, kp: Any = None, kd: Any = None,
        frequency: float | None = None, damping_ratio: float | None = None,
    ) -> None:  # fmt: skip
        self.name, self.rows, self.goal = name, rows, goal
        self.weight = checked_gain("weight", weight, rows)
        if not self.weight.all():
            raise StateError(f"the {name} has a weight of 0; leave it out instead")
        self.kp, self.kd = decay_gains(rows, kp, kd, frequency, damping_ratio)

    @property
    def target(self) -> Any:
        """Where to, or a function of time that gives it."""
        return self.goal.value

    @target.setter
    def target(self, value: Any) -> None:
        self.goal.value = value

    @property
    def velocity(self) -> Any:
        """The target's velocity, a function of time that gives it, or None: what follows from the target."""
        return self.goal.velocity

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self.goal.velocity = value

    @property
    def acceleration(self) -> Any:
        """The target's acceleration, a function of time that gives it, or None: what follows from the others."""
        return self.goal.acceleration

    @acceleration.setter
    def acceleration(self, value: Any) -> None:
        self.goal.acceleration = value

    @abstractmethod
    def parts(self, dynamics: Dynamics) -> list[TaskPart]:
        """Its rows, sort after sort. ModelError for a body that is not there."""

    @property
    @abstractmethod
    def structure(self) -> Hashable:
        """What two tasks have in common whose rows differ by goals and weights alone."""

    def goals(self, time: float) -> list[Array]:
        """[goal, velocity, acceleration] of each part, in a row."""
        return [np.concatenate(self.goal.at(time))]

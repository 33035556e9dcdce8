"""What is to be followed: numbers, or functions of time; they may be changed while whoever follows them runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from recursive_dyn.control.goal_spaces import GoalSpace
from recursive_dyn.errors import StateError

Array = np.ndarray
Read = Callable[[Any], Array]
_STEP = 5e-4  # s, of differences in time: they err by 4e-8 of the third derivative, 2e-8 of the fourth


class Reference:
    """Numbers, or a function of time that gives them; ``value`` is what was given, and may be changed."""

    def __init__(self, read: Read, value: Any) -> None:
        self._read = read
        self.value = value

    @property
    def value(self) -> Any:
        """The numbers, a copy, or the function."""
        return self._function or self._numbers.copy()

    @value.setter
    def value(self, value: Any) -> None:
        self._function: Callable[[float], Any] | None = value if callable(value) else None
        self._numbers = np.zeros(0) if callable(value) else self._read(value)

    @property
    def moving(self) -> bool:
        """Whether it is a function of time."""
        return self._function is not None

    def __call__(self, time: float) -> Array:
        """The numbers at a time."""
        return self._numbers if self._function is None else self._read(self._function(time))


class Goal:
    """A point that moves: where it is, its velocity and acceleration, each numbers or a function of time.

    version: grows when one of them is changed; moving: whether any is a function of time.
    What is None follows from the others: 0 for what stands still, else by differences in time, whose error is about
    1e-7 of the motion's fourth derivative per s^4. StateError for what is not read, by name.
    """

    def __init__(self, space: GoalSpace, value: Any, velocity: Any = None, acceleration: Any = None) -> None:
        self._space = space
        self.version = 0
        self._value = Reference(space.read, value)
        self._velocity: Reference | None = None
        self._acceleration: Reference | None = None
        self.velocity, self.acceleration = velocity, acceleration

    @property
    def value(self) -> Any:
        """Where it is, or the function that gives it."""
        value = self._value.value
        return value if callable(value) else self._space.shown(value)

    @value.setter
    def value(self, value: Any) -> None:
        self._value.value = value
        self.version += 1

    @property
    def moving(self) -> bool:
        return any(part.moving for part in (self._value, self._velocity, self._acceleration) if part is not None)

    @property
    def velocity(self) -> Any:
        """The velocity, the function that gives it, or None."""
        return None if self._velocity is None else self._velocity.value

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self._velocity = None if value is None else Reference(partial(self._space.read_rate, order=1), value)
        self.version += 1

    @property
    def acceleration(self) -> Any:
        """The acceleration, the function that gives it, or None."""
        return None if self._acceleration is None else self._acceleration.value

    @acceleration.setter
    def acceleration(self, value: Any) -> None:
        self._acceleration = None if value is None else Reference(partial(self._space.read_rate, order=2), value)
        self.version += 1

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """(point, velocity, acceleration) at a time, s."""
        if not np.isfinite(time):
            raise StateError(f"time must be a finite number of seconds, not {time!r}")
        return self._value(time), self._velocity_at(time), self._acceleration_at(time)

    def _velocity_at(self, time: float) -> Array:
        if self._velocity is not None:
            return self._velocity(time)
        if not self._value.moving:
            return np.zeros(self._space.tangent)
        return self._space.way(self._value(time - _STEP), self._value(time + _STEP)) / (2 * _STEP)

    def _acceleration_at(self, time: float) -> Array:
        if self._acceleration is not None:
            return self._acceleration(time)
        if self._velocity is not None and self._velocity.moving:
            return (self._velocity(time + _STEP) - self._velocity(time - _STEP)) / (2 * _STEP)
        if self._velocity is not None or not self._value.moving:
            return np.zeros(self._space.tangent)
        before, now, after = (self._value(time + step) for step in (-_STEP, 0.0, _STEP))
        return (self._space.way(now, after) - self._space.way(before, now)) / _STEP**2

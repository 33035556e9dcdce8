"""What a controller is to follow: numbers, or functions of time; they may be changed while it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.state import numbers

Array = np.ndarray
Signal = Callable[[float], Any]
_STEP = 5e-4  # s, of differences in time: they err by 4e-8 of the third derivative, 2e-8 of the fourth


class Reference:
    """Numbers (size,), or a function of time that gives them; StateError for anything else, by name.

    ``value`` is what was given, and may be changed.
    """

    def __init__(self, dynamics: Dynamics, name: str, size: int, value: Any) -> None:
        self._dynamics, self._name, self._size = dynamics, name, size
        self.value = value

    @property
    def value(self) -> Any:
        """The numbers, a copy, or the function."""
        return self._function or self._numbers.copy()

    @value.setter
    def value(self, value: Any) -> None:
        self._function: Signal | None = value if callable(value) else None
        self._numbers = np.zeros(0) if callable(value) else self._checked(value)

    @property
    def moving(self) -> bool:
        """Whether it is a function of time."""
        return self._function is not None

    def __call__(self, time: float) -> Array:
        """The numbers (size,) at a time."""
        return self._numbers if self._function is None else self._checked(self._function(time))

    def _checked(self, value: Any) -> Array:
        return numbers(self._dynamics, self._name, value, self._size)


class Trajectory:
    """A configuration to follow: q (nq,), its velocity v (nv,) and acceleration a (nv,), as ``Dynamics`` has them.

    Each is numbers or a function of time. What is None follows from the others: 0 for a q that stands still, else by
    differences in time, whose error is about 1e-7 of the motion's fourth derivative per s^4.
    """

    def __init__(self, dynamics: Dynamics, q: Any = None, v: Any = None, a: Any = None) -> None:
        self._dynamics = dynamics
        self._q = Reference(dynamics, "q", dynamics.nq, dynamics.neutral() if q is None else q)
        self._v: Reference | None = None
        self._a: Reference | None = None
        self.v, self.a = v, a

    @property
    def q(self) -> Any:
        """The configuration, or the function that gives it."""
        return self._q.value

    @q.setter
    def q(self, value: Any) -> None:
        self._q.value = value

    @property
    def v(self) -> Any:
        """The velocity, the function that gives it, or None."""
        return None if self._v is None else self._v.value

    @v.setter
    def v(self, value: Any) -> None:
        self._v = None if value is None else Reference(self._dynamics, "v", self._dynamics.nv, value)

    @property
    def a(self) -> Any:
        """The acceleration, the function that gives it, or None."""
        return None if self._a is None else self._a.value

    @a.setter
    def a(self, value: Any) -> None:
        self._a = None if value is None else Reference(self._dynamics, "a", self._dynamics.nv, value)

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """(q, v, a) at a time, s. StateError where a function gives anything else than it should, or time is none."""
        if not np.isfinite(time):
            raise StateError(f"time must be a finite number of seconds, not {time!r}")
        return self._q(time), self._velocity(time), self._acceleration(time)

    def _velocity(self, time: float) -> Array:
        if self._v is not None:
            return self._v(time)
        if not self._q.moving:
            return np.zeros(self._dynamics.nv)
        before, after = self._q(time - _STEP), self._q(time + _STEP)
        return self._dynamics.difference(before, after) / (2 * _STEP)

    def _acceleration(self, time: float) -> Array:
        if self._a is not None:
            return self._a(time)
        if self._v is not None and self._v.moving:
            return (self._v(time + _STEP) - self._v(time - _STEP)) / (2 * _STEP)
        if self._v is not None or not self._q.moving:
            return np.zeros(self._dynamics.nv)
        before, now, after = (self._q(time + step) for step in (-_STEP, 0.0, _STEP))
        way = self._dynamics.difference
        return (way(now, after) - way(before, now)) / _STEP**2

"""The state of a simulation, and the check of what a person gives it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from recursive_dyn.codegen.evaluator import Evaluator
from recursive_dyn.errors import StateError

_MOST_STEPS = 2**63 - 1
_MOST_HERTZ = 1000  # beyond it, s are meant: orbits take hours


class State:
    """q (nq,), v (nv,), clock (1,): arrays that steps write to; the clock is the time, s.

    at: place in q and slot in v of time, where it is a coordinate, too.
    """

    def __init__(self, q: np.ndarray, v: np.ndarray, time: float = 0.0, at: tuple[int, int] | None = None) -> None:
        self.q, self.v, self.clock, self.at = q, v, np.array([time], dtype=float), at
        self.keep_time()

    def keep_time(self) -> None:
        """Let the coordinate that time is say what the clock says."""
        if self.at is not None:
            place, slot = self.at
            self.q[place], self.v[slot] = self.clock[0], 1.0

    def moment(self, parameters: np.ndarray) -> tuple[bytes, ...]:
        """What tells it, with these parameters (p,), from others: q comes first."""
        return self.q.tobytes(), self.v.tobytes(), parameters.tobytes()

    @property
    def time(self) -> float:
        """Time, s."""
        return float(self.clock[0])

    @time.setter
    def time(self, value: float) -> None:
        self.clock[0] = value
        self.keep_time()


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that determines what a simulation does next; touching: pairs of names of who was in touch.

    scene: the mark of the one that it is of (``saved.scene_mark``), None where whoever made it knows that it fits;
    moved: whether parameters moved constraints since the last step.
    """

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    time: float
    remainder: float
    parameters: np.ndarray
    forces: Sequence[tuple[int, np.ndarray, np.ndarray, np.ndarray]]
    memory: Any
    touching: Sequence[tuple[str, str]]
    scene: Any = None
    moved: bool = False


def numbers(dynamics: Evaluator, name: str, value: Any, size: int) -> np.ndarray:
    """``value`` as (size,) finite real numbers; StateError for anything else, naming the coordinate."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (size,) and np.isfinite(value).all():
        return value.copy()  # what nearly every call gives: a controller is asked thousands of times a second
    if np.ma.is_masked(value):
        raise StateError(f"'{name}' has masked entries; fill them with numbers")
    try:
        array = np.asarray(value)
        objects = array.flat if array.dtype.kind == "O" else ()
        if array.dtype.kind not in "iufO" or any(isinstance(x, (str, bytes, bool)) for x in objects):
            raise TypeError
        array = array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise StateError(f"'{name}' must be {size} real numbers") from None
    if array.shape != (size,):
        raise StateError(f"'{name}' has shape {array.shape}, but {(size,)} is needed")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise StateError(f"'{name}' is not finite at {dynamics.label(name, int(bad[0]))}")
    return array


def real(value: Any) -> float:
    """A real number as a float; NaN for anything else, text and truth values included."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf


def checked_time(value: Any) -> float:
    """A time in s; StateError for anything but a finite number."""
    time = real(value)
    if not isfinite(time):
        raise StateError(f"time must be a finite number of seconds, not {value!r}")
    return time


def checked_timestep(value: Any) -> float:
    """A timestep in s; StateError for anything but a positive finite number."""
    h = real(value)
    if not 0.0 < h < np.inf:
        raise StateError(f"timestep must be a positive number of seconds, not {value!r}")
    return h


def warn_of_hertz(timestep: float, stacklevel: int) -> None:
    """Say so where a timestep looks like steps a second."""
    if 2.0 <= timestep <= _MOST_HERTZ and timestep == int(timestep):
        warnings.warn(
            f"a timestep is in seconds, and this one is {timestep:g} s long; for {timestep:g} steps a second give"
            f" 1 / {timestep:g}",
            stacklevel=stacklevel + 1,
        )


def whole(count: Any) -> int:
    """A number of steps; StateError for anything else."""
    if type(count) is int and 0 <= count <= _MOST_STEPS:  # what nearly every call says: a step takes microseconds
        return count
    if type(count) is int:
        steps = count
    else:
        steps = -1 if isinstance(count, (bool, np.bool_)) or not isinstance(count, Integral) else int(count)
    if steps < 0:
        raise StateError(f"step takes a whole number of steps that is not negative, not {count!r}")
    if steps > _MOST_STEPS:
        raise StateError("step takes at most 2**63 - 1 steps, which is longer than anyone waits")
    return steps

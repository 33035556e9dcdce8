"""Motors of coordinates: what they aim at and how strong they are."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.model.model import Model


@dataclass(frozen=True)
class Motor:
    """Drives a coordinate at ``velocity`` with at most ``max_force`` (N or N m).

    With a ``position`` it drives there: velocity is added to the share ``gain`` of the way left, taken in one step.
    softness: share of what its impulse does by which it gives way; rigid motors on rigid ground have no solution.
    Raises StateError for numbers that are not finite or a negative force.
    """

    velocity: float = 0.0
    max_force: float = inf
    position: float | None = None
    gain: float = 0.2
    softness: float = 0.01

    def __post_init__(self) -> None:
        given = [self.velocity, self.gain, *([] if self.position is None else [self.position])]
        if not all(isinstance(x, (int, float)) and isfinite(x) for x in given):
            raise StateError(f"a motor's velocity, position and gain are finite numbers, not {self!r}")
        if not isinstance(self.max_force, (int, float)) or not self.max_force >= 0.0:
            raise StateError(f"a motor's max_force must not be negative, and not {self.max_force!r}")
        if not 0.0 <= self.softness < inf:
            raise StateError(f"a motor's softness must not be negative, and not {self.softness!r}")
        if not 0.0 < self.gain <= 1.0:
            raise StateError(f"a motor's gain is above 0 and at most 1, not {self.gain!r}")


@dataclass(frozen=True, eq=False)
class MotorArrays:
    """The motors of a solve: names of their rows, slots in v, then as in Motor; places in q."""

    names: list[str]
    slots: np.ndarray
    velocity: np.ndarray
    forces: np.ndarray
    places: np.ndarray
    positions: np.ndarray
    gains: np.ndarray  # 0 for a motor without a position
    softness: np.ndarray

    def velocities(self, q: np.ndarray, h: float) -> np.ndarray:
        """What they aim at in a step of length h that would end at q (nq,)."""
        return self.velocity + self.gains * (self.positions - q[self.places]) / h


class Motors(MutableMapping[str, Motor]):
    """Motors by coordinate, "body.coordinate". Raises ModelError for an unknown or unsuitable one."""

    def __init__(self, model: Model) -> None:
        self._slots = {c.name: slot for slot, c in enumerate(model.coordinates)}
        self._places = {slot: place for place, slot in model.plain_slots}
        self._motors: dict[str, Motor] = {}
        self._arrays: MotorArrays | None = None

    def __setitem__(self, name: str, motor: Motor) -> None:
        if not isinstance(motor, Motor):
            raise StateError(f"motors['{name}'] takes a Motor, not {motor!r}")
        slot = self.slot(name)
        if motor.position is not None and slot not in self._places:
            raise ModelError(f"coordinate '{name}' has no position that a motor could drive to, only a velocity")
        self._motors[name] = motor
        self._arrays = None

    def __getitem__(self, name: str) -> Motor:
        self.slot(name)
        return self._motors[name]

    def __delitem__(self, name: str) -> None:
        del self._motors[name]
        self._arrays = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._motors)

    def __len__(self) -> int:
        return len(self._motors)

    def slot(self, name: str) -> int:
        """Place in v of a coordinate."""
        if name not in self._slots:
            raise ModelError(f"unknown coordinate '{name}'; the scene has {', '.join(self._slots)}")
        return self._slots[name]

    def arrays(self) -> MotorArrays:
        """All motors, for a solve."""
        if self._arrays is None:
            motors, slots = list(self._motors.values()), [self._slots[name] for name in self._motors]
            self._arrays = MotorArrays(
                [f"motor of {name}" for name in self._motors],
                np.array(slots, dtype=int),
                np.array([m.velocity for m in motors], dtype=float),
                np.array([m.max_force for m in motors], dtype=float),
                np.array([self._places.get(slot, 0) for slot in slots], dtype=int),
                np.array([m.position or 0.0 for m in motors], dtype=float),
                np.array([0.0 if m.position is None else m.gain for m in motors], dtype=float),
                np.array([m.softness for m in motors], dtype=float),
            )
        return self._arrays

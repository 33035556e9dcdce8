"""Motors of coordinates: what they aim at and how strong they are."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers
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


class MotorArrays(NamedTuple):
    """The motors of a solve, the first size[0] of each array (nv,): slots in v, then as in Motor; places in q; gains 0
    for a motor without a position."""

    size: Integers
    slots: Integers
    velocity: Floats
    forces: Floats
    places: Integers
    positions: Floats
    gains: Floats
    softness: Floats


class Motors(MutableMapping[str, Motor]):
    """Motors by coordinate, "body.coordinate". Raises ModelError for an unknown or unsuitable one."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._motors: dict[str, Motor] = {}
        self._written = False
        whole, numbers = np.zeros((2, model.nv), dtype=np.int64), np.zeros((5, model.nv))
        velocity, forces, positions, gains, softness = numbers
        self._arrays = MotorArrays(
            np.zeros(1, dtype=np.int64), whole[0], velocity, forces, whole[1], positions, gains, softness
        )

    @cached_property
    def _slots(self) -> dict[str, int]:
        return {name: slot for slot, name in enumerate(self._model.velocity_names)}

    @cached_property
    def _places(self) -> dict[int, int]:
        return {slot: place for place, slot in self._model.plain_slots}

    def __setitem__(self, name: str, motor: Motor) -> None:
        if not isinstance(motor, Motor):
            raise StateError(f"motors['{name}'] takes a Motor, not {motor!r}")
        slot = self.slot(name)
        if motor.position is not None and slot not in self._places:
            raise ModelError(f"coordinate '{name}' has no position that a motor could drive to, only a velocity")
        self._motors[name] = motor
        self._written = False

    def __getitem__(self, name: str) -> Motor:
        self.slot(name)
        return self._motors[name]

    def __delitem__(self, name: str) -> None:
        del self._motors[name]
        self._written = False

    def __iter__(self) -> Iterator[str]:
        return iter(self._motors)

    def __len__(self) -> int:
        return len(self._motors)

    def slot(self, name: str) -> int:
        """Place in v of a coordinate."""
        if name not in self._slots:
            raise ModelError(f"unknown coordinate '{name}'; the scene has {', '.join(self._slots)}")
        return self._slots[name]

    def adopt(self, other: Motors) -> None:
        """Have the motors of another scene's coordinates whose names are known here."""
        for name, motor in other.items():
            if name in self._slots:
                self[name] = motor

    @property
    def arrays(self) -> MotorArrays:
        """All motors as ``write`` left them, in arrays that stay where they are."""
        return self._arrays

    def write(self) -> None:
        """Write what was changed since into the arrays."""
        if self._written:
            return
        a = self._arrays
        a.size[0] = len(self._motors)
        for k, (name, motor) in enumerate(self._motors.items()):
            slot, driven = self._slots[name], motor.position is not None
            a.slots[k], a.places[k] = slot, self._places.get(slot, 0)
            a.velocity[k], a.forces[k], a.softness[k] = motor.velocity, motor.max_force, motor.softness
            a.positions[k], a.gains[k] = motor.position or 0.0, motor.gain if driven else 0.0
        self._written = True

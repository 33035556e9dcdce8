"""A motor as a person gives it, and what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

import numpy as np

from recursive_dyn.errors import StateError

Numbers = float | Sequence[float]
_ROUNDING = 1e-9


@dataclass(frozen=True, repr=False)
class Motor:
    """A spring and a damper to where a coordinate should be: kp (position - q) + kd (velocity - v), at most max_force.

    The force, N or N m, is that of the step's end, whatever the timestep, and no gain is too stiff for one. Gains that
    are not given follow from what the coordinate carries: ``natural_gains`` for a frequency, Hz (10), and a damping
    ratio (1). Without position and kd the coordinate moves at ``velocity``, as far as max_force goes. max_force: of the
    motor's own shaft, ``gear`` times as much at the joint; None for the coordinate's effort limit, infinite unless one
    was given. All else is the joint's. (A rotor's inertia is gear^2 times as much in a joint's ``armature``.)

    A motor of a ball joint has a quaternion x, y, z, w as position, one of a free joint three numbers, a quaternion, or
    both; velocity, gains and max_force are one number, or one for each velocity coordinate (see ``Motors``).

    A motor of a joint of several charts leads the joint as a whole, by its body, to the pose that it has at
    ``position``, its coordinates in the chart number ``chart``, if that is None the one in force when the motor is set.
    It is one spring and damper a coordinate of that chart, as that coordinate moves the body at this pose
    (``charted_motors``); which chart the state is in does not matter.
    Raises StateError for numbers that are not finite or negative, and for gains that are given twice.
    """

    position: Numbers | None = None
    velocity: Numbers = 0.0
    kp: Numbers | None = None
    kd: Numbers | None = None
    max_force: Numbers | None = None
    gear: float = 1.0
    frequency: float | None = None
    damping_ratio: float | None = None
    chart: int | None = None

    def __post_init__(self) -> None:
        if all(getattr(self, field.name) is field.default for field in fields(self)):
            raise StateError(
                "a Motor of nothing would hold still with whatever force it takes: give it a position, a velocity (0.0"
                " to hold), or a max_force to brake with"
            )
        for field in fields(self):
            if field.name != "chart":
                object.__setattr__(self, field.name, _numbers(field.name, getattr(self, field.name)))
        if self.chart is not None and (isinstance(self.chart, bool) or not isinstance(self.chart, int)):
            raise StateError(f"a motor's chart is the number of a chart, not {self.chart!r}")
        if not (isinstance(self.gear, float) and self.gear > 0.0):
            raise StateError(f"a motor's gear is one number above 0, not {self.gear!r}")
        if self.frequency is not None and not self.frequency > 0.0:
            raise StateError(f"a motor's frequency is above 0 Hz, not {self.frequency!r}")
        if self.position is None and not (self.kp is None and self.frequency is None):
            raise StateError("a motor with kp or a frequency needs a position that its spring pulls to")
        for gain, rule in (("kp", "frequency"), ("kd", "damping_ratio")):
            if getattr(self, gain) is not None and getattr(self, rule) is not None:
                raise StateError(f"a motor's {gain} is given twice, by itself and by its {rule}; leave one out")

    def __repr__(self) -> str:
        said = [(field.name, getattr(self, field.name)) for field in fields(self)]
        told = [f"{name}={x!r}" for (name, x), field in zip(said, fields(self), strict=True) if x != field.default]
        return f"Motor({', '.join(told) or 'velocity=0.0'})"


def _unchanged(motor: Motor, name: str, value: Any) -> None:
    """A motor is put in place of another, so that whoever steps learns of it."""
    names = [field.name for field in fields(motor)]
    if name not in names:
        raise StateError(f"a Motor has no '{name}'; it has {', '.join(names)}")
    raise StateError(
        f"a Motor is not changed in place; put another one there: simulation.motors[...] = rd.Motor({name}={value!r},"
        f" ...), or dataclasses.replace(motor, {name}={value!r}), which keeps the rest"
    )


Motor.__setattr__ = _unchanged  # type: ignore[method-assign, assignment]


@dataclass(frozen=True)
class MotorForce:
    """What a motor did: its mean force on the joint over the last step, N or N m, and the most that it may be."""

    force: float
    most: float
    gear: float = 1.0

    @property
    def motor_side(self) -> float:
        """The force of the motor's own shaft."""
        return self.force / self.gear

    @property
    def saturated(self) -> bool:
        """Whether it gave all it has, throughout."""
        return abs(self.force) >= self.most * (1.0 - _ROUNDING)


class MotorForces(dict[str, MotorForce]):
    """What motors did, by velocity coordinate; asked for another name it raises what ``why`` has to say of it."""

    def __init__(self, found: Mapping[str, MotorForce], why: Callable[[str], Exception]) -> None:
        super().__init__(found)
        self._why = why

    def __missing__(self, name: str) -> MotorForce:
        raise self._why(name)

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


def _numbers(name: str, value: Any) -> Any:
    """A motor's setting as a float or a tuple of floats."""
    if value is None:
        return None
    single = np.ndim(value) == 0
    try:
        if isinstance(value, (str, bytes, bool)):
            raise TypeError
        result = tuple(float(x) for x in np.reshape(value, -1))
    except (TypeError, ValueError):
        raise StateError(f"a motor's {name} is a number, or numbers in a row, not {value!r}") from None
    bounded = name != "max_force"
    if not all(isfinite(x) if bounded else x >= 0.0 for x in result):
        raise StateError(f"a motor's {name} must be {'finite' if bounded else 'at least 0'}, not {value!r}")
    if name in ("kp", "kd", "damping_ratio") and min(result, default=0.0) < 0.0:
        raise StateError(f"a motor's {name} must not be negative, and not {value!r}")
    if name in ("frequency", "damping_ratio") and not single:
        raise StateError(f"a motor's {name} is one number, not {value!r}")
    return result[0] if single else result

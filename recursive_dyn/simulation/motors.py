"""Motors of coordinates: what they aim at, how stiff and how strong they are."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.natural_gains import DAMPING_RATIO, FREQUENCY, carried_inertia
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.model.ball_limits import ball_limits
from recursive_dyn.model.model import Model
from recursive_dyn.model.with_motions import refuse_motor
from recursive_dyn.simulation.actuation import MotorArrays, motor_arrays
from recursive_dyn.spatial.spaces import RigidMotion, Rotation

Numbers = float | Sequence[float]
_ROUNDING = 1e-9
_RIGID = 1e6  # times the inertia that it carries: the mass that a motor of given velocity adds to its coordinate


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

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, _numbers(field.name, getattr(self, field.name)))
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
        return f"Motor({', '.join(told)})"


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


@dataclass(frozen=True)
class _Coordinates:
    """What a motor may be put on: slots in v, and first places in q of what has a position, -1 for none.

    plain: of one number; point: of three; turn: of a quaternion.
    """

    slots: tuple[int, ...]
    plain: int = -1
    point: int = -1
    turn: int = -1


def _motorable(model: Model) -> dict[str, _Coordinates]:
    """By name: every velocity coordinate, and the ball or free joint of a body as a whole."""
    places = {slot: place for place, slot in model.plain_slots}
    found = {c.name: _Coordinates((s,), places.get(s, -1)) for s, c in enumerate(model.coordinates)}
    for link, factor, place, slot in model.owners:
        name, slots = model.links[link].name, tuple(range(slot, slot + factor.nv))
        if factor.space == Rotation():
            found.setdefault(name, _Coordinates(slots, turn=place))
        elif factor.space == RigidMotion():
            found.setdefault(name, _Coordinates(slots, point=place, turn=place + 3))
    return found


class Motors(MutableMapping[str, Motor]):
    """Motors by coordinate, "body.coordinate", or by body for its ball or free joint as a whole.

    Raises ModelError for an unknown or unsuitable one, StateError for a motor that does not fit it.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._inertia: dict[int, float] = {}  # by slot, of those that gains were asked for
        self._motors: dict[str, Motor] = {}
        self.written, self._arrays = False, motor_arrays(dynamics.nv)

    @cached_property
    def _known(self) -> dict[str, _Coordinates]:
        return _motorable(self._dynamics.model)

    def __repr__(self) -> str:
        return f"Motors({self._motors!r})"

    def __setitem__(self, name: str, motor: Motor) -> None:
        if not isinstance(motor, Motor):
            raise StateError(f"motors['{name}'] takes a Motor, not {motor!r}")
        driven = _driven(name, motor, self._coordinates(name))
        own = set(self._coordinates(name).slots)
        refuse_motor(self._dynamics.model, name, own)
        for other in self._motors:
            if other != name and own & set(self._known[other].slots):
                raise StateError(f"motors['{other}'] drives what motors['{name}'] would; delete one of them")
        self._gains(motor, driven.slots)  # now, as it may take a moment
        self._motors[name] = motor
        self.written = False

    def __getitem__(self, name: str) -> Motor:
        self._coordinates(name)
        return self._motors[name]

    def __delitem__(self, name: str) -> None:
        del self._motors[name]
        self.written = False

    def __iter__(self) -> Iterator[str]:
        return iter(self._motors)

    def __len__(self) -> int:
        return len(self._motors)

    def slots(self, name: str) -> tuple[int, ...]:
        """Places in v of a coordinate, or of a joint by its body."""
        return self._coordinates(name).slots

    def gains(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(kp, kd) of the motor of that name, one number each for each velocity coordinate that it drives."""
        return self._gains(self[name], _driven(name, self[name], self._known[name]).slots)[:2]

    def forces(self, impulses: dict[str, float], timestep: float) -> dict[str, MotorForce]:
        """By velocity coordinate, of ``impulses`` by row of a step."""
        names, a = self._dynamics.velocity_coordinates, self._arrays
        bounds = {names[a.slots[k]]: float(a.forces[k]) for k in range(a.size[0])}
        gears = {names[slot]: m.gear for key, m in self._motors.items() for slot in self._known[key].slots}
        told = {name: impulses.get(f"motor of {name}") for name in bounds}
        return {n: MotorForce(y / timestep, bounds[n], gears[n]) for n, y in told.items() if y is not None}

    def adopt(self, other: Motors) -> None:
        """Have the motors of another scene's coordinates whose names are known here."""
        for name, motor in other.items():
            if name in self._known:
                self[name] = motor

    @property
    def arrays(self) -> MotorArrays:
        """All motors as ``write`` left them, in arrays that stay where they are."""
        return self._arrays

    def write(self) -> None:
        """Write what was changed since into the arrays."""
        a = self._arrays
        a.size[:], a.drives[:] = 0, 0
        a.drives[ball_limits(self._dynamics.model).slots] = 1  # stops of balls push as motors do
        for name, motor in self._motors.items():
            self._write(motor, _driven(name, motor, self._known[name]))
        self.written = True

    def _write(self, motor: Motor, it: _Coordinates) -> None:
        a, (first, points, turns) = self._arrays, self._arrays.size.tolist()
        end = first + len(it.slots)
        a.slots[first:end], a.places[first:end] = it.slots, it.plain
        a.drives[list(it.slots)] = 1
        a.velocity[first:end] = motor.velocity
        a.kp[first:end], a.kd[first:end], a.rigid[first:end] = self._gains(motor, it.slots)
        a.forces[first:end] = self._most(motor, it.slots)
        at = np.reshape(motor.position, -1) if motor.position is not None else np.zeros(0)
        if it.plain >= 0:
            a.positions[first] = at[0]
        if it.point >= 0:
            a.points[points, :3] = end - 3, it.point, it.point + 3
            a.aims[points] = at[:3]
            points += 1
        if it.turn >= 0:
            a.turns[turns] = first, it.turn
            a.quaternions[turns] = at[-4:] / np.linalg.norm(at[-4:])
            turns += 1
        a.size[:] = end, points, turns

    def _most(self, motor: Motor, slots: tuple[int, ...]) -> Any:
        """The bound at each slot's joint, N or N m."""
        if motor.max_force is None:
            return [self._dynamics.model.coordinates[slot].effort for slot in slots]
        return motor.gear * np.asarray(motor.max_force)

    def _gains(self, motor: Motor, slots: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """kp, kd and the inertia of what is rigid, of every one of the slots."""
        kp, kd, rigid = np.zeros((3, len(slots)))
        rate = 2.0 * np.pi * (FREQUENCY if motor.frequency is None else motor.frequency)
        ratio = DAMPING_RATIO if motor.damping_ratio is None else motor.damping_ratio
        if motor.position is None and motor.kd is None:
            rigid[:] = _RIGID * self._carried(slots)
        if motor.position is not None:
            kp[:] = self._carried(slots) * rate**2 if motor.kp is None else motor.kp
            if motor.kd is None:
                kd[:] = 2.0 * ratio * np.sqrt(kp * self._carried(slots))
        if motor.kd is not None:
            kd[:] = motor.kd
        return kp, kd, rigid

    def _carried(self, slots: tuple[int, ...]) -> np.ndarray:
        """What each slot carries in the neutral configuration, so that gains do not depend on when they are set."""
        new = [slot for slot in slots if slot not in self._inertia]
        if new:
            try:
                found = carried_inertia(self._dynamics, self._dynamics.neutral(), new)
            except StateError:  # a joint may be singular there
                found = carried_inertia(self._dynamics, self._dynamics.random(0), new)
            self._inertia |= dict(zip(new, found.tolist(), strict=True))
        return np.array([self._inertia[slot] for slot in slots])

    def _coordinates(self, name: str) -> _Coordinates:
        if name not in self._known:
            raise ModelError(f"unknown coordinate '{name}'; the scene has {', '.join(self._known)}")
        return self._known[name]


def _driven(name: str, motor: Motor, it: _Coordinates) -> _Coordinates:
    """The coordinates that a motor drives, with the places of those whose position it was given."""
    if motor.position is None:
        found = _Coordinates(it.slots)
    else:
        size = np.size(motor.position)
        point, turn = it.point >= 0 and size in (3, 7), it.turn >= 0 and size in (4, 7 if it.point >= 0 else 4)
        if it.plain < 0 and it.turn < 0:
            raise ModelError(f"coordinate '{name}' has no position that a motor could drive to, only a velocity")
        if (it.plain >= 0 and size != 1) or (it.plain < 0 and not (point or turn)):
            wanted = "a number" if it.plain >= 0 else "a quaternion x, y, z, w"
            wanted += ", three numbers, or these and then a quaternion" if it.point >= 0 else ""
            raise StateError(f"the position of motors['{name}'] is {wanted}, not {motor.position!r}")
        slots = it.slots if it.plain >= 0 or it.point < 0 or size == 7 else it.slots[3:] if point else it.slots[:3]
        found = _Coordinates(slots, it.plain, it.point if point else -1, it.turn if turn else -1)
        if turn and not np.linalg.norm(np.reshape(motor.position, -1)[-4:]) > 0.0:
            raise StateError(f"the quaternion of motors['{name}'] has length 0; 0, 0, 0, 1 is no rotation")
    for field in ("velocity", "kp", "kd", "max_force"):
        value = getattr(motor, field)
        if value is not None and np.size(value) not in (1, len(found.slots)):
            raise StateError(
                f"{field} of motors['{name}'] is one number, or {len(found.slots)}, one a coordinate, not {value!r}"
            )
    return found

"""Motors of coordinates: what they aim at, how stiff and how strong they are."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.natural_gains import DAMPING_RATIO, FREQUENCY, carried_inertia
from recursive_dyn.errors import MissingError, ModelError, StateError, listed
from recursive_dyn.model.ball_limits import ball_limits, turning_places
from recursive_dyn.model.model import Link, Model
from recursive_dyn.model.with_motions import refuse_motor
from recursive_dyn.simulation.joint_laws.actuation import RIGID, MotorArrays, motor_arrays
from recursive_dyn.simulation.joint_laws.charted_motors import pushes, target
from recursive_dyn.simulation.joint_laws.motor import Motor, MotorForce, MotorForces
from recursive_dyn.spatial.spaces import RigidMotion, Rotation


@dataclass(frozen=True)
class _Coordinates:
    """What a motor may be put on: slots in v, and first places in q of what has a position, -1 for none.

    plain: of one number; point: of three; turn: of a quaternion. charted: whose joint has several charts.
    """

    slots: tuple[int, ...]
    plain: int = -1
    point: int = -1
    turn: int = -1
    charted: Link | None = None


def _motorable(model: Model) -> dict[str, _Coordinates]:
    """By name: every velocity coordinate; by body its ball or free joint, or one of several charts, as a whole."""
    places = {slot: place for place, slot in model.plain_slots}
    found = {c.name: _Coordinates((s,), places.get(s, -1)) for s, c in enumerate(model.coordinates)}
    for number, factor, place, slot in model.owners:
        name, slots = model.links[number].name, tuple(range(slot, slot + factor.nv))
        if factor.space == Rotation():
            found.setdefault(name, _Coordinates(slots, turn=place))
        elif factor.space == RigidMotion():
            found.setdefault(name, _Coordinates(slots, point=place, turn=place + 3))
    for link in model.charted:
        found.setdefault(link.name, _Coordinates(link.slots, charted=link))
    return found


class Motors(MutableMapping[str, Motor]):
    """Motors by coordinate, "body.coordinate", or by body for its ball or free joint, or one of several charts, as a
    whole.

    Raises ModelError for an unknown or unsuitable one, StateError for a motor that does not fit it.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._inertia: dict[int, float] = {}  # by slot, of those that gains were asked for
        self._motors: dict[str, Motor] = {}
        self._written, self._at = False, b""
        self._arrays = motor_arrays(dynamics.nv, len(dynamics.model.charted))

    @cached_property
    def _known(self) -> dict[str, _Coordinates]:
        return _motorable(self._dynamics.model)

    def __repr__(self) -> str:
        return f"Motors({self._motors!r})"

    def __setitem__(self, name: str, motor: Motor) -> None:
        if not isinstance(motor, Motor):
            raise StateError(f"motors['{name}'] takes a Motor, not {motor!r}")
        if (link := self._coordinates(name).charted) is not None and motor.chart is None:
            motor = replace(motor, chart=int(self._dynamics.parameters[str(link.chart)]))
        driven = _driven(name, motor, self._coordinates(name))
        own = set(self._coordinates(name).slots)
        refuse_motor(self._dynamics.model, name, own)
        for other in self._motors:
            if other != name and own & set(self._known[other].slots):
                raise StateError(f"motors['{other}'] drives what motors['{name}'] would; delete one of them")
        if link is not None:
            self._target(motor, link)
        self._gains(motor, driven)  # now, as it may take a moment
        self._motors[name] = motor
        self._written = False

    def __getitem__(self, name: str) -> Motor:
        self._coordinates(name)
        if name not in self._motors:
            raise self._missing(name)
        return self._motors[name]

    def __delitem__(self, name: str) -> None:
        self[name]  # raises where there is none
        del self._motors[name]
        self._written = False

    def _missing(self, name: str) -> MissingError:
        known = f"motors are on {', '.join(self._motors)}" if self._motors else "there are no motors yet"
        return MissingError(
            f"'{name}' has no motor: simulation.motors['{name}'] = rd.Motor(...) puts one there; {known}"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._motors)

    def __len__(self) -> int:
        return len(self._motors)

    def slots(self, name: str) -> tuple[int, ...]:
        """Places in v of a coordinate, or of a joint by its body."""
        return self._coordinates(name).slots

    def gains(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """(kp, kd) of the motor of that name, one number each for each velocity coordinate that it drives."""
        return self._gains(self[name], _driven(name, self[name], self._known[name]))[:2]

    def forces(self, impulses: dict[str, float], timestep: float) -> dict[str, MotorForce]:
        """By velocity coordinate, of ``impulses`` by row of a step."""
        names, a = self._dynamics.velocity_coordinates, self._arrays
        bounds = {names[a.slots[k]]: float(a.forces[k]) for k in range(a.size[0])}
        gears = {names[slot]: m.gear for key, m in self._motors.items() for slot in self._known[key].slots}
        told = {name: impulses.get(f"motor of {name}") for name in bounds if name in gears}
        found = {n: MotorForce(y / timestep, bounds[n], gears[n]) for n, y in told.items() if y is not None}
        return MotorForces(found, self._forceless)

    def _forceless(self, name: str) -> MissingError:
        """Why no force is told of a name; ModelError for one that is unknown."""
        own = [self._dynamics.velocity_coordinates[slot] for slot in self.slots(name)]
        if not {slot for motor in self._motors for slot in self._known[motor].slots} & {*self.slots(name)}:
            return self._missing(name)
        if own != [name]:
            return MissingError(f"forces of the motor of '{name}' are told by coordinate: {', '.join(own)}")
        return MissingError(f"the motor of '{name}' did nothing in the last step; take a step since it is there")

    def adopt(self, other: Motors) -> None:
        """Have the motors of another scene's coordinates whose names are known here."""
        for name, motor in other.items():
            if name in self._known and (self._known[name].charted is None) is (motor.chart is None):
                self[name] = motor

    def pushes(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """Of motors of joints of several charts, by velocity coordinate: the force (nv,) of a unit of it at q (nq,)."""
        a = self._arrays
        if not len(a.targets.joints):
            return {}
        if not self.written:
            self.write()
        found = pushes(a.targets, int(a.size[3]), self._dynamics.call("chart_motion", q), self._dynamics.nv)
        names = self._dynamics.velocity_coordinates
        return {names[a.slots[k]]: row for k, row in found.items()}

    @property
    def arrays(self) -> MotorArrays:
        """All motors as ``write`` left them, in arrays that stay where they are."""
        return self._arrays

    @property
    def written(self) -> bool:
        """Whether the arrays say what motors are; where a joint has several charts it depends on its parameters."""
        return self._written and (not self._arrays.size[3] or self._at == self._parameters())

    def _parameters(self) -> bytes:
        model, values = self._dynamics.model, self._dynamics.parameters.values_array
        return values[: len(model.common_parameters)].tobytes()

    def write(self) -> None:
        """Write what was changed since into the arrays."""
        a = self._arrays
        a.size[:], a.drives[:] = 0, 0
        limits = ball_limits(self._dynamics.model)
        a.drives[limits.slots[limits.afloat != 0]] = 1  # stops of free joints push what floats, as motors do
        for name, motor in self._motors.items():
            self._write(motor, _driven(name, motor, self._known[name]))
        self._written, self._at = True, self._parameters()

    def _write(self, motor: Motor, it: _Coordinates) -> None:
        a, (first, points, turns, joints) = self._arrays, self._arrays.size.tolist()
        end = first + len(it.slots)
        a.slots[first:end], a.places[first:end] = it.slots, it.plain
        a.drives[list(it.slots)] = 1
        a.velocity[first:end], a.positions[first:end], a.sizes[first:end] = motor.velocity, 0.0, 0
        a.kp[first:end], a.kd[first:end], a.rigid[first:end] = self._gains(motor, it)
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
        if it.charted is not None:
            a.firsts[first:end], a.sizes[first:end], n = it.slots[0], len(it.slots), len(it.slots)
            to, place = a.targets, turning_places(self._dynamics.model)[it.slots[0]]
            to.joints[joints] = first, n, place, it.slots[0]
            to.quaternions[joints], to.points[joints], to.shafts[joints, :n] = self._target(motor, it.charted)
            joints += 1
        a.size[:] = end, points, turns, joints

    def _target(self, motor: Motor, link: Link) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        assert motor.position is not None and motor.chart is not None
        return target(link, motor.chart, np.reshape(motor.position, -1).tolist(), self._dynamics.parameters)

    def _most(self, motor: Motor, slots: tuple[int, ...]) -> Any:
        """The bound at each slot's joint, N or N m."""
        if motor.max_force is None:
            return [self._dynamics.model.coordinates[slot].effort for slot in slots]
        return motor.gear * np.asarray(motor.max_force)

    def _gains(self, motor: Motor, it: _Coordinates) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """kp, kd and the inertia of what is rigid, of every one of the slots."""
        kp, kd, rigid = np.zeros((3, len(it.slots)))
        rate = 2.0 * np.pi * (FREQUENCY if motor.frequency is None else motor.frequency)
        ratio = DAMPING_RATIO if motor.damping_ratio is None else motor.damping_ratio
        if motor.position is None and motor.kd is None:
            rigid[:] = RIGID * self._carried(motor, it)
        if motor.position is not None:
            kp[:] = self._carried(motor, it) * rate**2 if motor.kp is None else motor.kp
            if motor.kd is None:
                kd[:] = 2.0 * ratio * np.sqrt(kp * self._carried(motor, it))
        if motor.kd is not None:
            kd[:] = motor.kd
        return kp, kd, rigid

    def _carried(self, motor: Motor, it: _Coordinates) -> np.ndarray:
        """What each slot carries in the neutral configuration, so that gains do not depend on when they are set; of a
        joint of several charts at the motor's position in its chart."""
        slots = it.slots
        if it.charted is not None:
            assert motor.position is not None and motor.chart is not None
            q, there = self._dynamics.neutral(), self._dynamics.view()
            q[list(it.charted.places)] = motor.position
            there.parameters[str(it.charted.chart)] = motor.chart
            return carried_inertia(there, q, slots)
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
            meant = self._dynamics.hanging.meant(name, self._known)
            raise ModelError(f"unknown coordinate '{name}'; the scene has {listed([*self._known], name)}{meant}")
        return self._known[name]


def _driven(name: str, motor: Motor, it: _Coordinates) -> _Coordinates:
    """The coordinates that a motor drives, with the places of those whose position it was given."""
    if it.charted is not None:
        _check_in_chart(name, motor, it.charted)
        found = it
    elif motor.chart is not None:
        raise StateError(f"motors['{name}'] has a chart, {motor.chart}, and its joint but one; leave chart= out")
    elif motor.position is None:
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


def _check_in_chart(name: str, motor: Motor, link: Link) -> None:
    """StateError for a motor that does not lead a joint of several charts to a pose."""
    count, names = len(link.joint.charts), len(link.slots)
    if motor.chart not in range(count):
        raise StateError(f"motors['{name}']: the joint has the charts 0 to {count - 1}, not {motor.chart!r}")
    if motor.position is None or np.size(motor.position) != names:
        raise StateError(
            f"motors['{name}'] leads a joint of several charts to a pose: position is its {names} coordinates in one of"
            f" them, not {motor.position!r} (with kp=0.0 a motor brakes, or keeps a velocity)"
        )

"""What instruments on bodies would read: inertial measurement units, forces in joints, touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.errors import MissingError, StateError, listed
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.simulation.loads.constraint_loads import pulls_on_bodies
from recursive_dyn.simulation.results.acting_forces import Acting, acting, contact_wrenches
from recursive_dyn.simulation.results.step_results import StepResults

_IMU, _FORCE, _TOUCH = "imu", "force", "touch"
_NEEDED = {
    _IMU: ("forward_dynamics", "external_forces", "passive_forces", "accelerations", "velocities", "poses"),
    _FORCE: ("forward_dynamics", "external_forces", "passive_forces", "joint_wrenches", "poses"),
    _TOUCH: ("poses",),
}  # of the functions of the dynamics
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class _Sensor:
    """kind of reading on a body, at a place (4, 4) in its frame."""

    kind: str
    body: str
    place: np.ndarray


class Sensors(Mapping[str, np.ndarray]):
    """Readings by name, of the present state and of the forces of the last step: ``sensors["hip"]``.

    ``imu``, ``force`` and ``touch`` add a sensor, ``del sensors["hip"]`` takes it away. Each sits at a place ``at``
    (4, 4) in its body's frame and reads in the axes of that place. A reading changes nothing. Forces are those of the
    last step as it ended (impulses over the step's length), with springs and dampers of the joints as they are now.
    """

    def __init__(self, simulation: StepResults) -> None:
        self._simulation = simulation
        self._sensors: dict[str, _Sensor] = {}

    def imu(self, name: str, body: Any, at: Any = None) -> None:
        """[angular velocity; specific force] (6,), rad/s and m/s^2: at rest g upwards, in free fall nothing."""
        self._add(name, _IMU, body, at)

    def force(self, name: str, body: Any, at: Any = None) -> None:
        """[moment; force] (6,) on the body by its joint, about the place: what a cut joint would have to transmit.

        The scene's constraints push the bodies that they hold, and their joints carry what these leave them.
        """
        self._add(name, _FORCE, body, at)

    def touch(self, name: str, body: Any, at: Any = None) -> None:
        """[moment; force] (6,) of all contacts on the body, about the place."""
        self._add(name, _TOUCH, body, at)

    def __getitem__(self, name: str) -> np.ndarray:
        sensor, simulation = self._known(name), self._simulation
        index = simulation.dynamics.model.body_index(sensor.body)
        X = simulation.dynamics.poses(simulation.q)[index]
        axes, arm = X[:3, :3] @ sensor.place[:3, :3], X[:3, :3] @ sensor.place[:3, 3]
        if sensor.kind == _TOUCH:
            wrench = contact_wrenches(simulation)[index]
        else:
            now = acting(simulation)
            if sensor.kind == _IMU:
                return _inertial(now, index, axes, arm)
            others = now.wrenches + _constraints(now) + pulls_on_bodies(now.dynamics, now.q, now.v)
            wrench = now.dynamics.joint_wrenches(now.q, now.v, _accelerations(now), others)[index]
        return np.concatenate([(wrench[:3] - np.cross(arm, wrench[3:])) @ axes, wrench[3:] @ axes])

    def __delitem__(self, name: str) -> None:
        self._known(name)
        del self._sensors[name]

    def _known(self, name: str) -> _Sensor:
        if name not in self._sensors:
            raise MissingError(f"there is no sensor '{name}'; there are {listed([*self._sensors], name)}")
        return self._sensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sensors)

    def __len__(self) -> int:
        return len(self._sensors)

    def keep_known(self) -> None:
        """Lose those on bodies that are no more."""
        known = set(self._simulation.dynamics.bodies)
        self._sensors = {name: sensor for name, sensor in self._sensors.items() if sensor.body in known}

    def _add(self, name: str, kind: str, body: Any, at: Any) -> None:
        dynamics = self._simulation.dynamics
        if isinstance(dynamics, MaximalDynamics):
            dynamics = dynamics.reduced
        index = dynamics.model.body_index(body)
        if name in self._sensors:
            raise StateError(f"there is a sensor '{name}' already; take another name, or delete that one")
        place = real_array(np.eye(4) if at is None else at)
        if place is None or place.shape != (4, 4):
            place = np.zeros((4, 4))
        turn = place[:3, :3]
        if not np.abs(turn @ turn.T - np.eye(3)).max() < _ROUNDING or not np.isfinite(place).all():
            raise StateError(f"sensor '{name}': at is a pose (4, 4), as rd.pose makes one, not {at!r}")
        needed = _NEEDED[kind]
        if kind == _FORCE and dynamics.model.constraints:
            needed = (*needed, "constraint_wrenches")
        if kind == _FORCE and dynamics.model.forces:
            needed = (*needed, "element_wrenches")
        for function in needed:
            dynamics.kernel(function)
        self._sensors[name] = _Sensor(kind, dynamics.bodies[index], place.copy())


def _inertial(now: Acting, index: int, axes: np.ndarray, arm: np.ndarray) -> np.ndarray:
    """[angular velocity; specific force] (6,) of a body, in axes (3, 3), at an arm (3,) from its origin."""
    dynamics = now.dynamics
    omega = dynamics.velocities(now.q, now.v)[index, :3]
    alpha, a = np.split(dynamics.accelerations(now.q, now.v, _accelerations(now))[index], 2)
    down = dynamics.model.gravity_at(dynamics.parameters.values_array)
    a = a + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm)) - down
    return np.concatenate([omega @ axes, a @ axes])


def _accelerations(now: Acting) -> np.ndarray:
    """(nv,) under the forces of the last step."""
    return now.dynamics.forward_dynamics(now.q, now.v, now.tau, now.wrenches)


def _constraints(now: Acting) -> np.ndarray:
    """Wrenches (nb, 6) of the scene's constraints under these forces, world axes at the bodies' origins."""
    dynamics = now.dynamics
    if not dynamics.model.constraints:
        return np.zeros((dynamics.model.nb, 6))
    pushed = dynamics.call("external_forces", now.q, now.wrenches.reshape(-1))
    return dynamics.constraint_wrenches(now.q, now.v, now.tau + pushed)

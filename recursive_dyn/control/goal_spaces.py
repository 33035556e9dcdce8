"""Where goals are: configurations, vectors, rotations, poses; how one is written, what leads from one to another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.control.led_coordinates import LedCoordinates
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.state import numbers
from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_log, quaternion_to_matrix

Array = np.ndarray
_RIGID = 1e-6  # by which R^T R may differ from 1


class GoalSpace(ABC):
    """A space of goals. tangent: how many numbers a velocity has.

    Whatever is read raises StateError for what it is not, by name.
    """

    def __init__(self, tangent: int) -> None:
        self.tangent = tangent

    @abstractmethod
    def read(self, value: Any) -> Array:
        """The numbers of a goal, in a row."""

    def shown(self, point: Array) -> Array:
        """A goal of these numbers as a person sees it."""
        return point

    @abstractmethod
    def read_rate(self, value: Any, order: int) -> Array:
        """A velocity (order 1) or acceleration (order 2) (tangent,)."""

    @abstractmethod
    def way(self, a: Array, b: Array) -> Array:
        """The velocity (tangent,) that leads from one goal to another in a unit of time."""


class Configurations(GoalSpace):
    """q (nq,), with v and a (nv,), as ``Dynamics`` has them; they may be anything where coordinates are led."""

    def __init__(self, dynamics: Dynamics) -> None:
        super().__init__(dynamics.nv)
        self._dynamics, self._led = dynamics, LedCoordinates(dynamics)

    def read(self, value: Any) -> Array:
        return numbers(self._dynamics, "q", self._led.overlooked(value, True), self._dynamics.nq)

    def read_rate(self, value: Any, order: int) -> Array:
        return numbers(self._dynamics, "va"[order - 1], self._led.overlooked(value, False), self.tangent)

    def way(self, a: Array, b: Array) -> Array:
        return self._dynamics.difference(a, b)


class Vectors(GoalSpace):
    """Numbers (size,), world axes. what: as in "target of the position of 'hand'"."""

    def __init__(self, what: str, size: int) -> None:
        super().__init__(size)
        self.what = what

    def read(self, value: Any) -> Array:
        return self._numbers(value, self.what, self.tangent)

    def read_rate(self, value: Any, order: int) -> Array:
        return self._numbers(value, f"{('velocity', 'acceleration')[order - 1]} of the {self.what}", self.tangent)

    def way(self, a: Array, b: Array) -> Array:
        return b - a

    @staticmethod
    def _numbers(value: Any, what: str, size: int) -> Array:
        given = real_array(value)
        if given is None or given.shape != (size,):
            raise StateError(f"the {what} must be {size} numbers, not {value!r}")
        if not np.isfinite(given).all():
            raise StateError(f"the {what} is not finite: {given.tolist()}")
        return given.copy()


class Rotations(Vectors):
    """Rotations, (3, 3) or quaternions x, y, z, w; velocities are angular, in world axes."""

    def __init__(self, what: str) -> None:
        super().__init__(what, 3)

    def read(self, value: Any) -> Array:
        return self._rotation(value).ravel()

    def shown(self, point: Array) -> Array:
        return point.reshape(3, 3)

    def way(self, a: Array, b: Array) -> Array:
        return np.asarray(quaternion_log(matrix_to_quaternion(b[:9].reshape(3, 3) @ a[:9].reshape(3, 3).T)))

    def _rotation(self, value: Any) -> Array:
        given = real_array(value)
        if given is not None and given.shape == (4,) and np.isfinite(given).all() and given.any():
            return np.asarray(quaternion_to_matrix(given))
        if given is None or given.shape != (3, 3):
            raise StateError(f"the {self.what} must be a rotation: a matrix (3, 3), or a quaternion x, y, z, w")
        if not (np.abs(given.T @ given - np.eye(3)).max() < _RIGID and np.linalg.det(given) > 0.0):
            raise StateError(f"the {self.what} is no rotation: its columns are not orthonormal and right-handed")
        return given


class Poses(Rotations):
    """Poses (4, 4), kept as a rotation and a place (12,); velocities [angular; linear] are in world axes."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.tangent = 6

    def read(self, value: Any) -> Array:
        given = real_array(value)
        if given is None or given.shape != (4, 4):
            raise StateError(f"the {self.what} must be a pose, (4, 4) numbers, as rd.pose(xyz, rpy) gives them")
        place = self._numbers(given[:3, 3], self.what, 3)
        return np.concatenate([self._rotation(given[:3, :3]).ravel(), place])

    def shown(self, point: Array) -> Array:
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = point[:9].reshape(3, 3), point[9:]
        return X

    def way(self, a: Array, b: Array) -> Array:
        return np.concatenate([super().way(a, b), b[9:] - a[9:]])

"""The spaces that coordinates live in: R^n, the sphere S^2, the rotations SO(3), the rigid motions SE(3).

A point is ``size`` numbers; what leaves it in a unit of time is a tangent of ``tangent_size`` numbers, ``dimension`` of
them independent. ``exp`` follows a tangent for a unit of time, ``log`` says which one leads from a point to another,
``rate`` is the derivative of a point's numbers. They take scalars (floats or expressions) with the numbers on the last
axis and any leading axes; expressions in, expressions out. A space is a value: equal ones compare equal.

A space of one's own is one more class like these; joints and everything after them ask it for nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, array, atan2, less, reciprocal, select, sqrt
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.spatial.algebra import applied, components, cross, dot, gathered
from recursive_dyn.spatial.log_rates import rotation_log_rate, screw_log_rate
from recursive_dyn.spatial.rotations import (
    normalized,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_rate,
    quaternion_to_matrix,
    rotated,
    screw_exp,
    screw_log,
)


@dataclass(frozen=True)
class Space(ABC):
    """A smooth space of configurations. units: (first, end) of the numbers of a point that together have length 1;
    written: what the numbers of a point are, in words."""

    name: str
    size: int
    tangent_size: int
    dimension: int
    units: tuple[tuple[int, int], ...] = ()
    written: str = "numbers"

    @property
    def flat(self) -> bool:
        """Whether a tangent is the rate of the point's numbers and is simply added to them."""
        return False

    @property
    def neutral(self) -> tuple[float, ...]:
        """The point to start from: zeros; of numbers of length 1 the last is 1."""
        ends = [end - 1 for _, end in self.units]
        return tuple(1.0 if i in ends else 0.0 for i in range(self.size))

    @abstractmethod
    def labels(self, velocities: Sequence[str]) -> tuple[str, ...]:
        """Names of a point's numbers, where ``velocities`` are those of a tangent's."""

    @abstractmethod
    def exp(self, point: Any, tangent: Any) -> np.ndarray:
        """The point (..., size) that a tangent (..., tangent_size) leads to in a unit of time."""

    @abstractmethod
    def log(self, point: Any, other: Any) -> np.ndarray:
        """The shortest tangent (..., tangent_size) that leads from a point to another one."""

    @abstractmethod
    def rate(self, point: Any, tangent: Any) -> np.ndarray:
        """The derivative (..., size) of a point's numbers along a tangent."""

    def log_rate(self, point: np.ndarray, other: np.ndarray, tangent: np.ndarray, other_tangent: np.ndarray) -> Any:
        """The derivative (tangent_size,) of ``log(point, other)`` where each, one point (size,), moves along a tangent.

        By differentiating ``log``; a space whose ``log`` has no derivative as it is written has a formula of its own.
        """
        graph = Graph()
        given = {"point": point, "other": other, "tangent": tangent, "other tangent": other_tangent}
        x, y, dx, dy = (graph.inputs(name, len(values)) for name, values in given.items())
        along = {**dict(zip(x, self.rate(x, dx), strict=True)), **dict(zip(y, self.rate(y, dy), strict=True))}
        rates = directional_derivative(list(self.log(x, y)), along)
        return array(substitute(rates, {(name, i): a for name, own in given.items() for i, a in enumerate(own)}))

    def basis(self, point: Any) -> np.ndarray:
        """Independent tangents (tangent_size, dimension) at a point (size,), orthonormal."""
        return array(np.eye(self.dimension))

    def normals(self, point: Any) -> list[np.ndarray]:
        """Tangents (..., tangent_size) of length 1 that lead nowhere from points (..., size)."""
        return []

    def restored(self, point: Any) -> np.ndarray:
        """The point, rid of what rounding did to unit lengths."""
        result = np.array(point)
        for first, end in self.units:
            result[..., first:end] = normalized(result[..., first:end])
        return result

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """A point (size,): every direction equally likely, other numbers in [-pi, pi]."""
        point = rng.uniform(-np.pi, np.pi, self.size)
        for first, end in self.units:
            point[first:end] = rng.normal(size=end - first)
        return self.restored(point)


class Flat(Space):
    """R^n; R^0 is a single point."""

    def __init__(self, size: int) -> None:
        super().__init__("flat", size, size, size)

    @property
    def flat(self) -> bool:
        return True

    def labels(self, velocities: Sequence[str]) -> tuple[str, ...]:
        return tuple(velocities)

    def exp(self, point: Any, tangent: Any) -> np.ndarray:
        return np.asarray(point) + np.asarray(tangent)

    def log(self, point: Any, other: Any) -> np.ndarray:
        return np.asarray(other) - np.asarray(point)

    def rate(self, point: Any, tangent: Any) -> np.ndarray:
        return np.asarray(tangent)


class UnitSphere(Space):
    """Unit vectors; a tangent is an angular velocity omega (3,) at right angles to the vector: q' = omega x q."""

    def __init__(self) -> None:
        super().__init__("sphere", 3, 3, 2, units=((0, 3),), written="a unit vector")

    def labels(self, velocities: Sequence[str]) -> tuple[str, ...]:
        return ("nx", "ny", "nz")

    def exp(self, point: Any, tangent: Any) -> np.ndarray:
        return rotated(quaternion_exp(tangent), point)

    def log(self, point: Any, other: Any) -> np.ndarray:
        """As above; between opposite points one of the half turns."""
        (x, y, z), end, normal = components(point), components(other), components(cross(point, other))
        sine, cosine = sqrt(dot(normal, normal) + 1e-300), dot((x, y, z), end)
        opposite, steep = less(sine, 1e-100) * less(cosine, 0.0), less(0.5, z * z)
        beside = [select(steep, 0.0, -y), select(steep, -z, x), select(steep, y, 0.0)]
        axis = [select(opposite, b, n) for b, n in zip(beside, normal, strict=True)]
        scale = atan2(sine, cosine) * reciprocal(select(opposite, sqrt(dot(beside, beside)), sine))
        return gathered([n * scale for n in axis], normal)

    def rate(self, point: Any, tangent: Any) -> np.ndarray:
        return cross(tangent, point)

    def basis(self, point: Any) -> np.ndarray:
        """As above, q x b1 = b2 everywhere on the sphere; it jumps where q_z changes its sign. Not finite for q = 0.

        Duff et al. 2017, Building an Orthonormal Basis, Revisited, Journal of Computer Graphics Techniques 6.
        """
        x, y, z = point
        sign = select(less(z, 0.0), -1.0, 1.0)
        scale = reciprocal(sign * dot(point, point) + z)
        xx, xy, yy = x * x * scale, x * y * scale, y * y * scale
        return array([[1.0 - sign * xx, -xy], [-(sign * xy), sign - yy], [-(sign * x), -y]])

    def normals(self, point: Any) -> list[np.ndarray]:
        return [point]


class Rotation(Space):
    """Rotations, as unit quaternions x, y, z, w; a tangent is the angular velocity (3,) in child axes."""

    def __init__(self) -> None:
        super().__init__("rotation", 4, 3, 3, units=((0, 4),), written="a quaternion")

    def labels(self, velocities: Sequence[str]) -> tuple[str, ...]:
        return ("qx", "qy", "qz", "qw")

    def exp(self, point: Any, tangent: Any) -> np.ndarray:
        return normalized(quaternion_product(point, quaternion_exp(tangent)))

    def log(self, point: Any, other: Any) -> np.ndarray:
        return quaternion_log(quaternion_product(quaternion_conjugate(point), other))

    def log_rate(self, point: np.ndarray, other: np.ndarray, tangent: np.ndarray, other_tangent: np.ndarray) -> Any:
        return rotation_log_rate(self.log(point, other), tangent, other_tangent)

    def rate(self, point: Any, tangent: Any) -> np.ndarray:
        return quaternion_rate(point, tangent)

    def pose(self, point: np.ndarray) -> np.ndarray:
        """The rigid motion (4, 4) of one point (4,)."""
        result = array(np.eye(4))
        result[:3, :3] = quaternion_to_matrix(point)
        return result


class RigidMotion(Space):
    """Rigid motions, as position and unit quaternion x, y, z, w; a tangent is the twist [omega; v] in child axes."""

    def __init__(self) -> None:
        super().__init__("rigid motion", 7, 6, 6, units=((3, 7),), written="a position and a quaternion")

    def labels(self, velocities: Sequence[str]) -> tuple[str, ...]:
        return ("x", "y", "z", "qx", "qy", "qz", "qw")

    def exp(self, point: Any, tangent: Any) -> np.ndarray:
        (p, q), (omega, v) = _split(point), _split(tangent)
        position = p + applied(quaternion_to_matrix(q), screw_exp(omega, v))
        return np.concatenate([position, Rotation().exp(q, omega)], axis=-1)

    def log(self, point: Any, other: Any) -> np.ndarray:
        (p, q), (p_other, q_other) = _split(point), _split(other)
        omega = Rotation().log(q, q_other)
        way = applied(np.swapaxes(quaternion_to_matrix(q), -1, -2), p_other - p)
        return np.concatenate([omega, screw_log(omega, way)], axis=-1)

    def log_rate(self, point: np.ndarray, other: np.ndarray, tangent: np.ndarray, other_tangent: np.ndarray) -> Any:
        (p, q), (omega, v), (p_other, q_other) = _split(point), _split(tangent), _split(other)
        e = Rotation().log(q, q_other)
        turn = rotation_log_rate(e, omega, other_tangent[:3])
        R = quaternion_to_matrix(q)
        way = R.T @ (p_other - p)
        way_rate = R.T @ (quaternion_to_matrix(q_other) @ other_tangent[3:]) - v - cross(omega, way)
        return np.concatenate([turn, screw_log_rate(e, turn, way, way_rate)])

    def rate(self, point: Any, tangent: Any) -> np.ndarray:
        (_, q), (omega, v) = _split(point), _split(tangent)
        return np.concatenate([applied(quaternion_to_matrix(q), v), quaternion_rate(q, omega)], axis=-1)

    def pose(self, point: np.ndarray) -> np.ndarray:
        """The rigid motion (4, 4) of one point (7,)."""
        result = Rotation().pose(point[3:])
        result[:3, 3] = point[:3]
        return result


def _split(a: Any) -> tuple[np.ndarray, np.ndarray]:
    """The first three numbers and the others."""
    a = np.asarray(a)
    return a[..., :3], a[..., 3:]

"""Where bodies reach into half spaces, the ground for one: exact, all corners at once, without Bullet.

The lowest points of a shape over a plane are known in closed form; Bullet finds one of them a time, and nothing beyond
the ground that it has instead of a plane.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bridge.planes.lowest_points import MOST, POINTS, Lowest, Planes, Supports, lowest_points
from bridge.planes.supports import supports
from recursive_dyn.contact.material import Material
from scene import shapes

Vector = Sequence[float] | np.ndarray

MARGIN = 5e-3  # m, up to which points above a plane are reported


@dataclass(frozen=True, eq=False)
class Touch:
    """Points of shapes near planes, one a row.

    body, shape, plane (n,): numbers, as added. feature (n,): which of its shape's points it is, the same number from
    step to step. point (n, 3): on the shape, in the world, m. distance (n,): above the plane, negative within.
    """

    body: np.ndarray
    shape: np.ndarray
    plane: np.ndarray
    feature: np.ndarray
    point: np.ndarray
    distance: np.ndarray


class _Part(NamedTuple):
    """A support of a shape, in its body's frame, as ``lowest_points.Supports`` has them."""

    body: int
    shape: int
    kind: int
    corners: int
    feature: int
    points: np.ndarray
    middle: np.ndarray
    axes: np.ndarray
    size: tuple[float, ...]  # the fourth: how far it reaches


class HalfSpaces:
    """Planes, each a point (3,), a unit normal (3,) out of the ground, and a material; the shapes added meet them all.

    ``materials``: of the shapes, by their number.
    """

    def __init__(self, planes: Sequence[tuple[Vector, Vector, Material | None]]) -> None:
        self.points = np.array([point for point, _, _ in planes], dtype=float).reshape(-1, 3)
        self.normals = np.array([normal for _, normal, _ in planes], dtype=float).reshape(-1, 3)
        self.plane_materials = [material for _, _, material in planes]
        self.materials: list[Material | None] = []
        self._parts: list[_Part] = []
        self._free: list[int] = []  # numbers of shapes that went
        self._table: tuple[Supports, Planes, Lowest] | None = None

    @classmethod
    def of(cls, scenery: Iterable[shapes.Shape]) -> HalfSpaces:
        """The half spaces under the Planes that collide in a scenery."""
        planes = [shape for shape in scenery if isinstance(shape, shapes.Plane) and shape.collision]
        return cls([(p.at[:3, 3], p.at[:3, :3] @ np.asarray(p.normal), p.material) for p in planes])

    def __len__(self) -> int:
        return len(self.points)

    def add(self, body: int, shape: shapes.Shape, material: Material | None = None) -> int:
        """Let a shape of body number ``body`` meet the planes; its number. Raises ModelError for an unknown kind."""
        number, feature = self._free.pop() if self._free else len(self.materials), 0
        for part in supports(shape):
            points = part.points @ shape.at[:3, :3].T + shape.at[:3, 3]
            middle = points.mean(axis=0)
            reach = float(np.linalg.norm(points - middle, axis=1).max()) + sum(part.size)
            kind = (part.kind, len(points), feature)
            self._parts.append(_Part(body, number, *kind, points, middle, shape.at[:3, :3], (*part.size, reach)))
            feature += len(part.points) if part.kind == POINTS else 4
        self.materials[number:] = [material, *self.materials[number + 1 :]]
        self._table = None
        return number

    def renumber(self, bodies: Mapping[int, int]) -> list[int]:
        """Bodies have other numbers now; shapes keep theirs. Those of bodies without one go: their numbers."""
        gone = {part.shape for part in self._parts if part.body not in bodies}
        self._parts = [part._replace(body=bodies[part.body]) for part in self._parts if part.body in bodies]
        self._free += sorted(gone)
        self._table = None
        return sorted(gone)

    def contacts(self, poses: np.ndarray, margin: float = MARGIN) -> Touch:
        """Points of the shapes less than ``margin`` m above a plane, bodies at X_WB ``poses`` (nb, 4, 4).

        Of a shape with corners it is the lowest and up to four around it, of a rim or tube the lowest and three more
        around, of an end of a capsule and of an ellipsoid the lowest one.
        """
        supports, planes, found = self.tables()
        count = lowest_points(supports, planes, np.ascontiguousarray(poses, dtype=float), margin, found)
        whole, real = found.whole[:count].copy(), found.real[:count].copy()
        return Touch(whole[:, 0], whole[:, 1], whole[:, 2], whole[:, 3], real[:, :3], real[:, 3])

    def tables(self) -> tuple[Supports, Planes, Lowest]:
        """What ``lowest_points`` reads, and the memory that it fills, which holds all that can be found at once."""
        if self._table is None:
            self._table = self._tabled()
        return self._table

    def _tabled(self) -> tuple[Supports, Planes, Lowest]:
        parts = self._parts
        ends = np.cumsum([0, *(part.corners for part in parts)])
        listed = [(p.body, p.shape, p.kind, ends[k], ends[k + 1], p.feature) for k, p in enumerate(parts)]
        rows = np.array(listed, dtype=np.int64).reshape(-1, 6)
        points = np.concatenate([np.zeros((0, 3)), *(part.points for part in parts)])
        each = np.where(rows[:, 2] == POINTS, np.minimum(rows[:, 4] - rows[:, 3], MOST), 4)
        most = len(self.points) * int(each.sum())
        axes = np.array([part.axes for part in parts]).reshape(-1, 3, 3)
        sizes = np.array([part.size for part in parts]).reshape(-1, 4)
        middles = np.array([part.middle for part in parts]).reshape(-1, 3)
        sides = np.cross(self.normals, np.eye(3)[np.abs(self.normals).argmin(axis=1)])
        sides /= np.maximum(np.linalg.norm(sides, axis=1, keepdims=True), 1e-300)
        tangents = np.stack([sides, np.cross(self.normals, sides)], axis=1)
        return (
            Supports(rows, points, middles, axes, sizes),
            Planes(self.points, self.normals, tangents),
            Lowest(np.empty((most, 4), np.int64), np.empty((most, 4))),
        )


def facing(normal: np.ndarray) -> np.ndarray:
    """A pose at the origin whose z axis is ``normal``; the identity for a level plane."""
    X = np.eye(4)
    side = np.eye(3)[np.abs(normal).argmin()]
    side = side - normal * (normal @ side)
    side /= np.linalg.norm(side)
    X[:3, :3] = np.stack([side, np.cross(normal, side), normal], axis=1)
    return X

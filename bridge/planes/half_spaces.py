"""Where bodies reach into half spaces, the ground for one: exact, all corners at once, without Bullet.

The lowest points of a shape over a plane are known in closed form; Bullet finds one of them a time, and nothing beyond
the ground that it has instead of a plane.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bridge.planes.lowest_points import MOST, POINTS, Lowest, Planes, Supports, lowest_points
from bridge.planes.row_table import OwnRows, RowKind, RowTable, packed
from bridge.planes.supports import supports
from recursive_dyn.contact.material import Material
from recursive_dyn.graph.recent import Recent
from scene import shapes

Vector = Sequence[float] | np.ndarray

MARGIN = 5e-3  # m, up to which points above a plane are reported
_INT = np.int64
_ROWS = (
    RowKind(_INT, (6,)),
    RowKind(float, (3,)),
    RowKind(float, (3,)),
    RowKind(float, (3, 3)),
    RowKind(float, (4,)),
    RowKind(_INT, (3,)),
)


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


class Outline(NamedTuple):
    """What decides how low the shapes of a body reach, in its frame, as ``lowest_points.Supports`` has it.

    rows: of body 0, shapes and points counted from 0; counts: how many rows, shapes and points there are; packed: all
    of them.
    """

    supports: Supports
    counts: tuple[int, int, int]
    packed: OwnRows

    @classmethod
    def of(cls, body_shapes: Sequence[shapes.Shape]) -> Outline:
        """Of some shapes. Raises ModelError for an unknown kind."""
        contents = tuple([shape.content for shape in body_shapes])
        if None in contents:
            return cls._worked_out(body_shapes)
        return _KNOWN.of(contents, lambda: cls._worked_out(body_shapes))

    @classmethod
    def _worked_out(cls, body_shapes: Sequence[shapes.Shape]) -> Outline:
        rows, points, sizes, axes, end = [], [np.zeros((0, 3))], list[tuple[float, ...]](), list[np.ndarray](), 0
        middles = list[np.ndarray]()
        for number, shape in enumerate(body_shapes):
            feature = 0
            for part in supports(shape):
                own = part.points @ shape.at[:3, :3].T + shape.at[:3, 3]
                middle = own.mean(axis=0)
                reach = float(np.linalg.norm(own - middle, axis=1).max()) + sum(part.size)
                rows.append((0, number, part.kind, end, end + len(own), feature))
                points.append(own)
                middles.append(middle)
                axes.append(shape.at[:3, :3])
                sizes.append((*part.size, reach))
                feature += len(own) if part.kind == POINTS else 4
                end += len(own)
        found = Supports(
            np.array(rows, dtype=np.int64).reshape(-1, 6), np.concatenate(points), np.array(middles).reshape(-1, 3),
            np.array(axes).reshape(-1, 3, 3), np.array(sizes).reshape(-1, 4),
        )  # fmt: skip
        counts = len(rows), len(body_shapes), end
        return cls(found, counts, packed((*found, np.array([counts])), _ROWS))


_KNOWN = Recent[Outline](256)  # of equal bodies, which come by the hundred


class HalfSpaces:
    """Planes, each a point (3,), a unit normal (3,) out of the ground, and a material; the outlines laid on them.

    outlines: rows of those, by whose they are; shapes are numbered as they come there.
    """

    def __init__(self, planes: Sequence[tuple[Vector, Vector, Material | None]]) -> None:
        self.points = np.array([point for point, _, _ in planes], dtype=float).reshape(-1, 3)
        self.normals = np.array([normal for _, normal, _ in planes], dtype=float).reshape(-1, 3)
        self.plane_materials = [material for _, _, material in planes]
        sides = np.cross(self.normals, np.eye(3)[np.abs(self.normals).argmin(axis=1)])
        sides /= np.maximum(np.linalg.norm(sides, axis=1, keepdims=True), 1e-300)
        tangents = np.stack([sides, np.cross(self.normals, sides)], axis=1)
        self._planes = Planes(self.points, self.normals, tangents)
        self.outlines, self._bodies = RowTable(_ROWS), np.zeros(0, dtype=np.int64)
        self._found = Lowest(np.empty((0, 4), np.int64), np.empty((0, 4)))
        self._table: tuple[Supports, Planes, Lowest] | None = None
        self._counts, self._firsts = np.zeros((0, 3), dtype=np.int64), np.zeros(1, dtype=np.int64)

    @classmethod
    def of(cls, scenery: Iterable[shapes.Shape]) -> HalfSpaces:
        """The half spaces under the Planes that collide in a scenery."""
        planes = [shape for shape in scenery if isinstance(shape, shapes.Plane) and shape.collision]
        return cls([(p.at[:3, 3], p.at[:3, :3] @ np.asarray(p.normal), p.material) for p in planes])

    def __len__(self) -> int:
        return len(self.points)

    def add(self, body: int, shape: shapes.Shape) -> int:
        """Let a shape of body number ``body`` meet the planes; its number. Raises ModelError for an unknown kind."""
        number = int(self.firsts[-1])
        self.outlines.add(len(self.outlines), Outline.of([shape]).packed)
        self.number(np.append(self._bodies, body))
        return number

    def number(self, bodies: np.ndarray) -> None:
        """The outlines are of bodies of these numbers (n,)."""
        self._bodies, self._table = bodies, None

    @property
    def firsts(self) -> np.ndarray:
        """Number of the first shape of each outline, and how many shapes there are, (n + 1,)."""
        counts = self.outlines.arrays[-1]
        if counts is not self._counts:
            self._counts, self._firsts = counts, np.concatenate(([0], counts[:, 1].cumsum()))
        return self._firsts

    def contacts(self, poses: np.ndarray, margin: float = MARGIN) -> Touch:
        """Points of the shapes less than ``margin`` m above a plane, bodies at X_WB ``poses`` (nb, 4, 4).

        Of a shape with corners it is the lowest and up to four around it, of a rim or tube the lowest and three more
        around, of an end of a capsule and of an ellipsoid the lowest one.
        """
        supports, planes, found = self.tables()
        awake, at = np.zeros(len(poses), dtype=np.int64), np.ascontiguousarray(poses, dtype=float)
        count = lowest_points(supports, planes, at, awake, margin, found)
        whole, real = found.whole[:count].copy(), found.real[:count].copy()
        return Touch(whole[:, 0], whole[:, 1], whole[:, 2], whole[:, 3], real[:, :3], real[:, 3])

    def tables(self) -> tuple[Supports, Planes, Lowest]:
        """What ``lowest_points`` reads, and the memory that it fills, which holds all that can be found at once."""
        if self._table is None:
            together = self._together()
            rows = together.rows
            each = np.where(rows[:, 2] == POINTS, np.minimum(rows[:, 4] - rows[:, 3], MOST), 4)
            most = len(self) * int(each.sum())
            if most > len(self._found.whole):  # with room for more, so that those who come and go find it
                room = most + most // 2
                self._found = Lowest(np.empty((room, 4), np.int64), np.empty((room, 4)))
            self._table = together, self._planes, self._found
        return self._table

    def _together(self) -> Supports:
        """The supports of all, bodies and shapes as they are numbered."""
        rows, *others, counts = self.outlines.arrays
        firsts = np.zeros((len(counts), 6), dtype=np.int64)
        firsts[:, 0] = self._bodies
        firsts[:, [1, 3]] = counts.cumsum(axis=0)[:, 1:] - counts[:, 1:]
        firsts[:, 4] = firsts[:, 3]
        return Supports(rows + firsts.repeat(counts[:, 0], axis=0), *others)


def facing(normal: np.ndarray) -> np.ndarray:
    """A pose at the origin whose z axis is ``normal``; the identity for a level plane."""
    X = np.eye(4)
    side = np.eye(3)[np.abs(normal).argmin()]
    side = side - normal * (normal @ side)
    side /= np.linalg.norm(side)
    X[:3, :3] = np.stack([side, np.cross(normal, side), normal], axis=1)
    return X

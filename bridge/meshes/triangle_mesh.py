"""Triangles as Bullet draws them: OBJ files with normals, smooth where a surface bends gently and sharp at edges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bridge.meshes.paint import Paint
from recursive_dyn.errors import ModelError

SHARP = math.cos(math.radians(40.0))  # faces that meet at a larger angle keep their edge


@dataclass(frozen=True, eq=False)
class Triangles:
    """Vertices (n, 3) in m, faces (m, 3) wound outward, and the normal (m, 3, 3) of each face's corners.

    paint: colours of its own, if it has any.
    """

    vertices: np.ndarray
    faces: np.ndarray
    normals: np.ndarray
    paint: Paint | None = None

    @classmethod
    def shaded(cls, vertices: Any, faces: Any, paint: Paint | None = None) -> Triangles:
        """Triangles with normals from their shape; those without area are dropped. ModelError if none is left."""
        vertices, faces = checked(vertices, faces)
        points, index = distinct(vertices)  # seams of a file's texture shade smoothly
        faces = index[faces]
        area = _cross(points, faces)
        seen = np.einsum("ij,ij->i", area, area) > 0.0
        faces = faces[seen]
        if len(faces) == 0:
            raise ModelError("a mesh needs triangles with area to be drawn")
        return cls(points, faces, corner_normals(points, faces), None if paint is None else paint.of(seen))

    @property
    def outline(self) -> np.ndarray:
        """The vertices (26, 3) that lie furthest out in 26 directions: enough to tell where a mesh reaches."""
        grid = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3)).reshape(3, -1).T
        directions = grid[np.abs(grid).max(axis=1) > 0.0]
        reach: np.ndarray = self.vertices[(self.vertices @ directions.T).argmax(axis=0)]
        return reach

    @cached_property
    def closed(self) -> bool:
        """Whether every edge is run along as often both ways, so that no back is ever seen."""
        ahead = np.concatenate([self.faces[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
        both = [np.sort(a * len(self.vertices) + b) for a, b in (ahead.T, ahead.T[::-1])]
        return bool((both[0] == both[1]).all())

    def two_sided(self) -> Triangles:
        """The same surface with a back, as renderers leave out what is seen from behind.

        Front and back are a thousandth of its size apart, or they would cast shadows on one another.
        """
        normals = np.stack(
            [
                np.bincount(self.faces.reshape(-1), self.normals[..., k].reshape(-1), len(self.vertices))
                for k in range(3)
            ],
            axis=1,
        )
        length = np.linalg.norm(normals, axis=1)
        size = np.linalg.norm(self.vertices.max(axis=0) - self.vertices.min(axis=0))
        shift = normals * (0.5e-3 * size / np.maximum(length, 1e-9))[:, None]
        return Triangles(
            np.concatenate([self.vertices + shift, self.vertices - shift]),
            np.concatenate([self.faces, self.faces[:, ::-1] + len(self.vertices)]),
            np.concatenate([self.normals, -self.normals[:, ::-1]]),
        )

    def write(self, path: Path) -> None:
        """Write as OBJ."""
        normals, index = distinct(self.normals.reshape(-1, 3).round(4) + 0.0)
        corners = np.stack([self.faces.reshape(-1), index], axis=1).reshape(-1, 6) + 1
        lines = (
            ("v %.9g %.9g %.9g\n", self.vertices),
            ("vn %.4g %.4g %.4g\n", normals),
            ("f %d//%d %d//%d %d//%d\n", corners),
        )
        path.write_text("".join(line * len(rows) % tuple(rows.ravel().tolist()) for line, rows in lines))


def distinct(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different rows (k, 3) of an array (n, 3), sorted, and which of them each row is (n,)."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)]) if len(rows) else np.zeros(0, dtype=bool)
    index = np.empty(len(rows), dtype=np.intp)
    index[order] = np.cumsum(new) - 1
    return ordered[new], index


def checked(vertices: Any, faces: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and faces (m, 3) as arrays. Raises ModelError for other shapes, missing vertices, not finite."""
    points, triangles = np.asarray(vertices, dtype=float), np.asarray(faces)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ModelError(f"a mesh needs finite vertices of shape (n, 3), not {points.shape}")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not np.issubdtype(triangles.dtype, np.integer):
        raise ModelError(f"a mesh needs faces of shape (m, 3) with whole numbers, not {triangles.shape}")
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(points)):
        raise ModelError(f"a mesh's faces name a vertex that is not among its {len(points)}")
    return points, triangles


def corner_normals(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Normals (m, 3, 3) of the corners: the mean of the faces around the vertex that bend less than SHARP."""
    area = _cross(vertices, faces)
    unit = np.repeat(area / np.linalg.norm(area, axis=1)[:, None], 3, axis=0)
    weight = np.repeat(area, 3, axis=0)
    corner = faces.reshape(-1)
    order = np.argsort(corner, kind="stable")
    _, start, count = np.unique(corner[order], return_index=True, return_counts=True)
    # Every ordered pair of corners that share a vertex.
    per_corner = np.repeat(count, count)
    first = np.repeat(np.arange(len(order)), per_corner)
    within = np.arange(len(first)) - np.repeat(np.cumsum(per_corner) - per_corner, per_corner)
    second = np.repeat(np.repeat(start, count), per_corner) + within
    a, b = order[first], order[second]
    smooth = np.einsum("ij,ij->i", unit[a], unit[b]) > SHARP
    total = np.stack([np.bincount(a[smooth], weight[b[smooth], k], len(corner)) for k in range(3)], axis=1)
    normals: np.ndarray = total / np.linalg.norm(total, axis=1)[:, None]
    return normals.reshape(-1, 3, 3)


def _cross(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    result: np.ndarray = np.cross(b - a, c - a)
    return result


def checker(tile: float, tiles: int, odd: int) -> Triangles:
    """Every second square (odd = 0 or 1) of a board in the plane z = 0 about the origin, ``tiles`` a side."""
    x, y = (grid.reshape(-1) for grid in np.meshgrid(np.arange(tiles), np.arange(tiles), indexing="ij"))
    chosen = (x + y) % 2 == odd
    corner = np.stack([x[chosen], y[chosen], np.zeros(chosen.sum())], axis=1) - (tiles / 2, tiles / 2, 0)
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    vertices = (corner[:, None] + square).reshape(-1, 3) * tile
    faces = (np.arange(len(corner))[:, None, None] * 4 + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
    return Triangles(vertices, faces, np.broadcast_to((0.0, 0.0, 1.0), (len(faces), 3, 3)))

"""Triangles as Bullet draws them: OBJ files with normals, smooth where a surface bends gently and sharp at edges."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bridge.quaternion import Array
from recursive_dyn.errors import ModelError

SHARP = math.cos(math.radians(40.0))  # faces that meet at a larger angle keep their edge


@dataclass(frozen=True, eq=False)
class Triangles:
    """Vertices (n, 3) in m, faces (m, 3) wound outward, and the normal (m, 3, 3) of each face's corners."""

    vertices: Array
    faces: Array
    normals: Array

    @classmethod
    def shaded(cls, vertices: Any, faces: Any) -> Triangles:
        """Triangles with normals from their shape; those without area are dropped. ModelError if none is left."""
        vertices, faces = checked(vertices, faces)
        points, index = np.unique(vertices, axis=0, return_inverse=True)  # seams of a file's texture shade smoothly
        faces = index.reshape(-1)[faces]
        area = _cross(points, faces)
        faces = faces[np.einsum("ij,ij->i", area, area) > 0.0]
        if len(faces) == 0:
            raise ModelError("a mesh needs triangles with area to be drawn")
        return cls(points, faces, corner_normals(points, faces))

    @property
    def outline(self) -> Array:
        """The vertices (26, 3) that lie furthest out in 26 directions: enough to tell where a mesh reaches."""
        grid = np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3)).reshape(3, -1).T
        directions = grid[np.abs(grid).max(axis=1) > 0.0]
        reach: Array = self.vertices[(self.vertices @ directions.T).argmax(axis=0)]
        return reach

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
        normals, index = np.unique(self.normals.reshape(-1, 3).round(4) + 0.0, axis=0, return_inverse=True)
        corners = np.stack([self.faces.reshape(-1), index.reshape(-1)], axis=1).reshape(-1, 6) + 1
        lines = ["v {:.9g} {:.9g} {:.9g}".format(*v) for v in self.vertices.tolist()]
        lines += ["vn {:.4g} {:.4g} {:.4g}".format(*n) for n in normals.tolist()]
        lines += ["f {}//{} {}//{} {}//{}".format(*c) for c in corners.tolist()]
        path.write_text("\n".join(lines) + "\n")


def checked(vertices: Any, faces: Any) -> tuple[Array, Array]:
    """Vertices (n, 3) and faces (m, 3) as arrays. Raises ModelError for other shapes, missing vertices, not finite."""
    points, triangles = np.asarray(vertices, dtype=float), np.asarray(faces)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ModelError(f"a mesh needs finite vertices of shape (n, 3), not {points.shape}")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not np.issubdtype(triangles.dtype, np.integer):
        raise ModelError(f"a mesh needs faces of shape (m, 3) with whole numbers, not {triangles.shape}")
    if len(triangles) and (triangles.min() < 0 or triangles.max() >= len(points)):
        raise ModelError(f"a mesh's faces name a vertex that is not among its {len(points)}")
    return points, triangles


def corner_normals(vertices: Array, faces: Array) -> Array:
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
    normals: Array = total / np.linalg.norm(total, axis=1)[:, None]
    return normals.reshape(-1, 3, 3)


def _cross(vertices: Array, faces: Array) -> Array:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    result: Array = np.cross(b - a, c - a)
    return result


def tube(points: Any, radius: float, sections: int = 16) -> Triangles:
    """A round tube (radius in m) along points (n, 3); joined to a ring if the last point is the first.

    Its cross sections follow the curve without twist (parallel transport). Raises ModelError for fewer than two
    different points, or numbers that are not finite.
    """
    path = np.asarray(points, dtype=float)
    if path.ndim != 2 or path.shape[1] != 3 or not np.isfinite(path).all():
        raise ModelError(f"a polyline needs finite points of shape (n, 3), not {path.shape}")
    if not 0.0 < radius < math.inf:
        raise ModelError(f"a polyline's radius must be positive, in metres, not {radius!r}")
    path = path[np.r_[True, np.linalg.norm(np.diff(path, axis=0), axis=1) > 1e-9 * max(1.0, np.abs(path).max())]]
    closed = len(path) > 3 and np.linalg.norm(path[0] - path[-1]) <= 1e-6 * radius + 1e-9
    path = path[:-1] if closed else path
    if len(path) < 2:
        raise ModelError("a polyline needs at least two different points")
    ahead = np.roll(path, -1, axis=0) - path
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    if not closed:
        ahead[-1] = ahead[-2]
    behind = np.roll(ahead, 1, axis=0) if closed else np.concatenate([ahead[:1], ahead[:-1]])
    tangent = ahead + behind
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1), 1e-9)[:, None]
    side = _transported(tangent)
    if closed:
        side = _untwisted(side, tangent)
    across = np.cross(tangent, side)
    angle = np.linspace(0.0, 2.0 * math.pi, sections, endpoint=False)
    ring = np.cos(angle)[:, None] * side[:, None] + np.sin(angle)[:, None] * across[:, None]
    vertices = (path[:, None] + radius * ring).reshape(-1, 3)
    rows = np.arange(len(path) if closed else len(path) - 1)
    i, j = (grid.reshape(-1) for grid in np.meshgrid(rows, np.arange(sections), indexing="ij"))
    here, there = i * sections, (i + 1) % len(path) * sections
    k = (j + 1) % sections
    faces = np.concatenate(
        [np.stack([here + j, here + k, there + k], 1), np.stack([here + j, there + k, there + j], 1)]
    )
    if not closed:
        cap = np.stack([np.zeros(sections - 2, int), np.arange(2, sections), np.arange(1, sections - 1)], 1)
        faces = np.concatenate([faces, cap, cap[:, ::-1] + (len(path) - 1) * sections])
    return Triangles.shaded(vertices, faces)


def _transported(tangent: Array) -> Array:
    """Unit vectors (n, 3) across the tangents, each turned from the last by no more than the curve turns."""
    side = np.empty_like(tangent)
    start = np.cross(tangent[0], np.eye(3)[np.abs(tangent[0]).argmin()])
    side[0] = start / np.linalg.norm(start)
    for n in range(1, len(tangent)):
        vector = side[n - 1] - tangent[n] * (side[n - 1] @ tangent[n])
        size = np.linalg.norm(vector)
        side[n] = vector / size if size > 1e-9 else side[n - 1]
    return side


def _untwisted(side: Array, tangent: Array) -> Array:
    """Spread the angle by which a ring's last cross section misses its first over the whole ring."""
    last = side[-1] - tangent[0] * (side[-1] @ tangent[0])
    miss = math.atan2(np.cross(last, side[0]) @ tangent[0], last @ side[0])
    angle = np.linspace(0.0, miss, len(side))[:, None]
    result: Array = np.cos(angle) * side + np.sin(angle) * np.cross(tangent, side)
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


class Writable(Protocol):
    """What a mesh file is made of."""

    @property
    def outline(self) -> Array: ...

    @property
    def faces(self) -> Array: ...

    def write(self, path: Path) -> None: ...


@dataclass(frozen=True, eq=False)
class MeshFile:
    """A mesh written for Bullet: its path, outermost points (n, 3) in m, and number of faces."""

    path: str
    outline: Array
    faces: int


class MeshFiles:
    """Temporary OBJ files, one a mesh: equal meshes share one, so that renderers load it once.

    They lie in the system's folder of temporary files, or in memory (/dev/shm) where that is full.
    """

    def __init__(self) -> None:
        self._folders: dict[str | None, tempfile.TemporaryDirectory[str]] = {}
        self._files: dict[Hashable, MeshFile] = {}
        self._count = 0

    def get(self, key: Hashable, make: Callable[[], Writable]) -> MeshFile:
        """The file of the mesh that ``key`` stands for, made and written at its first use."""
        if key not in self._files:
            self._files[key] = self.add(make())
        return self._files[key]

    def add(self, mesh: Writable) -> MeshFile:
        """A new file. Raises ModelError if there is no room for it."""
        self._count += 1
        troubles = []
        for place in (None, "/dev/shm"):
            try:
                if place not in self._folders:
                    self._folders[place] = tempfile.TemporaryDirectory(prefix="recursive_dyn_", dir=place)
                path = Path(self._folders[place].name) / f"{self._count}.obj"
                mesh.write(path)
            except OSError as trouble:
                troubles.append(str(trouble))
            else:
                return MeshFile(str(path), mesh.outline, len(mesh.faces))
        raise ModelError(
            f"Bullet reads meshes from files, and there is no room for one ({'; '.join(troubles)}); make room, or name"
            " another folder for temporary files in TMPDIR"
        )

    def close(self) -> None:
        """Remove the files."""
        for folder in self._folders.values():
            folder.cleanup()
        self._folders.clear()
        self._files.clear()

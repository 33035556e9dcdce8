"""Bodies as flat-shaded polygons from back to front, for whatever draws polygons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bridge import Camera, Plugin
from scene import shapes

SUN = np.array([-0.45, -0.6, 0.75]) / np.linalg.norm([-0.45, -0.6, 0.75])


class FlatShading:
    """Faces of all shapes that are seen, in pixels."""

    def __init__(self, plugin: Plugin, camera: Camera, size: tuple[int, int]) -> None:
        self.plugin, self.camera, self.size = plugin, camera, np.array(size)
        self._to_picture = camera.projection(size[0] / size[1]) @ camera.view()
        parts = [(-1, shape) for shape in plugin.scene.world.shapes]
        parts += [(k, shape) for k, name in enumerate(plugin.bodies) for shape in plugin.scene[name].shapes]
        own = [(frame, *faces(shape), shape.color) for frame, shape in parts if shape.visual]
        self.frames = np.concatenate([np.full(len(corners), frame) for frame, corners, *_ in own])
        self.corners = np.concatenate([corners for _, corners, _, _ in own])
        self.normals = np.concatenate([normals for _, _, normals, _ in own])
        self.colors = np.concatenate([np.tile(color[:3], (len(corners), 1)) for _, corners, _, color in own])

    def shadows(self) -> list[Any]:
        """Points (4, 2) of what stands in the light, laid on the ground z = 0 along it."""
        world, normals = self._placed()
        lit = world[normals @ SUN > 0.0]
        lit = lit - (lit[..., 2:] / SUN[2]) * SUN
        flat: list[Any] = self.points(lit.reshape(-1, 3)).reshape(-1, 4, 2).tolist()
        return flat

    def faces(self) -> Iterator[tuple[Any, Any]]:
        """Points (4, 2) and colours of faces, the farthest first."""
        world, normals = self._placed()
        middle = world.mean(axis=1)
        seen = np.einsum("ni,ni->n", normals, self.camera.eye() - middle) > 0.0
        depth = np.linalg.norm(middle - self.camera.eye(), axis=1)
        light = 0.55 + 0.45 * np.maximum(normals @ SUN, 0.0) + 0.08 * normals[:, 2]
        colors = np.clip(255 * self.colors * light[:, None], 0, 255).astype(int)
        order = np.flatnonzero(seen)
        order = order[np.argsort(-depth[order])]
        flat = self.points(world[order].reshape(-1, 3)).reshape(-1, 4, 2)
        yield from zip(flat.tolist(), colors[order].tolist(), strict=True)

    def _placed(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners and normals in the world."""
        X = np.concatenate([self.plugin.poses(), np.eye(4)[None]])[self.frames]
        world = np.einsum("nij,nkj->nki", X[:, :3, :3], self.corners) + X[:, None, :3, 3]
        return world, np.einsum("nij,nj->ni", X[:, :3, :3], self.normals)

    def points(self, places: Any) -> np.ndarray:
        """Places (n, 3) in the world as pixels (n, 2)."""
        seen = np.column_stack([places, np.ones(len(places))]) @ self._to_picture.T
        result: np.ndarray = (0.5 + 0.5 * seen[:, :2] / np.maximum(seen[:, 3:], 1e-3) * (1, -1)) * self.size
        return result


def faces(shape: shapes.Shape) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 4, 3) and outward normals (n, 3) of a shape's faces, in its body's frame."""
    if isinstance(shape, shapes.Box):
        half = 0.5 * np.asarray(shape.size)
        square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
        corners, normals = [], []
        for axis in range(3):
            for side in (-1, 1):
                face = np.full((4, 3), float(side))
                face[:, [(axis + 1) % 3, (axis + 2) % 3]] = square
                corners.append(face * half)
                normals.append(side * np.eye(3)[axis])
        points, outward = np.array(corners), np.array(normals)
    else:
        mesh = shapes.to_trimesh(shape, 24 if isinstance(shape, shapes.Torus) else 40)
        triangles = np.asarray(mesh.triangles)
        points, outward = triangles[:, [0, 1, 2, 2]], np.asarray(mesh.face_normals)
    return points @ shape.at[:3, :3].T + shape.at[:3, 3], outward @ shape.at[:3, :3].T

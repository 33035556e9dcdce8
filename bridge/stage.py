"""What a mirror shows: its bodies, scenery, ground, drawings, and Bullet's other bodies, put into pictures."""

from __future__ import annotations

from collections.abc import Container

import numpy as np
import pybullet

from bridge import foreign, quaternion
from bridge.camera import Array, Camera
from bridge.meshes import MeshFiles
from bridge.renderer import Studio
from bridge.shapes import Visual

WORLD = -1
Frame = int | tuple[int, int]  # a body of the scene or WORLD; a foreign body's id and link


class Stage:
    """Visuals, each fixed in the frame of a body of the scene, by its number, or in the world.

    ``own`` are the ids of Bullet's bodies in ``client`` that mirror the scene; all others are drawn as they are there.
    """

    def __init__(self, client: int, own: Container[int], files: MeshFiles) -> None:
        self._client, self._own, self._files = client, own, files
        self._items: list[tuple[Visual, Frame]] = []
        self._standing: list[tuple[Visual, Frame]] = []  # in the order of the studio's bodies
        self._foreign: tuple[int, ...] = ()
        self._box: Array | None = None

    def add(self, visual: Visual, frame: int = WORLD) -> None:
        """Show a mesh from now on."""
        self._items.append((visual, frame))

    def box(self, poses: Array) -> Array:
        """Lowest and highest corner (2, 3), in the world, of all that was added, bodies at X_WB ``poses``."""
        if not self._items:
            return np.array([[-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]])
        corners = []
        for visual, frame in self._items:
            X = visual.at if frame == WORLD else poses[frame] @ visual.at
            box = np.array(np.meshgrid(*visual.mesh.bounds.T)).reshape(3, -1)
            corners.append(X[:3, :3] @ box + X[:3, 3:])
        points = np.concatenate(corners, axis=1)
        return np.array([points.min(axis=1), points.max(axis=1)])

    def frame(self, box: Array) -> None:
        """Let cameras that leave it open look at this box (2, 3) from now on."""
        self._box = box

    def picture(
        self, studio: Studio, poses: Array, camera: Camera, size: tuple[int, int], samples: int, shadows: bool
    ) -> Array:
        """Red, green, blue (height, width, 3), uint8, with the scene's bodies at X_WB ``poses`` (nb, 4, 4)."""
        self._set(studio)
        frames = [self._pose(frame, poses) for _, frame in self._standing]
        if frames:
            X = np.array(frames)
            studio.place(X[:, :3, 3].tolist(), quaternion.from_rotations(X[:, :3, :3]).tolist())
        width, height = size
        box = self.box(poses) if self._box is None else self._box
        return studio.picture(camera.framed(box, width / height), width, height, samples, shadows)

    def _set(self, studio: Studio) -> None:
        """Bring the studio up to date with what is to be seen."""
        ids = (pybullet.getBodyUniqueId(k, self._client) for k in range(pybullet.getNumBodies(self._client)))
        strangers = tuple(body for body in ids if body not in self._own)
        if studio.owner is not self or strangers != self._foreign:
            studio.clear(self)
            self._foreign = strangers
            self._standing = [
                (visual, (body, link))
                for body in strangers
                for link, visual in foreign.appearance(body, self._client, self._files)
            ]
            for visual, _ in self._standing:
                studio.add(visual)
        there = len(self._standing) - sum(isinstance(frame, tuple) for _, frame in self._standing)
        for visual, frame in self._items[there:]:
            studio.add(visual)
            self._standing.append((visual, frame))

    def _pose(self, frame: Frame, poses: Array) -> Array:
        if isinstance(frame, tuple):
            return foreign.pose(*frame, self._client)
        return np.eye(4) if frame == WORLD else np.asarray(poses[frame])

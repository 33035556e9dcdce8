"""What a mirror shows: its bodies, scenery, ground, drawings, and Bullet's other bodies, put into pictures."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
import pybullet

from bridge import quaternion
from bridge.picture import foreign
from bridge.picture.camera import Camera
from bridge.picture.meshes import MeshFiles
from bridge.picture.renderer import BEHIND, Studio, towards_light
from bridge.picture.visuals import Visual
from bridge.quaternion import Array


@dataclass(frozen=True)
class Ground:
    """A board of tiles in the plane of ``at`` (4, 4), whose pattern repeats after ``period`` m along x and y."""

    at: Array
    period: float

    def under(self, target: Array) -> Array:
        """How far the board is moved, a pose (4, 4), to lie under ``target`` (3,) with its pattern where it was."""
        X = np.eye(4)
        place = self.at[:3, :2].T @ (target - self.at[:3, 3])
        X[:3, 3] = self.at[:3, :2] @ (np.round(place / self.period) * self.period)
        return X


WORLD = -1
REACH = 5.0  # m from the middle to the edge of every picture in the studio, where Bullet's shadows and lights fit
Frame = int | tuple[int, int] | Ground  # a body of the scene or WORLD; a foreign body's id and link; a board


class Stage:
    """Visuals, each fixed in the frame of a body of the scene, by its number, or in the world.

    ``own`` are the ids of Bullet's bodies in ``client`` that mirror the scene; all others are drawn as they are there.
    """

    def __init__(self, client: int, own: Container[int], files: MeshFiles) -> None:
        self._client, self._own, self._files = client, own, files
        self._items: list[tuple[Visual, int]] = []
        self._grounds: list[tuple[Visual, Ground]] = []
        self._standing: list[Frame] = []  # in the order of the studio's bodies
        self._strangers: tuple[int, ...] = ()
        self._outline: Array | None = None
        self._added = 0
        self._scale: float | None = None
        self._studio: Studio | None = None

    def add(self, visual: Visual, frame: int = WORLD) -> None:
        """Show a mesh from now on."""
        self._items.append((visual, frame))

    def add_ground(self, visual: Visual, period: float) -> None:
        """Show, from the first picture on, a board whose pattern repeats after ``period`` m; it follows the camera."""
        self._grounds.append((visual, Ground(visual.at, period)))

    def scenery(self) -> list[Visual]:
        """All that stands in the world."""
        return [visual for visual, _ in self._grounds] + [visual for visual, frame in self._items if frame == WORLD]

    def outline(self, poses: Array) -> Array:
        """Outermost points (n, 3), in the world, of all but the ground, bodies at X_WB ``poses``."""
        points = [np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])] if not self._items else []
        for visual, frame in self._items:
            X = visual.at if frame == WORLD else poses[frame] @ visual.at
            points.append(visual.mesh.outline @ X[:3, :3].T + X[:3, 3])
        return np.concatenate(points)

    def picture(self, studio: Studio, poses: Array, camera: Camera, size: tuple[int, int], samples: int) -> Array:
        """Red, green, blue (height, width, 3), uint8, with the scene's bodies at X_WB ``poses`` (nb, 4, 4)."""
        if self._outline is None:
            self._outline = self.outline(poses)
        width, height = size
        camera = camera.framed(self._outline, width / height)
        if self._scale is None:
            self._scale = REACH / camera.reach()
        self._set(studio)
        target, middle, scale = np.asarray(camera.target), -BEHIND * towards_light(camera), self._scale
        if self._standing:
            X = np.array([self._pose(frame, poses, target) for frame in self._standing])
            places = scale * (X[:, :3, 3] - target) + middle
            studio.place(places.tolist(), quaternion.from_rotations(X[:, :3, :3]).tolist())
        return studio.picture(camera.moved(tuple(middle.tolist()), scale), width, height, samples)

    def leave(self) -> None:
        """Clear the studio if this stage stands in it."""
        if self._studio is not None and self._studio.owner is self:
            self._studio.clear(None)

    def _set(self, studio: Studio) -> None:
        """Bring the studio up to date with what is to be seen: Bullet's other bodies first, then what was added."""
        ids = (pybullet.getBodyUniqueId(k, self._client) for k in range(pybullet.getNumBodies(self._client)))
        strangers = tuple(body for body in ids if body not in self._own)
        if studio.owner is not self or strangers != self._strangers:
            studio.clear(self)
            self._studio, self._strangers, self._standing = studio, strangers, []
            for body in strangers:
                for link, visual in foreign.appearance(body, self._client, self._files):
                    self._show(visual, (body, link))
            for board, ground in self._grounds:
                self._show(board, ground)
            self._added = 0
        for visual, frame in self._items[self._added :]:
            self._show(visual, frame)
        self._added = len(self._items)

    def _show(self, visual: Visual, frame: Frame) -> None:
        assert self._studio is not None and self._scale is not None
        self._studio.add(visual, self._scale)
        self._standing.append(frame)

    def _pose(self, frame: Frame, poses: Array, target: Array) -> Array:
        if isinstance(frame, Ground):
            return frame.under(target)
        if isinstance(frame, tuple):
            return foreign.pose(*frame, self._client)
        return np.eye(4) if frame == WORLD else np.asarray(poses[frame])

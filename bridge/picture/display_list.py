"""What is drawn in pictures: bodies, scenery, ground, drawings, and Bullet's other bodies, each fixed in its frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pybullet

from bridge.bodies.mirrored_scene import MirroredScene
from bridge.bodies.visuals import SCENERY, Visual, checkered, endless, tile_size, visuals
from bridge.connection import Connection
from bridge.drawing.camera import Camera
from bridge.drawing.light import towards_light
from bridge.drawing.pieces import Ground, Piece
from bridge.meshes.files import MeshFiles
from bridge.picture import strangers
from bridge.picture.contexts import bullets_turn
from bridge.picture.opengl_display import OpenGLDisplay
from bridge.picture.renderer import BEHIND, Renderer
from bridge.picture.shown import Shown
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.spatial.rotations import matrix_to_quaternion
from scene import shapes


@dataclass(frozen=True)
class Board:
    """A board of tiles in the plane of ``at`` (4, 4), whose pattern repeats after ``period`` m along x and y."""

    at: np.ndarray
    period: float

    def under(self, target: np.ndarray) -> np.ndarray:
        """How far the board is moved, a pose (4, 4), to lie under ``target`` (3,) with its pattern where it was."""
        X = np.eye(4)
        place = self.at[:3, :2].T @ (target - self.at[:3, 3])
        X[:3, 3] = self.at[:3, :2] @ (np.round(place / self.period) * self.period)
        return X


FIXED = -1
REACH = 5.0  # m from a picture's middle to its edge in the renderer, where Bullet's shadows and lights fit
Frame = int | tuple[int, int] | Board  # a body of the scene or FIXED; a foreign body's id and link; a board


class DisplayList:
    """Visuals, each fixed in the frame of a body of the scene, by its number, or in the world.

    Bullet's bodies in the ``connection`` that were not made there by us are drawn as they are there.
    """

    def __init__(self, connection: Connection, files: MeshFiles) -> None:
        self._connection, self._client, self._files = connection, connection.id, files
        self._names: tuple[str, ...] = ()
        self._items: list[tuple[Visual, int]] = []
        self._boards: list[tuple[Visual, Board]] = []
        self._grounds: list[Ground] = []
        self._opengl = OpenGLDisplay()
        self._mark = object()  # by which others tell this list from another
        self._known: object = None
        self._pieces: list[Piece] = []
        self._links: list[tuple[int, int]] = []  # Bullet's, in frames after the scene's
        self._standing: list[Frame] = []  # in the order of the renderer's bodies
        self._strangers: tuple[int, ...] = ()
        self._outline: np.ndarray | None = None
        self._added = 0
        self._scale: float | None = None
        self._renderer: Renderer | None = None

    @classmethod
    def of(cls, scene: MirroredScene, poses: np.ndarray) -> DisplayList:
        """What is drawn of a scene with its bodies at X_WB ``poses`` (nb, 4, 4); boards suit its size."""
        result = cls(scene.connection, scene.files)
        result._names = tuple(scene.names)
        for k in range(len(scene.names)):
            for visual in scene.looks(k):
                result.add(visual, k)
        for shape in scene.scenery:
            if not isinstance(shape, shapes.Plane):
                for visual in visuals(shape, SCENERY, scene.files):
                    result.add(visual)
        tile = tile_size(result.outline(poses))
        for shape in scene.scenery:
            if isinstance(shape, shapes.Plane) and shape.visual:
                result._grounds.append(endless(shape, tile))
                for visual in checkered(shape, tile, scene.files):
                    result.add_board(visual, 2.0 * tile)
        return result

    def add(self, visual: Visual, frame: int = FIXED) -> None:
        """Show a mesh from now on."""
        self._items.append((visual, frame))

    def add_board(self, visual: Visual, period: float) -> None:
        """Show, from the first picture on, a board whose pattern repeats after ``period`` m; it follows the camera."""
        self._boards.append((visual, Board(visual.at, period)))

    def scenery(self) -> list[Visual]:
        """All that stands in the world."""
        return [visual for visual, _ in self._boards] + [visual for visual, frame in self._items if frame == FIXED]

    def outline(self, poses: np.ndarray) -> np.ndarray:
        """Outermost points (n, 3), in the world, of all but the ground, bodies at X_WB ``poses``."""
        points = [np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])] if not self._items else []
        for visual, frame in self._items:
            X = visual.at if frame == FIXED else poses[frame] @ visual.at
            points.append(visual.mesh.outline @ X[:3, :3].T + X[:3, 3])
        return np.concatenate(points)

    def picture(
        self, renderer: Renderer | None, poses: np.ndarray, camera: Camera, size: tuple[int, int], samples: int
    ) -> np.ndarray:
        """Red, green, blue (height, width, 3), uint8, with the scene's bodies at X_WB ``poses`` (nb, 4, 4).

        By a renderer of Bullet's, or by OpenGL if that is None.
        """
        if self._outline is None:
            self._outline = self.outline(poses)
        camera = camera.aimed(self._names, poses).framed(self._outline, size[0] / size[1])
        if renderer is None:
            return self._drawn(poses, camera, size, samples)
        with bullets_turn():
            return self._by_bullet(renderer, poses, camera, size, samples)

    def _drawn(self, poses: np.ndarray, camera: Camera, size: tuple[int, int], samples: int) -> np.ndarray:
        """By OpenGL, Bullet's other bodies in frames after the scene's."""
        return self._opengl.picture(self.shown(poses), camera, size, samples)

    def shown(self, poses: np.ndarray) -> Shown:
        """What OpenGL draws, with the scene's bodies at X_WB ``poses`` (nb, 4, 4) and Bullet's where they are."""
        with self._connection.guard():
            others = self._others()
            known = (self._mark, len(self._items), len(poses), others)
            if self._known != known:
                looks = [(b, *look) for b in others for look in strangers.appearance(b, self._client, self._files)]
                self._links = [(body, link) for body, link, _ in looks]
                self._pieces = [visual.piece(frame) for visual, frame in self._items]
                self._pieces += [visual.piece(len(poses) + k) for k, (_, _, visual) in enumerate(looks)]
                self._known = known
            frames = [strangers.pose(body, link, self._client) for body, link in self._links]
        return Shown(known, self._pieces, self._grounds, np.concatenate([poses, np.reshape(frames, (-1, 4, 4))]))

    def _by_bullet(
        self, renderer: Renderer, poses: np.ndarray, camera: Camera, size: tuple[int, int], samples: int
    ) -> np.ndarray:
        width, height = size
        if self._scale is None:
            self._scale = REACH / camera.reach()
        target, middle, scale = np.asarray(camera.target), -BEHIND * towards_light(camera), self._scale
        with Held():
            self._set(renderer)
            if self._standing:
                X = np.array([self._pose(frame, poses, target) for frame in self._standing])
                places = scale * (X[:, :3, 3] - target) + middle
                renderer.place(places.tolist(), matrix_to_quaternion(X[:, :3, :3]).tolist())
        return renderer.picture(camera.moved(tuple(middle.tolist()), scale), width, height, samples)

    def leave(self) -> None:
        """Clear the renderer if it shows this."""
        if self._renderer is not None and self._renderer.shows(self):
            with bullets_turn():
                self._renderer.clear(None)

    def _set(self, renderer: Renderer) -> None:
        """Bring the renderer up to date with what is to be seen: Bullet's other bodies first, then what was added."""
        others = self._others()
        if not renderer.shows(self) or others != self._strangers:
            renderer.clear(self)
            self._renderer, self._strangers, self._standing = renderer, others, []
            for body in others:
                for link, visual in strangers.appearance(body, self._client, self._files):
                    self._show(visual, (body, link))
            for visual, board in self._boards:
                self._show(visual, board)
            self._added = 0
        for visual, frame in self._items[self._added :]:
            self._show(visual, frame)
        self._added = len(self._items)

    def _others(self) -> tuple[int, ...]:
        """Ids of Bullet's bodies that are not ours."""
        ids = (pybullet.getBodyUniqueId(k, self._client) for k in range(pybullet.getNumBodies(self._client)))
        return tuple(body for body in ids if body not in self._connection.bodies)

    def _show(self, visual: Visual, frame: Frame) -> None:
        assert self._renderer is not None and self._scale is not None
        self._renderer.add(visual, self._scale)
        self._standing.append(frame)

    def _pose(self, frame: Frame, poses: np.ndarray, target: np.ndarray) -> np.ndarray:
        if isinstance(frame, Board):
            return frame.under(target)
        if isinstance(frame, tuple):
            return strangers.pose(*frame, self._client)
        return np.eye(4) if frame == FIXED else np.asarray(poses[frame])

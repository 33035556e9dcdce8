"""Pictures of a scene by OpenGL without a window: colours, depths, and whose every pixel is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bridge.bodies.scene_and_motion import check_scene_and_motion
from bridge.drawing.camera import Camera, camera_of
from bridge.drawing.gl_context import offscreen
from bridge.drawing.instances import Instances
from bridge.drawing.painter import Quality, offscreen_painter
from bridge.picture.picture_size import check_size
from bridge.picture.scene_view import SceneView, outline
from recursive_dyn.errors import ModelError
from recursive_dyn.simulation.moving import Moving
from scene import Scene


class Measured(NamedTuple):
    """depth (h, w): m along the camera's view, infinite where nothing is; body (h, w), int32: the number of the body
    in ``dynamics.bodies``, -1 for scenery and ground, -2 for the sky."""

    depth: np.ndarray
    body: np.ndarray


class Pictures:
    """Pictures of a scene's bodies where ``moving``, a simulation or what else moves them, has them: no Bullet needed.

    ground: a checkered plane at z = 0, or at the height given in m, unless the world has a plane of its own; False for
    none. It needs no display. A camera that leaves its target and distance open frames the scene as it was at the first
    picture. The scene is drawn as it was when this was made. Raises StateError where there is no OpenGL 3.3, ModelError
    where the bodies of scene and ``moving`` differ, or come to differ in number by an edit.
    """

    def __init__(self, scene: Scene, moving: Moving, ground: bool | float = True) -> None:
        check_scene_and_motion("Pictures", scene, moving)
        self._moving, self._view = moving, SceneView(scene, moving, ground)
        self._outline: np.ndarray | None = None
        self._context = offscreen()
        with self._context.current():
            self._things = Instances(self._context, self._view.pieces, len(self._view.names))

    def image(self, width: int = 640, height: int = 480, camera: Camera | None = None, samples: int = 4) -> np.ndarray:
        """Red, green, blue, (height, width, 3), uint8; ``samples`` a pixel, 1 or 4, which smooth edges."""
        check_size(width, height, samples)
        view = self._framed(camera, width / height)
        with self._context.current():
            quality = Quality(samples, shadows=True)
            return offscreen_painter().picture(self._things, self._view.grounds, view, (width, height), quality)

    def measure(self, width: int = 640, height: int = 480, camera: Camera | None = None) -> Measured:
        """How far away everything is that the picture shows, and what it is."""
        check_size(width, height)
        view = self._framed(camera, width / height)
        with self._context.current():
            return Measured(*offscreen_painter().measured(self._things, self._view.grounds, view, (width, height)))

    def _framed(self, camera: Camera | None, aspect: float) -> Camera:
        poses = self._moving.frames()[0]
        if len(poses) != len(self._view.names):
            raise ModelError("the scene was edited since these Pictures were made: make others")
        if self._outline is None:
            self._outline = outline(self._view.pieces, poses)
        self._things.place(poses)
        view = camera_of(camera).aimed(self._view.names, poses)
        return view.framed(self._outline, aspect)

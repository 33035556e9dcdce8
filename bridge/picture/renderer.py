"""Pictures without a window: Bullet's EGL renderer where it loads, else its software renderer."""

from __future__ import annotations

import atexit
import math
import weakref
from collections.abc import Sequence
from functools import cache

import numpy as np
import pybullet

from bridge.bodies.bullet_shapes import create_body, visual_shape
from bridge.bodies.visuals import Visual
from bridge.drawing.camera import Camera
from bridge.drawing.gl_context import offscreen, usable
from bridge.drawing.light import towards_light
from bridge.picture import egl
from bridge.picture.contexts import bullets_turn
from bridge.picture.picture_size import check_size
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.interrupts import Held

TILE = (1024, 768)  # EGL's surface: a larger picture would be a smaller one, enlarged
LIGHT_DISTANCE = 60.0  # m
# Bullet computes highlights for a viewer who never moves from the origin. Seen from the light, scenes stand so far
# behind it that this viewer is as good as at the light: highlights lie where surfaces face it, and the ground has none.
BEHIND = 25.0  # m
SKY = np.array([[0.80, 0.87, 0.95], [0.965, 0.975, 0.985]])  # above, and at the horizon
FACES = 4_000_000  # drawn and dropped since the renderer was made: it frees none, so it is made anew beyond

# Within a pixel; four are a rotated grid, whose rows and columns all differ.
OFFSETS = {1: ((0.0, 0.0),), 4: ((-0.125, -0.375), (0.375, -0.125), (0.125, 0.375), (-0.375, 0.125))}


class Renderer:
    """The process's one place for pictures, shared by all mirrors: with two EGL contexts only the latest would draw.

    It shows the bodies of one owner at a time, which it does not keep alive.
    """

    def __init__(self, hardware: bool) -> None:
        self.hardware = hardware
        self.client = -1
        self._owner: weakref.ref[object] | None = None
        self.bodies: list[int] = []
        self._faces = 0
        self._fresh = hardware
        self._open()
        atexit.register(self._close)

    def _open(self) -> None:
        self.client = pybullet.connect(pybullet.DIRECT)
        if self.client < 0:
            raise StateError("Bullet has no connection left to draw pictures with; close some mirrors")
        self.hardware = self._fresh = self.hardware and egl.load(self.client)

    def _close(self) -> None:
        if pybullet.isConnected(self.client):
            with bullets_turn(), egl.silence():
                pybullet.disconnect(self.client)

    def shows(self, owner: object) -> bool:
        """Whether these bodies are the owner's."""
        return self._owner is not None and self._owner() is owner

    def clear(self, owner: object) -> None:
        """Take away everything and let ``owner``, or None, build anew."""
        if self._faces > FACES or not pybullet.isConnected(self.client):
            self._close()
            self._open()
            self._faces = 0
        else:
            for body in self.bodies:
                pybullet.removeBody(body, physicsClientId=self.client)
        self._owner, self.bodies = None if owner is None else weakref.ref(owner), []

    def add(self, visual: Visual, scale: float) -> None:
        """Show a mesh, ``scale`` times as large; all of an owner's by the same, as meshes are kept by file."""
        shape = visual_shape([visual], self.client, scale)
        self.bodies.append(create_body(-1, shape, self.client))
        self._faces += visual.mesh.faces

    def place(self, positions: Sequence[Sequence[float]], quaternions: Sequence[Sequence[float]]) -> None:
        """Move every mesh's frame, given in the order of their numbers."""
        for body, position, quaternion in zip(self.bodies, positions, quaternions, strict=True):
            pybullet.resetBasePositionAndOrientation(body, position, quaternion, self.client)

    def picture(self, camera: Camera, width: int, height: int, samples: int) -> np.ndarray:
        """Red, green, blue (height, width, 3), uint8; ``samples`` a pixel, 1 or 4."""
        if self._fresh:  # EGL's first pictures lack shadows, and its shaders report what they run on
            self._fresh = False
            with egl.silence():
                for _ in range(2):
                    self._tile(camera, 64, 48, (0, 0, 64, 48), (0.0, 0.0))
        total = np.zeros((height, width, 3), dtype=np.float32)
        for offset in OFFSETS[samples]:
            for top in range(0, height, TILE[1]):
                for left in range(0, width, TILE[0]):
                    window = (left, top, min(TILE[0], width - left), min(TILE[1], height - top))
                    x, y, w, h = window
                    total[y : y + h, x : x + w] += self._tile(camera, width, height, window, offset)
        picture: np.ndarray = np.clip(total * (255.0 / samples) + 0.5, 0.0, 255.0).astype(np.uint8)
        return picture

    def _tile(
        self,
        camera: Camera,
        width: int,
        height: int,
        window: tuple[int, int, int, int],
        offset: tuple[float, float],
    ) -> np.ndarray:
        """Colours from 0 to 1 of a part of the picture, (h, w, 3), background and haze included."""
        x, y, w, h = window
        near, far = camera.depths()
        half_height = near * math.tan(math.radians(camera.fov) / 2.0)
        pixel = 2.0 * half_height / height
        left = (x + offset[0] - width / 2.0) * pixel
        top = (height / 2.0 - y - offset[1]) * pixel
        projection = pybullet.computeProjectionMatrix(left, left + w * pixel, top - h * pixel, top, near, far)
        with Held():
            image = pybullet.getCameraImage(
                w,
                h,
                viewMatrix=camera.view().T.ravel().tolist(),
                projectionMatrix=projection,
                shadow=int(self.hardware),  # the software renderer's are blotches on the ground
                lightDirection=(LIGHT_DISTANCE * towards_light(camera)).tolist(),
                renderer=pybullet.ER_BULLET_HARDWARE_OPENGL if self.hardware else pybullet.ER_TINY_RENDERER,
                flags=pybullet.ER_NO_SEGMENTATION_MASK,
                physicsClientId=self.client,
            )
        color = np.reshape(image[2], (h, w, 4))[..., :3].astype(np.float32) * np.float32(1.0 / 255.0)
        depth = np.reshape(image[3], (h, w)).astype(np.float32)
        distance = far * near / (far - (far - near) * depth)
        return _with_sky(color, depth >= 0.99999, distance, camera, (y, height))


def _with_sky(
    color: np.ndarray, empty: np.ndarray, distance: np.ndarray, camera: Camera, rows: tuple[int, int]
) -> np.ndarray:
    """Fill what nothing covers with a gradient, and let the ground fade into it far behind the scene."""
    first, height = rows
    share = (np.arange(first, first + len(color), dtype=np.float32)[:, None] + 0.5) / height
    sky = (SKY[0] + (SKY[1] - SKY[0]) * np.minimum(1.0, share * 1.6)[..., None]).astype(np.float32)
    scale = 1.0 if camera.distance is None else camera.distance
    haze = np.clip((distance / np.float32(scale) - 1.4) / 3.0, 0.0, 1.0).astype(np.float32)
    haze[empty] = 1.0
    result: np.ndarray = color + (sky.reshape(len(color), 1, 3) - color) * haze[..., None]
    return result


def check_picture(renderer: str | None, width: int = 1, height: int = 1, samples: int = 1) -> None:
    """Raise ModelError for a renderer, size or number of samples that there is not, StateError where EGL fails."""
    if renderer not in (None, "opengl", "egl", "tiny"):
        raise ModelError(f"unknown renderer {renderer!r}; choose 'opengl', 'egl' or 'tiny'")
    if renderer == "opengl":
        offscreen()
    if renderer == "egl" and not egl.usable():
        raise StateError(
            "Bullet's EGL renderer does not work here; install EGL and OpenGL drivers (on Debian libegl1, libgl1,"
            " libgl1-mesa-dri), or use renderer='tiny'"
        )
    check_size(width, height, samples)


def renderer_of(kind: str | None) -> Renderer | None:
    """Bullet's renderer in this process, made at its first use; None for OpenGL's, which is asked for or works."""
    if kind == "opengl" or (kind is None and usable()):
        return None
    with bullets_turn():
        renderer = _made(kind != "tiny" and egl.usable())
    if not pybullet.isConnected(renderer.client):  # somebody disconnected all there was
        renderer.clear(None)
    return renderer


@cache
def _made(hardware: bool) -> Renderer:
    return Renderer(hardware)

"""How a mouse moves a camera: around what it looks at, across, nearer; and what lies under the pointer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bridge.drawing.camera import VERTICAL, Camera

TURN = 0.35  # degrees a pixel
ZOOM = 0.12  # share of the distance, a notch of the wheel


def orbited(camera: Camera, dx: float, dy: float) -> Camera:
    """After a drag by (dx, dy) pixels: the scene turns with the hand."""
    pitch = max(-VERTICAL, min(VERTICAL, camera.pitch + TURN * dy * -1.0))
    return replace(camera, yaw=(camera.yaw - TURN * dx) % 360.0, pitch=pitch)


def panned(camera: Camera, dx: float, dy: float, height: int) -> Camera:
    """After a drag across: what is at the target stays under the pointer in a picture ``height`` pixels high."""
    right, up, _ = camera.rotation()
    pixel = 2.0 * camera.reach() / height
    return replace(camera, target=tuple(np.asarray(camera.target) - pixel * (dx * right + dy * up)))


def zoomed(camera: Camera, notches: float) -> Camera:
    """After so many notches of the wheel, positive ones nearer."""
    return replace(camera, distance=(camera.distance or 1.0) * math.exp(-ZOOM * notches))


def place_at(camera: Camera, x: float, y: float, size: tuple[int, int], depth: float) -> np.ndarray:
    """The point (3,) that is ``depth`` m along the view under the pointer, y from the bottom, in a picture of size."""
    right, up, back = camera.rotation()
    tangent = math.tan(math.radians(camera.fov) / 2.0)
    width, height = size
    across = (2.0 * x / width - 1.0) * tangent * width / height
    result: np.ndarray = camera.eye() + depth * (across * right + (2.0 * y / height - 1.0) * tangent * up - back)
    return result


def seen_at(camera: Camera, point: np.ndarray, size: tuple[int, int]) -> tuple[float, float] | None:
    """Where a point (3,) is in a picture of that size, in pixels from the lower left; None behind the camera."""
    x, y, z = camera.rotation() @ (point - camera.eye())
    if -z <= camera.nearest:
        return None
    scale = size[1] / (2.0 * math.tan(math.radians(camera.fov) / 2.0))
    return size[0] / 2.0 - scale * x / z, size[1] / 2.0 - scale * y / z

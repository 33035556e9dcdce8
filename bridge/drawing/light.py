"""Where the sun stands, and the box that its shadows are cast in."""

from __future__ import annotations

import math

import numpy as np

from bridge.drawing.camera import Camera

LIGHT = (0.45, 0.65, 1.0)  # towards the light: to the camera's right, behind it, up
SHADOW = 2048  # texels of the shadow map, a side
STEP = 1.25  # ratio of the widths that it may cover
AROUND = 2.5  # shadows are cast up to so many times the camera's distance from its target


def towards_light(camera: Camera) -> np.ndarray:
    """The direction (3,) of the light in world axes."""
    right, _, back = camera.rotation()
    level = np.array([back[0], back[1], 0.0]) / math.hypot(back[0], back[1])
    direction: np.ndarray = LIGHT[0] * right + LIGHT[1] * level + (0.0, 0.0, LIGHT[2])
    unit: np.ndarray = direction / np.linalg.norm(direction)
    return unit


def shadow_box(
    sun: np.ndarray, centers: np.ndarray, reach: np.ndarray, distance: float, origin: np.ndarray
) -> tuple[np.ndarray, float]:
    """The view (4, 4) of light from ``sun`` on what stands near ``origin`` (3,), and the width in m that it covers.

    centers (n, 3), reach (n,): balls around the things that cast shadows, relative to the origin; distance: the
    camera's. Its width grows by steps, and its texels stay where they are in the world, so that the shadow of what
    stands still does not flicker while something else moves.
    """
    around = AROUND * distance
    x = np.cross(np.eye(3)[np.abs(sun).argmin()], sun)
    x /= np.linalg.norm(x)
    B = np.stack([x, np.cross(sun, x), sun])
    near = np.linalg.norm(centers, axis=1) - reach < around
    low, high = np.full(3, -0.1 * distance), np.full(3, 0.1 * distance)
    if near.any():
        seen = centers[near] @ B.T
        low, high = (seen - reach[near, None]).min(axis=0), (seen + reach[near, None]).max(axis=0)
    low[:2], high[:2] = np.maximum(low[:2], -around), np.minimum(high[:2], around)
    size = np.maximum(high - low, 1e-3 * distance)
    width = STEP ** math.ceil(math.log(1.06 * size[:2].max()) / math.log(STEP))
    low[2] -= 2.0 * size.max()  # the ground lies below all that casts shadows on it
    middle, texel, place = (high + low) / 2.0, width / SHADOW, B @ origin
    middle[:2] = np.round((middle + place)[:2] / texel) * texel - place[:2]
    S = np.diag((2.0 / width, 2.0 / width, -2.0 / (1.06 * (high - low)[2])))
    L = np.eye(4)
    L[:3, :3], L[:3, 3] = S @ B, -S @ middle
    return L, width

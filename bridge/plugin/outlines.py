"""Outlines of a plugin's shapes and contacts as lines of a picture, for drawing them over a game."""

from __future__ import annotations

import numpy as np

from bridge.drawing.camera import Camera
from bridge.plugin.plugin import Plugin
from scene import shapes

FIXED = -1
_ROUND = 24  # segments of a circle
_CROSS = 0.03  # m: arms of the mark at a contact
_COLORS = ((70, 110, 200), (200, 90, 60), (70, 150, 90), (150, 90, 180), (190, 150, 40))
_STANDING, _CONTACT = (150, 150, 155), (235, 30, 60)


class Outlines:
    """Lines along the edges of all shapes, as of ``shapes.to_trimesh`` where these are not round."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._bodies: tuple[str, ...] = ()
        self._renew()

    def lines(self, camera: Camera, size: tuple[int, int], contacts: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Lines (n, 2, 2) in pixels from the left and the top of a picture of this size, and their colours (n, 3) of
        0 to 255; of bodies where ``poses()`` has them. What is behind the camera is left out.

        A camera that names a body looks at it, one without distance or target has all of it in the picture.
        """
        if self._plugin.bodies != self._bodies:
            self._renew()
        bodies = self._plugin.poses()
        poses = np.concatenate([bodies, np.eye(4)[None]])[self._frames]
        segments = np.einsum("nij,nkj->nki", poses[:, :3, :3], self._segments) + poses[:, None, :3, 3]
        colors = self._colors
        if contacts:
            points = self._plugin.simulation.contacts.point_b
            arms = np.concatenate([points[:, None] + _CROSS * np.array([[-axis], [axis]])[:, 0] for axis in np.eye(3)])
            segments = np.concatenate([segments, arms])
            colors = np.concatenate([colors, np.tile(_CONTACT, (len(arms), 1))])
        width, height = size
        if not (width and height and len(segments)):  # of a window that is iconified, or of nothing
            return np.zeros((0, 2, 2)), np.zeros((0, 3), dtype=int)
        if camera.target is None or camera.distance is None or isinstance(camera.target, str):
            camera = camera.aimed(self._bodies, bodies).framed(segments.reshape(-1, 3), width / height)
        to_picture = camera.projection(width / height) @ camera.view()
        seen = np.concatenate([segments, np.ones((*segments.shape[:2], 1))], axis=2) @ to_picture.T
        ahead = (seen[..., 3] > camera.nearest).all(axis=1)
        flat = seen[ahead, :, :2] / seen[ahead, :, 3:]
        return (0.5 + 0.5 * flat * (1, -1)) * size, colors[ahead]

    def _renew(self) -> None:
        scene, self._bodies = self._plugin.scene, self._plugin.bodies
        found = [(FIXED, shape, _STANDING) for shape in scene.world.shapes if not isinstance(shape, shapes.Plane)]
        for k, name in enumerate(self._bodies):
            found += [(k, shape, _COLORS[k % len(_COLORS)]) for shape in scene[name].shapes]
        own = [edges(shape) @ shape.at[:3, :3].T + shape.at[:3, 3] for _, shape, _ in found]
        counts = [len(lines) for lines in own]
        self._segments = np.concatenate([np.zeros((0, 2, 3)), *own])
        self._frames = np.repeat(np.array([frame for frame, _, _ in found], dtype=int), counts)
        self._colors = np.repeat(np.array([color for *_, color in found], dtype=int).reshape(-1, 3), counts, axis=0)


def edges(shape: shapes.Shape) -> np.ndarray:
    """Lines (n, 2, 3) of a shape in its own frame, m."""
    match shape:
        case shapes.Box():
            corners = (
                0.5 * np.asarray(shape.size) * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            )
            return np.array([(corners[a], corners[a | bit]) for bit in (1, 2, 4) for a in range(8) if not a & bit])
        case shapes.Sphere():
            return np.concatenate([_circle(shape.radius, axis) for axis in range(3)])
        case shapes.Capsule() | shapes.Cylinder():
            r, up = shape.radius, np.array([0.0, 0.0, 0.5 * shape.length])
            sides = np.array(
                [(out - up, out + up) for out in r * np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)])]
            )
            rims = [_circle(r, 2) + up, _circle(r, 2) - up]
            if isinstance(shape, shapes.Capsule):
                for axis in (0, 1):
                    whole = _circle(r, axis)
                    rims.append(whole + np.sign(whole.sum(axis=1))[:, None] * up)
            return np.concatenate([sides, *rims])
        case shapes.Torus():
            inner, outer = (_circle(shape.major + side * shape.minor, 2) for side in (-1, 1))
            return np.concatenate([inner, outer])
    mesh = shapes.to_trimesh(shape, 12)
    lines: np.ndarray = np.asarray(mesh.vertices)[mesh.edges_unique]
    return lines


def _circle(radius: float, axis: int) -> np.ndarray:
    """A circle about an axis, as lines."""
    turn = np.linspace(0.0, 2.0 * np.pi, _ROUND + 1)
    points = np.zeros((_ROUND + 1, 3))
    points[:, (axis + 1) % 3], points[:, (axis + 2) % 3] = radius * np.cos(turn), radius * np.sin(turn)
    return np.stack([points[:-1], points[1:]], axis=1)

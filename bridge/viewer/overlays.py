"""Lines over the picture: frames, axes, the paths that joints leave free, contacts, the centre of mass, traces."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from bridge.viewer.history import Playable
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.dynamics.functions import columns
from recursive_dyn.simulation.simulation import Simulation

X_COLOR, Y_COLOR, Z_COLOR = (0.86, 0.20, 0.18, 1.0), (0.20, 0.62, 0.25, 1.0), (0.18, 0.38, 0.85, 1.0)
AXIS, FREE, POINT, FORCE = (
    (0.58, 0.25, 0.75, 1.0),
    (0.98, 0.55, 0.10, 1.0),
    (0.10, 0.10, 0.12, 1.0),
    (0.85, 0.1, 0.3, 1.0),
)
MASS, TRACE = (0.10, 0.10, 0.12, 1.0), (0.10, 0.45, 0.62, 0.9)
SAMPLES = 65  # of a curve
GRID = 9  # lines each way of a surface
TRACED = 400  # points of a trace


class Segments(NamedTuple):
    """Lines (n, 2, 3), their colours (n, 4) and widths (n,) in pixels."""

    lines: np.ndarray
    colors: np.ndarray
    widths: np.ndarray

    @classmethod
    def of(cls, lines: np.ndarray, color: tuple[float, ...], width: float = 2.0) -> Segments:
        """All in one colour."""
        lines = np.asarray(lines, dtype=float).reshape(-1, 2, 3)
        return cls(lines, np.tile(color, (len(lines), 1)), np.full(len(lines), width))

    @classmethod
    def joined(cls, parts: list[Segments]) -> Segments:
        """All of them."""
        return cls(*(np.concatenate(each) for each in zip(*[*parts, NONE], strict=True)))


NONE = Segments(np.zeros((0, 2, 3)), np.zeros((0, 4)), np.zeros(0))


def path(points: np.ndarray) -> np.ndarray:
    """Segments (n - 1, 2, 3) along points (n, 3)."""
    return np.stack([points[:-1], points[1:]], axis=1)


def frames(moving: Playable, size: float) -> Segments:
    """Axes of every body's frame, x red, y green, z blue, ``size`` m long."""
    poses = moving.frames()[0]
    origin = poses[:, :3, 3]
    parts = [
        Segments.of(np.stack([origin, origin + size * poses[:, :3, k]], axis=1), color)
        for k, color in enumerate((X_COLOR, Y_COLOR, Z_COLOR))
    ]
    return Segments.joined(parts)


def joint_axes(moving: Playable, size: float) -> Segments:
    """The axis that each coordinate turns its body about at this moment, or the direction it moves it along.

    Of a screw [omega; v], v at the world's origin, the axis passes through omega x v / |omega|^2.
    """
    if not isinstance(moving, Simulation):
        return NONE
    dynamics, poses = moving.dynamics, moving.present.poses
    body_of = {body.link: k for k, body in enumerate(dynamics.model.bodies)}
    lines = []
    for (link, _), screw in zip(columns(dynamics.model), dynamics.call("screws", moving.q), strict=True):
        if link not in body_of:
            continue
        origin, omega = poses[body_of[link]][:3, 3], screw[:3]
        rate = float(omega @ omega)
        if rate > 1e-18 * max(1.0, float(screw @ screw)):
            along = omega / np.sqrt(rate)
            start = np.cross(omega, screw[3:]) / rate
            middle = start + along * (along @ (origin - start))
        else:
            speed = float(np.linalg.norm(screw[3:]))
            if speed == 0.0:
                continue
            along, middle = screw[3:] / speed, origin
        lines.append([middle - size * along, middle + size * along])
    return Segments.of(np.array(lines).reshape(-1, 2, 3), AXIS, 3.0)


def free_paths(moving: Playable, body: int) -> Segments:
    """The curve that a body's origin may be on while all else stands still, or a grid of the surface.

    Its joint's first two coordinates run through their limits, else through a turn about where they are. Nothing for
    joints that leave the origin where it is, and for those with quaternions.
    """
    if not isinstance(moving, Simulation):
        return NONE
    dynamics = moving.dynamics
    own = f"{dynamics.bodies[body]}."
    slots = [k for k, name in enumerate(dynamics.velocity_coordinates) if name.startswith(own)]
    places = {slot: place for place, slot in dynamics.model.plain_slots}
    free = [slot for slot in slots if slot in places][:2]
    if not free or len(slots) > 3:
        return NONE
    spans = [_span(dynamics.limits[slot], float(moving.q[places[slot]])) for slot in free]

    def along(values: list[np.ndarray]) -> np.ndarray:
        q = np.tile(moving.q, (SAMPLES, 1))
        for slot, value in zip(free, values, strict=True):
            q[:, places[slot]] = value
        origins: np.ndarray = dynamics.poses(q)[:, body, :3, 3]
        return path(origins)

    dense = [np.linspace(low, high, SAMPLES) for low, high in spans]
    if len(free) == 1:
        lines = along(dense)
    else:
        sparse = [np.linspace(low, high, GRID) for low, high in spans]
        rows = [along([dense[0], np.full(SAMPLES, value)]) for value in sparse[1]]
        lines = np.concatenate([*rows, *(along([np.full(SAMPLES, value), dense[1]]) for value in sparse[0])])
    return Segments.of(lines[np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1) > 1e-9], FREE, 2.0)


def _span(limits: np.ndarray, value: float) -> tuple[float, float]:
    low, high = limits.tolist()
    return (low, high) if np.isfinite(limits).all() else (value - np.pi, value + np.pi)


def contacts(moving: Playable, size: float) -> Segments:
    """A cross where bodies touch, and an arrow along each force on A: the greatest of them is ``size`` m long."""
    if not isinstance(moving, Simulation):
        return NONE
    found = moving.contacts
    if not len(found.a):
        return NONE
    points, impulses = found.point_a, found.impulse
    crosses = [np.stack([points - a, points + a], axis=1) for a in 0.04 * size * np.eye(3)]
    greatest = float(np.linalg.norm(impulses, axis=1).max())
    parts = [Segments.of(np.concatenate(crosses), POINT, 3.0)]
    if greatest > 0.0:
        parts.append(Segments.of(np.stack([points, points + impulses * (size / greatest)], axis=1), FORCE, 3.0))
    return Segments.joined(parts)


def balance(moving: Playable, size: float) -> Segments:
    """The centre of mass, the vertical through it, and the outline of all points where something stands on the ground.

    The vertical ends where the ground is touched, else ``size`` m below.
    """
    if not isinstance(moving, Simulation):
        return NONE
    center = moving.dynamics.center_of_mass(moving.q)
    found = moving.contacts
    standing = found.point_b[(found.b == STATIC) & (found.impulse[:, 2] > 0.0)] if len(found.a) else np.zeros((0, 3))
    foot = center.copy()
    foot[2] = standing[:, 2].mean() if len(standing) else center[2] - size
    crosses = [[center - a, center + a] for a in 0.1 * size * np.eye(3)]
    parts = [Segments.of(np.array(crosses), MASS, 4.0), Segments.of(np.array([[center, foot]]), MASS, 2.0)]
    if len(standing) > 2:
        corners = _hull(standing)
        parts.append(Segments.of(path(np.concatenate([corners, corners[:1]])), MASS, 3.0))
    return Segments.joined(parts)


def _hull(points: np.ndarray) -> np.ndarray:
    """Corners (k, 3), in a circle, of the convex hull of points (n, 3) seen from above (Andrew's monotone chain)."""

    def half(ordered: np.ndarray) -> list[np.ndarray]:
        chain: list[np.ndarray] = []
        for p in ordered:
            while len(chain) > 1 and _left(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]
    return np.array(half(ordered) + half(ordered[::-1]))


def _left(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


class Traces:
    """Where bodies' origins have been, of so many last frames."""

    def __init__(self) -> None:
        self._points: deque[np.ndarray] = deque(maxlen=TRACED)

    def note(self, moving: Playable) -> None:
        """Bodies are where they are now."""
        now = moving.frames()[0][:, :3, 3]
        if self._points and now.shape != self._points[-1].shape:
            self._points.clear()
        if not self._points or (now != self._points[-1]).any():
            self._points.append(now)

    def clear(self) -> None:
        """They have been nowhere."""
        self._points.clear()

    def lines(self, body: int | None) -> Segments:
        """Of one body, or of all."""
        if len(self._points) < 2:
            return NONE
        points = np.array(self._points)
        chosen = points if body is None else points[:, body : body + 1]
        return Segments.of(np.stack([chosen[:-1], chosen[1:]], axis=2).reshape(-1, 2, 3), TRACE, 2.0)

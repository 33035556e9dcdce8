"""A tube along a curve, as wires and rails are drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bridge.meshes.triangle_mesh import Triangles
from recursive_dyn.errors import ModelError


def tube(points: Any, radius: float, sections: int = 16) -> Triangles:
    """A round tube (radius in m) along points (n, 3); joined to a ring if the last point is the first.

    Its cross sections follow the curve without twist (parallel transport). Raises ModelError for fewer than two
    different points, or numbers that are not finite.
    """
    path = np.asarray(points, dtype=float)
    if path.ndim != 2 or path.shape[1] != 3 or not np.isfinite(path).all():
        raise ModelError(f"a polyline needs finite points of shape (n, 3), not {path.shape}")
    if not 0.0 < radius < math.inf:
        raise ModelError(f"a polyline's radius must be positive, in metres, not {radius!r}")
    path = path[np.r_[True, np.linalg.norm(np.diff(path, axis=0), axis=1) > 1e-9 * max(1.0, np.abs(path).max())]]
    closed = len(path) > 3 and np.linalg.norm(path[0] - path[-1]) <= 1e-6 * radius + 1e-9
    path = path[:-1] if closed else path
    if len(path) < 2:
        raise ModelError("a polyline needs at least two different points")
    ahead = np.roll(path, -1, axis=0) - path
    ahead /= np.linalg.norm(ahead, axis=1)[:, None]
    if not closed:
        ahead[-1] = ahead[-2]
    behind = np.roll(ahead, 1, axis=0) if closed else np.concatenate([ahead[:1], ahead[:-1]])
    tangent = ahead + behind
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1), 1e-9)[:, None]
    side = _transported(tangent)
    if closed:
        side = _untwisted(side, tangent)
    across = np.cross(tangent, side)
    angle = np.linspace(0.0, 2.0 * math.pi, sections, endpoint=False)
    ring = np.cos(angle)[:, None] * side[:, None] + np.sin(angle)[:, None] * across[:, None]
    vertices = (path[:, None] + radius * ring).reshape(-1, 3)
    rows = np.arange(len(path) if closed else len(path) - 1)
    i, j = (grid.reshape(-1) for grid in np.meshgrid(rows, np.arange(sections), indexing="ij"))
    here, there = i * sections, (i + 1) % len(path) * sections
    k = (j + 1) % sections
    faces = np.concatenate(
        [np.stack([here + j, here + k, there + k], 1), np.stack([here + j, there + k, there + j], 1)]
    )
    if not closed:
        cap = np.stack([np.zeros(sections - 2, int), np.arange(2, sections), np.arange(1, sections - 1)], 1)
        faces = np.concatenate([faces, cap, cap[:, ::-1] + (len(path) - 1) * sections])
    return Triangles.shaded(vertices, faces)


def _transported(tangent: np.ndarray) -> np.ndarray:
    """Unit vectors (n, 3) across the tangents, each turned from the last by no more than the curve turns."""
    side = np.empty_like(tangent)
    start = np.cross(tangent[0], np.eye(3)[np.abs(tangent[0]).argmin()])
    side[0] = start / np.linalg.norm(start)
    for n in range(1, len(tangent)):
        vector = side[n - 1] - tangent[n] * (side[n - 1] @ tangent[n])
        size = np.linalg.norm(vector)
        side[n] = vector / size if size > 1e-9 else side[n - 1]
    return side


def _untwisted(side: np.ndarray, tangent: np.ndarray) -> np.ndarray:
    """Spread the angle by which a ring's last cross section misses its first over the whole ring."""
    last = side[-1] - tangent[0] * (side[-1] @ tangent[0])
    miss = math.atan2(np.cross(last, side[0]) @ tangent[0], last @ side[0])
    angle = np.linspace(0.0, miss, len(side))[:, None]
    result: np.ndarray = np.cos(angle) * side + np.sin(angle) * np.cross(tangent, side)
    return result

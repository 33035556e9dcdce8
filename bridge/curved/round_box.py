"""Spheres and capsules against boxes, in the box's frame; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import Found, InWorld, clamped, closest, dot, put
from recursive_dyn.codegen.compiled import Floats, compiled

_WITHIN = 1e-9  # m: a core that is nearer to the box meets it
_FACE = 0.9  # cosine of the angle to a face's normal, from which on a capsule lies on that face
_APART = 1e-3  # share of a length: points that are nearer are one


@compiled
def round_box(placed: InWorld, a: int, b: int, margin: float, found: Found) -> None:
    """Points of a round shape A nearer to a box B than ``margin``: the nearest, and where a capsule leaves the face."""
    half, p, u, x, n = placed.sizes[b], np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        middle, length = 0.0, 0.0
        for j in range(3):
            middle += placed.axes[b, i, j] * (placed.centers[a, j] - placed.centers[b, j])
            length += placed.axes[b, i, j] * placed.axes[a, 2, j]
        u[i] = 2.0 * placed.sizes[a, 1] * length
        p[i] = middle - 0.5 * u[i]
    radius, t, square = placed.sizes[a, 0], _nearest(p, u, half), 0.0
    for i in range(3):
        y = p[i] + t * u[i]
        x[i] = clamped(y, -half[i], half[i])
        n[i] = y - x[i]
        square += n[i] * n[i]
    distance = math.sqrt(square)
    if distance < _WITHIN:
        _deep(placed, b, p, u, radius, found)
        return
    face = 0
    for i in range(3):
        n[i] = n[i] / distance
        if abs(n[i]) > abs(n[face]):
            face = i
    if distance - radius >= margin:
        return
    _told(placed, b, x, n, distance - radius, found)
    if abs(n[face]) > _FACE and placed.sizes[a, 1] > 0.0:
        sign = 1.0 if n[face] > 0.0 else -1.0
        first, last = _over(p, u, half, face)
        if last > first:
            for k in range(2):
                end = first if k == 0 else last
                if abs(end - t) > _APART:
                    _on_face(placed, b, p, u, end, face, sign, radius, margin, found)


@compiled
def _nearest(p: Floats, u: Floats, half: Floats) -> float:
    """Where p + t u, t in [0, 1], is nearest to the box: the slope of the squared distance is piecewise linear."""
    low, high, at_low, at_high = 0.0, 1.0, _slope(p, u, half, 0.0), _slope(p, u, half, 1.0)
    if at_low >= 0.0:
        return 0.0
    if at_high <= 0.0:
        return 1.0
    for i in range(3):
        if u[i] != 0.0:
            for side in range(2):
                t = ((half[i] if side == 0 else -half[i]) - p[i]) / u[i]
                if low < t < high:
                    slope = _slope(p, u, half, t)
                    if slope < 0.0:
                        low, at_low = t, slope
                    else:
                        high, at_high = t, slope
    return low - at_low * (high - low) / (at_high - at_low)


@compiled
def _slope(p: Floats, u: Floats, half: Floats, t: float) -> float:
    result = 0.0
    for i in range(3):
        y = p[i] + t * u[i]
        result += (y - clamped(y, -half[i], half[i])) * u[i]
    return result


@compiled
def _over(p: Floats, u: Floats, half: Floats, face: int) -> tuple[float, float]:
    """From where to where p + t u is over a face of this axis."""
    first, last = 0.0, 1.0
    for i in range(3):
        if i != face:
            if abs(u[i]) > 0.0:
                one, other = (-half[i] - p[i]) / u[i], (half[i] - p[i]) / u[i]
                first, last = max(first, min(one, other)), min(last, max(one, other))
            elif abs(p[i]) > half[i]:
                last = -1.0
    return first, last


@compiled
def _on_face(
    placed: InWorld, b: int, p: Floats, u: Floats, t: float, face: int, sign: float, radius: float, margin: float,
    found: Found,
) -> None:  # fmt: skip
    """The contact of the core's point t with a face."""
    x, n = np.empty(3), np.zeros(3)
    for i in range(3):
        x[i] = p[i] + t * u[i]
    gap = sign * x[face] - placed.sizes[b, face] - radius
    if gap < margin:
        x[face], n[face] = sign * placed.sizes[b, face], sign
        _told(placed, b, x, n, gap, found)


@compiled
def _deep(placed: InWorld, b: int, p: Floats, u: Floats, radius: float, found: Found) -> None:
    """A core that is within the box: out by the shortest way, over a face or past an edge."""
    half, best, face, sign = placed.sizes[b], -np.inf, 0, 1.0
    for i in range(3):
        for side in range(2):
            out = 1.0 if side == 0 else -1.0
            depth = min(out * p[i], out * (p[i] + u[i])) - half[i]
            if depth > best:
                best, face, sign = depth, i, out
    length, edge, n, axis = math.sqrt(dot(u, u)), -1, np.zeros(3), np.zeros(3)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        size = math.sqrt(u[j] * u[j] + u[k] * u[k])
        if size > 1e-6 * length:
            axis[i], axis[j], axis[k] = 0.0, u[k] / size, -u[j] / size
            along = dot(axis, p)
            out = 1.0 if along >= 0.0 else -1.0
            depth = abs(along) - half[j] * abs(axis[j]) - half[k] * abs(axis[k])
            if depth > best + 1e-9:
                best, edge = depth, i
                for c in range(3):
                    n[c] = out * axis[c]
    if edge < 0:
        first, last = _over(p, u, half, face)
        if last <= first:
            first, last = 0.0, 1.0
        _on_face(placed, b, p, u, first, face, sign, radius, np.inf, found)
        if (last - first) * length > _APART * half[face]:
            _on_face(placed, b, p, u, last, face, sign, radius, np.inf, found)
        return
    q, w = np.empty(3), np.zeros(3)
    for i in range(3):
        q[i] = half[i] if n[i] >= 0.0 else -half[i]
    q[edge], w[edge] = -half[edge], 2.0 * half[edge]
    _, t = closest(p, u, q, w)
    q[edge] += t * w[edge]
    _told(placed, b, q, n, best - radius, found)


@compiled
def _told(placed: InWorld, b: int, x: Floats, n: Floats, gap: float, found: Found) -> None:
    """A contact, in the world's axes."""
    point, normal = np.empty(3), np.empty(3)
    for i in range(3):
        point[i], normal[i] = placed.centers[b, i], 0.0
        for j in range(3):
            point[i] += placed.axes[b, j, i] * x[j]
            normal[i] += placed.axes[b, j, i] * n[j]
    put(found, point, normal, gap)

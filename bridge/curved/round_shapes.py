"""Spheres and capsules against each other: segments with a radius; compiled."""

from __future__ import annotations

import numpy as np

from bridge.curved.manifold_points import (
    TOUCHING,
    Found,
    InWorld,
    clamped,
    closest,
    crossed,
    dot,
    normalized,
    put,
)
from recursive_dyn.codegen.compiled import Floats, compiled

_NEARLY_PARALLEL = 0.01  # square of the sine of an angle between two axes below which they lie along each other
_APART = 1e-3  # share of a length: points that are nearer are one


@compiled
def core(placed: InWorld, k: int, start: Floats, along: Floats) -> None:
    """The segment within a round shape: where it starts, and the way to its end."""
    half = placed.sizes[k, 1]
    for i in range(3):
        start[i] = placed.centers[k, i] - half * placed.axes[k, 2, i]
        along[i] = 2.0 * half * placed.axes[k, 2, i]


@compiled
def round_round(placed: InWorld, a: int, b: int, margin: float, found: Found) -> None:
    """Points nearer than ``margin``: the nearest one; of two that lie along each other those at the ends as well."""
    p, u, q, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    core(placed, a, p, u)
    core(placed, b, q, w)
    aa, bb, ab = dot(u, u), dot(w, w), dot(u, w)
    s, t = closest(p, u, q, w)
    sine = aa * bb - ab * ab
    if aa == 0.0 or bb == 0.0 or sine > _NEARLY_PARALLEL * aa * bb:
        _pair(placed, a, b, s, t, margin, found)
        return
    from_q, to_q = 0.0, 0.0
    for i in range(3):
        from_q += (q[i] - p[i]) * u[i] / aa
        to_q += (q[i] + w[i] - p[i]) * u[i] / aa
    low, high = max(0.0, min(from_q, to_q)), min(1.0, max(from_q, to_q))
    if high - low < _APART:
        _pair(placed, a, b, s, t, margin, found)
        return
    for k in range(2):
        end, across = low if k == 0 else high, 0.0
        for i in range(3):
            across += (p[i] + end * u[i] - q[i]) * w[i]
        _pair(placed, a, b, end, clamped(across / bb, 0.0, 1.0), margin, found)
    if sine > 0.0 and abs(s - low) > _APART and abs(s - high) > _APART:
        _pair(placed, a, b, s, t, margin, found)


@compiled
def _pair(placed: InWorld, a: int, b: int, s: float, t: float, margin: float, found: Found) -> None:
    """The contact of the balls about two points of the cores."""
    p, u, q, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    core(placed, a, p, u)
    core(placed, b, q, w)
    normal, point = np.empty(3), np.empty(3)
    for i in range(3):
        point[i] = q[i] + t * w[i]
        normal[i] = p[i] + s * u[i] - point[i]
    distance = normalized(normal)
    if distance < TOUCHING:
        _across(placed, a, b, u, w, normal)
    gap = distance - placed.sizes[a, 0] - placed.sizes[b, 0]
    if gap < margin:
        for i in range(3):
            point[i] += placed.sizes[b, 0] * normal[i]
        put(found, point, normal, gap)


@compiled
def _across(placed: InWorld, a: int, b: int, u: Floats, w: Floats, normal: Floats) -> None:
    """A normal where two cores cross: across both, towards A's centre, or any."""
    crossed(u, w, normal)
    if normalized(normal) < TOUCHING:
        normal[:] = placed.axes[b, 0]
    side = 0.0
    for i in range(3):
        side += normal[i] * (placed.centers[a, i] - placed.centers[b, i])
    if side < 0.0:
        for i in range(3):
            normal[i] = -normal[i]

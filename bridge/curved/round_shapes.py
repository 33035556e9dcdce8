"""Spheres and capsules against each other: segments with a radius; compiled."""

from __future__ import annotations

import numpy as np

from bridge.curved.manifold_points import (
    TOUCHING,
    Found,
    InWorld,
    closest,
    crossed,
    normalized,
    put,
)
from bridge.curved.parallel_barrels import APART, Barrel, lie_along, parallel_barrels, shared
from recursive_dyn.codegen.compiled import Floats, compiled


@compiled
def core(placed: InWorld, k: int, start: Floats, along: Floats) -> None:
    """The segment within a round shape: where it starts, and the way to its end."""
    half = placed.sizes[k, 1]
    for i in range(3):
        start[i] = placed.centers[k, i] - half * placed.axes[k, 2, i]
        along[i] = 2.0 * half * placed.axes[k, 2, i]


@compiled
def round_round(placed: InWorld, a: int, b: int, margin: float, found: Found) -> None:
    """Points nearer than ``margin``: the nearest one; of two that lie along each other those that carry with it."""
    p, u, q, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    core(placed, a, p, u)
    core(placed, b, q, w)
    s, t = closest(p, u, q, w)
    _pair(placed, a, b, s, t, margin, found)
    one, other = Barrel(p, u, placed.sizes[a, 0]), Barrel(q, w, placed.sizes[b, 0])
    if found.size[0] == 1 and lie_along(one, other):
        low, high = shared(one, other)
        if high - low >= APART:
            parallel_barrels(one, other, low, high, margin, found)


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

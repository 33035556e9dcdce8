"""How fast the gap between two solids grows with its direction, at kinks too; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.gap_along import gap_along
from bridge.curved.manifold_points import clamped, crossed, dot, normalized
from bridge.curved.solid import Solid
from recursive_dyn.codegen.compiled import Floats, compiled

_SMOOTH = 1e-9  # of the sizes: how far across n nearest points may be from each other
_NEXT = 1e-9  # rad from a direction, to be on this side of a kink or on that
_ROUNDS = 30  # of looking for the shortest mean
_LEAST = 1e-6  # sine of an angle to an axis, from which on it says what is across
_TINY = 1e-300


@compiled
def growth(one: Solid, other: Solid, best: Floats, way: Floats) -> float:
    """How fast the gap grows where it grows fastest, and which way (3,) that is; 0 where it grows nowhere.

    Differences a - b of nearest points, across n, are its slopes; at a kink others belong to directions all around. It
    grows as fast as the shortest mean of these is long, and that way: the point nearest to the origin of a convex set
    of which farthest points are known (Gilbert, Johnson and Keerthi 1988, in two dimensions).
    """
    n, d, a, b, x, y = best[:3].copy(), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    level, p, q, count = _SMOOTH * (one.size[0] + other.size[0]), np.empty(3), np.empty(3), 1
    across_both(one, n, x, y)
    gap_along(one, other, n, a, b)
    p[0], q[0] = dot(a, x) - dot(b, x), dot(a, y) - dot(b, y)
    u, v = p[0], q[0]
    for _ in range(_ROUNDS):
        length = math.sqrt(u * u + v * v)
        if length <= level:
            return 0.0
        for i in range(3):
            way[i] = (u * x[i] + v * y[i]) / length
            d[i] = n[i] + _NEXT * way[i]
        gap_along(one, other, d, a, b)
        p[count], q[count] = dot(a, x) - dot(b, x), dot(a, y) - dot(b, y)
        slope = (u * p[count] + v * q[count]) / length
        if slope >= length - level:
            return length
        if count == 2 and _is_within(p, q, level):
            return 0.0
        u, v = _nearest_side(p, q, count + 1)
        count = 2
    return math.sqrt(u * u + v * v)


@compiled
def _is_within(p: Floats, q: Floats, level: float) -> bool:
    """Whether the origin is within a triangle of points (p, q), and not as near as that to a side."""
    left, right = True, True
    for i in range(3):
        j = (i + 1) % 3
        s, t = p[j] - p[i], q[j] - q[i]
        beside, least = p[i] * t - q[i] * s, level * math.sqrt(s * s + t * t)
        left, right = left and beside > least, right and beside < -least
    return left or right


@compiled
def _nearest_side(p: Floats, q: Floats, count: int) -> tuple[float, float]:
    """The point nearest to the origin on the sides between points (p, q); the ends of its side become the first two."""
    least, u, v, first, second = np.inf, 0.0, 0.0, 0, 1
    for i in range(count - 1):
        for j in range(i + 1, count):
            s, t = p[j] - p[i], q[j] - q[i]
            share = clamped(-(p[i] * s + q[i] * t) / max(s * s + t * t, _TINY), 0.0, 1.0)
            x, y = p[i] + share * s, q[i] + share * t
            if x * x + y * y < least:
                least, u, v, first, second = x * x + y * y, x, y, i, j
    one, other, up, down = p[first], q[first], p[second], q[second]
    p[0], q[0], p[1], q[1] = one, other, up, down
    return u, v


@compiled
def across_both(one: Solid, n: Floats, x: Floats, y: Floats) -> None:
    """Unit vectors across n and each other."""
    along = dot(one.axes[2], n)
    for i in range(3):
        x[i] = one.axes[2, i] - along * n[i]
    if normalized(x) < _LEAST:
        x[:] = one.axes[0]
    crossed(n, x, y)

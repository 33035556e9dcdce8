"""Where the way from a body to a point of it passes through a surface; compiled (Moeller and Trumbore, 1997)."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import crossed, dot
from bridge.faceted.facet_search import NONE, Near, corners_of, next_facet
from bridge.faceted.facets import Facets
from recursive_dyn.codegen.compiled import Floats, compiled

_ASIDE = (0.0137, -0.0071, 0.0053)  # of the way: from where it begins, so that it passes through no edge of a grid
_SAME = 1e-7  # of the way, between crossings of triangles that lie on each other
_LAYERS = 0.1  # of the way, up to which triangles that face the same way are layers of one ground
_MOST = 64  # crossings that are told apart


@compiled
def last_crossing(middle: Floats, x: Floats, facets: Facets, k: int) -> float:
    """How far the last crossing is from x, if x is on the other side of the surface than where the way begins, else 0.

    It is after an odd number of crossings, of which those through triangles that lie on each other are one, and below
    layers that face the same way close to each other, as of a road on its ground.
    """
    start, along, near = np.empty(3), np.empty(3), Near(np.empty(3), np.empty(3), x, math.inf)
    length, count, ways, signs = 0.0, 0, np.empty(_MOST), np.empty(_MOST)
    for i in range(3):
        length += (x[i] - middle[i]) * (x[i] - middle[i])
    length = math.sqrt(length)
    start[0] = middle[0] + _ASIDE[0] * length
    start[1] = middle[1] + _ASIDE[1] * length
    start[2] = middle[2] + _ASIDE[2] * length
    for i in range(3):
        along[i] = x[i] - start[i]
        near.low[i], near.high[i] = min(x[i], start[i]), max(x[i], start[i])
    corners, u, w, p, q, s = np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    t = next_facet(facets, k, near, NONE)
    while t != NONE:
        corners_of(facets, k, t, corners)
        for i in range(3):
            u[i], w[i] = corners[1, i] - corners[0, i], corners[2, i] - corners[0, i]
            s[i] = start[i] - corners[0, i]
        crossed(along, w, p)
        det = dot(u, p)
        if det != 0.0:
            crossed(s, u, q)
            one, other, way = dot(s, p) / det, dot(along, q) / det, dot(w, q) / det
            if one >= 0.0 and other >= 0.0 and one + other <= 1.0 and 0.0 < way <= 1.0 and count < _MOST:
                count = _crossed(ways, signs, count, way, 1.0 if det > 0.0 else -1.0)
        t = next_facet(facets, k, near, t)
    least = 1.0 - _last(ways, count)
    return max(least, 1e-12) * math.sqrt(dot(along, along)) if _is_beyond(ways, signs, count) else 0.0


@compiled
def _crossed(ways: Floats, signs: Floats, count: int, way: float, sign: float) -> int:
    """Note a crossing unless there is one; how many there are."""
    for j in range(count):
        if abs(ways[j] - way) < _SAME:
            return count
    ways[count], signs[count] = way, sign
    return count + 1


@compiled
def _last(ways: Floats, count: int) -> float:
    found = 0.0
    for j in range(count):
        found = max(found, ways[j])
    return found


@compiled
def _is_beyond(ways: Floats, signs: Floats, count: int) -> bool:
    if count % 2 == 1 or count == 0:
        return count > 0
    for i in range(count):
        for j in range(i):
            if signs[i] == signs[j] and abs(ways[i] - ways[j]) < _LAYERS:
                return True
    return False

"""Where the way from a body to a point of it passes through a surface; compiled (Moeller and Trumbore, 1997)."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import crossed, dot
from bridge.faceted.facet_search import NONE, Near, corners_of, next_facet
from bridge.faceted.facets import Facets
from recursive_dyn.codegen.compiled import Floats, compiled

_ASIDE = (0.0137, -0.0071, 0.0053)  # of the way: from where it begins, so that it passes through no edge of a grid


@compiled
def last_crossing(middle: Floats, x: Floats, facets: Facets, k: int) -> float:
    """How far the last crossing is from x, if there is an odd number of them, else 0."""
    start, along, near = np.empty(3), np.empty(3), Near(np.empty(3), np.empty(3), x, math.inf)
    length, count, least = 0.0, 0, math.inf
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
            if one >= 0.0 and other >= 0.0 and one + other <= 1.0 and 0.0 < way <= 1.0:
                count += 1
                least = min(least, 1.0 - way)
        t = next_facet(facets, k, near, t)
    return max(least, 1e-12) * math.sqrt(dot(along, along)) if count % 2 == 1 else 0.0

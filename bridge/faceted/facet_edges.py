"""Edges of a convex polytope across edges of a surface that stick out; compiled. All is in the polytope's frame."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import Found, Rows3, crossed, dot, normalized
from bridge.curved.polytopes import Polytopes
from bridge.faceted.facet_sides import sticking_out
from bridge.faceted.fewest_points import put_nearest
from recursive_dyn.codegen.compiled import Floats, compiled

LEAN = 0.05  # sine of the angle by which what lies flat may lean and is still held at a border
_PARALLEL = 1e-6  # sine between two edges that do not cross
_WITHIN = 1e-9  # share of an edge beyond its ends
_DEEPER = 4.0  # how many times as deep as a face is, by which an edge is left, edges may be that are found
_LIKE = 0.7  # cosine between normals that hold together along an edge


@compiled
def edge_on_polytope(
    own: Rows3, side: int, other: Rows3, border: bool, solids: Polytopes, hull: int, margin: float, reach: float,
    deep: float, up: Floats, found: Found,
) -> None:  # fmt: skip
    """Add the points of a side of triangle ``own``, with ``other`` beyond it unless that is a border.

    reach: as ``reach_within`` has it; deep, m: up to where it is looked for overlaps. up (3,): against which no normal
    leads, of ground; 0 of a mesh.
    """
    reach = min(reach, max(deep, margin))
    a, b, along, u, w, bulge = own[side], own[(side + 1) % 3], np.empty(3), np.empty(3), np.zeros(3), np.empty(3)
    length = sticking_out(own, side, other, border, along, u, w, bulge)
    if length == 0.0:
        return
    first, last = solids.ranges[hull, 2], solids.ranges[hull, 3]
    rows, best, n, x = np.empty((last - first, 7)), -1, np.empty(3), np.empty(3)
    for e in range(first, last):
        rows[e - first, 6] = math.inf
        if _is_far(solids, e, a, b, reach) or not _crossing(solids, e, a, along, length, n, x):
            continue
        if (not border and dot(n, bulge) >= 0.0) or dot(n, u) > LEAN or dot(n, w) > LEAN:
            continue
        gap = dot(n, x)
        for i in range(3):
            x[i] = x[i] - gap * n[i] + a[i]
        gap *= upright(n, u) * (1.0 if border else upright(n, w))
        if -deep < gap < margin and dot(n, up) >= 0.0:
            for i in range(3):
                rows[e - first, i], rows[e - first, 3 + i] = x[i], n[i]
            rows[e - first, 6] = gap
            if best < 0 or gap > rows[best, 6]:
                best = e - first
    for r in range(last - first):
        if rows[r, 6] < math.inf and (r == best or dot(rows[r, 3:6], rows[best, 3:6]) > _LIKE):
            put_nearest(found, rows[r, 0:3], rows[r, 3:6], rows[r, 6])


@compiled
def reach_within(a: Floats, b: Floats, solids: Polytopes, hull: int, margin: float) -> float:
    """How far from what is from a to b edges of a polytope are looked for, m: a few times as deep as that is in it, and
    the margin; -1 if it is nowhere nearer to it than the margin."""
    low, high, deep = 0.0, 1.0, math.inf
    for f in range(solids.ranges[hull, 4], solids.ranges[hull, 5]):
        here, there = dot(solids.normals[f], a) - solids.offsets[f], dot(solids.normals[f], b) - solids.offsets[f]
        deep = min(deep, max(-here, -there))
        here, there = here - margin, there - margin
        if here >= 0.0 and there >= 0.0:
            return -1.0
        if here > 0.0:
            low = max(low, here / (here - there))
        elif there > 0.0:
            high = min(high, here / (here - there))
    return _DEEPER * max(deep, 0.0) + margin if low < high else -1.0


@compiled
def _is_far(solids: Polytopes, e: int, a: Floats, b: Floats, reach: float) -> bool:
    """Whether boxes about an edge and one from a to b are farther apart than ``reach``, m."""
    p, q, far = solids.corners[solids.edges[e, 0]], solids.corners[solids.edges[e, 1]], False
    for i in range(3):
        low, high = min(a[i], b[i]), max(a[i], b[i])
        far = far or min(p[i], q[i]) - high > reach or low - max(p[i], q[i]) > reach
    return far


@compiled
def upright(n: Floats, u: Floats) -> float:
    """Have a normal that leans over a triangle stand on it, u: the way into it; the cosine of the turn."""
    lean = dot(n, u)
    if lean <= 0.0:
        return 1.0
    for i in range(3):
        n[i] -= lean * u[i]
    return normalized(n)


@compiled
def _crossing(solids: Polytopes, e: int, a: Floats, along: Floats, length: float, n: Floats, x: Floats) -> bool:
    """Whether an edge of the polytope crosses one from a on, seen along their common normal n, which leads into the
    polytope; x becomes its point there, from a."""
    row, d = solids.edges[e], np.empty(3)
    p, q, one, other = solids.corners[row[0]], solids.corners[row[1]], solids.normals[row[2]], solids.normals[row[3]]
    for i in range(3):
        d[i], x[i] = q[i] - p[i], p[i] - a[i]
    edge = normalized(d)
    crossed(d, along, n)
    if normalized(n) < _PARALLEL:
        return False
    if dot(n, one) + dot(n, other) > 0.0:
        for i in range(3):
            n[i] = -n[i]
    c, first, second = dot(one, other), -dot(n, one), -dot(n, other)
    sine = math.sqrt(max(1.0 - c * c, 1e-300))
    if first - c * second < -LEAN * sine or second - c * first < -LEAN * sine:
        return False
    cosine, before, on = dot(d, along), dot(d, x), dot(along, x)
    square = 1.0 - cosine * cosine
    s, t = (cosine * on - before) / square, (on - cosine * before) / square
    if not (-_WITHIN * edge <= s <= (1.0 + _WITHIN) * edge and -_WITHIN * length <= t <= (1.0 + _WITHIN) * length):
        return False
    for i in range(3):
        x[i] += s * d[i]
    return True

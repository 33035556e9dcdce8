"""The part of a polytope's face that lies over a face of another one; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.convex.hull_axes import NONE
from bridge.convex.hulls import Hull, lowest_corner
from bridge.curved.manifold_points import Found, Rows3, crossed, cut_polygon, dot, normalized, put
from bridge.curved.polytopes import Polytopes
from recursive_dyn.codegen.compiled import Flags, Floats, compiled

_KEPT = 6  # corners kept of many: those that enclose the most of them,
_MOST = _KEPT + 1  # and the lowest; eight level ones take longer to solve for, and end less exactly
_TURNED = 0.05  # rad, against a side of the face, of the way along which they are looked for: two of it were as far out
_SAME = 1e-9  # m between distances of which the first counts
_LEVEL = 1e-7  # m, by which a corner is lower than these where it counts: what is flat to rounding keeps its points


@compiled
def clip_faces(solids: Polytopes, own: Hull, other: Hull, face: int, margin: float, found: Found) -> None:
    """Points of ``other`` over, or under, a face of ``own``, less than ``margin`` from it.

    Rows are the points on the face and the normals out of it, as if ``own`` were B.
    """
    n, base = own.normals[face], solids.ranges[own.number, 0]
    row = solids.ranges[own.number, 4] + face
    start, end = solids.borders[row, 0], solids.borders[row, 1]
    facing = _facing(solids, other, n)
    first, last = solids.borders[facing, 0], solids.borders[facing, 1]
    most, count, out = (last - first) + (end - start), last - first, np.empty(3)
    polygon, cut = np.empty((most, 3)), np.empty((most, 3))
    for k in range(count):
        polygon[k] = other.corners[solids.rim[first + k, 0] - solids.ranges[other.number, 0]]
    for k in range(start, end):
        p = own.corners[solids.rim[k, 0] - base]
        q = own.corners[solids.rim[k + 1 if k + 1 < end else start, 0] - base]
        _outwards(p, q, n, out)
        count = cut_polygon(polygon, count, out, dot(out, p), cut)
        polygon[:] = cut
    near = 0
    for k in range(count):
        if dot(n, polygon[k]) - own.offsets[face] < margin:
            polygon[near] = polygon[k]
            near += 1
    p, q = own.corners[solids.rim[start, 0] - base], own.corners[solids.rim[start + 1, 0] - base]
    _outwards(p, q, n, out)
    _tell(polygon, near, n, own.offsets[face], out, found)


@compiled
def _facing(solids: Polytopes, other: Hull, n: Floats) -> int:
    """The number of the face at its lowest corner that is most turned against n."""
    first, face, least = solids.ranges[other.number, 4], NONE, np.inf
    corner = solids.ranges[other.number, 0] + lowest_corner(other, n)
    for e in range(solids.ranges[other.number, 2], solids.ranges[other.number, 3]):
        if solids.edges[e, 0] == corner or solids.edges[e, 1] == corner:
            for side in range(2, 4):
                f = solids.edges[e, side]
                if dot(other.normals[f - first], n) < least:
                    face, least = f, dot(other.normals[f - first], n)
    return face


@compiled
def _outwards(p: Floats, q: Floats, n: Floats, out: Floats) -> None:
    """The unit vector out of a face of normal n at its side from p to q."""
    along = np.empty(3)
    for i in range(3):
        along[i] = q[i] - p[i]
    crossed(along, n, out)
    normalized(out)


@compiled
def _tell(polygon: Rows3, count: int, n: Floats, offset: float, side: Floats, found: Found) -> None:
    """All corners, or, of many, those that enclose the most of it and the lowest."""
    chosen, x, lowest, least = np.zeros(count, dtype=np.bool_), np.empty(3), NONE, np.inf
    if count > _MOST:
        _choose(polygon, count, n, side, chosen)
    for k in range(count):
        if chosen[k] or count <= _MOST:
            least = min(least, dot(n, polygon[k]) - _LEVEL)
    for k in range(count):
        if dot(n, polygon[k]) < least:
            lowest, least = k, dot(n, polygon[k])
    for k in range(count):
        if chosen[k] or k == lowest or count <= _MOST:
            gap = dot(n, polygon[k]) - offset
            for i in range(3):
                x[i] = polygon[k, i] - gap * n[i]
            put(found, x, n, gap)


@compiled
def _choose(polygon: Rows3, count: int, n: Floats, side: Floats, chosen: Flags) -> None:
    """The two outermost corners along a direction, and one by one what is farthest outside of those there are."""
    x, out, c, s = np.empty(3), np.empty(3), math.cos(_TURNED), math.sin(_TURNED)
    crossed(n, side, x)
    for i in range(3):
        x[i] = c * side[i] + s * x[i]
    first, last = 0, 0
    for k in range(1, count):
        first = k if dot(x, polygon[k]) > dot(x, polygon[first]) else first
        last = k if dot(x, polygon[k]) < dot(x, polygon[last]) else last
    chosen[first] = chosen[last] = True
    for _ in range(_KEPT - 2):
        best, at, start = _SAME, NONE, first
        for _ in range(_KEPT):
            end = start + 1 if start + 1 < count else 0
            while not chosen[end]:
                end = end + 1 if end + 1 < count else 0
            _outwards(polygon[start], polygon[end], n, out)
            k = start + 1 if start + 1 < count else 0
            while k != end:
                away = abs(dot(out, polygon[k]) - dot(out, polygon[start]))
                if away > best + _SAME:
                    best, at = away, k
                k = k + 1 if k + 1 < count else 0
            start = end
            if start == first:
                break
        if at == NONE:
            break
        chosen[at] = True

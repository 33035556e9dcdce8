"""Cylinders and ellipsoids on convex polytopes: the direction in which the two are farthest apart; compiled.

Over unit vectors n the gap min n . a - max n . b is largest at a face's normal, on the arc between the normals of an
edge's two faces, or within those at a corner; positive, it has no other maximum. Everything is in the polytope's frame.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.cylinder_manifold import cylinder_manifold
from bridge.curved.distances import CYLINDER, beyond
from bridge.curved.manifold_points import Found, dot, normalized, put
from bridge.curved.polytopes import Polytopes
from bridge.curved.solid import Solid, distance_from, lowest
from recursive_dyn.codegen.compiled import Flags, Floats, compiled

_FACES = 16  # gone through before the nearest one is taken
_ITERATIONS = 100  # of a root that a kink may be
_CLOSE = 1e-15  # between two angles
_LEVEL = 1e-16  # share of its change below which a slope is none
_SCAN = (1e-6, 1e-3, 0.0625, 0.25, 0.5, 0.75, 0.9375, 0.999, 1.0)  # of an edge's angle: of overlaps it has two maxima
_AROUND = 4.0  # of an overlap: how near a face's side is looked at too
_WITHIN = 1e-9  # m beyond a side or an end that still is within


@compiled
def solid_polytope(solid: Solid, solids: Polytopes, hull: int, margin: float, found: Found) -> None:
    """The nearest point, if it is nearer than ``margin``, and of a cylinder those that carry together with it."""
    first, last = solids.ranges[hull, 4], solids.ranges[hull, 5]
    a, n, gaps = np.empty(3), np.empty(3), np.empty(last - first)
    face = first
    for f in range(first, last):
        gaps[f - first] = lowest(solid, solids.normals[f], a) - solids.offsets[f]
        if gaps[f - first] > gaps[face - first]:
            face = f
    if gaps[face - first] >= margin:
        return
    best, seen = np.full(7, -np.inf), np.zeros(last - first, dtype=np.bool_)  # point on B, normal, gap
    nearest = face
    for _ in range(_FACES):
        seen[face - first] = True
        if not _face(solid, solids, face, best):
            _border(solid, solids, hull, face, best)
        if best[6] > -np.inf:
            break
        face = _next(solids, face, seen, gaps, first)
        if face < 0:
            break
    if solid.kind == CYLINDER:
        _caps(solid, solids, hull, best)
    if best[6] < gaps[nearest - first] - _WITHIN:  # it cannot be less
        best[6] = -np.inf
        lowest(solid, solids.normals[nearest], a)
        _better(best, a, solids.normals[nearest], gaps[nearest - first])
    if best[6] >= margin:
        return
    for i in range(3):
        a[i], n[i] = best[i], best[3 + i]
    put(found, a, n, best[6])
    if solid.kind == CYLINDER:
        cylinder_manifold(solid, solids, hull, n, margin, found)


@compiled
def _next(solids: Polytopes, face: int, seen: Flags, gaps: Floats, first: int) -> int:
    """The farthest neighbour of a face that was not seen yet, or -1."""
    following, most = -1, -np.inf
    for k in range(solids.borders[face, 0], solids.borders[face, 1]):
        edge = solids.edges[solids.rim[k, 1]]
        other = edge[3] if edge[2] == face else edge[2]
        if not seen[other - first] and gaps[other - first] > most:
            following, most = other, gaps[other - first]
    return following


@compiled
def _better(best: Floats, point: Floats, normal: Floats, gap: float) -> None:
    """Keep a contact, its point on A, if it is farther than the one that is kept."""
    if gap > best[6]:
        for i in range(3):
            best[i], best[3 + i] = point[i] - gap * normal[i], normal[i]
        best[6] = gap


@compiled
def _face(solid: Solid, solids: Polytopes, face: int, best: Floats) -> bool:
    """The lowest point over a face, if there it is: of a cylinder that lies flat one of many. Whether it is so far from
    the face's sides that what overlaps is not nearer to them."""
    a, n, out = np.empty(3), solids.normals[face], -np.inf
    gap = lowest(solid, n, a) - solids.offsets[face]
    for k in range(solids.borders[face, 0], solids.borders[face, 1]):
        out = max(out, beyond(solids, face, k, a))
    if out <= _WITHIN:
        _better(best, a, n, gap)
    return out < _AROUND * min(gap, 0.0)


@compiled
def _border(solid: Solid, solids: Polytopes, hull: int, face: int, best: Floats) -> None:
    """Edges and corners of a face."""
    for k in range(solids.borders[face, 0], solids.borders[face, 1]):
        _edge(solid, solids, solids.rim[k, 1], best)
        _corner(solid, solids, hull, solids.rim[k, 0], best)


@compiled
def _caps(solid: Solid, solids: Polytopes, hull: int, best: Floats) -> None:
    """Along a cylinder's axis, if the outermost corner is under its cap: from within, its barrel may be nearer."""
    n, x = np.empty(3), np.empty(3)
    for side in range(2):
        corner, most = -1, -np.inf
        for i in range(3):
            n[i] = (2.0 * side - 1.0) * solid.axes[2, i]
        for v in range(solids.ranges[hull, 0], solids.ranges[hull, 1]):
            out = dot(n, solids.corners[v])
            if out > most:
                corner, most = v, out
        gap, square = dot(n, solid.centre) - solid.size[1] - most, 0.0
        for i in range(3):
            x[i] = solids.corners[corner, i] + gap * n[i]
            away = x[i] - solid.centre[i] + solid.size[1] * n[i]
            square += away * away
        if square <= solid.size[0] * solid.size[0]:
            _better(best, x, n, gap)


@compiled
def _corner(solid: Solid, solids: Polytopes, hull: int, corner: int, best: Floats) -> None:
    """A corner and the surface next to it, of a cylinder also its barrel if a cap is nearer."""
    p, n, away = solids.corners[corner], np.empty(3), np.empty(3)
    gap = distance_from(solid, solids, p, n)
    _told_corner(solids, hull, corner, n, gap, best)
    if solid.kind == CYLINDER and gap < 0.0:
        for i in range(3):
            away[i] = solid.centre[i] - p[i]
        along = dot(away, solid.axes[2])
        for i in range(3):
            n[i] = away[i] - along * solid.axes[2, i]
        _told_corner(solids, hull, corner, n, normalized(n) - solid.size[0], best)


@compiled
def _told_corner(solids: Polytopes, hull: int, corner: int, n: Floats, gap: float, best: Floats) -> None:
    """A corner's contact, if n is one of the corner's normals."""
    p, x = solids.corners[corner], np.empty(3)
    for e in range(solids.ranges[hull, 2], solids.ranges[hull, 3]):
        u, v = solids.edges[e, 0], solids.edges[e, 1]
        if u == corner or v == corner:
            q = solids.corners[v if u == corner else u]
            for i in range(3):
                x[i] = q[i] - p[i]
            if dot(n, x) > _WITHIN * math.sqrt(dot(x, x)):
                return
    for i in range(3):
        x[i] = p[i] + gap * n[i]
    _better(best, x, n, gap)


@compiled
def _edge(solid: Solid, solids: Polytopes, edge: int, best: Floats) -> None:
    """Where over the directions of an edge the gap is largest, if there the two meet within the edge."""
    row = solids.edges[edge]
    p, q, one, other = solids.corners[row[0]], solids.corners[row[1]], solids.normals[row[2]], solids.normals[row[3]]
    t, n, a, x = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    c, s = dot(one, other), 0.0
    for i in range(3):
        t[i] = other[i] - c * one[i]
        s += t[i] * t[i]
    s = math.sqrt(s)
    for i in range(3):
        t[i] = t[i] / s
    end, before, at_before = math.atan2(s, c), 0.0, _turning(solid, p, one, t, 0.0, n, a)
    for k in range(len(_SCAN)):
        angle = _SCAN[k] * end
        slope = _turning(solid, p, one, t, angle, n, a)
        if at_before >= 0.0 and slope <= 0.0 and at_before > slope:
            gap = _largest(solid, p, one, t, before, angle, n, x)
            along, square = 0.0, 0.0
            for i in range(3):
                along += (q[i] - p[i]) * (x[i] - p[i])
                square += (q[i] - p[i]) * (q[i] - p[i])
            if -_WITHIN * square <= along <= (1.0 + _WITHIN) * square:
                _better(best, x, n, gap)
        before, at_before = angle, slope


@compiled
def _largest(solid: Solid, p: Floats, one: Floats, t: Floats, low: float, high: float, n: Floats, x: Floats) -> float:
    """The gap at the angle between low and high where it grows no more, by the Illinois rule, and halving where that is
    slow; n (3,) becomes the direction, x (3,) the solid's point."""
    a, b = np.empty(3), np.empty(3)
    at_low, at_high = _turning(solid, p, one, t, low, n, a), _turning(solid, p, one, t, high, n, b)
    side, weight_low, weight_high, level = 0, at_low, at_high, _LEVEL * (at_low - at_high)
    for k in range(_ITERATIONS):
        if high - low < _CLOSE or min(at_low, -at_high) <= level:
            break
        middle = high - weight_high * (high - low) / (weight_high - weight_low)
        if k % 4 == 3 or not low < middle < high:
            middle = 0.5 * (low + high)
        slope = _turning(solid, p, one, t, middle, n, x)
        if slope >= 0.0:
            low, at_low, weight_low = middle, slope, slope
            weight_high = 0.5 * weight_high if side < 0 else weight_high
            side = -1
            a[:] = x
        else:
            high, at_high, weight_high = middle, slope, slope
            weight_low = 0.5 * weight_low if side > 0 else weight_low
            side = 1
            b[:] = x
    _turning(solid, p, one, t, low if at_low < -at_high else high, n, x)
    share, gap = at_low / (at_low - at_high), 0.0  # at a kink the two meet between the lowest points on both sides
    for i in range(3):
        x[i] = a[i] + share * (b[i] - a[i])
        gap += n[i] * (x[i] - p[i])
    return gap


@compiled
def _turning(solid: Solid, p: Floats, one: Floats, t: Floats, angle: float, n: Floats, a: Floats) -> float:
    """How fast the gap from an edge through p grows with the angle of n; n and the solid's lowest point a are told."""
    c, s, slope = math.cos(angle), math.sin(angle), 0.0
    for i in range(3):
        n[i] = c * one[i] + s * t[i]
    lowest(solid, n, a)
    for i in range(3):
        slope += (c * t[i] - s * one[i]) * (a[i] - p[i])
    return slope

"""Corners of a convex polytope on a surface of triangles: on the faces that they are over, or sank into; compiled.

A corner that is above touches each face that it is over, along its normal. One that sank in is moved out to the nearest
place: a face, or where that is an edge or a corner that is hollow from above, all faces there.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import Found, Rows3, dot
from bridge.curved.polytopes import Polytopes
from bridge.curved.solid import Solid
from bridge.faceted.facet_search import NONE, Near, corners_of, next_facet, sunk_below
from bridge.faceted.facet_sides import normal_of
from bridge.faceted.facets import Facets
from bridge.faceted.fewest_points import put_nearest
from bridge.faceted.nearest_on_facet import nearest_to_origin
from bridge.faceted.segment_crossings import last_crossing
from recursive_dyn.codegen.compiled import Floats, compiled

_WITHIN = 1e-8  # m beyond a side that still is over a face
_LEVEL = 1e-10  # m from a plane, from where on it is seen on which side of it a point is
_ONE = 1e-6  # share of a squared distance by which two are one
_ALIKE = 1e-5  # between normals that are one


@compiled
def corners_on_facets(
    solid: Solid, solids: Polytopes, hull: int, facets: Facets, k: int, margin: float, found: Found
) -> None:
    """Add the points nearer than ``margin`` of a polytope's corners on the k-th surface, in the surface's frame."""
    v, first, last = np.empty(3), solids.ranges[hull, 0], solids.ranges[hull, 1]
    for c in range(first, last):
        for i in range(3):
            v[i] = solid.centre[i]
            for j in range(3):
                v[i] += solid.axes[j, i] * solids.corners[c, j]
        _corner(v, solid.centre, facets, k, margin, found)


@compiled
def _corner(v: Floats, centre: Floats, facets: Facets, k: int, margin: float, found: Found) -> None:
    corners, n, p, grid, before = np.empty((3, 3)), np.empty(3), np.empty(3), facets.ranges[k, 1] > 0, found.size[0]
    depth = sunk_below(facets, k, v) if grid else last_crossing(centre, v, facets, k)
    near, least = Near(np.empty(3), np.empty(3), v, max(depth, margin) * (1.0 + _ONE)), math.inf
    for i in range(3):
        near.low[i], near.high[i] = v[i] - near.reach, v[i] + near.reach
    if depth > 0.0:
        least = _least(v, centre, facets, k, near)
    t = next_facet(facets, k, near, NONE)
    while t != NONE:
        corners_of(facets, k, t, corners)
        square, out = _seen(v, corners, n, p), dot(n, v) - dot(n, corners[0])
        side = 1.0
        if not grid and (depth > 0.0 or abs(out) < _LEVEL):
            side = 1.0 if dot(n, centre) >= dot(n, corners[0]) else -1.0
        elif not grid:
            side = 1.0 if out > 0.0 else -1.0
        height = side * out
        over = -_LEVEL < height < margin and square - height * height < _WITHIN * _WITHIN
        if over or (height <= _LEVEL and square <= least * (1.0 + _ONE) + _LEVEL * _LEVEL and depth > 0.0):
            for i in range(3):
                n[i] *= side
                p[i] = v[i] - height * n[i]
            if _is_new(n, before, found):
                put_nearest(found, p, n, height)
        t = next_facet(facets, k, near, t)


@compiled
def _seen(v: Floats, corners: Rows3, n: Floats, p: Floats) -> float:
    """Write a triangle's normal, and the way from v to the nearest point of it; its squared length."""
    own, weights = np.empty((3, 3)), np.empty(3)
    for c in range(3):
        for i in range(3):
            own[c, i] = corners[c, i] - v[i]
    normal_of(corners, n)
    nearest_to_origin(own, weights)
    for i in range(3):
        p[i] = weights[0] * own[0, i] + weights[1] * own[1, i] + weights[2] * own[2, i]
    return dot(p, p)


@compiled
def _least(v: Floats, centre: Floats, facets: Facets, k: int, near: Near) -> float:
    """The least squared distance from a point that sank in to triangles that it passed."""
    corners, n, p, least, grid = np.empty((3, 3)), np.empty(3), np.empty(3), math.inf, facets.ranges[k, 1] > 0
    t = next_facet(facets, k, near, NONE)
    while t != NONE:
        corners_of(facets, k, t, corners)
        square = _seen(v, corners, n, p)
        if square < least:
            at = dot(n, corners[0])
            out, inner = dot(n, v) - at, dot(n, centre) - at
            passed = out <= _LEVEL if grid else out * inner <= 0.0 or abs(out) < _LEVEL
            if passed:
                least = square
        t = next_facet(facets, k, near, t)
    return least


@compiled
def _is_new(n: Floats, before: int, found: Found) -> bool:
    """Whether none of the points from a row on has this normal."""
    for r in range(before, found.size[0]):
        apart = 0.0
        for i in range(3):
            apart = max(apart, abs(found.rows[r, 3 + i] - n[i]))
        if apart < _ALIKE:
            return False
    return True

"""Balls and ellipsoids on a surface of triangles: where it is nearer than all around; compiled.

A ball is an ellipsoid of three equal sizes, of the kind ROUND. The surface is looked at in coordinates in which the
shape is the unit ball about the origin. Every place of the surface than which none next to it is nearer is a contact:
within a triangle with its normal, on an edge or a corner if no triangle there has a nearer place. So a flat surface is
touched once, a ridge along its own normal, and a hollow on all its sides. Which triangles are at an edge is seen from
where they are: a mesh needs not say which corners are the same, nor end its triangles at those of others.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.distances import ELLIPSOID
from bridge.curved.manifold_points import TOUCHING, Found, Rows3, crossed, dot, normalized
from bridge.curved.polytopes import Polytopes
from bridge.curved.solid import Solid, distance_from
from bridge.faceted.facet_search import NONE, Near, corners_of, is_below, next_facet
from bridge.faceted.facets import Facets
from bridge.faceted.nearest_on_facet import nearest_to_origin
from recursive_dyn.codegen.compiled import Floats, compiled

_AT = 1e-6  # of a size: how near a triangle is to a point that it has
NEARER = 1e-12  # share of a squared distance by which another is nearer
_SAME = 1e-5  # of a size, between points that are one: what is less steep than a hundred thousandth is flat
_DEEP = 0.5  # of a size: how far a middle may get below a grid before it is taken for one that came from there


@compiled
def ball_on_facets(ball: Solid, solids: Polytopes, facets: Facets, k: int, margin: float, found: Found) -> None:
    """Add the points nearer than ``margin`` of a ball or ellipsoid on the k-th surface, all in the surface's frame; no
    more than the nearest as there is room for."""
    corners, weights, y, p = np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3)
    least, most = extremes(ball)
    limit, below, over = 1.0 + margin / least, is_below(facets, k, ball.centre), NONE
    near = Near(np.empty(3), np.empty(3), ball.centre, limit * most)
    surround(ball, limit, near)
    if below:
        over, below = _sunk(ball, facets, k, near)
    t = next_facet(facets, k, near, NONE)
    while t != NONE:
        corners_of(facets, k, t, corners)
        if not below or t == over:
            square = seen_nearest(ball, corners, weights, y)
            if square < limit * limit:
                for i in range(3):
                    p[i] = weights[0] * corners[0, i] + weights[1] * corners[1, i] + weights[2] * corners[2, i]
                within = weights[0] > 0.0 and weights[1] > 0.0 and weights[2] > 0.0
                if within or below or is_least(ball, facets, k, p, y, square):
                    _tell(ball, solids, corners, p, within, below, margin, _SAME * least, found)
        t = next_facet(facets, k, near, t)


@compiled
def extremes(ball: Solid) -> tuple[float, float]:
    """The least and the largest radius."""
    a, b, c = ball.size[0], ball.size[1], ball.size[2]
    return min(min(a, b), c), max(max(a, b), c)


@compiled
def surround(ball: Solid, larger: float, near: Near) -> None:
    """Write the ends of a box about a ball or an ellipsoid that is so many times as large."""
    for i in range(3):
        reach = 0.0
        for j in range(3):
            way = ball.axes[j, i] * ball.size[j]
            reach += way * way
        reach = math.sqrt(reach) * larger
        near.low[i], near.high[i] = ball.centre[i] - reach, ball.centre[i] + reach


@compiled
def seen_nearest(ball: Solid, corners: Rows3, weights: Floats, y: Floats) -> float:
    """Write the point of a triangle that is nearest in the ball's coordinates, by weights and there; its squared
    distance."""
    seen = np.empty((3, 3))
    for c in range(3):
        _see(ball, corners[c], seen[c])
    return _nearest(seen, weights, y)


@compiled
def is_least(ball: Solid, facets: Facets, k: int, p: Floats, y: Floats, square: float) -> bool:
    """Whether no triangle at a point p of the surface, y as the ball sees it, has a nearer one."""
    corners, seen, weights, z = np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty(3)
    _, most = extremes(ball)
    near = Near(np.empty(3), np.empty(3), p, np.inf)
    for i in range(3):
        near.low[i], near.high[i] = p[i] - _AT * most, p[i] + _AT * most
    t = next_facet(facets, k, near, NONE)
    while t != NONE:
        corners_of(facets, k, t, corners)
        if _reaches(corners, near) and seen_nearest(ball, corners, weights, z) < square * (1.0 - NEARER):
            for c in range(3):
                _see(ball, corners[c], seen[c])
                for i in range(3):
                    seen[c, i] -= y[i]
            if _nearest(seen, weights, z) < _AT * _AT:
                return False
        t = next_facet(facets, k, near, t)
    return True


@compiled
def tell(point: Floats, normal: Floats, gap: float, same: float, found: Found) -> None:
    """One more point; of those nearer than ``same`` to each other only the nearest to the ball, and where there is no
    room, none that is farther than the others."""
    place, farthest = found.size[0], 0
    for r in range(found.size[0]):
        row, apart = found.rows[r], 0.0
        for i in range(3):
            apart = max(apart, abs(row[i] - point[i]))
        if apart < same:
            place = r
        if row[6] > found.rows[farthest, 6]:
            farthest = r
    if place == len(found.rows):
        place = farthest
    if place < found.size[0] and found.rows[place, 6] <= gap:
        return
    for i in range(3):
        found.rows[place, i], found.rows[place, 3 + i] = point[i], normal[i]
    found.rows[place, 6] = gap
    found.size[0] = max(found.size[0], place + 1)


@compiled
def _see(ball: Solid, x: Floats, y: Floats) -> None:
    """Write a point in the ball's coordinates."""
    for j in range(3):
        y[j] = 0.0
        for i in range(3):
            y[j] += ball.axes[j, i] * (x[i] - ball.centre[i])
        y[j] /= ball.size[j]


@compiled
def _reaches(corners: Rows3, near: Near) -> bool:
    """Whether the box about a triangle meets one: a leaf of a tree has others than those that do."""
    for i in range(3):
        a, b, c = corners[0, i], corners[1, i], corners[2, i]
        if min(min(a, b), c) > near.high[i] or max(max(a, b), c) < near.low[i]:
            return False
    return True


@compiled
def _nearest(seen: Rows3, weights: Floats, y: Floats) -> float:
    nearest_to_origin(seen, weights)
    for i in range(3):
        y[i] = weights[0] * seen[0, i] + weights[1] * seen[1, i] + weights[2] * seen[2, i]
    return dot(y, y)


@compiled
def _sunk(ball: Solid, facets: Facets, k: int, near: Near) -> tuple[int, bool]:
    """The nearest triangle over a middle that is below a grid, and whether it sank in from above."""
    corners, weights, y = np.empty((3, 3)), np.empty(3), np.empty(3)
    over, least, t = NONE, _DEEP * _DEEP, next_facet(facets, k, near, NONE)
    while t != NONE:
        corners_of(facets, k, t, corners)
        square = seen_nearest(ball, corners, weights, y)
        if square < least:
            over, least = t, square
        t = next_facet(facets, k, near, t)
    return over, over != NONE


@compiled
def _tell(
    ball: Solid, solids: Polytopes, corners: Rows3, p: Floats, within: bool, below: bool, margin: float, same: float,
    found: Found,
) -> None:  # fmt: skip
    """The contact at a point of a triangle; below: the ball's middle is under it."""
    n, u, w, point = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    side, height, reach = -1.0 if below else 1.0, 0.0, 0.0
    for i in range(3):
        u[i], w[i], point[i] = corners[1, i] - corners[0, i], corners[2, i] - corners[0, i], ball.centre[i] - p[i]
    crossed(u, w, n)
    if within or normalized(point) < TOUCHING:
        normalized(n)
        out = dot(n, ball.centre) - dot(n, p)
        side = 1.0 if below or out >= 0.0 else -1.0
    elif ball.kind == ELLIPSOID:
        distance_from(ball, solids, p, n)
    else:
        n[:] = point
    for i in range(3):
        n[i] *= side
        height += n[i] * (ball.centre[i] - p[i])
    for j in range(3):
        way = ball.size[j] * dot(ball.axes[j], n)
        reach += way * way
    reach = math.sqrt(reach)
    gap = height - reach
    if gap >= margin:
        return
    for i in range(3):
        point[i] = ball.centre[i] - gap * n[i]
    for j in range(3):
        share = ball.size[j] * ball.size[j] * dot(ball.axes[j], n) / reach
        for i in range(3):
            point[i] -= share * ball.axes[j, i]
    tell(point, n, gap, same, found)

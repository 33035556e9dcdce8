"""Balls, capsules, ellipsoids, cylinders and tori on a surface of triangles, in the world; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.curved_pairs import into_world, seen
from bridge.curved.distances import CYLINDER, ELLIPSOID, ROUND, TORUS
from bridge.curved.manifold_points import Found, InWorld, Rows3, closest, dot, normalized
from bridge.curved.polytopes import Polytopes
from bridge.curved.rounded_curves import Curve
from bridge.curved.solid import Solid
from bridge.faceted.ball_on_facets import NEARER, ball_on_facets, is_least, seen_nearest, tell
from bridge.faceted.cylinder_on_facets import cylinder_on_facets
from bridge.faceted.facet_search import NONE, Near, corners_of, is_below, next_facet
from bridge.faceted.facets import Facets
from bridge.faceted.torus_on_facets import torus_on_facets
from recursive_dyn.codegen.compiled import Floats, compiled

_END = 1e-3  # of a capsule's length: what touches nearer to an end, the ball there touches too
_SAME = 1e-5  # of a radius, and between normals, within which points and directions are one
_TINY = 1e-12  # m from a core to an edge that it meets, from which no direction can be told


@compiled
def round_on_facets(
    kind: int, placed: InWorld, solids: Polytopes, facets: Facets, k: int, a: int, b: int, margin: float, found: Found
) -> None:
    """Points nearer than ``margin`` of shape a, no polytope, on shape b, the k-th surface."""
    centre, axes, found.size[0] = np.empty(3), np.empty((3, 3)), 0
    seen(placed, a, b, centre, axes)
    size, half = placed.sizes[a], placed.sizes[a, 1]
    if kind == CYLINDER:
        cylinder_on_facets(Solid(kind, centre, axes, size), solids, facets, k, margin, found)
    elif kind == TORUS:
        torus_on_facets(Curve(kind, centre, axes, size), solids, facets, k, margin, found)
    elif kind == ELLIPSOID:
        ball_on_facets(Solid(kind, centre, axes, size), solids, facets, k, margin, found)
    else:
        ball = Solid(ROUND, centre, axes, np.full(3, size[0]))
        if half > 0.0:
            _capsule(ball, half, solids, facets, k, margin, found)
        else:
            ball_on_facets(ball, solids, facets, k, margin, found)
    into_world(placed, b, found)


@compiled
def _capsule(
    middle: Solid, half: float, solids: Polytopes, facets: Facets, k: int, margin: float, found: Found
) -> None:
    """The balls at both ends, and those in between whose core passes an edge or a corner; of those in a row with one
    normal, as over a flat surface, the outer ones."""
    start, along, limit = np.empty(3), np.empty(3), middle.size[0] + margin
    near = Near(np.empty(3), np.empty(3), middle.centre, half + limit)
    end = Solid(ROUND, np.empty(3), middle.axes, middle.size)
    for i in range(3):
        start[i] = middle.centre[i] - half * middle.axes[2, i]
        along[i] = 2.0 * half * middle.axes[2, i]
    for side in range(2):
        for i in range(3):
            end.centre[i] = start[i] + side * along[i]
        ball_on_facets(end, solids, facets, k, margin, found)
    for i in range(3):
        reach = limit + 0.5 * abs(along[i])
        near.low[i], near.high[i] = middle.centre[i] - reach, middle.centre[i] + reach
    corners, t = np.empty((3, 3)), next_facet(facets, k, near, NONE)
    while t != NONE:
        corners_of(facets, k, t, corners)
        for c in range(3):
            _edge(end, start, along, corners, c, facets, k, margin, found)
        t = next_facet(facets, k, near, t)


@compiled
def _edge(
    ball: Solid, start: Floats, along: Floats, corners: Rows3, c: int, facets: Facets, k: int, margin: float,
    found: Found,
) -> None:  # fmt: skip
    """Where the core passes a side of a triangle, between its ends; ``ball`` becomes the one there."""
    side, p, y, n, square = np.empty(3), np.empty(3), np.empty(3), np.empty(3), 0.0
    weights, z = np.empty(3), np.empty(3)
    first, second = corners[c], corners[(c + 1) % 3]
    for i in range(3):
        side[i] = second[i] - first[i]
    s, t = closest(start, along, first, side)
    if s < _END or s > 1.0 - _END:
        return
    for i in range(3):
        ball.centre[i] = start[i] + s * along[i]
        p[i] = first[i] + t * side[i]
        n[i] = ball.centre[i] - p[i]
        square += n[i] * n[i]
    if square >= (ball.size[0] + margin) ** 2 or square < _TINY * _TINY:
        return
    for j in range(3):
        y[j] = -dot(ball.axes[j], n) / ball.size[0]
    if _is_between(s, n, start, along, found) or is_below(facets, k, ball.centre):
        return
    if seen_nearest(ball, corners, weights, z) < dot(y, y) * (1.0 - NEARER):
        return
    if not is_least(ball, facets, k, p, y, dot(y, y)):
        return
    gap = normalized(n) - ball.size[0]
    tell(p, n, gap, _SAME * ball.size[0], found)


@compiled
def _is_between(s: float, n: Floats, start: Floats, along: Floats, found: Found) -> bool:
    """Whether there are points on both sides along the core that have the same normal n, of any length."""
    before, after, length, square = False, False, math.sqrt(dot(n, n)), dot(along, along)
    for r in range(found.size[0]):
        row, apart, place = found.rows[r], 0.0, 0.0
        for i in range(3):
            apart = max(apart, abs(row[3 + i] - n[i] / length))
            place += (row[i] - start[i]) * along[i] / square
        if apart < _SAME:
            before = before or place <= s
            after = after or place >= s
    return before and after

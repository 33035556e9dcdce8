"""Tori on a surface of triangles: balls along their circle that touch it; compiled. All is in the surface's frame.

A torus touches a face where its circle is lowest over it, and, if it lies flat, at quarters from there on; an edge or a
corner where its circle is nearest, if no triangle there is nearer. Every normal goes through the circle and meets the
axis, so that none spins a torus about that without friction.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.distances import ROUND
from bridge.curved.manifold_points import Found, Rows3, dot, normalized
from bridge.curved.polytopes import Polytopes
from bridge.curved.rounded_curves import Curve
from bridge.curved.solid import Solid
from bridge.faceted.ball_on_facets import is_least
from bridge.faceted.facet_search import NONE, Near, corners_of, is_below, next_facet
from bridge.faceted.facet_sides import beside, knows, leading_in, normal_of, put_over
from bridge.faceted.facets import Facets
from bridge.faceted.fewest_points import MANY, keep_fewest, put_nearest
from bridge.faceted.shared_sides import BORDER
from recursive_dyn.codegen.compiled import Floats, compiled

_SAMPLES = 24  # of a circle, between which an edge has one nearest point at most
_ITERATIONS = 60  # of halving where that is
_FLAT = 1e-5  # sine of the angle at an edge up to which a surface is flat there
_LYING = 0.9  # cosine between axis and normal, from which on a torus carries all around
_LEVEL = 1e-12  # of a way: a circle that is nowhere nearer
_TINY = 1e-12  # m from a circle, from which no direction can be told


@compiled
def torus_on_facets(torus: Curve, solids: Polytopes, facets: Facets, k: int, margin: float, found: Found) -> None:
    """Add the points nearer than ``margin`` of a torus on the k-th surface, as many as there is room for."""
    many = Found(np.empty((MANY, 7)), np.zeros(1, dtype=np.int64))
    near, major, minor = Near(np.empty(3), np.empty(3), torus.centre, math.inf), torus.size[0], torus.size[1]
    for i in range(3):
        u = torus.axes[2, i]
        reach = major * math.sqrt(max(1.0 - u * u, 0.0)) + minor + margin
        near.low[i], near.high[i] = torus.centre[i] - reach, torus.centre[i] + reach
    corners, m, ground = np.empty((3, 3)), np.empty(3), facets.ranges[k, 1] > 0
    deep = 2.0 * minor if ground else minor
    t = next_facet(facets, k, near, NONE)
    while t != NONE:
        corners_of(facets, k, t, corners)
        normal_of(corners, m)
        _on_face(torus, corners, m, ground, margin, deep, many)
        for c in range(3):
            _edge(torus, facets, k, t, c, corners, m, margin, many)
        for c in range(3):
            if not (BORDER < beside(facets, k, t, c) < t or BORDER < beside(facets, k, t, (c + 2) % 3) < t):
                _touch(torus, facets, k, corners[c], margin, many)
        t = next_facet(facets, k, near, t)
    keep_fewest(many, major + minor, margin, found)


@compiled
def _on_face(
    torus: Curve, corners: Rows3, m: Floats, ground: bool, margin: float, deep: float, many: Found
) -> None:  # fmt: skip
    """Where the circle is lowest over a face of normal m, as it is wound, and quarters on from there."""
    down, across, u, x, n = np.empty(3), np.empty(3), torus.axes[2], np.empty(3), np.empty(3)
    side = 1.0 if ground or dot(m, torus.centre) >= dot(m, corners[0]) else -1.0
    cosine = side * dot(m, u)
    for i in range(3):
        down[i] = cosine * u[i] - side * m[i]
    if normalized(down) < _LEVEL:
        down[:] = torus.axes[0]
    across[0] = u[1] * down[2] - u[2] * down[1]
    across[1] = u[2] * down[0] - u[0] * down[2]
    across[2] = u[0] * down[1] - u[1] * down[0]
    for quarter in range(4 if abs(cosine) > _LYING else 1):
        lean = side * dot(m, down) if quarter % 2 == 1 else 0.0  # along the circle, which would spin it
        c, s = (1.0 - quarter, 0.0) if quarter % 2 == 0 else (0.0, 2.0 - quarter)
        for i in range(3):
            n[i] = side * m[i] - lean * down[i]
            x[i] = torus.centre[i] + torus.size[0] * (c * down[i] + s * across[i])
        normalized(n)
        height = side * (dot(m, x) - dot(m, corners[0])) / (side * dot(m, n))
        gap = height - torus.size[1]
        if -deep < gap < margin:
            put_over(corners, x, n, height, gap, many)


@compiled
def _edge(
    torus: Curve, facets: Facets, k: int, t: int, c: int, corners: Rows3, m: Floats, margin: float, many: Found
) -> None:  # fmt: skip
    """Where the circle is nearer to a side of a triangle than next to there, unless the surface is flat at it."""
    beyond, other, along, w = beside(facets, k, t, c), np.empty((3, 3)), np.empty(3), np.empty(3)
    if beyond != BORDER and beyond < t and knows(facets, k, beyond, t):
        return
    a, b, square, far = corners[c], corners[(c + 1) % 3], 0.0, 0.0
    for i in range(3):
        along[i] = b[i] - a[i]
    length = normalized(along)
    if beyond != BORDER:
        corners_of(facets, k, beyond, other)
        leading_in(a, along, other, w)
        if abs(dot(w, m)) < _FLAT:
            return
    for i in range(3):
        w[i] = torus.centre[i] - a[i]
    on = max(0.0, min(length, dot(w, along)))
    for i in range(3):
        far = w[i] - on * along[i]
        square += far * far
    if square > (torus.size[0] + torus.size[1] + margin) ** 2:
        return
    step, before = 2.0 * math.pi / _SAMPLES, _slope(torus, a, along, length, 0.0, w)
    for s in range(_SAMPLES):
        after = _slope(torus, a, along, length, (s + 1) * step, w)
        if before < 0.0 <= after:
            low, high = s * step, (s + 1) * step
            for _ in range(_ITERATIONS):
                middle = 0.5 * (low + high)
                if _slope(torus, a, along, length, middle, w) < 0.0:
                    low = middle
                else:
                    high = middle
            on = _foot(torus, a, along, length, high, w)
            if 0.0 < on < length:
                for i in range(3):
                    w[i] = a[i] + on * along[i]
                _touch(torus, facets, k, w, margin, many)
        before = after


@compiled
def _foot(torus: Curve, a: Floats, along: Floats, length: float, angle: float, away: Floats) -> float:
    """Where on an edge it is nearest to a point of the circle, and the way from there to that."""
    c, s, on = torus.size[0] * math.cos(angle), torus.size[0] * math.sin(angle), 0.0
    for i in range(3):
        away[i] = torus.centre[i] + c * torus.axes[0, i] + s * torus.axes[1, i] - a[i]
    on = max(0.0, min(length, dot(away, along)))
    for i in range(3):
        away[i] -= on * along[i]
    return on


@compiled
def _slope(torus: Curve, a: Floats, along: Floats, length: float, angle: float, away: Floats) -> float:
    """How half the square of the distance from an edge grows along the circle."""
    _foot(torus, a, along, length, angle, away)
    c, s = torus.size[0] * math.cos(angle), torus.size[0] * math.sin(angle)
    return c * dot(torus.axes[1], away) - s * dot(torus.axes[0], away)


@compiled
def _touch(torus: Curve, facets: Facets, k: int, p: Floats, margin: float, many: Found) -> None:
    """The contact at a point of an edge, or a corner, of the ball about the circle's nearest point, if nothing there is
    nearer to that."""
    away, out, y = np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        away[i] = p[i] - torus.centre[i]
    height = dot(away, torus.axes[2])
    for i in range(3):
        out[i] = away[i] - height * torus.axes[2, i]
    if normalized(out) < _TINY:
        return
    ball = Solid(ROUND, np.empty(3), torus.axes, np.full(3, torus.size[1]))
    for i in range(3):
        ball.centre[i] = torus.centre[i] + torus.size[0] * out[i]
        out[i] = ball.centre[i] - p[i]
    distance = normalized(out)
    gap = distance - torus.size[1]
    if gap >= margin or distance < _TINY or is_below(facets, k, ball.centre):
        return
    for j in range(3):
        y[j] = -dot(torus.axes[j], out) * distance / torus.size[1]
    if is_least(ball, facets, k, p, y, dot(y, y)):
        put_nearest(many, p, out, gap)

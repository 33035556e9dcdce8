"""Spheres, capsules and tori as curves with a radius: balls about points of a segment that are nearest to B; compiled.

Everything is in B's frame. A curve is a segment, its parameter from -1 to 1, or a circle, its parameter an angle; what
touches along a circle is found in ``rings``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bridge.curved.distances import BOX, HULL, TORUS, beyond, distance_to
from bridge.curved.manifold_points import Found, Rows3, dot, put
from bridge.curved.polytopes import Polytopes
from recursive_dyn.codegen.compiled import Floats, compiled

_CLOSE = 1e-15  # between two parameters
_LEAST = 1e-15  # share of its change below which a slope is none
_ITERATIONS = 100  # of a root that a kink may be
_LIKE = 0.9  # cosine of the angle to the nearest point's normal, up to which others carry together with it
_APART = 1e-3  # of the size: points that are nearer are one


class Curve(NamedTuple):
    """centre (3,), axes (3, 3) by rows, sizes (3,): of A's shape, in B's frame; kind as in ``distances``."""

    kind: int
    centre: Floats
    axes: Rows3
    size: Floats


class Target(NamedTuple):
    """B: kind, sizes (3,), and its number among polytopes."""

    kind: int
    size: Floats
    solids: Polytopes
    hull: int


@compiled
def segment_meets(curve: Curve, target: Target, margin: float, found: Found) -> None:
    """The ball along a segment that is nearest to B, if it is nearer than ``margin``, and those that carry with it."""
    x, n = np.empty(3), np.empty(3)
    if curve.size[1] == 0.0:
        tell_ball(curve, target, 0.0, margin, found, x, n)
        return
    t = _least_on_segment(curve, target)
    if tell_ball(curve, target, t, margin, found, x, n):
        for side in range(2):
            tell_like(curve, target, 2.0 * side - 1.0, margin, found, n)
        tell_crossings(curve, target, margin, found, n)


@compiled
def radius_of(curve: Curve) -> float:
    """Of the balls."""
    return curve.size[1] if curve.kind == TORUS else curve.size[0]


@compiled
def point_at(curve: Curve, t: float, x: Floats, w: Floats) -> None:
    """The curve's point, and how it moves with the parameter."""
    if curve.kind == TORUS:
        c, s = curve.size[0] * math.cos(t), curve.size[0] * math.sin(t)
        for i in range(3):
            x[i] = curve.centre[i] + c * curve.axes[0, i] + s * curve.axes[1, i]
            w[i] = c * curve.axes[1, i] - s * curve.axes[0, i]
    else:
        for i in range(3):
            w[i] = curve.size[1] * curve.axes[2, i]
            x[i] = curve.centre[i] + t * w[i]


@compiled
def slope_at(curve: Curve, target: Target, t: float) -> float:
    """Of the distance from B along the curve."""
    x, w, n = np.empty(3), np.empty(3), np.empty(3)
    point_at(curve, t, x, w)
    distance_to(target.kind, target.size, target.solids, target.hull, x, n)
    return dot(n, w)


@compiled
def tell_ball(curve: Curve, target: Target, t: float, margin: float, found: Found, x: Floats, n: Floats) -> bool:
    """The contact of the ball at t, if it is near; n becomes its normal."""
    w = np.empty(3)
    point_at(curve, t, x, w)
    distance = distance_to(target.kind, target.size, target.solids, target.hull, x, n)
    gap = distance - radius_of(curve)
    if gap >= margin:
        return False
    for i in range(3):
        x[i] -= distance * n[i]
    put(found, x, n, gap)
    return True


@compiled
def tell_like(curve: Curve, target: Target, t: float, margin: float, found: Found, normal: Floats) -> None:
    """The contact of the ball at t, if its normal is much like another one's and it is nowhere told yet."""
    before, x, n, square = found.size[0], np.empty(3), np.empty(3), 0.0
    if not tell_ball(curve, target, t, margin, found, x, n):
        return
    if dot(n, normal) < _LIKE:
        found.size[0] = before
        return
    apart = _APART * (curve.size[0] + curve.size[1])
    for k in range(before):
        square = 0.0
        for i in range(3):
            square += (found.rows[k, i] - x[i]) * (found.rows[k, i] - x[i])
        if square < apart * apart:
            found.size[0] = before
            return


@compiled
def _least_on_segment(curve: Curve, target: Target) -> float:
    """Where a segment is nearest to B, which is convex."""
    low, high = slope_at(curve, target, -1.0), slope_at(curve, target, 1.0)
    if low >= 0.0:
        return -1.0
    if high <= 0.0:
        return 1.0
    return level_between(curve, target, -1.0, 1.0, low, high)


@compiled
def level_between(curve: Curve, target: Target, a: float, b: float, at_a: float, at_b: float) -> float:
    """Where between a and b the slope is zero or jumps over it, by the Illinois rule, or halving."""
    side, level = 0, _LEAST * (at_b - at_a)
    for k in range(_ITERATIONS):
        if b - a < _CLOSE:
            break
        middle = b - at_b * (b - a) / (at_b - at_a)
        if k % 4 == 3 or not a < middle < b:
            middle = 0.5 * (a + b)
        slope = slope_at(curve, target, middle)
        if abs(slope) <= level:
            return middle
        if slope < 0.0:
            a, at_a = middle, slope
            at_b = 0.5 * at_b if side < 0 else at_b
            side = -1
        else:
            b, at_b = middle, slope
            at_a = 0.5 * at_a if side > 0 else at_a
            side = 1
    return 0.5 * (a + b)


@compiled
def tell_crossings(curve: Curve, target: Target, margin: float, found: Found, normal: Floats) -> None:
    """Points of the curve over the sides of the face with this normal."""
    if target.kind != BOX and target.kind != HULL:
        return
    solids, face, most = target.solids, -1, _LIKE
    for f in range(solids.ranges[target.hull, 4], solids.ranges[target.hull, 5]):
        if dot(solids.normals[f], normal) > most:
            most, face = dot(solids.normals[f], normal), f
    if face < 0:
        return
    x = np.empty(3)
    for k in range(solids.borders[face, 0], solids.borders[face, 1]):
        here = beyond(solids, face, k, curve.centre)
        if curve.kind == TORUS:
            one, other = 0.0, 0.0
            for side in range(2):
                for i in range(3):
                    x[i] = curve.centre[i] + curve.size[0] * curve.axes[side, i]
                if side == 0:
                    one = beyond(solids, face, k, x) - here
                else:
                    other = beyond(solids, face, k, x) - here
            size = math.sqrt(one * one + other * other)
            if size > abs(here):
                phase, half = math.atan2(other, one), math.acos(-here / size)
                tell_like(curve, target, phase + half, margin, found, normal)
                tell_like(curve, target, phase - half, margin, found, normal)
        else:
            for i in range(3):
                x[i] = curve.centre[i] + curve.size[1] * curve.axes[2, i]
            along = beyond(solids, face, k, x) - here
            if abs(along) > abs(here):
                tell_like(curve, target, -here / along, margin, found, normal)

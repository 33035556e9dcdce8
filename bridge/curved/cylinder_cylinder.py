"""Cylinders on each other: where two carry together, around rims, along barrels and across them; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import Found, closest, crossed, dot, normalized, put
from bridge.curved.parallel_barrels import APART, Barrel, lie_along, parallel_barrels, shared
from bridge.curved.solid import Solid, lowest, rim_axes, rim_end, rim_quarter
from recursive_dyn.codegen.compiled import Floats, compiled

_LIKE = 0.9  # cosine of the angle between normals that carry together, and to an axis along which a cap is met
_ACROSS = 0.1  # cosine of the angle to an axis, up to which a barrel is met
_EVEN = 1e-6  # cosine, or sine, of the angle to an axis, up to which a barrel or a cap is met all along
_SHARE = 1e-9  # of a radius: how far within a rim a point is that is on it
_WITHIN = 1e-9  # m beyond a rim or an end that still is within
_APART = 1e-3  # of the size: points that are nearer are one


@compiled
def cylinder_cylinder(one: Solid, other: Solid, n: Floats, gap: float, margin: float, found: Found) -> None:
    """Points of two cylinders that are farthest apart along n, by ``gap``."""
    a, b, against = np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        against[i] = -n[i]
    lowest(one, n, a)
    lowest(other, against, b)
    if _is_point(other, n):
        put(found, b, n, gap)
    elif _is_point(one, n):
        for i in range(3):
            b[i] = a[i] - gap * n[i]
        put(found, b, n, gap)
    elif abs(dot(one.axes[2], n)) < _EVEN and abs(dot(other.axes[2], n)) < _EVEN:
        _crossing(one, other, n, gap, found)
    if _along_barrels(one, other, n, b, gap, margin, found):
        return
    _carried(one, other, n, 1.0, margin, found)
    _carried(other, one, against, -1.0, margin, found)
    if found.size[0] == 0:
        put(found, b, n, gap)


@compiled
def _is_point(solid: Solid, n: Floats) -> bool:
    """Whether the outermost point along n is the only one."""
    cosine = abs(dot(solid.axes[2], n))
    return cosine > _EVEN and 1.0 - cosine > 0.5 * _EVEN * _EVEN


@compiled
def _crossing(one: Solid, other: Solid, n: Floats, gap: float, found: Found) -> None:
    """Where two barrels cross."""
    p, u, q, w, across = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        u[i], w[i] = 2.0 * one.size[1] * one.axes[2, i], 2.0 * other.size[1] * other.axes[2, i]
        p[i], q[i] = one.centre[i] - 0.5 * u[i], other.centre[i] - 0.5 * w[i]
    crossed(one.axes[2], other.axes[2], across)
    if normalized(across) > _APART:
        _, t = closest(p, u, q, w)
        for i in range(3):
            q[i] += t * w[i] + other.size[0] * n[i]
        put(found, q, n, gap)


@compiled
def _along_barrels(
    one: Solid, other: Solid, n: Floats, b: Floats, gap: float, margin: float, found: Found
) -> bool:  # fmt: skip
    """Points of two barrels that lie along each other and are nearest along n, at b of the other unless that is found;
    whether they do."""
    if abs(dot(one.axes[2], n)) > _ACROSS or abs(dot(other.axes[2], n)) > _ACROSS:
        return False
    first = Barrel(np.empty(3), np.empty(3), one.size[0])
    second = Barrel(np.empty(3), np.empty(3), other.size[0])
    for i in range(3):
        first.along[i], second.along[i] = 2.0 * one.size[1] * one.axes[2, i], 2.0 * other.size[1] * other.axes[2, i]
        first.start[i] = one.centre[i] - 0.5 * first.along[i]
        second.start[i] = other.centre[i] - 0.5 * second.along[i]
    if not lie_along(first, second):
        return False
    low, high = shared(first, second)
    if high - low < APART:
        return False
    if found.size[0] == 0:
        put(found, b, n, gap)
    parallel_barrels(first, second, low, high, margin, found)
    return True


@compiled
def _carried(one: Solid, other: Solid, n: Floats, sign: float, margin: float, found: Found) -> None:
    """Points of one cylinder, which is along n from the other, that are over a cap or the barrel of that one; told as
    if the other were B, or A where sign is -1."""
    down, across, x, end = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    cosine = rim_axes(one, n, down, across)
    for side in range(2):
        rim_end(one, side, end)
        for quarter in range(4):
            rim_quarter(one, end, down, across, quarter, x)
            _over(one, other, x, n, sign, margin, found)
        _over_rim(one, other, end, n, sign, margin, found)
    if abs(cosine) < _ACROSS:
        _along_barrel(one, other, down, n, sign, margin, found)


@compiled
def _over(one: Solid, other: Solid, x: Floats, n: Floats, sign: float, margin: float, found: Found) -> None:
    """The contact of a point of one cylinder with the cap or barrel of the other that is met along n."""
    w, away, out, apart = other.axes[2], np.empty(3), np.empty(3), _APART * (one.size[0] + one.size[1])
    for i in range(3):
        away[i] = x[i] - other.centre[i]
    along, cosine, gap = dot(away, w), dot(w, n), 0.0
    for i in range(3):
        out[i] = away[i] - along * w[i]
    radius = normalized(out)
    if abs(cosine) > _LIKE:
        if radius > other.size[0] + _WITHIN:
            return
        up = 1.0 if cosine > 0.0 else -1.0
        gap = up * along - other.size[1]
        for i in range(3):
            out[i] = up * w[i]
    else:
        if abs(along) > other.size[1] + _WITHIN or dot(out, n) < _LIKE:
            return
        gap = radius - other.size[0]
    if gap >= margin:
        return
    for i in range(3):
        away[i] = x[i] - gap * out[i] if sign > 0.0 else x[i]
        out[i] = sign * out[i]
    for k in range(found.size[0]):
        square = 0.0
        for i in range(3):
            square += (found.rows[k, i] - away[i]) * (found.rows[k, i] - away[i])
        if square < apart * apart:
            return
    put(found, away, out, gap)


@compiled
def _over_rim(one: Solid, other: Solid, end: Floats, n: Floats, sign: float, margin: float, found: Found) -> None:
    """Where a rim of one cylinder is over a rim of the other, and farthest within it, if both stand."""
    w, away, side, x = other.axes[2], np.empty(3), np.empty(3), np.empty(3)
    if abs(dot(w, n)) < _LIKE or abs(dot(one.axes[2], n)) < _LIKE:
        return
    for i in range(3):
        away[i] = other.centre[i] - end[i]
    along = dot(away, one.axes[2])
    for i in range(3):
        away[i] -= along * one.axes[2, i]
    distance, r, s = normalized(away), one.size[0], other.size[0]
    if not max(abs(r - s), _EVEN * r) < distance < r + s:
        return
    crossed(one.axes[2], away, side)
    cosine = (r * r + distance * distance - s * s) / (2.0 * r * distance)
    sine = math.sqrt(max(1.0 - cosine * cosine, 0.0))
    for k in range(3):  # on both sides, and the innermost
        c, sideways = (1.0, 0.0) if k == 2 else (cosine, (2.0 * k - 1.0) * sine)
        for i in range(3):
            x[i] = end[i] + r * (1.0 - _SHARE) * (c * away[i] + sideways * side[i])
        _over(one, other, x, n, sign, margin, found)


@compiled
def _along_barrel(one: Solid, other: Solid, down: Floats, n: Floats, sign: float, margin: float, found: Found) -> None:
    """Where the lowest line of a barrel gets over the other's cap, or beyond its ends."""
    w, line, away, x = other.axes[2], one.axes[2], np.empty(3), np.empty(3)
    for i in range(3):
        away[i] = one.centre[i] + one.size[0] * down[i] - other.centre[i]
    here, along = dot(away, w), dot(line, w)
    from_line, to_line = np.inf, np.inf
    if abs(dot(w, n)) > _LIKE:
        a, b, c = 1.0 - along * along, dot(away, line) - here * along, dot(away, away) - here * here
        inner = b * b - a * (c - other.size[0] * other.size[0])
        if a > _ACROSS and inner > 0.0:
            from_line, to_line = (-b - math.sqrt(inner)) / a, (-b + math.sqrt(inner)) / a
    elif abs(along) > _LIKE:
        from_line, to_line = (-other.size[1] - here) / along, (other.size[1] - here) / along
    for k in range(2):
        t = from_line if k == 0 else to_line
        if abs(t) <= one.size[1]:
            for i in range(3):
                x[i] = away[i] + other.centre[i] + t * line[i]
            _over(one, other, x, n, sign, margin, found)

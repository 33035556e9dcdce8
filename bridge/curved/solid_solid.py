"""Cylinders and ellipsoids against each other: the direction in which the two are farthest apart; compiled.

Over unit vectors n the gap min n . a - max n . b is largest where both nearest points are on a line along n, or at a
kink: along an axis, where a cap lies on something, and across one, where a barrel does. Everything is in B's frame.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.cylinder_cylinder import cylinder_cylinder
from bridge.curved.distances import CYLINDER
from bridge.curved.manifold_points import Found, Rows3, crossed, dot, normalized, put
from bridge.curved.solid import Solid, lowest
from recursive_dyn.codegen.compiled import Floats, compiled

_AROUND = 16  # directions across an axis between which a maximum is looked for
_STEPS = 100  # of an ascent
_ITERATIONS = 100  # of a root that a kink may be
_CLOSE = 1e-15  # between two angles
_LEVEL = 1e-16  # share of its change below which a slope is none
_BESIDE = 1e-3  # rad from a kink, where another ascent starts
_SMOOTH = 1e-9  # of the sizes: how far across n nearest points may be from each other
_DIRECTIONS, _NEXT = 8, 1e-9  # around one, and how far from it, rad, to be on this side of a kink or on that
_LEAST = 1e-6  # sine of an angle to an axis, from which on it says what is across
_TINY = 1e-300


@compiled
def gap_along(one: Solid, other: Solid, n: Floats, a: Floats, b: Floats) -> float:
    """How far one is beyond the other along n, by the lowest point a of the one and the highest b of the other."""
    against = np.empty(3)
    for i in range(3):
        against[i] = -n[i]
    return lowest(one, n, a) + lowest(other, against, b)


@compiled
def solid_solid(one: Solid, other: Solid, margin: float, found: Found) -> None:
    """The nearest point, if it is nearer than ``margin``, and of two cylinders those that carry together with it."""
    best, n, point = np.full(4, -np.inf), np.empty(3), np.empty(3)  # normal, gap
    for i in range(3):
        n[i] = one.centre[i] - other.centre[i]
    if normalized(n) == 0.0:
        n[0] = 1.0
    _better(one, other, n, best)
    for side in range(2):
        solid = one if side == 0 else other
        for axis in range(3):
            for sign in range(2):
                for i in range(3):
                    n[i] = (2.0 * sign - 1.0) * solid.axes[axis, i]
                _better(one, other, n, best)
    for turn in range(6):  # across both axes, the same after a climb, and at last from beside what is best
        solid = one if turn % 2 == 0 else other
        if turn == 2 and best[3] < margin and not _is_top(one, other, best):
            _climb(one, other, best)
        if solid.kind == CYLINDER and best[3] < margin and not _is_top(one, other, best):
            _across(one, other, solid, best)
            if turn >= 4 and not _is_top(one, other, best):
                _climb_beside(one, other, solid, best)
    if best[3] < margin and one.kind == CYLINDER and other.kind == CYLINDER:
        n[:] = best[:3]
        cylinder_cylinder(one, other, n, best[3], margin, found)
    elif best[3] < margin:
        a, b = np.empty(3), np.empty(3)
        for i in range(3):
            n[i] = best[i]
        gap_along(one, other, n, a, b)
        for i in range(3):
            point[i] = a[i] - best[3] * n[i] if other.kind == CYLINDER else b[i]
        put(found, point, n, best[3])


@compiled
def _better(one: Solid, other: Solid, n: Floats, best: Floats) -> None:
    """Keep a direction, if the gap along it is larger."""
    a, b = np.empty(3), np.empty(3)
    gap = gap_along(one, other, n, a, b)
    if gap > best[3]:
        best[0], best[1], best[2], best[3] = n[0], n[1], n[2], gap


@compiled
def _is_top(one: Solid, other: Solid, best: Floats) -> bool:
    """Whether the gap grows nowhere: smoothly, or as at a kink, where a mean of differences a - b that belong to
    directions all around lies along n, and so no direction near it has a larger one."""
    n, d, a, b, x, y = best[:3].copy(), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    level, p, q = _SMOOTH * (one.size[0] + other.size[0]), np.empty(_DIRECTIONS), np.empty(_DIRECTIONS)
    gap_along(one, other, n, a, b)
    for i in range(3):
        d[i] = a[i] - b[i] - best[3] * n[i]
    if dot(d, d) <= level * level:
        return True
    along = dot(one.axes[2], n)
    for i in range(3):
        x[i] = one.axes[2, i] - along * n[i]
    if normalized(x) < _LEAST:
        x[:] = one.axes[0]
    crossed(n, x, y)
    for k in range(_DIRECTIONS):
        angle = 2.0 * math.pi * (k + 0.5) / _DIRECTIONS
        for i in range(3):
            d[i] = n[i] + _NEXT * (math.cos(angle) * x[i] + math.sin(angle) * y[i])
        gap_along(one, other, d, a, b)
        p[k], q[k] = dot(a, x) - dot(b, x), dot(a, y) - dot(b, y)
    return _is_around(p, q, level)


@compiled
def _is_around(p: Floats, q: Floats, level: float) -> bool:
    """Whether points (p, q) are around the origin, or it is as near as that to a line between two of them."""
    inside = True
    for i in range(len(p)):
        left, right = False, False
        for j in range(len(p)):
            u, v, cross = p[j] - p[i], q[j] - q[i], p[i] * q[j] - q[i] * p[j]
            length = math.sqrt(u * u + v * v)
            between = 0.0 <= -(p[i] * u + q[i] * v) <= length * length
            if length > level and between and abs(cross) <= level * length:
                return True
            left, right = left or cross > 0.0, right or cross < 0.0
        inside = inside and left and right
    return inside


@compiled
def _climb_beside(one: Solid, other: Solid, solid: Solid, best: Floats) -> None:
    """Climb from beside a kink, on all its sides."""
    n, kink = np.empty(3), best.copy()
    for axis in range(3):
        for sign in range(2):
            for i in range(3):
                n[i] = kink[i] + (2.0 * sign - 1.0) * _BESIDE * solid.axes[axis, i]
            _climb_from(one, other, n, best)


@compiled
def _climb_from(one: Solid, other: Solid, start: Floats, best: Floats) -> None:
    """Climb from a direction, and keep where that leads if it is better."""
    n, own = start.copy(), np.full(4, -np.inf)
    normalized(n)
    _better(one, other, n, own)
    _climb(one, other, own)
    if own[3] > best[3]:
        best[:] = own


@compiled
def _climb(one: Solid, other: Solid, best: Floats) -> None:
    """Newton's method from a direction on, as careful as it must be for the gap to grow (Levenberg and Marquardt)."""
    n, a, b, step, care = np.empty(3), np.empty(3), np.empty(3), np.empty(3), 0.0
    bends, size = np.empty((3, 3)), one.size[0] + other.size[0]
    for _ in range(_STEPS):
        for i in range(3):
            n[i] = best[i]
        gap = gap_along(one, other, n, a, b)
        for i in range(3):
            step[i] = a[i] - b[i] - gap * n[i]
            for j in range(3):
                bends[i, j] = 0.0
        steep = math.sqrt(dot(step, step))
        if steep <= _CLOSE * size:
            return
        _add_bends(one, n, bends)
        _add_bends(other, n, bends)
        for i in range(3):
            bends[i, i] += gap + care
            for j in range(3):
                bends[i, j] += size * n[i] * n[j]  # along n nothing is asked for
        if not _solved(bends, step):
            care = max(8.0 * care, 1e-3 * size)
            continue
        along = dot(step, n)
        for i in range(3):
            n[i] += step[i] - along * n[i]
        normalized(n)
        after = gap_along(one, other, n, a, b)
        if after > best[3]:
            best[0], best[1], best[2], best[3] = n[0], n[1], n[2], after
            care = 0.1 * care
        elif care > 1e9 * size or after > best[3] - 1e-16 * size:
            return
        else:
            care = max(8.0 * care, 1e-3 * size)


@compiled
def _add_bends(solid: Solid, n: Floats, bends: Rows3) -> None:
    """The second derivative of how far a solid reaches along n: its radii of curvature there."""
    if solid.kind == CYLINDER:
        u, p = solid.axes[2], np.empty(3)
        along = dot(u, n)
        for i in range(3):
            p[i] = n[i] - along * u[i]
        length = max(normalized(p), _TINY)
        for i in range(3):
            for j in range(3):
                unit = 1.0 if i == j else 0.0
                bends[i, j] += solid.size[0] / length * (unit - u[i] * u[j] - p[i] * p[j])
        return
    m, reach = np.zeros(3), 0.0
    for k in range(3):
        square = solid.size[k] * solid.size[k] * dot(solid.axes[k], n)
        reach += square * dot(solid.axes[k], n)
        for i in range(3):
            m[i] += square * solid.axes[k, i]
    reach = math.sqrt(reach)
    for i in range(3):
        for j in range(3):
            bends[i, j] -= m[i] * m[j] / (reach * reach * reach)
            for k in range(3):
                bends[i, j] += solid.size[k] * solid.size[k] * solid.axes[k, i] * solid.axes[k, j] / reach


@compiled
def _solved(A: Rows3, x: Floats) -> bool:
    """A x = x in place, by Cholesky's factors (3, 3); False where A is not positive."""
    for i in range(3):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                A[i, i] = math.sqrt(total)
            else:
                A[i, j] = total / A[j, j]
    for i in range(3):
        for k in range(i):
            x[i] -= A[i, k] * x[k]
        x[i] = x[i] / A[i, i]
    for r in range(3):
        i = 2 - r
        for k in range(i + 1, 3):
            x[i] -= A[k, i] * x[k]
        x[i] = x[i] / A[i, i]
    return True


@compiled
def _across(one: Solid, other: Solid, solid: Solid, best: Floats) -> None:
    """The best of the directions across a cylinder's axis, where its barrel is met."""
    x, y, n, u = np.empty(3), np.empty(3), np.empty(3), solid.axes[2]
    along = best[0] * u[0] + best[1] * u[1] + best[2] * u[2]
    for i in range(3):
        x[i] = best[i] - along * u[i]
    if normalized(x) < 1e-6:
        x[:] = solid.axes[0]
    crossed(u, x, y)
    step, before, at_before = 2.0 * math.pi / _AROUND, 0.0, _turning(one, other, x, y, 0.0, n)
    for k in range(1, _AROUND + 1):
        angle = k * step
        slope = _turning(one, other, x, y, angle, n)
        if at_before >= 0.0 >= slope and at_before > slope:
            _largest(one, other, x, y, before, angle, n)
            _better(one, other, n, best)
        before, at_before = angle, slope


@compiled
def _largest(one: Solid, other: Solid, x: Floats, y: Floats, low: float, high: float, n: Floats) -> None:
    """n where between two angles the gap grows no more, by the Illinois rule, or halving."""
    at_low, at_high = _turning(one, other, x, y, low, n), _turning(one, other, x, y, high, n)
    side, weight_low, weight_high, level = 0, at_low, at_high, _LEVEL * (at_low - at_high)
    for k in range(_ITERATIONS):
        if high - low < _CLOSE or min(at_low, -at_high) <= level:
            break
        middle = high - weight_high * (high - low) / (weight_high - weight_low)
        if k % 4 == 3 or not low < middle < high:
            middle = 0.5 * (low + high)
        slope = _turning(one, other, x, y, middle, n)
        if slope >= 0.0:
            low, at_low, weight_low = middle, slope, slope
            weight_high = 0.5 * weight_high if side < 0 else weight_high
            side = -1
        else:
            high, at_high, weight_high = middle, slope, slope
            weight_low = 0.5 * weight_low if side > 0 else weight_low
            side = 1
    _turning(one, other, x, y, low if at_low < -at_high else high, n)


@compiled
def _turning(one: Solid, other: Solid, x: Floats, y: Floats, angle: float, n: Floats) -> float:
    """How fast the gap grows with the angle of n from x towards y."""
    a, b, c, s, slope = np.empty(3), np.empty(3), math.cos(angle), math.sin(angle), 0.0
    for i in range(3):
        n[i] = c * x[i] + s * y[i]
    gap_along(one, other, n, a, b)
    for i in range(3):
        slope += (c * y[i] - s * x[i]) * (a[i] - b[i])
    return slope

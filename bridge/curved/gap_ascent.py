"""From a direction to one that none near it is better than: where two solids are farthest apart; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.distances import CYLINDER
from bridge.curved.gap_across import climb_across
from bridge.curved.gap_along import gap_along, keep_better
from bridge.curved.gap_growth import growth
from bridge.curved.manifold_points import Rows3, dot, normalized
from bridge.curved.solid import Solid
from recursive_dyn.codegen.compiled import Floats, compiled

_TURNS, _STEPS = 8, 100  # of looking for a way on, and of a climb
_KINKS = 3  # that end one, of steps in vain over any of them
_BESIDE = 1e-3  # rad from a kink, where another climb starts
_FARTHEST, _DISTANCES = 0.1, 3  # rad, of those around a direction, and how many, each a tenth of the one before
_CLOSE = 1e-15  # of the sizes, between nearest points, across the direction
_SLOW = 1e-8  # of the sizes: speeds, m/rad, that radii of curvature make of the distance from one direction to the next
_GAIN = 1e-14  # of the sizes, less than which is nothing gained
_EVEN = 1e-16  # of the sizes, by which gaps differ by rounding
_FLAT = 1e-5  # of the sizes: slopes below which, of gaps that are even, the one with less is better
_TINY = 1e-300


@compiled
def ascend(one: Solid, other: Solid, margin: float, best: Floats) -> None:
    """From the best direction so far to one that none near it is better than, unless the gap grows beyond ``margin``:
    by climbing, and along a kink that a climb came to an end at."""
    way, start, kinks, size = np.empty(3), best.copy(), _KINKS, _extent(one) + _extent(other)
    for _ in range(_TURNS):
        if best[3] >= margin or growth(one, other, best, way) == 0.0:
            return
        start[:] = best
        _climb(one, other, kinks, best)
        if not _has_gained(start, best, size):
            _climb_beside(one, other, way, _BESIDE, kinks, start, best)
        speed = growth(one, other, best, way)
        if best[3] >= margin or speed == 0.0:
            return
        _cross(one, other, start, size, best)
        if not _has_gained(start, best, size):
            if speed <= _SLOW * size:
                return
            if kinks == _STEPS and not _climb_around(one, other, size, best):
                return
        kinks = _STEPS


@compiled
def _has_gained(start: Floats, best: Floats, size: float) -> bool:
    """Whether a direction is better than another by more than rounding."""
    return best[3] > start[3] + _GAIN * size


@compiled
def _cross(one: Solid, other: Solid, start: Floats, size: float, best: Floats) -> None:
    """Along the kink across the axis of one cylinder, or, if nothing has been gained since a start, of the other."""
    near = _is_nearer_across(one, other, best)
    for side in range(2):
        solid = one if near == (side == 0) else other
        if solid.kind == CYLINDER and (side == 0 or not _has_gained(start, best, size)):
            climb_across(one, other, solid, best)


@compiled
def _extent(solid: Solid) -> float:
    """How far a solid reaches from its middle at most, m, or up to sqrt(3) times as far."""
    return math.sqrt(dot(solid.size, solid.size))


@compiled
def _climb_around(one: Solid, other: Solid, size: float, best: Floats) -> bool:
    """Climb from beside a direction on all its sides, once nothing else leads on from there; whether that does."""
    way, start, beside = np.empty(3), best.copy(), _FARTHEST
    for _ in range(_DISTANCES):
        for side in range(2):
            solid = one if side == 0 else other
            for axis in range(3):
                for sign in range(2):
                    for i in range(3):
                        way[i] = (2.0 * sign - 1.0) * solid.axes[axis, i]
                    _climb_beside(one, other, way, beside, _STEPS, start, best)
        if _has_gained(start, best, size):
            return True
        beside *= 0.1
    return False


@compiled
def _is_nearer_across(one: Solid, other: Solid, n: Floats) -> bool:
    """Whether n is nearer to the directions across the first one's axis, if that is a cylinder, than to the other's."""
    if one.kind != CYLINDER or other.kind != CYLINDER:
        return one.kind == CYLINDER
    return abs(dot(one.axes[2], n)) <= abs(dot(other.axes[2], n))


@compiled
def _climb_beside(
    one: Solid, other: Solid, way: Floats, beside: float, kinks: int, start: Floats, best: Floats
) -> None:  # fmt: skip
    """Climb from so far beside a direction, rad, and keep where that leads if it is better."""
    n, own = start[:3].copy(), np.full(4, -np.inf)
    for i in range(3):
        n[i] += beside * way[i]
    normalized(n)
    keep_better(one, other, n, own)
    _climb(one, other, kinks, own)
    if own[3] > best[3]:
        best[:] = own


@compiled
def _climb(one: Solid, other: Solid, kinks: int, best: Floats) -> None:
    """Newton's method from a direction on, as careful as it must be for the gap to grow (Levenberg, Marquardt), until
    kinks are in the way of so many steps."""
    n, a, b, step, care, met = np.empty(3), np.empty(3), np.empty(3), np.empty(3), 0.0, 0
    bends, size = np.empty((3, 3)), one.size[0] + other.size[0]
    for _ in range(_STEPS):
        for i in range(3):
            n[i] = best[i]
        gap = gap_along(one, other, n, a, b)
        for i in range(3):
            step[i] = a[i] - b[i] - gap * n[i]
            for j in range(3):
                bends[i, j] = 0.0
        steep = _slope(n, a, b)
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
        level = after > best[3] - _EVEN * size
        if after > best[3] or (level and steep < _FLAT * size and _slope(n, a, b) < 0.5 * steep):
            best[0], best[1], best[2], best[3] = n[0], n[1], n[2], after
            care = 0.1 * care
        elif care > 1e9 * size or level or met == kinks:
            return
        else:
            met += 1 if _is_beyond(one, best, n) or _is_beyond(other, best, n) else 0
            care = max(8.0 * care, 1e-3 * size)


@compiled
def _slope(n: Floats, a: Floats, b: Floats) -> float:
    """How far two points are from each other across n."""
    along, square = dot(a, n) - dot(b, n), 0.0
    for i in range(3):
        square += (a[i] - b[i] - along * n[i]) ** 2
    return math.sqrt(square)


@compiled
def _is_beyond(solid: Solid, n: Floats, after: Floats) -> bool:
    """Whether there is a kink between two directions: the other end of a cylinder is the nearer one."""
    return solid.kind == CYLINDER and dot(solid.axes[2], n) * dot(solid.axes[2], after) < 0.0


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

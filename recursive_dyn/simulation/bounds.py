"""Boxes about all that a simulation's bodies may touch, themselves among it: what is far away need not be looked at.

Nothing is missed by them: where no box, swept along its way and grown by what is said here, meets another one, nothing
is told as a contact there, nor is any part of the way too long.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.sorted_keys import holds

Boxes = Annotated[np.ndarray, float, 6]
Ways = Annotated[np.ndarray, float, 8]
_TURN, _BEND, _RADIUS = 3, 6, 7  # places in a body's way


class Bounds(NamedTuple):
    """Of nb bodies of a simulation, and what stands still.

    boxes (nb, 6), m: middle and half extents of what is about each body's shapes, in its frame; gaps (nb,), m: up to
    which anything is told as touching it, below 0 of a body without shapes, infinite where that is not known; arms
    (nb,), m: how far a turn of 1 rad moves its surface; walls (n, 6): boxes of what stands still, axes of the world;
    planes (m, 6): a point and the normal of each half space; apart: pairs of bodies' numbers that never touch, as keys
    in ascending order (``apart_keys``), nb for all that stands still. others (1,): 1 where there is more than that to
    touch, of which nothing is known.
    """

    boxes: Boxes
    gaps: Floats
    arms: Floats
    walls: Boxes
    planes: Boxes
    apart: Integers
    others: Integers


_NONE, _NO_NUMBERS = np.zeros((0, 6)), np.zeros(0)
UNKNOWN = Bounds(_NONE, _NO_NUMBERS, _NO_NUMBERS, _NONE, _NONE, np.zeros(0, dtype=np.int64), np.ones(1, dtype=np.int64))


def apart_keys(pairs: np.ndarray, bodies: int) -> np.ndarray:
    """``Bounds.apart`` of pairs (n, 2) of numbers of so many bodies."""
    return np.unique(pairs.min(axis=1) * (bodies + 1) + pairs.max(axis=1))


@compiled
def note_ways(bounds: Bounds, poses: Floats, ends: Floats, starts: Floats, h: float, ways: Ways) -> None:
    """Write how bodies, at poses (16 nb,), came there in h seconds with the twist that they have there (6 nb,), or had
    before, whichever is more: what the middles of their boxes moved by, and the angle by which they turned; how far
    they are off the tangent, and how far from their middles all of that is at most."""
    for k in range(len(ways)):
        own, way, e, s = bounds.boxes[k], ways[k], ends[6 * k : 6 * k + 6], starts[6 * k : 6 * k + 6]
        size, square, length, arms = own[3] * own[3] + own[4] * own[4] + own[5] * own[5], 0.0, 0.0, bounds.arms[k] ** 2
        x = s if _square(s, 3) + _square(s, 0) * arms > _square(e, 3) + _square(e, 0) * arms else e
        for i in range(3):
            p, q = (i + 1) % 3, (i + 2) % 3
            way[i] = h * (x[3 + i] + x[p] * _arm(poses, k, own, q) - x[q] * _arm(poses, k, own, p))
            way[_TURN + i] = h * x[i] if arms > 0.0 else 0.0  # a ball about its centre goes nowhere
            square += way[_TURN + i] * way[_TURN + i]
            length += way[i] * way[i]
        size = math.sqrt(size)
        way[_BEND] = 0.5 * square * size
        way[_RADIUS] = size * (1.0 + math.sqrt(square)) + way[_BEND] + math.sqrt(length)


@compiled
def _square(x: Floats, i: int) -> float:
    return float(x[i] * x[i] + x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2])


@compiled
def _arm(poses: Floats, k: int, box: Floats, i: int) -> float:
    """How far a box's middle is from its body's origin, along an axis of the world."""
    r = 16 * k + 4 * i
    return float(poses[r] * box[0] + poses[r + 1] * box[1] + poses[r + 2] * box[2])


@compiled
def meets(bounds: Bounds, which: Integers, poses: Floats, ways: Ways) -> bool:
    """Whether some bodies may touch anything at poses (16 nb,), or on its way there. which (nb,): 1 for these."""
    count, still, rest = len(bounds.boxes), np.zeros(16), np.zeros(8)
    still[0] = still[5] = still[10] = 1.0
    for k in range(count):
        if which[k] == 0 or bounds.gaps[k] < 0.0:
            continue
        X, own, gap = poses[16 * k : 16 * k + 16], bounds.boxes[k], bounds.gaps[k]
        if not np.isfinite(gap + ways[k, _RADIUS]):
            return True
        if not is_apart(bounds, k, count):
            for i in range(len(bounds.planes)):
                if not _over(X, own, ways[k], bounds.planes[i], gap):
                    return True
            for i in range(len(bounds.walls)):
                rest[_RADIUS] = math.sqrt(_square(bounds.walls[i], 3))
                if not _separate(X, own, ways[k], still, bounds.walls[i], rest, gap):
                    return True
        for j in range(count):
            if j == k or bounds.gaps[j] < 0.0 or (which[j] > 0 and j < k) or is_apart(bounds, k, j):
                continue
            if not _separate(X, own, ways[k], poses[16 * j : 16 * j + 16], bounds.boxes[j], ways[j], gap):
                return True
    return False


@compiled
def is_apart(bounds: Bounds, a: int, b: int) -> bool:
    """Whether two bodies, the number behind the last one for what stands still, never touch."""
    return holds(bounds.apart, min(a, b) * (len(bounds.boxes) + 1) + max(a, b))


@compiled
def _over(X: Floats, box: Floats, way: Floats, plane: Floats, gap: float) -> bool:
    """Whether a box at a pose X (16,) is, and was, higher than ``gap`` over a plane."""
    height, n0, n1, n2 = 0.0, plane[3], plane[4], plane[5]
    for i in range(3):
        height += plane[3 + i] * (X[4 * i + 3] - plane[i])
    for j in range(3):
        height += box[j] * (X[j] * n0 + X[4 + j] * n1 + X[8 + j] * n2)
    return height - max(way[0] * n0 + way[1] * n1 + way[2] * n2, 0.0) - _shadow(X, box, way, n0, n1, n2) > gap


@compiled
def _separate(X: Floats, a: Floats, way: Floats, Y: Floats, b: Floats, other: Floats, gap: float) -> bool:
    """Whether two boxes at poses X, Y (16,) are, and were, farther than ``gap`` apart along an axis of either, or by
    the balls about them."""
    x, y, z = _between(X, a, Y, b, 0), _between(X, a, Y, b, 1), _between(X, a, Y, b, 2)
    most = gap + way[_RADIUS] + other[_RADIUS]
    if x * x + y * y + z * z > most * most:
        return True
    wx, wy, wz, apart = other[0] - way[0], other[1] - way[1], other[2] - way[2], False
    for j in range(6):
        i = j % 3
        n0, n1, n2 = (X[i], X[4 + i], X[8 + i]) if j < 3 else (Y[i], Y[4 + i], Y[8 + i])
        end, moved = n0 * x + n1 * y + n2 * z, n0 * wx + n1 * wy + n2 * wz
        away = max(min(end, end - moved), -max(end, end - moved))
        away -= _shadow(X, a, way, n0, n1, n2) + _shadow(Y, b, other, n0, n1, n2)
        apart = apart or away > gap
    return apart


@compiled
def _between(X: Floats, a: Floats, Y: Floats, b: Floats, i: int) -> float:
    """How far it is from the middle of a box to that of another one, along an axis of the world."""
    r = 4 * i
    to = Y[r] * b[0] + Y[r + 1] * b[1] + Y[r + 2] * b[2] + Y[r + 3]
    return float(to - (X[r] * a[0] + X[r + 1] * a[1] + X[r + 2] * a[2] + X[r + 3]))


@compiled
def _shadow(X: Floats, box: Floats, way: Floats, n0: float, n1: float, n2: float) -> float:
    """How far a box goes from its middle along a direction, while it turns."""
    result, t0, t1, t2 = way[_BEND], way[_TURN], way[_TURN + 1], way[_TURN + 2]
    m0, m1, m2 = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2, n0 * t1 - n1 * t0
    for i in range(3):
        x, y, z = X[i], X[4 + i], X[8 + i]
        result += box[3 + i] * (abs(n0 * x + n1 * y + n2 * z) + abs(m0 * x + m1 * y + m2 * z))
    return float(result)


@compiled
def depth_below(X: Floats, box: Floats, ball: bool, plane: Floats) -> float:
    """How deep a box, or the ball in it, at a pose X (16,) is below a plane, m."""
    height, n0, n1, n2 = 0.0, plane[3], plane[4], plane[5]
    for i in range(3):
        height += plane[3 + i] * (X[4 * i + 3] - plane[i])
    for j in range(3):
        height += box[j] * (X[j] * n0 + X[4 + j] * n1 + X[8 + j] * n2)
    return _half(X, box, ball, n0, n1, n2) - height


@compiled
def depth(X: Floats, a: Floats, ball: bool, Y: Floats, b: Floats, other_ball: bool) -> float:
    """How deep two boxes, or balls in them, at poses X, Y (16,) are in each other, m: the least along axes of either,
    and from middle to middle."""
    x, y, z = _between(X, a, Y, b, 0), _between(X, a, Y, b, 1), _between(X, a, Y, b, 2)
    r, s = a[3] if ball else math.sqrt(_square(a, 3)), b[3] if other_ball else math.sqrt(_square(b, 3))
    result = r + s - math.sqrt(x * x + y * y + z * z)
    j = 0
    while result > 0.0 and j < 6:
        i = j % 3
        n0, n1, n2 = (X[i], X[4 + i], X[8 + i]) if j < 3 else (Y[i], Y[4 + i], Y[8 + i])
        reach = _half(X, a, ball, n0, n1, n2) + _half(Y, b, other_ball, n0, n1, n2)
        result, j = min(result, reach - abs(n0 * x + n1 * y + n2 * z)), j + 1
    return result


@compiled
def _half(X: Floats, box: Floats, ball: bool, n0: float, n1: float, n2: float) -> float:
    """How far a box, or the ball in it, goes from its middle along a direction."""
    if ball:
        return float(box[3])
    result = 0.0
    for i in range(3):
        result += box[3 + i] * abs(n0 * X[i] + n1 * X[4 + i] + n2 * X[8 + i])
    return result

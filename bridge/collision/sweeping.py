"""Into how many parts a step must be cut so that nothing passes through anything.

It is asked where a flight ends, with the speed there or where it began, whichever is more: forces may bring as far as
speed does. A body that gets further than half its inner radius, or that of what it meets, and deeper than that into the
box about it, goes there in several parts. How deep it gets is the least overlap along the axes of both boxes, one swept
by what it moved relative to the other, and both grown by what they turned.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from bridge.collision.bullet_calls import GONE, Functions, handle_of, is_as_many, is_unchanged, overlapped
from bridge.collision.looking import UNSEEN, Haste, hurrying, least_radius, squares, way_of
from bridge.collision.placing import HALF
from bridge.collision.raw_points import BITS
from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.intrinsics import int32s_at
from recursive_dyn.contact.sorted_keys import holds

MOST_PARTS = 1e9  # parts of a step: no whole number holds those of any speed
_WAY, _TURN, _MOST, _BEND, _AXES, MOVING = 6, 9, 12, 13, 14, 23  # places in what is known of a moving box, their number

Boxes = Annotated[np.ndarray, float, 6]
Moving = Annotated[np.ndarray, float, 23]


class Sweep(NamedTuple):
    """What it takes: who is fast; poses (nb, 4, 4) where the flight ends; boxes (nb, 6), walls (n, 6) by Bullet's id:
    as ``MirroredBodies`` has them; numbers: of the scene's bodies by Bullet's id, as in ``Known``; ignored (n,):
    numbers and ids of those that never touch, as keys in ascending order."""

    haste: Haste
    poses: Annotated[np.ndarray, float, 4, 4]
    boxes: Boxes
    walls: Boxes
    numbers: Integers
    ignored: Integers


@compiled
def cuts(bullet: Functions, client: int, sweep: Sweep) -> int:
    """Parts but one of a step; UNSEEN as ``hurry``."""
    handle = handle_of(bullet, client)
    if handle == GONE:
        return UNSEEN
    if hurrying(sweep.haste) == 0 and is_as_many(bullet, handle, sweep.haste.census):
        return 0  # who they are is what the look at them sees
    if not is_unchanged(bullet, handle, sweep.haste.census):
        return UNSEEN
    count, most, found = len(sweep.poses), 1, np.zeros(2, dtype=np.int64)
    fast, around, boxes = np.empty(count, dtype=np.int64), np.empty((count, 6)), np.empty((count, MOVING))
    for i in range(who_is_fast(sweep, fast, around, boxes)):
        row = around[i]
        near = overlapped(bullet, handle, row[:3], row[3:6], found)
        objects = int32s_at(found[1], 2 * near)
        for j in range(near):
            most = max(most, parts_towards(sweep, fast[i], boxes[i], int(objects[2 * j])))
    return most - 1


@compiled
def who_is_fast(sweep: Sweep, fast: Integers, around: Boxes, boxes: Moving) -> int:
    """Numbers of the bodies that are too fast for a step if anything is near, from where to where (low, high; m)
    anything is near, and their boxes; how many, at most (nb,)."""
    haste, count, widest, deepest = sweep.haste, 0, 0.0, HALF * least_radius(sweep.haste)
    if hurrying(haste) == 0:
        return 0
    for k in range(len(sweep.poses)):
        if np.isfinite(haste.reach[k, 0]):
            widest = max(widest, way_of(haste, k))
    for k in range(len(sweep.poses)):
        if np.isfinite(haste.reach[k, 0]) and way_of(haste, k) > deepest:
            box = boxes[count]
            _moving_box(sweep, k, box)
            for i in range(3):
                size = box[_MOST] + widest
                for j in range(3):
                    size += abs(box[_AXES + 3 * i + j]) * box[3 + j]
                around[count, i] = box[i] + min(box[_WAY + i], 0.0) - size
                around[count, 3 + i] = box[i] + max(box[_WAY + i], 0.0) + size
            fast[count] = k
            count += 1
    return count


@compiled
def parts_towards(sweep: Sweep, k: int, box: Floats, body: int) -> int:
    """Into how many parts a step is cut for the k-th body, which is fast, in a box, not to get too deep into one of
    Bullet's."""
    deepest, other = HALF * sweep.haste.reach[k, 0], sweep.numbers[body]
    if other == k or holds(sweep.ignored, (k << BITS) + body):
        return 1
    own, its = box.copy(), np.zeros(MOVING)
    if 0 <= other < len(sweep.poses):
        deepest = min(deepest, HALF * sweep.haste.reach[other, 0])
        _moving_box(sweep, other, its)
    else:
        for i in range(3):
            its[i], its[3 + i], its[_AXES + 4 * i] = sweep.walls[body, i], sweep.walls[body, 3 + i], 1.0
    length = 0.0
    for i in range(3):
        own[i] -= its[i]
        own[_WAY + i] -= its[_WAY + i]
        length += own[_WAY + i] * own[_WAY + i]
    length = math.sqrt(length) + own[_MOST] + its[_MOST]
    if length <= deepest:
        return 1
    for j in range(3):
        if _overlap(own, its, own, j) <= deepest or _overlap(own, its, its, j) <= deepest:
            return 1
    return int(min(-np.floor(-length / deepest), MOST_PARTS))


@compiled
def _moving_box(sweep: Sweep, k: int, box: Floats) -> None:
    """The box about a body's shapes: its middle as the step began, half extents, what the middle moves by, the angle by
    which it turns; how far any of it is turned at most, and how far from where a tangent leads; axes (3, 3)."""
    X, own, h = sweep.poses[k], sweep.boxes[k], sweep.haste.h[0]
    arm, twist, square, size = np.zeros(3), sweep.haste.twists[k].copy(), 0.0, 0.0
    (turn, push), (spin, speed), arms = squares(sweep.haste.starts[k]), squares(twist), sweep.haste.reach[k, 1] ** 2
    if push + turn * arms > speed + spin * arms:
        twist[:] = sweep.haste.starts[k]
    for i in range(3):
        for j in range(3):
            box[_AXES + 3 * i + j] = X[i, j]
            arm[i] += X[i, j] * own[j]
        size += own[3 + i] * own[3 + i]
    turns = 1.0 if sweep.haste.reach[k, 1] > 0.0 else 0.0  # a ball about its centre
    for i in range(3):
        p, q = (i + 1) % 3, (i + 2) % 3
        box[_WAY + i] = h * (twist[3 + i] + twist[p] * arm[q] - twist[q] * arm[p])
        box[i], box[3 + i] = X[i, 3] + arm[i] - box[_WAY + i], own[3 + i]
        box[_TURN + i] = h * twist[i] * turns
        square += box[_TURN + i] * box[_TURN + i]
    box[_MOST], box[_BEND] = math.sqrt(square * size), 0.5 * square * math.sqrt(size)


@compiled
def _overlap(a: Floats, b: Floats, of: Floats, j: int) -> float:
    """The largest overlap of two boxes along the j-th axis of one, while a moves on; a's middle is relative to b's."""
    apart, way = 0.0, 0.0
    for i in range(3):
        apart += of[_AXES + 3 * i + j] * a[i]
        way += of[_AXES + 3 * i + j] * a[_WAY + i]
    return _shadow(a, of, j) + _shadow(b, of, j) - max(apart + min(way, 0.0), -apart - max(way, 0.0))


@compiled
def _shadow(box: Floats, of: Floats, j: int) -> float:
    """How far a box goes from its middle along the j-th axis of another, while it turns."""
    result, n0, n1, n2 = box[_BEND], of[_AXES + j], of[_AXES + 3 + j], of[_AXES + 6 + j]
    t0, t1, t2 = box[_TURN], box[_TURN + 1], box[_TURN + 2]
    m0, m1, m2 = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2, n0 * t1 - n1 * t0
    for i in range(3):
        x, y, z = box[_AXES + i], box[_AXES + 3 + i], box[_AXES + 6 + i]
        result += box[3 + i] * (abs(n0 * x + n1 * y + n2 * z) + abs(m0 * x + m1 * y + m2 * z))
    return result


@compiled
def most_parts(sweep: Sweep, pairs: Annotated[np.ndarray, int, 2]) -> int:
    """The most parts of these pairs (n, 2) of a fast body's number and an id of Bullet's."""
    most, box = 1, np.empty(MOVING)
    for i in range(len(pairs)):
        _moving_box(sweep, pairs[i, 0], box)
        most = max(most, parts_towards(sweep, pairs[i, 0], box, pairs[i, 1]))
    return most

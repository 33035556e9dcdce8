"""Into how many parts a step must be cut so that nothing passes through anything.

It is asked where a flight ends, with the speed there or where it began, whichever is more: forces may bring as far as
speed does. A body that gets further than half its inner radius, or that of what it meets, and deeper than that into the
box about it, goes there in several parts. How deep it gets is the least overlap along the axes of both boxes, one swept
by what it moved relative to the other, and both grown by what they turned; or, if that is less, as it is seen from the
other, which then stands still: what turns with it, as things that lean on each other do, gets no deeper into it.
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

_EXACT = 1e-4  # relative: sizes are read from boxes about shapes
_LOOKS = 3  # from one to the other and back: what is found need not be nearest, any direction is right
MOST_PARTS = 1e9  # parts of a step: no whole number holds those of any speed
# places in what is known of a moving box, their number
_WAY, _TURN, _MOST, _BEND, _AXES, _ROUND, MOVING = 6, 9, 12, 13, 14, 23, 26

Boxes = Annotated[np.ndarray, float, 6]
Moving = Annotated[np.ndarray, float, 26]


class Sweep(NamedTuple):
    """What it takes: who is fast; poses (nb, 4, 4) where the flight ends; boxes (nb, 6), round (nb, 3), walls (n, 6)
    by Bullet's id: as ``MirroredBodies`` has them; numbers: of the scene's bodies by Bullet's id, as in ``Known``;
    ignored (n,): numbers and ids of those that never touch, as keys in ascending order."""

    haste: Haste
    poses: Annotated[np.ndarray, float, 4, 4]
    boxes: Boxes
    round: Annotated[np.ndarray, float, 3]
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
    own, its, moves = box.copy(), np.zeros(MOVING), 0 <= other < len(sweep.poses)
    if moves:
        deepest = min(deepest, HALF * sweep.haste.reach[other, 0])
        _moving_box(sweep, other, its)
    else:
        for i in range(3):
            its[i], its[3 + i], its[_AXES + 4 * i] = sweep.walls[body, i], sweep.walls[body, 3 + i], 1.0
    parts = _parts_into(own, its, deepest)
    if moves and parts > 1:
        ended = _parts_seen(sweep, k, other, sweep.haste.twists, deepest)
        parts = min(parts, max(ended, _parts_seen(sweep, k, other, sweep.haste.starts, deepest)))
    return parts


@compiled
def _parts_into(own: Floats, its: Floats, deepest: float) -> int:
    """Parts in which one box, which gets to be relative to the other, gets no deeper into it."""
    length = 0.0
    for i in range(3):
        own[i] -= its[i]
        own[_WAY + i] -= its[_WAY + i]
        length += own[_WAY + i] * own[_WAY + i]
    length = math.sqrt(length) + own[_MOST] + its[_MOST]
    if length <= deepest:
        return 1
    axis = np.empty(3)
    for j in range(6):
        of = own if j < 3 else its
        for i in range(3):
            axis[i] = of[_AXES + 3 * i + j % 3]
        if _overlap(own, its, axis) <= deepest:
            return 1
    for j in range(2):
        if _between(own, its, float(j), axis) and _overlap(own, its, axis) <= deepest:
            return 1
    return int(min(-np.floor(-length / deepest), MOST_PARTS))


@compiled
def _parts_seen(sweep: Sweep, k: int, other: int, twists: Annotated[np.ndarray, float, 6], deepest: float) -> int:
    """The same of two bodies with these twists, as seen from the other one."""
    a, b, seen, apart, own, its = twists[k], twists[other], np.empty(6), np.empty(3), np.empty(MOVING), np.empty(MOVING)
    turn, far, fast, h = 0.0, 0.0, 0.0, sweep.haste.h[0]
    for i in range(3):
        apart[i] = sweep.poses[k, i, 3] - sweep.poses[other, i, 3]
        seen[i] = a[i] - b[i]
        turn, far, fast = turn + b[i] * b[i], far + apart[i] * apart[i], fast + (a[3 + i] - b[3 + i]) ** 2
    for i in range(3):
        p, q = (i + 1) % 3, (i + 2) % 3
        seen[3 + i] = a[3 + i] - b[3 + i] - (b[p] * apart[q] - b[q] * apart[p])
    _box_that_moves(sweep, k, seen, own)
    seen[:] = 0.0
    _box_that_moves(sweep, other, seen, its)
    turn = h * math.sqrt(turn)
    bend = turn * (0.5 * turn * math.sqrt(far) + h * math.sqrt(fast))  # straight ways are bent as it turns
    own[_BEND] += bend
    own[_MOST] += bend
    return _parts_into(own, its, deepest)


@compiled
def _moving_box(sweep: Sweep, k: int, box: Floats) -> None:
    """The box about a body's shapes, with the twist with which its step ends or began, whichever is more."""
    twist = sweep.haste.twists[k].copy()
    (turn, push), (spin, speed), arms = squares(sweep.haste.starts[k]), squares(twist), sweep.haste.reach[k, 1] ** 2
    if push + turn * arms > speed + spin * arms:
        twist[:] = sweep.haste.starts[k]
    _box_that_moves(sweep, k, twist, box)


@compiled
def _box_that_moves(sweep: Sweep, k: int, twist: Floats, box: Floats) -> None:
    """The box about a body's shapes, with a twist (6,): its middle as the step began, half extents, what the middle
    moves by, the angle by which it turns; how far any of it is turned at most, and how far from where a tangent leads;
    axes (3, 3); how much of the extents is round."""
    X, own, h, arm, square, size, most = (
        sweep.poses[k], sweep.boxes[k], sweep.haste.h[0], np.zeros(3), 0.0, 0.0, 0.0,
    )  # fmt: skip
    for i in range(3):
        for j in range(3):
            box[_AXES + 3 * i + j] = X[i, j]
            arm[i] += X[i, j] * own[j]
        box[_ROUND + i] = min(sweep.round[k, i], own[3 + i])
        size, most = size + (own[3 + i] - box[_ROUND + i]) ** 2, max(most, box[_ROUND + i])
    ball = min(box[_ROUND], box[_ROUND + 1], box[_ROUND + 2])
    size = (math.sqrt(size) + most - ball) ** 2
    rolled = _rolled(box, twist)
    for i in range(3):
        p, q = (i + 1) % 3, (i + 2) % 3
        box[_WAY + i] = h * (twist[3 + i] + twist[p] * arm[q] - twist[q] * arm[p])
        box[i], box[3 + i] = X[i, 3] + arm[i] - box[_WAY + i], own[3 + i]
        box[_TURN + i] = h * (twist[i] - rolled * box[_AXES + 3 * i + 2])
        square += box[_TURN + i] * box[_TURN + i]
    box[_MOST], box[_BEND] = math.sqrt(square * size), 0.5 * square * math.sqrt(size)


@compiled
def _rolled(box: Floats, twist: Floats) -> float:
    """What a twist turns a box by about its own third axis, if it is of one that this does not change, rad/s."""
    straight = max(box[3] - box[_ROUND], box[4] - box[_ROUND + 1])
    if straight > _EXACT * box[3] or abs(box[_ROUND] - box[_ROUND + 1]) > _EXACT * box[3]:
        return 0.0
    return twist[0] * box[_AXES + 2] + twist[1] * box[_AXES + 5] + twist[2] * box[_AXES + 8]


@compiled
def _overlap(a: Floats, b: Floats, n: Floats) -> float:
    """The largest overlap of two boxes along a direction (3,), while a moves on; a's middle is relative to b's."""
    apart, way = 0.0, 0.0
    for i in range(3):
        apart += n[i] * a[i]
        way += n[i] * a[_WAY + i]
    return _shadow(a, n) + _shadow(b, n) - max(apart + min(way, 0.0), -apart - max(way, 0.0))


@compiled
def _shadow(box: Floats, n: Floats) -> float:
    """How far a box goes from its middle along a direction (3,), while it turns."""
    result, n0, n1, n2 = box[_BEND], n[0], n[1], n[2]
    t0, t1, t2 = box[_TURN], box[_TURN + 1], box[_TURN + 2]
    m0, m1, m2, still, turning = n1 * t2 - n2 * t1, n2 * t0 - n0 * t2, n0 * t1 - n1 * t0, 0.0, 0.0
    ball = min(box[_ROUND], box[_ROUND + 1], box[_ROUND + 2])  # which is the same however it turns
    for i in range(3):
        x, y, z, round = box[_AXES + i], box[_AXES + 3 + i], box[_AXES + 6 + i], box[_ROUND + i]
        here, there = n0 * x + n1 * y + n2 * z, m0 * x + m1 * y + m2 * z
        result += (box[3 + i] - round) * (abs(here) + abs(there))
        still, turning = still + ((round - ball) * here) ** 2, turning + ((round - ball) * there) ** 2
    return result + ball + math.sqrt(still) + math.sqrt(turning)


@compiled
def _between(a: Floats, b: Floats, share: float, n: Floats) -> bool:
    """The direction n (3,) between what is not round of two boxes, when a has gone a share of its way; False where
    these meet."""
    here, there, at = np.zeros(3), np.zeros(3), np.empty(3)
    for i in range(3):
        at[i] = a[i] + share * a[_WAY + i]
    for _ in range(_LOOKS):
        _nearest(a, at, there, here)
        _nearest(b, np.zeros(3), here, there)
    size = 0.0
    for i in range(3):
        n[i] = here[i] - there[i]
        size += n[i] * n[i]
    if size == 0.0:
        return False
    for i in range(3):
        n[i] /= math.sqrt(size)
    return True


@compiled
def _nearest(box: Floats, middle: Floats, to: Floats, found: Floats) -> None:
    """The place (3,) in what is not round of a box with this middle (3,) that is nearest to another (3,)."""
    found[:] = middle
    for k in range(3):
        along, most = 0.0, box[3 + k] - box[_ROUND + k]
        for i in range(3):
            along += box[_AXES + 3 * i + k] * (to[i] - middle[i])
        along = min(max(along, -most), most)
        for i in range(3):
            found[i] += along * box[_AXES + 3 * i + k]


@compiled
def most_parts(sweep: Sweep, pairs: Annotated[np.ndarray, int, 2]) -> int:
    """The most parts of these pairs (n, 2) of a fast body's number and an id of Bullet's."""
    most, box = 1, np.empty(MOVING)
    for i in range(len(pairs)):
        _moving_box(sweep, pairs[i, 0], box)
        most = max(most, parts_towards(sweep, pairs[i, 0], box, pairs[i, 1]))
    return most

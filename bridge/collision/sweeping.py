"""Into how many parts a step must be cut so that nothing passes through anything.

It is asked where a flight ends, with the speed there or where it began, whichever is more: forces may bring as far as
speed does. A body that gets further than half its inner radius, or that of what it meets, and deeper than that into the
box about it, goes there in several parts (``moving_boxes``).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from bridge.collision.bullet_calls import GONE, Functions, handle_of, is_as_many, is_unchanged, overlapped
from bridge.collision.looking import UNSEEN, Haste, hurrying, least_radius, way_of
from bridge.collision.raw_points import BITS
from bridge.curved.moving_boxes import HALF, Mover, move_twist, parts_between, parts_of_way, reached, standing
from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.codegen.loops.intrinsics import int32s_at
from recursive_dyn.contact.sorted_keys import holds

Boxes = Annotated[np.ndarray, float, 6]


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
    fast, around = np.empty(count, dtype=np.int64), np.empty((count, 6))
    for i in range(who_is_fast(sweep, fast, around)):
        row = around[i]
        near = overlapped(bullet, handle, row[:3], row[3:6], found)
        objects = int32s_at(found[1], 2 * near)
        for j in range(near):
            most = max(most, parts_towards(sweep, fast[i], int(objects[2 * j])))
    return most - 1


@compiled
def who_is_fast(sweep: Sweep, fast: Integers, around: Boxes) -> int:
    """Numbers of the bodies that are too fast for a step if anything is near, and from where to where (low, high; m)
    anything is near; how many, at most (nb,)."""
    haste, count, widest, deepest = sweep.haste, 0, 0.0, HALF * least_radius(sweep.haste)
    if hurrying(haste) == 0:
        return 0
    for k in range(len(sweep.poses)):
        if np.isfinite(haste.reach[k, 0]):
            widest = max(widest, way_of(haste, k))
    for k in range(len(sweep.poses)):
        if np.isfinite(haste.reach[k, 0]) and way_of(haste, k) > deepest:
            row = around[count]
            reached(_mover(sweep, k), haste.h[0], widest, row[:3], row[3:6])
            fast[count] = k
            count += 1
    return count


@compiled
def parts_towards(sweep: Sweep, k: int, body: int) -> int:
    """Into how many parts a step is cut for the k-th body, which is fast, not to get too deep into one of Bullet's;
    what has no shapes is not met, wherever Bullet has it."""
    deepest, other, h = HALF * sweep.haste.reach[k, 0], sweep.numbers[body], sweep.haste.h[0]
    moves = 0 <= other < len(sweep.poses)
    bare = not np.isfinite(sweep.haste.reach[other, 0]) if moves else sweep.walls[body, 3] < 0.0
    if other == k or bare or holds(sweep.ignored, (k << BITS) + body):
        return 1
    if moves:
        deepest = min(deepest, HALF * sweep.haste.reach[other, 0])
        return parts_between(_mover(sweep, k), _mover(sweep, other), h, deepest)
    wall = sweep.walls[body]
    if not np.isfinite(wall[0]):  # who else is in the connection goes anywhere
        return parts_of_way(_mover(sweep, k), h, deepest)
    return parts_between(_mover(sweep, k), standing(wall[:3], wall[3:6]), h, deepest)


@compiled
def _mover(sweep: Sweep, k: int) -> Mover:
    """The box about a body's shapes."""
    X, own, ends, starts = sweep.poses[k], sweep.boxes[k], sweep.haste.twists[k].copy(), sweep.haste.starts[k].copy()
    middle, axes, arm = np.empty(3), np.empty((3, 3)), np.zeros(3)
    for i in range(3):
        for j in range(3):
            axes[j, i] = X[i, j]
            arm[i] += X[i, j] * own[j]
        middle[i] = X[i, 3] + arm[i]
    move_twist(ends, arm)
    move_twist(starts, arm)
    return Mover(middle, axes, own[3:6], sweep.round[k], ends, starts)


@compiled
def most_parts(sweep: Sweep, pairs: Annotated[np.ndarray, int, 2]) -> int:
    """The most parts of these pairs (n, 2) of a fast body's number and an id of Bullet's."""
    most = 1
    for i in range(len(pairs)):
        most = max(most, parts_towards(sweep, pairs[i, 0], pairs[i, 1]))
    return most

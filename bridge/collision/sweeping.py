"""Into how many parts a step must be cut so that nothing passes through anything, as Bullet's own functions say."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from bridge.collision.bullet_calls import GONE, Functions, handle_of, is_unchanged, overlapped
from bridge.collision.contact_points import BITS
from bridge.collision.looking import UNSEEN, Haste, hurrying, way_of
from bridge.collision.placing import HALF
from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.codegen.loops.intrinsics import int32s_at


class Sweep(NamedTuple):
    """What it takes: who is fast; poses (nb, 4, 4); numbers: of the scene's bodies by Bullet's id, as in ``Known``;
    ignored (n,): numbers and ids of those that never touch, as keys in ascending order."""

    haste: Haste
    poses: Annotated[np.ndarray, float, 4, 4]
    numbers: Integers
    ignored: Integers


@compiled
def cuts(bullet: Functions, client: int, sweep: Sweep) -> int:
    """Parts but one in which nothing gets further than half its inner radius into what is near; UNSEEN as ``hurry``."""
    haste, handle = sweep.haste, handle_of(bullet, client)
    if handle == GONE or not is_unchanged(bullet, handle, haste.census):
        return UNSEEN
    if hurrying(haste) == 0:
        return 0
    most = 1
    for k in range(len(haste.twists)):
        deepest = HALF * haste.reach[k, 0]
        way = way_of(haste, k)
        if way > deepest:
            parts = int(-np.floor(-way / deepest))
            if parts > most and _meets(bullet, handle, sweep, k):
                most = parts
    return most - 1


@compiled
def _meets(bullet: Functions, handle: int, sweep: Sweep, k: int) -> bool:
    """Whether anything that a body may touch is where it gets in the step."""
    haste, low, high, found = sweep.haste, np.empty(3), np.empty(3), np.zeros(2, dtype=np.int64)
    for i in range(3):
        middle, size, way = sweep.poses[k, i, 3], haste.reach[k, 2], haste.h[0] * haste.twists[k, 3 + i]
        low[i] = min(middle - size, middle - size + way)
        high[i] = max(middle + size, middle + size + way)
    count = overlapped(bullet, handle, low, high, found)
    objects = int32s_at(found[1], 2 * count)
    for j in range(count):
        body = int(objects[2 * j])
        if sweep.numbers[body] != k and not _is_in((k << BITS) + body, sweep.ignored):
            return True
    return False


@compiled
def _is_in(key: int, keys: Integers) -> bool:
    """Whether a key is among ascending ones."""
    begin, end = 0, len(keys)
    while begin < end:
        middle = (begin + end) >> 1
        if keys[middle] < key:
            begin = middle + 1
        else:
            end = middle
    return begin < len(keys) and keys[begin] == key

"""How far boxes get into each other on their ways: into how many parts a step is cut so that they do not get too deep.

How deep one gets is the least overlap along any direction, one swept by what it moved relative to the other, and both
grown by what they turned. Directions are the axes of both boxes, and the way from one to the other.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled

HALF = 0.5  # of a body's inner radius: how far it may get in one part of a step
MOST_PARTS = 1e9  # parts of a step: no whole number holds those of any speed
_EXACT = 1e-4  # relative: sizes are read from boxes about shapes
_LOOKS = 3  # from one to the other and back: what is found need not be nearest, any direction is right
# places in what is known of a box on its way, their number
_WAY, _TURN, _MOST, _BEND, _AXES, _ROUND, _PLACES = 6, 9, 12, 13, 14, 23, 26


class Mover(NamedTuple):
    """A box where the flight of a step ends: middle (3,); axes (3, 3), the i-th is axes[i]; half extents, half (3,),
    and how much of them is round (3,), an ellipsoid's, m; twists of the middle, [omega; v], where the flight ends and
    where it began, ends and starts (6,)."""

    middle: Floats
    axes: Annotated[np.ndarray, float, 3]
    half: Floats
    round: Floats
    ends: Floats
    starts: Floats


@compiled
def standing(middle: Floats, half: Floats) -> Mover:
    """A box along the world's axes that does not move."""
    axes = np.zeros((3, 3))
    for i in range(3):
        axes[i, i] = 1.0
    return Mover(middle, axes, half, np.zeros(3), np.zeros(6), np.zeros(6))


@compiled
def move_twist(twist: Floats, arm: Floats) -> None:
    """A twist (6,) at a place that is so far, (3,), from where it was told becomes that of the place."""
    for i in range(3):
        p, q = (i + 1) % 3, (i + 2) % 3
        twist[3 + i] += twist[p] * arm[q] - twist[q] * arm[p]


@compiled
def parts_between(a: Mover, b: Mover, h: float, deepest: float) -> int:
    """Into how many parts a step of h is cut for one box to get no deeper than that into another.

    By how they move in the world, not seen from one of them: where both turn together contacts turn with them, and
    bounces keep momenta to what parts resolve of that.
    """
    own, its, axis = np.empty(_PLACES), np.empty(_PLACES), np.empty(3)
    _on_its_way(a, faster(a), h, own)
    _on_its_way(b, faster(b), h, its)
    for i in range(3):
        own[i] -= its[i]
        own[_WAY + i] -= its[_WAY + i]
    own[_MOST] += its[_MOST]
    parts = _parts_of(own, deepest)
    if parts == 1:
        return 1
    for j in range(6):
        of = own if j < 3 else its
        for i in range(3):
            axis[i] = of[_AXES + 3 * i + j % 3]
        if _overlap(own, its, axis) <= deepest:
            return 1
    for j in range(2):
        if _between(own, its, float(j), axis) and _overlap(own, its, axis) <= deepest:
            return 1
    return parts


@compiled
def parts_of_way(a: Mover, h: float, deepest: float) -> int:
    """Into how many parts a step of h is cut for a box to get no further than that in any."""
    box = np.empty(_PLACES)
    _on_its_way(a, faster(a), h, box)
    return _parts_of(box, deepest)


@compiled
def faster(a: Mover) -> Floats:
    """The twist with which its step ends or began, whichever moves it by more."""
    arms = a.half[0] * a.half[0] + a.half[1] * a.half[1] + a.half[2] * a.half[2]
    return a.starts if _square(a.starts, arms) > _square(a.ends, arms) else a.ends


@compiled
def _square(twist: Floats, arms: float) -> float:
    spin = twist[0] * twist[0] + twist[1] * twist[1] + twist[2] * twist[2]
    return twist[3] * twist[3] + twist[4] * twist[4] + twist[5] * twist[5] + spin * arms


@compiled
def reached(a: Mover, h: float, more: float, low: Floats, high: Floats) -> None:
    """A box along the world's axes about all of a box's way, and so much more: from where to where, (3,) each."""
    box = np.empty(_PLACES)
    _on_its_way(a, faster(a), h, box)
    for i in range(3):
        size = box[_MOST] + more
        for j in range(3):
            size += abs(a.axes[j, i]) * a.half[j]
        low[i] = box[i] + min(box[_WAY + i], 0.0) - size
        high[i] = box[i] + max(box[_WAY + i], 0.0) + size


@compiled
def _parts_of(box: Floats, deepest: float) -> int:
    """In which nothing of a box gets further than that."""
    x, y, z = box[_WAY], box[_WAY + 1], box[_WAY + 2]
    length = math.sqrt(x * x + y * y + z * z) + box[_MOST]
    return int(min(-np.floor(-length / deepest), MOST_PARTS)) if length > deepest else 1


@compiled
def _on_its_way(a: Mover, twist: Floats, h: float, box: Floats) -> None:
    """A box with a twist (6,): its middle as the step began, half extents, what the middle moves by, the angle by which
    it turns; how far any of it is turned at most, and how far from where a tangent leads; axes, as columns (3, 3); how
    much of the extents is round."""
    size, most, square = 0.0, 0.0, 0.0
    for i in range(3):
        for j in range(3):
            box[_AXES + 3 * i + j] = a.axes[j, i]
        box[3 + i], box[_ROUND + i] = a.half[i], min(a.round[i], a.half[i])
        size, most = size + (a.half[i] - box[_ROUND + i]) ** 2, max(most, box[_ROUND + i])
    ball = min(box[_ROUND], box[_ROUND + 1], box[_ROUND + 2])
    size = math.sqrt(size) + most - ball
    rolled = _rolled(box, twist)
    for i in range(3):
        box[_WAY + i] = h * twist[3 + i]
        box[i] = a.middle[i] - box[_WAY + i]
        box[_TURN + i] = h * (twist[i] - rolled * box[_AXES + 3 * i + 2])
        square += box[_TURN + i] * box[_TURN + i]
    box[_MOST], box[_BEND] = math.sqrt(square) * size, 0.5 * square * size


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

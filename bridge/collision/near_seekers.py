"""Who is near those that seek their neighbours without Bullet: boxes about them, along an axis; compiled."""

from __future__ import annotations

import math

from bridge.bodies.seekers import Seekers
from bridge.bodies.true_shapes import TrueShapes
from bridge.collision.raw_points import BITS, SURE, RawPoints
from bridge.collision.true_points import place_shape
from bridge.curved.distances import ELLIPSOID, ROUND
from bridge.curved.manifold_points import Poses
from bridge.planes.half_spaces import MARGIN
from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.contact.sorted_keys import holds


@compiled
def add_neighbours(
    shapes: TrueShapes, poses: Poses, numbers: Integers, ranks: Integers, asleep: Integers, parted: Integers,
    raw: RawPoints,
) -> None:  # fmt: skip
    """Behind the points that Bullet told add one for each pair of boxes that meet, if there is room, without values.

    numbers, ranks (ids,): as ``Known`` has them; asleep (nb,): 1 for bodies whose pairs with each other and with what
    stands still are left out; parted: numbers of bodies and ids that these never touch, as keys in ascending order.
    """
    seekers = shapes.seekers
    if len(seekers.order) == 0:
        return
    for k in range(len(seekers.rows)):
        _set_box(shapes, poses, k)
    _sort(seekers)
    widest = 0.0
    for k in seekers.order:
        widest = max(widest, seekers.high[k, 0] - seekers.low[k, 0])
    for k in range(len(seekers.rows)):
        i = _first_beyond(seekers, seekers.low[k, 0] - MARGIN - widest)
        while i < len(seekers.order) and seekers.low[seekers.order[i], 0] <= seekers.high[k, 0] + MARGIN:
            one = seekers.order[i]
            i += 1
            if (seekers.places[k] >= 0 and k <= one) or not _meet(seekers, one, k):
                continue
            first, second = seekers.ids[one], seekers.ids[k]
            a, b = numbers[first], numbers[second]
            if a == b or (asleep[a] != 0 and (b == STATIC or asleep[b] != 0)) or holds(parted, (a << BITS) + second):
                continue
            _note(raw, first, second, ranks)


@compiled
def _note(raw: RawPoints, first: int, second: int, ranks: Integers) -> None:
    """One more pair."""
    n = raw.found[0]
    if n < len(raw.ids):
        turned = ranks[second] < ranks[first]
        raw.ids[n, 0], raw.ids[n, 1] = (second, first) if turned else (first, second)
        raw.ids[n, 2], raw.ids[n, 3] = SURE, SURE
        for i in range(10):
            raw.values[n, i] = 0.0
    raw.found[0] = n + 1


@compiled
def _set_box(shapes: TrueShapes, poses: Poses, k: int) -> None:
    """Where the box about the k-th of those that take part is."""
    seekers = shapes.seekers
    row, half, middle = seekers.rows[k], seekers.halves[k], seekers.middles[k]
    place_shape(shapes, poses, row)
    axes, kind = shapes.placed.axes[row], shapes.kinds[row]
    for i in range(3):
        centre, x, y, z = shapes.placed.centers[row, i], axes[0, i], axes[1, i], axes[2, i]
        if kind == ROUND:
            reach = half[0] + half[1] * abs(z)
        elif kind == ELLIPSOID:
            reach = math.sqrt((half[0] * x) ** 2 + (half[1] * y) ** 2 + (half[2] * z) ** 2)
        else:
            centre += middle[0] * x + middle[1] * y + middle[2] * z
            reach = half[0] * abs(x) + half[1] * abs(y) + half[2] * abs(z)
        seekers.low[k, i], seekers.high[k, i] = centre - reach, centre + reach


@compiled
def _sort(seekers: Seekers) -> None:
    """Those that seek, by where they begin along the axis; equals by number, so that only places count."""
    order, low = seekers.order, seekers.low
    for i in range(1, len(order)):
        k, j = order[i], i - 1
        while j >= 0 and (low[order[j], 0] > low[k, 0] or (low[order[j], 0] == low[k, 0] and order[j] > k)):
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = k


@compiled
def _first_beyond(seekers: Seekers, x: float) -> int:
    """How many of those that seek begin before x."""
    low, high = 0, len(seekers.order)
    while low < high:
        middle = (low + high) // 2
        if seekers.low[seekers.order[middle], 0] < x:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _meet(seekers: Seekers, a: int, b: int) -> bool:
    """Whether two boxes are nearer to each other than MARGIN along every axis."""
    for i in range(3):
        if seekers.low[a, i] > seekers.high[b, i] + MARGIN or seekers.low[b, i] > seekers.high[a, i] + MARGIN:
            return False
    return True

"""Which shapes are near each other: boxes about them, swept along an axis; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bridge.closed_form.solids import Solids, overlap
from bridge.curved.manifold_points import InWorld
from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.contact.sorted_keys import place_among

APART = -1  # instead of a row of frictions: these two never touch


class Rules(NamedTuple):
    """Who may touch whom, and what they are like to each other.

    sides (n,): of each shape the number of its body + 1, 0 of scenery; keys: pairs of sides, the lower one times
    ``most`` plus the other, in ascending order, of which something else holds: rows, APART or a row of frictions.
    """

    sides: Integers
    most: int
    keys: Integers
    rows: Integers


class PairRoom(NamedTuple):
    """Pairs of shapes, a chain for each of the first ones: heads (n,), then others and following (room,); size (1,).
    order (n,): of shapes along the axis, which a sweep starts from."""

    heads: Integers
    others: Integers
    following: Integers
    size: Integers
    order: Integers


def pair_room(shapes: int, pairs: int) -> PairRoom:
    """Room for so many pairs of so many shapes."""
    heads, others, following = np.zeros(shapes, np.int64), np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)
    return PairRoom(heads, others, following, np.zeros(1, np.int64), np.arange(shapes))


@compiled
def rule_of(rules: Rules, a: int, b: int) -> int:
    """What holds of two shapes: APART, a row of frictions, or APART - 1 where nothing is said."""
    one, other = rules.sides[a], rules.sides[b]
    if one == other:
        return APART
    key = min(one, other) * rules.most + max(one, other)
    place = place_among(rules.keys, key)
    if place < len(rules.keys) and rules.keys[place] == key:
        return rules.rows[place]
    return APART - 1


@compiled
def near_pairs(solids: Solids, placed: InWorld, asleep: Integers, room: PairRoom) -> bool:
    """Chain all pairs whose boxes meet, a first one's others in ascending order; whether there was room.

    What is found depends on where shapes are alone, not on where they were. asleep (nb,): 1 for bodies that
    stand still.
    """
    n, order = len(solids.bodies), room.order
    for i in range(1, n):
        k, j = order[i], i - 1
        while j >= 0 and _after(placed, order[j], k):
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = k
    room.heads[:] = -1
    room.size[0] = 0
    for i in range(n):
        a = order[i]
        for j in range(i + 1, n):
            b = order[j]
            if placed.low[b, 0] > placed.high[a, 0]:
                break
            if _stands(solids, asleep, a) and _stands(solids, asleep, b):
                continue
            if overlap(placed.low[a], placed.high[a], placed.low[b], placed.high[b]) and not _enter(
                room, min(a, b), max(a, b)
            ):
                return False
    return True


@compiled
def _stands(solids: Solids, asleep: Integers, shape: int) -> bool:
    return bool(solids.still[shape]) or (solids.bodies[shape] >= 0 and asleep[solids.bodies[shape]] != 0)


@compiled
def _after(placed: InWorld, a: int, b: int) -> bool:
    """Whether a comes after b along the axis; equals by number."""
    if placed.low[a, 0] == placed.low[b, 0]:
        return a > b
    return placed.low[a, 0] > placed.low[b, 0]


@compiled
def _enter(room: PairRoom, first: int, other: int) -> bool:
    """Chain a pair at its place; whether there was room."""
    at = room.size[0]
    if at == len(room.others):
        return False
    room.others[at], room.size[0] = other, at + 1
    before, after = -1, room.heads[first]
    while after >= 0 and room.others[after] < other:
        before, after = after, room.following[after]
    room.following[at] = after
    if before < 0:
        room.heads[first] = at
    else:
        room.following[before] = at
    return True

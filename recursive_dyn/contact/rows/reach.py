"""Which coordinates impulses on links reach, found for the links that a solve is about.

A link far out in a chain reaches all coordinates before it: a table of all links would grow with the chain's square.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.contact.layout import CROSSING, ELIMINATION, Layout
from recursive_dyn.contact.problem import GeneralizedRows


class Reach(NamedTuple):
    """first, size (nl,): where a link's coordinates, rising, are in ``slots``; size -1 of links nobody asked for."""

    first: Integers
    size: Integers
    slots: Integers


@compiled
def reach_of(layout: Layout, links: Annotated[np.ndarray, int, 2], given: GeneralizedRows) -> Reach:
    """What impulses between ``links`` (n, 2), negative for none, and along rows of one link's coordinates reach."""
    count, room = len(layout.parent), 0
    first, size = np.empty(count, dtype=np.int64), np.full(count, -1)
    for c in range(len(links)):
        for side in range(2):
            room = _asked(layout, links[c, side], first, size, room)
    for s in range(len(given.offsets)):
        room = _asked(layout, home_of(layout, given, s), first, size, room)
    slots, marks = np.empty(room, dtype=np.int64), np.zeros(layout.nv, dtype=np.int64)
    for link in range(count):
        if size[link] >= 0:
            size[link] = _found(layout, link, marks, slots[first[link] : room])
    return Reach(first, size, slots)


@compiled
def _asked(layout: Layout, link: int, first: Integers, size: Integers, room: int) -> int:
    """Note where the coordinates of a link begin; where they end at most."""
    if link < 0 or link >= len(size) or size[link] >= 0:
        return room
    first[link], size[link] = room, 0
    return room + layout.most[link]


@compiled
def _found(layout: Layout, link: int, marks: Integers, slots: Integers) -> int:
    """Coordinates that an impulse on a link, or on a coordinate eliminated there, reaches: of columns on its way, and
    what is open as they go; their number.

    marks (nv,): zeros, and so again.
    """
    count, i, world = 0, link, len(layout.parent)
    for e in range(layout.first[link], layout.first[link + 1]):
        if layout.kind[e] == ELIMINATION:  # of a coordinate that joints further out share
            marks[layout.slot[e]], slots[count] = 1, layout.slot[e]
            count += 1
    while i != world:
        count = _passed(layout, i, marks, slots, count)
        i = layout.parent[i] if layout.parent[i] >= 0 else world
    count = _passed(layout, world, marks, slots, count)
    for k in range(count // 2):
        slots[k], slots[count - 1 - k] = slots[count - 1 - k], slots[k]
    for k in range(count):  # nearly sorted: coordinates are numbered from the world outwards
        slot, j = slots[k], k
        marks[slot] = 0
        while j > 0 and slots[j - 1] > slot:
            slots[j] = slots[j - 1]
            j -= 1
        slots[j] = slot
    return count


@compiled
def _passed(layout: Layout, i: int, marks: Integers, slots: Integers, count: int) -> int:
    """Append what an impulse reaches at link i, or at the world, to the first ``count`` of slots; their number."""
    for e in range(layout.first[i], layout.first[i + 1]):
        slot, kind = layout.slot[e], layout.kind[e]
        if kind != ELIMINATION and marks[slot] == 0:
            marks[slot], slots[count] = 1, slot
            count += 1
        if kind != CROSSING and marks[slot] != 0:
            for p in range(layout.port_first[e], layout.port_first[e + 1]):
                if marks[layout.port[p]] == 0:
                    marks[layout.port[p]], slots[count] = 1, layout.port[p]
                    count += 1
    return count


@compiled
def home_of(layout: Layout, given: GeneralizedRows, s: int) -> int:
    """The link at which all coordinates of a row are eliminated; the world's number where there is no one such."""
    begin, end, world = given.first[s], given.first[s + 1], len(layout.parent)
    home = layout.home[given.slots[begin]] if begin < end else world
    for k in range(begin + 1, end):
        if layout.home[given.slots[k]] != home:
            home = world
    return home

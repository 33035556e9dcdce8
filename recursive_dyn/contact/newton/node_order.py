"""In which order an island's coordinates are eliminated, and what that joins.

Coordinates are gathered in nodes of up to BODY; a free body is one. Whatever a row reaches is joined by it, and what a
node was joined to is joined by its elimination, so that the next one to go is that which is joined to fewest (minimum
degree: Tinney & Walker, 1967, with cliques instead of pairs: Speelpenning, 1978).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Integers, compiled
from recursive_dyn.contact.blocks import Island

BODY, LANES = 6, 8  # coordinates of a node, and the room that they take: as many numbers as processors take at once


class Lists(NamedTuple):
    """Lists of numbers: the k-th is which[start[k]] to which[start[k + 1]]."""

    start: Integers
    which: Integers


class NodeOrder(NamedTuple):
    """An order of nodes, which are numbered as they go.

    place: of each slot, LANES x its node and where it is among its coordinates, -1 where no row reaches it; rows: the
    nodes that each contact, then each scalar row, of an island reaches; joined: those after it that each node is
    joined to when it goes; both in their order.
    """

    place: Integers
    rows: Lists
    joined: Lists


@compiled
def node_order(it: Island) -> NodeOrder:
    """The order for an island."""
    place = np.full(len(it.y), -1)
    number = np.full(_gather(it, place), -1)
    rows = _nodes_of_rows(it, place)
    joined = _ordered(rows, number)
    for slot in it.slots:
        if place[slot] >= 0:
            place[slot] = LANES * number[place[slot] // LANES] + place[slot] % LANES
    for e in range(len(rows.start) - 1):
        for k in range(rows.start[e], rows.start[e + 1]):
            _put(rows.which, rows.start[e], k, number[rows.which[k]])
    return NodeOrder(place, rows, joined)


@compiled
def slots_of(it: Island, e: int) -> Integers:
    """The slots of a contact, or after these of a scalar row."""
    n, rows, lines = len(it.contacts), it.rows, it.lines
    if e < n:
        return rows.slots[rows.first[it.contacts[e]] : rows.first[it.contacts[e] + 1]]
    return lines.slots[lines.first[it.scalars[e - n]] : lines.first[it.scalars[e - n] + 1]]


@compiled
def _gather(it: Island, place: Integers) -> int:
    """Gather what rows reach in nodes, which ``place`` then tells; how many there are.

    Coordinates next to each other that the same rows reach stay together, as those of a body do.
    """
    met, mark = np.zeros(len(place), dtype=np.int64), np.zeros(len(place), dtype=np.int64)
    for e in range(len(it.contacts) + len(it.scalars)):
        for slot in slots_of(it, e):
            met[slot] += 1
            mark[slot] += (e + 1) * (e + 1)  # the same for the same rows
    nodes, room, k, count = 0, 0, 0, len(it.slots)
    while k < count:
        slot, end = it.slots[k], k + 1
        if met[slot] > 0:
            while end < min(k + BODY, count):
                if met[it.slots[end]] != met[slot] or mark[it.slots[end]] != mark[slot]:
                    break
                end += 1
            if end - k > room:
                nodes, room = nodes + 1, BODY
            for i in range(k, end):
                place[it.slots[i]] = LANES * (nodes - 1) + BODY - room
                room -= 1
        k = end
    return nodes


@compiled
def _nodes_of_rows(it: Island, place: Integers) -> Lists:
    """The nodes of each row, each once."""
    total, size = len(it.contacts) + len(it.scalars), 0
    for e in range(total):
        size += len(slots_of(it, e))
    start, which, last, at = np.empty(total + 1, dtype=np.int64), np.empty(size, dtype=np.int64), np.full(size, -1), 0
    for e in range(total):
        start[e] = at
        for slot in slots_of(it, e):
            node = place[slot] // LANES
            if last[node] != e:
                last[node], which[at] = e, node
                at += 1
    start[total] = at
    return Lists(start, which[:at])


@compiled
def _put(which: Integers, first: int, at: int, number: int) -> None:
    """Put a number among those from the first one to one before ``at``, which ascend."""
    while at > first and which[at - 1] > number:
        which[at] = which[at - 1]
        at -= 1
    which[at] = number


class _Cliques(NamedTuple):
    """Nodes that are joined with each other, those of a row, then those that each node's elimination joins: of clique c
    first[c] to end[c] among the members, ``alive`` until one of them goes. own: the cliques of node k, size[k] of them
    from start[k] on; degree: to how many nodes it is joined; mark: where each node was met last."""

    first: Integers
    end: Integers
    alive: Flags
    start: Integers
    size: Integers
    own: Integers
    degree: Integers
    mark: Integers


@compiled
def _ordered(rows: Lists, number: Integers) -> Lists:
    """Number nodes in the order of their elimination; to which each is joined then."""
    count, total, these = len(number), len(rows.start) - 1, _cliques(rows, len(number))
    members, used = np.empty(len(rows.which) + LANES * count, dtype=np.int64), len(rows.which)
    members[:used] = rows.which
    for node in range(count):
        _count(these, members, node)
    start, nodes = np.zeros(count + 1, dtype=np.int64), np.empty(count, dtype=np.int64)
    for k in range(count):
        node = _next(these, number)
        number[node], nodes[k] = k, node
        if used + count > len(members):
            larger = np.empty(2 * (used + count), dtype=np.int64)
            larger[:used] = members[:used]
            members = larger
        these.first[total + node], used = used, _eliminate(these, members, node, used)
        these.end[total + node] = used
        start[k + 1] = start[k] + used - these.first[total + node]
        for at in range(these.first[total + node], used):
            _replace(these, members[at], total + node)
        for at in range(these.first[total + node], used):
            _count(these, members, members[at])
    which = np.empty(start[count], dtype=np.int64)
    for k in range(count):
        first = these.first[total + nodes[k]]
        for j in range(start[k + 1] - start[k]):
            _put(which, start[k], start[k] + j, number[members[first + j]])
    return Lists(start, which)


@compiled
def _cliques(rows: Lists, count: int) -> _Cliques:
    """Those of rows, but of those that reach what the row before does."""
    total = len(rows.start) - 1
    first, end = np.zeros(total + count, dtype=np.int64), np.zeros(total + count, dtype=np.int64)
    alive = np.full(total + count, True)
    start, size = np.zeros(count + 1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for e in range(total):
        first[e], end[e] = rows.start[e], rows.start[e + 1]
        alive[e] = e == 0 or not _same(rows, e - 1, e)
        if alive[e]:
            for k in range(first[e], end[e]):
                start[rows.which[k] + 1] += 1
    for k in range(count):
        start[k + 1] += start[k]
    own = np.empty(start[count], dtype=np.int64)
    for e in range(total):
        if alive[e]:
            for k in range(first[e], end[e]):
                node = rows.which[k]
                own[start[node] + size[node]] = e
                size[node] += 1
    degree, mark = np.zeros(count, dtype=np.int64), np.full(count, -1)
    return _Cliques(first, end, alive, start, size, own, degree, mark)


@compiled
def _same(rows: Lists, a: int, b: int) -> bool:
    """Whether two rows reach the same nodes, in the same order."""
    size = rows.start[a + 1] - rows.start[a]
    if size != rows.start[b + 1] - rows.start[b]:
        return False
    differ = 0
    for k in range(size):
        differ += rows.which[rows.start[a] + k] != rows.which[rows.start[b] + k]
    return differ == 0


@compiled
def _next(these: _Cliques, number: Integers) -> int:
    """The node that is joined to fewest, of those without a number."""
    best, least = -1, len(number)
    for node in range(len(number)):
        if number[node] < 0 and these.degree[node] < least:
            best, least = node, these.degree[node]
    return best


@compiled
def _count(these: _Cliques, members: Integers, node: int) -> None:
    """To how many nodes one is joined."""
    degree, mark = 0, these.mark
    mark[node] = node
    for c in these.own[these.start[node] : these.start[node] + these.size[node]]:
        for other in members[these.first[c] : these.end[c]]:
            if mark[other] != node:
                mark[other] = node
                degree += 1
    these.degree[node] = degree


@compiled
def _eliminate(these: _Cliques, members: Integers, node: int, used: int) -> int:
    """Write the nodes that one is joined to, whose cliques end, behind the members that are used; how many these are
    then."""
    for other in range(len(these.mark)):
        these.mark[other] = -1
    these.mark[node] = node
    for c in these.own[these.start[node] : these.start[node] + these.size[node]]:
        these.alive[c] = False
        for other in members[these.first[c] : these.end[c]]:
            if these.mark[other] != node:
                these.mark[other], members[used] = node, other
                used += 1
    return used


@compiled
def _replace(these: _Cliques, node: int, clique: int) -> None:
    """A node is in a new clique, which was all of some of its own: at least one of those has ended."""
    start, size = these.start[node], 0
    for at in range(start, start + these.size[node]):
        if these.alive[these.own[at]]:
            these.own[start + size] = these.own[at]
            size += 1
    these.own[start + size] = clique
    these.size[node] = size + 1

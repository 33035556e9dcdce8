"""The last step's impulses as those to start from, and those found in world axes for the next step."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.blocks import ContactRows
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.problem import EarlierContacts

_SCATTER = 1640531527  # odd, about 2^31 over the golden ratio: products of it spread numbers that follow each other


@compiled
def matched(contacts: ContactTable, earlier: EarlierContacts, n: int) -> Integers:
    """Of the first n contacts, those of the last step (n,): of the same pair the nearest points, each once, or -1."""
    found, count, room = np.empty(n, dtype=np.int64), earlier.size[0], 4
    while room < 2 * count:
        room *= 2
    table, after, used = np.full(room, -1), np.empty(count, dtype=np.int64), np.zeros(count, dtype=np.bool_)
    _runs(earlier, count, table, after)
    head, key = -1, 0
    for c in range(len(found)):
        if c == 0 or contacts.keys[c] != key:
            key = contacts.keys[c]
            head = table[_place(key, earlier.keys, table)]
        found[c] = _nearest(contacts, c, earlier, count, head, after, used)
        if found[c] >= 0:
            used[found[c]] = True
    return found


@compiled
def started(rows: ContactRows, earlier: EarlierContacts, found: Integers, P: Annotated[np.ndarray, float, 6]) -> None:
    """Impulses P (n, 6) of contacts, zero before, from those found (n,) for them among the last step's."""
    for c in range(len(P)):
        if found[c] >= 0:
            _turned(rows, c, earlier, found[c], P)


@compiled
def _runs(earlier: EarlierContacts, count: int, table: Integers, after: Integers) -> None:
    """Runs of equal keys among ``count`` earlier contacts, found by their keys.

    table: by ``_place``, where the first run of a key starts; after: of a run's start, where the next of its key does,
    or -1; of what does not start one, -2.
    """
    last = np.empty(len(table), dtype=np.int64)  # the last run of each key so far
    for i in range(count):
        if i > 0 and earlier.keys[i] == earlier.keys[i - 1]:
            after[i] = -2
            continue
        after[i] = -1
        place = _place(earlier.keys[i], earlier.keys, table)
        if table[place] < 0:
            table[place] = i
        else:
            after[last[place]] = i
        last[place] = i


@compiled
def _place(key: int, keys: Integers, table: Integers) -> int:
    """Where in the table a key is, or may be put."""
    place = (((key ^ (key >> 31)) & 0x7FFFFFFF) * _SCATTER >> 20) & (len(table) - 1)
    while table[place] >= 0 and keys[table[place]] != key:
        place = (place + 1) & (len(table) - 1)
    return place


@compiled
def _nearest(
    contacts: ContactTable, c: int, earlier: EarlierContacts, count: int, head: int, after: Integers, used: Flags
) -> int:
    """The earlier contact, not used yet, of the runs from ``head`` on whose point is nearest to that of c; -1: none."""
    best, found = np.inf, -1
    x, y, z = contacts.points[c, 1, 0], contacts.points[c, 1, 1], contacts.points[c, 1, 2]
    while head >= 0:
        i = head
        while True:
            if not used[i]:
                d0, d1, d2 = x - earlier.points[i, 1, 0], y - earlier.points[i, 1, 1], z - earlier.points[i, 1, 2]
                distance = d0 * d0 + d1 * d1 + d2 * d2
                if distance < best:
                    best, found = distance, i
            i += 1
            if i == count or after[i] != -2:
                break
        head = after[head]
    return found


@compiled
def _turned(rows: ContactRows, c: int, earlier: EarlierContacts, i: int, P: Annotated[np.ndarray, float, 6]) -> None:
    """P[c] is the impulse and moment of an earlier contact, along the axes of this one."""
    axes, kind = rows.axes, rows.kind[c]
    p0, p1, p2 = earlier.impulses[i, 0], earlier.impulses[i, 1], earlier.impulses[i, 2]
    for r in range(3):
        P[c, r] = axes[c, r, 0] * p0 + axes[c, r, 1] * p1 + axes[c, r, 2] * p2
    if kind > 0:
        m0, m1, m2 = earlier.moments[i, 0], earlier.moments[i, 1], earlier.moments[i, 2]
        for r in range(3):
            if kind & (1 if r == 0 else 2) != 0:
                P[c, 3 + r] = axes[c, r, 0] * m0 + axes[c, r, 1] * m1 + axes[c, r, 2] * m2


@compiled
def felt_by_bodies(contacts: ContactTable, n: int, poses: Floats, felt: Annotated[np.ndarray, float, 6]) -> None:
    """Add to ``felt`` (nb, 6), [moment; force] about the bodies' origins, what the first n contacts do in a part of a
    step to bodies at these poses (16 nb,): some of them are no more when the step ends."""
    for c in range(n):
        for side in range(2):
            body = contacts.a[c] if side == 0 else contacts.b[c]
            if not 0 <= body < len(felt):
                continue
            at = 16 * body + 3
            add_wrench(contacts, c, side, poses[at], poses[at + 4], poses[at + 8], felt[body])


@compiled
def add_wrench(contacts: ContactTable, c: int, side: int, x: float, y: float, z: float, felt: Floats) -> None:
    """Add to ``felt`` (6,), [moment; force] about (x, y, z), what contact c does to one of its sides."""
    sign, points, P, M = 1.0 - 2.0 * side, contacts.points[c, side], contacts.impulses[c], contacts.moments[c]
    x, y, z = points[0] - x, points[1] - y, points[2] - z
    felt[0] += sign * (y * P[2] - z * P[1] + M[0])
    felt[1] += sign * (z * P[0] - x * P[2] + M[1])
    felt[2] += sign * (x * P[1] - y * P[0] + M[2])
    for i in range(3):
        felt[3 + i] += sign * P[i]


@compiled
def to_world_axes(rows: ContactRows, P: Annotated[np.ndarray, float, 6], contacts: ContactTable) -> None:
    """Impulses and moments on A in world axes, of the components P (n, 6)."""
    axes = rows.axes
    for c in range(len(P)):
        p0, p1, p2 = P[c, 0], P[c, 1], P[c, 2]
        for k in range(3):
            contacts.impulses[c, k] = axes[c, 0, k] * p0 + axes[c, 1, k] * p1 + axes[c, 2, k] * p2
            contacts.moments[c, k] = 0.0
        if rows.kind[c] > 0:
            m0, m1, m2 = P[c, 3], P[c, 4], P[c, 5]
            for k in range(3):
                contacts.moments[c, k] = axes[c, 0, k] * m0 + axes[c, 1, k] * m1 + axes[c, 2, k] * m2

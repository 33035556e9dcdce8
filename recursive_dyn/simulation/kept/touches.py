"""Who touches whom, in numbers that steps count in."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable


class Touches(NamedTuple):
    """Pairs of bodies that touched when a call began, or touched in it, the first size[0] of each array.

    a, b: as in Contacts, but free bodies keep a number; now, before: whether they touch, and did in the step before;
    began, ended: in which of the call's steps, or of their parts, counted from 1 by clock (1,), they did that last, 0
    for none; first: in which they did either first, below 0 if they parted; order: in which they touched in it, -1 if
    they did not.
    impulses: sums of normal impulses; strongest, points (n, 3): the greatest, and where. places: of each pair by the
    hash of its bodies, -1 for none. free: numbers of the free bodies, less the number of all others. fresh (1,): 1
    where a new call begins, before whose first step what happened in the last one is to be forgotten.
    """

    size: Integers
    a: Integers
    b: Integers
    now: Flags
    before: Flags
    began: Integers
    ended: Integers
    first: Integers
    order: Integers
    impulses: Floats
    strongest: Floats
    points: Annotated[np.ndarray, float, 3]
    places: Integers
    free: Integers
    fresh: Integers
    clock: Integers


def room(pairs: int, free: int) -> Touches:
    """Room for so many pairs, and numbers of free bodies."""
    a, b, began, ended, first, order = np.zeros((6, pairs), dtype=np.int64)
    now, before = np.zeros((2, pairs), dtype=bool)
    impulses, strongest = np.zeros((2, pairs))
    places = np.full(1 << (2 * pairs).bit_length(), -1)
    return Touches(
        np.zeros(1, dtype=np.int64), a, b, now, before, began, ended, first, order, impulses, strongest,
        np.zeros((pairs, 3)), places, np.zeros(free, dtype=np.int64), *np.zeros((2, 1), dtype=np.int64),
    )  # fmt: skip


@compiled
def note(contacts: ContactTable, t: Touches, bodies: int, counted: int) -> None:
    """Count what touches after a step: what pushes, or overlaps. Free bodies are numbered from ``bodies`` on; of the
    first contacts, as many as were ``counted``, impulses are known already."""
    if t.fresh[0]:
        begun(t)
    t.clock[0] += 1
    count = 0
    for p in range(t.size[0]):
        t.now[p] = False
        count = max(count, t.order[p] + 1)
    p, last_a, last_b = -1, -1, -1
    for c in range(contacts.size[0]):
        normal = 0.0
        for k in range(3):
            normal += contacts.impulses[c, k] * contacts.normals[c, k]
        if not (normal > 0.0 or contacts.gaps[c] <= 0.0):
            continue
        a, b = contacts.a[c], contacts.b[c]
        if p < 0 or a != last_a or b != last_b:  # points of a pair follow each other
            one, other = (
                a if a < bodies else bodies + t.free[a - bodies],
                b if b < bodies else bodies + t.free[b - bodies],
            )
            p, last_a, last_b = place(t, one, other), a, b
        t.now[p] = True
        if t.order[p] < 0:
            t.order[p] = count
            count += 1
        t.impulses[p] += normal if c >= counted else 0.0
        if normal >= t.strongest[p]:
            t.strongest[p], t.points[p] = normal, contacts.points[c, 1]
    for p in range(t.size[0]):
        if t.now[p] != t.before[p]:
            if t.first[p] == 0:
                t.first[p] = t.clock[0] if t.now[p] else -t.clock[0]
            if t.now[p]:
                t.began[p] = t.clock[0]
            else:
                t.ended[p] = t.clock[0]
            t.before[p] = t.now[p]


@compiled
def place(t: Touches, a: int, b: int) -> int:
    """Where a pair is, which is entered if it was not there."""
    mask = len(t.places) - 1
    at = _first_place(a, b, mask)
    while t.places[at] >= 0:
        p = t.places[at]
        if t.a[p] == a and t.b[p] == b:
            return p
        at = (at + 1) & mask
    p = t.size[0]
    t.places[at], t.size[0] = p, p + 1
    fresh(t, p, a, b, False)
    return p


@compiled
def entered(t: Touches) -> None:
    """Enter the pairs at their places, whose bodies have other numbers."""
    t.places[:] = -1
    mask = len(t.places) - 1
    for p in range(t.size[0]):
        at = _first_place(t.a[p], t.b[p], mask)
        while t.places[at] >= 0:
            at = (at + 1) & mask
        t.places[at] = p


@compiled
def recalled(t: Touches, pairs: Annotated[np.ndarray, int, 2]) -> None:
    """These pairs (n, 2) touched before, and no others."""
    t.size[0] = 0
    t.places[:] = -1
    for k in range(len(pairs)):
        fresh(t, place(t, pairs[k, 0], pairs[k, 1]), pairs[k, 0], pairs[k, 1], True)


@compiled
def _first_place(a: int, b: int, mask: int) -> int:
    """Where a pair is, or one of the places after that."""
    return ((a + 1) * 1000003 + (b + 1) * 8191) & mask


@compiled
def fresh(t: Touches, p: int, a: int, b: int, before: bool) -> None:
    """A pair of which nothing is known but whether it touched before."""
    t.a[p], t.b[p], t.order[p] = a, b, -1
    t.now[p], t.before[p], t.began[p], t.ended[p], t.first[p] = before, before, 0, 0, 0
    t.impulses[p], t.strongest[p] = 0.0, 0.0
    t.points[p] = 0.0


@compiled
def begun(t: Touches) -> None:
    """Keep the pairs that touch, without what happened."""
    n, all_touch = t.size[0], True
    t.fresh[0] = t.clock[0] = 0
    for p in range(n):
        all_touch = all_touch and t.before[p]
    if all_touch:  # they stay where they are
        for p in range(n):
            fresh(t, p, t.a[p], t.b[p], True)
        return
    t.size[0] = 0
    t.places[:] = -1
    for p in range(n):
        if t.before[p]:
            at = place(t, t.a[p], t.b[p])
            fresh(t, at, t.a[p], t.b[p], True)


@compiled
def copied(source: Touches, target: Touches) -> None:
    """The same pairs with more room."""
    target.free[: len(source.free)] = source.free
    target.fresh[:], target.clock[:] = source.fresh, source.clock
    for p in range(source.size[0]):
        at = place(target, source.a[p], source.b[p])
        target.now[at], target.before[at] = source.now[p], source.before[p]
        target.began[at], target.ended[at], target.first[at] = source.began[p], source.ended[p], source.first[p]
        target.order[at], target.points[at] = source.order[p], source.points[p]
        target.impulses[at], target.strongest[at] = source.impulses[p], source.strongest[p]

"""Rows that touch the same coordinates form an island; each is solved by itself, by a method of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.blocks import ContactRows, Island, ScalarRows
from recursive_dyn.contact.budget import allot
from recursive_dyn.contact.islands.evenly import solved_evenly
from recursive_dyn.contact.islands.impacts import Bounced, has_impacts, solve_impacts
from recursive_dyn.contact.islands.letting_go import let_go
from recursive_dyn.contact.islands.passivity import Lent, tame
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import ImpulseProblem, is_short
from recursive_dyn.contact.tuning import GUARDED


class Partition(NamedTuple):
    """Islands, total[0] of them: places in contacts, scalars and slots (whitened coordinates) where each starts,
    (most + 1,) each, and these, one island after the other."""

    total: Integers
    contact_first: Integers
    contacts: Integers
    scalar_first: Integers
    scalars: Integers
    slot_first: Integers
    slots: Integers


@compiled
def leader_of(leader: Integers, i: int) -> int:
    """The one of those united with i that stands for all of them."""
    while leader[i] != i:
        leader[i] = leader[leader[i]]
        i = leader[i]
    return i


@compiled
def _group(layout: Layout, slot: int) -> int:
    """The group of coordinates, or after them the free body, that a coordinate belongs to."""
    return layout.group[slot] if slot < layout.nv else layout.groups + (slot - layout.nv) // 6


@compiled
def _join(home: int, group: int, leader: Integers) -> int:
    """Unite a home, -1 for none yet, with a group, -1 for none; the home."""
    if home < 0 or group < 0:
        return max(home, group)
    if home != group:
        leader[leader_of(leader, group)] = leader_of(leader, home)
    return home


@compiled
def _unite_contacts(layout: Layout, rows: ContactRows, homes: Integers, leader: Integers) -> None:
    """Unite what each contact reaches; homes: a group of each, -1 for what reaches nothing."""
    links = len(layout.parent)
    for c in range(len(homes)):
        homes[c] = -1
        for side in range(2):
            link = rows.links[c, side]
            if link >= 0:
                group = layout.link_groups[link] if link < links else layout.groups + link - links
                homes[c] = _join(homes[c], group, leader)


@compiled
def _unite_scalars(layout: Layout, lines: ScalarRows, homes: Integers, leader: Integers) -> None:
    """The same of scalar rows."""
    for s in range(len(homes)):
        homes[s] = -1
        for k in range(lines.first[s], lines.first[s + 1]):
            homes[s] = _join(homes[s], _group(layout, lines.slots[k]), leader)


@compiled
def partition(layout: Layout, rows: ContactRows, lines: ScalarRows, moving: Integers, free: int) -> Partition:
    """The islands that rows of a model and so many free bodies make; what reaches nothing is in none.

    moving: the coordinates, rising, that any row may reach.
    """
    groups, n, m = layout.groups + free, len(rows.kind), len(lines.speed)
    leader, number = np.empty(groups, dtype=np.int64), np.full(groups, -1)
    for k in range(groups):
        leader[k] = k
    contact_homes, scalar_homes = np.empty(n, dtype=np.int64), np.empty(m, dtype=np.int64)
    _unite_contacts(layout, rows, contact_homes, leader)
    _unite_scalars(layout, lines, scalar_homes, leader)
    count = np.zeros(1, dtype=np.int64)
    _number(contact_homes, leader, number, count)
    _number(scalar_homes, leader, number, count)
    own = len(moving)
    slot_homes = np.empty(own + 6 * free, dtype=np.int64)
    for k in range(groups):
        number[k] = number[leader_of(leader, k)]
    for k in range(len(slot_homes)):
        slot_homes[k] = number[_group(layout, moving[k] if k < own else layout.nv + k - own)]
    size = count[0]
    contact_first, contacts = np.zeros(size + 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    scalar_first, scalars = np.zeros(size + 1, dtype=np.int64), np.empty(m, dtype=np.int64)
    slot_first, slots = np.zeros(size + 1, dtype=np.int64), np.empty(len(slot_homes), dtype=np.int64)
    _collect(contact_homes, contact_first, contacts)
    _collect(scalar_homes, scalar_first, scalars)
    _collect(slot_homes, slot_first, slots)
    for i in range(slot_first[size]):
        slots[i] = moving[slots[i]] if slots[i] < own else layout.nv + slots[i] - own
    return Partition(count, contact_first, contacts, scalar_first, scalars, slot_first, slots)


@compiled
def _number(homes: Integers, leader: Integers, number: Integers, count: Integers) -> None:
    """homes: of islands instead of groups, numbered as they are met."""
    for c in range(len(homes)):
        if homes[c] >= 0:
            group = leader_of(leader, homes[c])
            if number[group] < 0:
                number[group] = count[0]
                count[0] += 1
            homes[c] = number[group]


@compiled
def _collect(homes: Integers, first: Integers, members: Integers) -> None:
    """Members of each island in their order, and where those of each start."""
    for home in homes:
        if home >= 0:
            first[home + 1] += 1
    for k in range(len(first) - 1):
        first[k + 1] += first[k]
    for c in range(len(homes)):
        if homes[c] >= 0:
            members[first[homes[c]]] = c
            first[homes[c]] += 1
    for k in range(len(first) - 1, 0, -1):
        first[k] = first[k - 1]
    first[0] = 0


@compiled
def solve_islands(
    whole: Island, these: Partition, problem: ImpulseProblem, wanted: Floats, bounced: Bounced, end: int
) -> tuple[int, float, Flags]:
    """Every island of the whole from the impulses given; (most sweeps of one, largest residual, which of them ended
    early: laws are missed by more than the tolerance, or a loose one than by the default's).

    wanted (n or more,): gaps at the end that contacts bounce to, m; bounced (n, 2): 0, to be what did; end: when time
    is over, as ``timed`` has it.
    """
    sweeps, residual, none = 0, 0.0, np.zeros((len(whole.targets), 3))
    early = np.zeros(these.total[0], dtype=np.bool_)
    for k in range(these.total[0]):
        done, change = solve_one(timed(whole, these, k, end), problem, wanted, bounced, none)
        early[k] = change > min(problem.options.tolerance, GUARDED)
        sweeps, residual = max(sweeps, done), max(residual, change)
    return sweeps, residual, early


@compiled
def solve_one(it: Island, problem: ImpulseProblem, wanted: Floats, bounced: Bounced, none: Lent) -> tuple[int, float]:
    """One of the islands, as ``solve_islands``; none (n, 3): zeros."""
    options = problem.options
    if has_impacts(it, wanted, 0.5 * options.slop):
        done, change = solve_impacts(it, problem, options.iterations, options.tolerance, bounced, wanted)
    else:
        done, change = solved_evenly(it, problem, none)
    if change > min(options.tolerance, GUARDED):
        share = tame(it, none)
        for c in it.contacts:
            bounced[c, 0] *= share
            bounced[c, 1] *= share
        if is_short(float(options.iterations), options.microseconds, options.tolerance):
            gone, change = let_go(it, none, share, change)
            if gone:
                for c in it.contacts:
                    bounced[c, 0] = bounced[c, 1] = 0.0
    return done, change


@compiled
def timed(whole: Island, these: Partition, k: int, end: int) -> Island:
    """The k-th island of the whole, whose time is its share, by rows, of what those from there on have up to an end."""
    own, left = _rows(these, k, k + 1), _rows(these, k, these.total[0])
    allot(whole.time, end, float(own) / float(left))
    return member(whole, these, k)


@compiled
def _rows(these: Partition, first: int, end: int) -> int:
    """How many contacts and scalar rows some islands have."""
    contacts, scalars = these.contact_first, these.scalar_first
    return contacts[end] - contacts[first] + scalars[end] - scalars[first]


@compiled
def member(whole: Island, these: Partition, k: int) -> Island:
    """The k-th island of the whole."""
    return Island(
        whole.rows, whole.lines, whole.targets, whole.frictions,
        these.contacts[these.contact_first[k] : these.contact_first[k + 1]],
        these.scalars[these.scalar_first[k] : these.scalar_first[k + 1]],
        these.slots[these.slot_first[k] : these.slot_first[k + 1]],
        whole.P, whole.Q, whole.y, whole.time,
    )  # fmt: skip

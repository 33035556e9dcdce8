"""Rows that touch the same coordinates form an island; each is solved by itself, by a method of its own.

A method is a function (island, iterations, tolerance) -> (sweeps, residual) that starts from the island's impulses, and
leaves there those it found and in y what they do. ``chosen`` says which one solves an island, ``_solved`` calls it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.contact.blocks import ContactRows, Island, ScalarRows, accumulate, component, velocity
from recursive_dyn.contact.island import solve_island
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.tuning import JUDGEMENTS, STICK_SPEED

SWEEPS, STICKING_FIRST = 0, 1  # methods


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
def _find(leader: Integers, i: int) -> int:
    while leader[i] != i:
        leader[i] = leader[leader[i]]
        i = leader[i]
    return i


@compiled
def _group(layout: Layout, slot: int) -> int:
    """The group of coordinates, or after them the free body, that a coordinate belongs to."""
    return layout.group[slot] if slot < layout.nv else layout.groups + (slot - layout.nv) // 6


@compiled
def _unite(layout: Layout, first: Integers, slots: Integers, homes: Integers, leader: Integers) -> None:
    """Unite what each row, or block of rows, reaches; homes: a group of each, -1 for what reaches nothing."""
    for c in range(len(homes)):
        homes[c] = -1
        for k in range(first[c], first[c + 1]):
            group = _group(layout, slots[k])
            if homes[c] < 0:
                homes[c] = group
            elif homes[c] != group:
                leader[_find(leader, group)] = _find(leader, homes[c])


@compiled
def partition(layout: Layout, rows: ContactRows, lines: ScalarRows, free: int) -> Partition:
    """The islands that rows of a model and so many free bodies make; what reaches nothing is in none."""
    groups, n, m = layout.groups + free, len(rows.kind), len(lines.speed)
    leader, number = np.empty(groups, dtype=np.int64), np.full(groups, -1)
    for k in range(groups):
        leader[k] = k
    contact_homes, scalar_homes = np.empty(n, dtype=np.int64), np.empty(m, dtype=np.int64)
    _unite(layout, rows.first, rows.slots, contact_homes, leader)
    _unite(layout, lines.first, lines.slots, scalar_homes, leader)
    count = np.zeros(1, dtype=np.int64)
    _number(contact_homes, leader, number, count)
    _number(scalar_homes, leader, number, count)
    slot_homes = np.empty(layout.nv + 6 * free, dtype=np.int64)
    for k in range(groups):
        number[k] = number[_find(leader, k)]
    for k in range(len(slot_homes)):
        slot_homes[k] = number[_group(layout, k)]
    size = count[0]
    contact_first, contacts = np.zeros(size + 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    scalar_first, scalars = np.zeros(size + 1, dtype=np.int64), np.empty(m, dtype=np.int64)
    slot_first, slots = np.zeros(size + 1, dtype=np.int64), np.empty(len(slot_homes), dtype=np.int64)
    _collect(contact_homes, contact_first, contacts)
    _collect(scalar_homes, scalar_first, scalars)
    _collect(slot_homes, slot_first, slots)
    return Partition(count, contact_first, contacts, scalar_first, scalars, slot_first, slots)


@compiled
def _number(homes: Integers, leader: Integers, number: Integers, count: Integers) -> None:
    """homes: of islands instead of groups, numbered as they are met."""
    for c in range(len(homes)):
        if homes[c] >= 0:
            group = _find(leader, homes[c])
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
def solve_islands(whole: Island, these: Partition, iterations: int, tolerance: float) -> tuple[int, float]:
    """Every island of the whole from the impulses given; (most sweeps of one, largest residual)."""
    sweeps, residual = 0, 0.0
    for k in range(these.total[0]):
        it = Island(
            whole.rows, whole.lines, whole.targets, whole.frictions,
            these.contacts[these.contact_first[k] : these.contact_first[k + 1]],
            these.scalars[these.scalar_first[k] : these.scalar_first[k + 1]],
            these.slots[these.slot_first[k] : these.slot_first[k + 1]],
            whole.P, whole.Q, whole.y,
        )  # fmt: skip
        done, change = _solved(it, iterations, tolerance)
        if change > tolerance:
            _tame(it)
        sweeps, residual = max(sweeps, done), max(residual, change)
    return sweeps, residual


@compiled
def chosen(it: Island) -> int:
    """The method for an island."""
    for c in it.contacts:
        if it.frictions[c, 0] > it.frictions[c, 1]:
            return STICKING_FIRST
    return SWEEPS


@compiled
def _solved(it: Island, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve an island by its method; as that returns."""
    if chosen(it) == STICKING_FIRST:
        return _sticking_first(it, iterations, tolerance)
    return solve_island(it, iterations, tolerance)


@compiled
def _tame(it: Island) -> None:
    """Shrink impulses that did not converge to where they take most energy away, if they would bring some in."""
    rows, lines, P, Q = it.rows, it.lines, it.P, it.Q
    work, square = 0.0, 0.0
    accumulate(it)
    for c in it.contacts:
        for i in range(rows.height[c]):
            k = component(rows.kind[c], i)
            work += P[c, k] * rows.speed[c, k]
    for s in it.scalars:
        work += Q[s] * lines.speed[s]
    for slot in it.slots:
        square += it.y[slot] * it.y[slot]
    if work + 0.5 * square > 0.0 and square > 0.0:
        share = max(-work / square, 0.0)
        for c in it.contacts:
            for i in range(6):
                P[c, i] *= share
        for s in it.scalars:
            Q[s] *= share
        accumulate(it)


@compiled
def _sticking_first(it: Island, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve with every contact sticking as hard as it can; those that slip nevertheless slide, and it is solved again.

    Were each contact judged alone, a body that its contacts can hold together would slip one contact after the other.
    """
    own, total, change = np.empty((len(it.frictions), 5)), 0, 0.0
    for c in it.contacts:
        own[c] = it.frictions[c]
        own[c, 1] = it.frictions[c, 0]
    sticky = Island(it.rows, it.lines, it.targets, own, it.contacts, it.scalars, it.slots, it.P, it.Q, it.y)
    for _ in range(JUDGEMENTS):
        done, change = solve_island(sticky, iterations, tolerance)
        total += done
        slipped = False
        for c in it.contacts:
            slips, sliding = own[c, 1] > it.frictions[c, 1] and it.P[c, 0] > 0.0, it.frictions[c, 1]
            if slips and _slip(it, c) > STICK_SPEED + 10.0 * tolerance:
                own[c, 0], own[c, 1] = sliding, sliding
                slipped = True
        if not slipped:
            break
    return total, change


@compiled
def _slip(it: Island, c: int) -> float:
    """How fast a contact slips."""
    v1, v2 = velocity(it.rows, c, 1, it.y), velocity(it.rows, c, 2, it.y)
    return np.sqrt(v1 * v1 + v2 * v2)

"""Rows that touch the same coordinates form an island; each is solved by itself.

A method for one island is a function (island, scratch, iterations, tolerance) -> (sweeps, residual) that starts from
the island's impulses, and leaves there those it found and in y what they do; ``island.solve_island`` is one.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.blocks import Island, accumulate, component, height, velocity
from recursive_dyn.contact.island import solve_island
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.rows import ContactRows, ScalarRows
from recursive_dyn.contact.tuning import JUDGEMENTS, STICK_SPEED


@compiled
def _find(leader: np.ndarray, i: int) -> int:
    while leader[i] != i:
        leader[i] = leader[leader[i]]
        i = leader[i]
    return i


@compiled
def _union(layout: Layout, first: np.ndarray, index: np.ndarray, leader: np.ndarray) -> None:
    for c in range(len(first) - 1):
        home = -1
        for k in range(first[c], first[c + 1]):
            slot = index[k]
            group = _group(layout, slot)
            if home < 0:
                home = _find(leader, group)
            else:
                leader[_find(leader, group)] = home


@compiled
def _group(layout: Layout, slot: int) -> int:
    """The group of coordinates, or after them the free body, that a coordinate belongs to."""
    return layout.group[slot] if slot < layout.nv else layout.groups + (slot - layout.nv) // 6


@compiled
def partition(layout: Layout, size: int, rows: ContactRows, scalar_rows: ScalarRows) -> np.ndarray:
    """Number of the island of every contact, then of every scalar row; -1 where a row reaches nothing.

    size: number of all coordinates, those of free bodies included.
    """
    count = layout.groups + (size - layout.nv) // 6
    leader, number = np.arange(count), np.full(count, -1)
    _union(layout, rows.first, rows.slots, leader)
    _union(layout, scalar_rows.first, scalar_rows.slots, leader)
    n, m = len(rows.kind), len(scalar_rows.speed)
    result = np.full(n + m, -1)
    count = 0
    for c in range(n + m):
        if c < n:
            empty = rows.first[c] == rows.first[c + 1]
            slot = -1 if empty else rows.slots[rows.first[c]]
        else:
            empty = scalar_rows.first[c - n] == scalar_rows.first[c - n + 1]
            slot = -1 if empty else scalar_rows.slots[scalar_rows.first[c - n]]
        if empty:
            continue
        home = _find(leader, _group(layout, slot))
        if number[home] < 0:
            number[home] = count
            count += 1
        result[c] = number[home]
    return result


@compiled
def solve_islands(
    layout: Layout,
    rows: ContactRows,
    scalar_rows: ScalarRows,
    G: np.ndarray,
    g: np.ndarray,
    targets: np.ndarray,
    frictions: np.ndarray,
    P: np.ndarray,
    Q: np.ndarray,
    y: np.ndarray,
    iterations: int,
    tolerance: float,
) -> tuple[int, int, float]:
    """Every island from the impulses given; (islands, most sweeps of one, largest residual)."""
    n, count, sweeps, residual = len(rows.kind), 0, 0, 0.0
    home = partition(layout, len(y), rows, scalar_rows)
    for k in range(len(home)):
        count = max(count, home[k] + 1)
    order = np.argsort(home, kind="mergesort")
    local = np.full(len(y), -1)
    at = 0
    while at < len(order) and home[order[at]] < 0:
        at += 1
    for number in range(count):
        end = at
        while end < len(order) and home[order[end]] == number:
            end += 1
        members = order[at:end]
        contacts, scalars = members[members < n], members[members >= n] - n
        it = Island(rows, scalar_rows, G, g, targets, frictions, contacts, scalars, P, Q, y)
        done, change = _coulomb(it, local, iterations, tolerance)
        if change > tolerance:
            _tame(it)
        sweeps = max(sweeps, done)
        residual = max(residual, change)
        at = end
    return count, sweeps, residual


@compiled
def _tame(it: Island) -> None:
    """Shrink impulses that did not converge to where they take most energy away, if they would bring some in."""
    rows, scalar_rows, contacts, scalars, P, Q = it.contact_rows, it.scalar_rows, it.contacts, it.scalars, it.P, it.Q
    y = it.y
    work, square = 0.0, 0.0
    for c in contacts:
        for i in range(6):
            work += P[c, i] * rows.speed[c, i]
    for s in scalars:
        work += Q[s] * scalar_rows.speed[s]
    accumulate(it)
    for c in contacts:
        for i in range(height(rows, c)):
            r = component(rows.kind[c], i)
            square += P[c, r] * (velocity(rows, c, i, y) - rows.speed[c, r])
    for s in scalars:
        for k in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
            square += Q[s] * scalar_rows.values[k] * y[scalar_rows.slots[k]]
    if work + 0.5 * square > 0.0 and square > 0.0:
        share = max(-work / square, 0.0)
        for c in contacts:
            P[c] *= share
        for s in scalars:
            Q[s] *= share
        accumulate(it)


@compiled
def _coulomb(it: Island, local: np.ndarray, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve with every contact sticking as hard as it can; those that slip nevertheless slide, and it is solved again.

    Were each contact judged alone, a body that its contacts can hold together would slip one contact after the other.
    """
    rows, frictions, contacts, P, y = it.contact_rows, it.frictions, it.contacts, it.P, it.y
    double = False
    for c in contacts:
        double = double or frictions[c, 0] > frictions[c, 1]
    if not double:
        return solve_island(it, local, iterations, tolerance)
    own = frictions.copy()
    for c in contacts:
        own[c, 1] = frictions[c, 0]
    sticky = Island(it.contact_rows, it.scalar_rows, it.G, it.g, it.targets, own, contacts, it.scalars, P, it.Q, y)
    total, change = 0, 0.0
    for _ in range(JUDGEMENTS):
        done, change = solve_island(sticky, local, iterations, tolerance)
        total += done
        slipped = False
        for c in contacts:
            if own[c, 1] <= frictions[c, 1] or P[c, 0] <= 0.0:
                continue
            slip = np.sqrt(velocity(rows, c, 1, y) ** 2 + velocity(rows, c, 2, y) ** 2)
            if slip > STICK_SPEED + 10.0 * tolerance:
                own[c, 0], own[c, 1] = frictions[c, 1], frictions[c, 1]
                slipped = True
        if not slipped:
            break
    return total, change

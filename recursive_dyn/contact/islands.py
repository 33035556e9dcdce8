"""Rows that touch the same coordinates form an island; each is solved by itself."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island, Scalars, accumulate, height, place, velocity
from recursive_dyn.contact.island import island
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.rows import Rows

_SLIP = 1e-6  # m/s: what a contact that sticks may still move by
_JUDGEMENTS = 4  # solves in which contacts may turn from sticking to sliding


@compiled
def _find(leader: np.ndarray, i: int) -> int:
    while leader[i] != i:
        leader[i] = leader[leader[i]]
        i = leader[i]
    return i


@compiled
def _union(layout: Layout, groups: int, first: np.ndarray, index: np.ndarray, leader: np.ndarray) -> None:
    for c in range(len(first) - 1):
        home = -1
        for k in range(first[c], first[c + 1]):
            slot = index[k]
            group = layout.group[slot] if slot < layout.nv else groups + (slot - layout.nv) // 6
            if home < 0:
                home = _find(leader, group)
            else:
                leader[_find(leader, group)] = home


@compiled
def partition(layout: Layout, groups: int, free: int, rows: Rows, scalars: Scalars) -> np.ndarray:
    """Number of the island of every contact, then of every scalar row; -1 where a row reaches nothing."""
    leader = np.arange(groups + free)
    _union(layout, groups, rows.first, rows.slots, leader)
    _union(layout, groups, scalars.first, scalars.slots, leader)
    n, m = len(rows.kind), len(scalars.speed)
    result = np.full(n + m, -1)
    number = np.full(groups + free, -1)
    count = 0
    for c in range(n + m):
        if c < n:
            empty = rows.first[c] == rows.first[c + 1]
            slot = -1 if empty else rows.slots[rows.first[c]]
        else:
            empty = scalars.first[c - n] == scalars.first[c - n + 1]
            slot = -1 if empty else scalars.slots[scalars.first[c - n]]
        if empty:
            continue
        home = _find(leader, layout.group[slot] if slot < layout.nv else groups + (slot - layout.nv) // 6)
        if number[home] < 0:
            number[home] = count
            count += 1
        result[c] = number[home]
    return result


@compiled
def solve(
    rows: Rows,
    scalars: Scalars,
    G: np.ndarray,
    weights: np.ndarray,
    targets: np.ndarray,
    frictions: np.ndarray,
    places: np.ndarray,
    P: np.ndarray,
    Q: np.ndarray,
    y: np.ndarray,
    iterations: int,
    tolerance: float,
) -> tuple[int, int, float]:
    """Every island from the impulses given; (islands, most sweeps of one, largest residual)."""
    n = len(rows.kind)
    count, sweeps, residual = 0, 0, 0.0
    for k in range(len(places)):
        count = max(count, places[k] + 1)
    order = np.argsort(places, kind="mergesort")
    local = np.full(len(y), -1)
    at = 0
    while at < len(order) and places[order[at]] < 0:
        at += 1
    for number in range(count):
        end = at
        while end < len(order) and places[order[end]] == number:
            end += 1
        members = order[at:end]
        own, single = members[members < n], members[members >= n] - n
        it = Island(rows, scalars, G, weights, targets, frictions, own, single, P, Q, y)
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
    rows, scalars, contacts, singles, P, Q = it.rows, it.scalars, it.contacts, it.singles, it.P, it.Q
    y = it.y
    work, square = 0.0, 0.0
    for c in contacts:
        for i in range(6):
            work += P[c, i] * rows.speed[c, i]
    for s in singles:
        work += Q[s] * scalars.speed[s]
    accumulate(it)
    for c in contacts:
        for i in range(height(rows, c)):
            r = place(rows.kind[c], i)
            square += P[c, r] * (velocity(rows, c, i, y) - rows.speed[c, r])
    for s in singles:
        for k in range(scalars.first[s], scalars.first[s + 1]):
            square += Q[s] * scalars.values[k] * y[scalars.slots[k]]
    if work + 0.5 * square > 0.0 and square > 0.0:
        share = max(-work / square, 0.0)
        for c in contacts:
            P[c] *= share
        for s in singles:
            Q[s] *= share
        accumulate(it)


@compiled
def _coulomb(it: Island, local: np.ndarray, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve with every contact sticking as hard as it can; those that slip nevertheless slide, and it is solved again.

    Were each contact judged alone, a body that its contacts can hold together would slip one contact after the other.
    """
    rows, frictions, contacts, P, y = it.rows, it.frictions, it.contacts, it.P, it.y
    double = False
    for c in contacts:
        double = double or frictions[c, 0] > frictions[c, 1]
    if not double:
        return island(it, local, iterations, tolerance)
    own = frictions.copy()
    for c in contacts:
        own[c, 1] = frictions[c, 0]
    sticky = Island(it.rows, it.scalars, it.G, it.weights, it.targets, own, contacts, it.singles, P, it.Q, y)
    total, change = 0, 0.0
    for _ in range(_JUDGEMENTS):
        done, change = island(sticky, local, iterations, tolerance)
        total += done
        slipped = False
        for c in contacts:
            if own[c, 1] <= frictions[c, 1] or P[c, 0] <= 0.0:
                continue
            slip = np.sqrt(velocity(rows, c, 1, y) ** 2 + velocity(rows, c, 2, y) ** 2)
            if slip > _SLIP + 10.0 * tolerance:
                own[c, 0], own[c, 1] = frictions[c, 1], frictions[c, 1]
                slipped = True
        if not slipped:
            break
    return total, change

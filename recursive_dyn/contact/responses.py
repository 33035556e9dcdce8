"""Compiled recursions over the factors of M: an impulse inward, velocities outward; O(depth) and O(n).

Whitened coordinates: with M = L^T D L, an impulse row J becomes a = D^-1/2 L^-T J^T, so that J M^-1 J^T = a a^T
whatever tree the coordinates belong to, and one solver serves trees and free bodies alike.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.layout import Layout


@compiled
def whitening(layout: Layout, factors: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D^-1/2 (nv,), twists V (nl, 6) of the links at the velocity v (nv,))."""
    root, V = np.zeros(layout.nv), np.zeros((len(layout.parent), 6))
    inverses(layout, factors, root)
    twists(layout, factors, v, V)
    return root, V


@compiled
def unwhitened(layout: Layout, factors: np.ndarray, root: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Velocity (nv,) of whitened coordinates y (nv,): L^-1 D^-1/2 y."""
    x = y[: layout.nv] * root
    expand(layout, factors, x)
    return x


@compiled
def inverses(layout: Layout, factors: np.ndarray, root: np.ndarray) -> None:
    """root (nv,) = 1 / sqrt(D)."""
    for e in range(len(layout.slot)):
        if not layout.column[e]:
            root[layout.slot[e]] = np.sqrt(max(factors[layout.data[e] + 6], 0.0))


@compiled
def push(layout: Layout, factors: np.ndarray, link: int, F: np.ndarray, c: np.ndarray) -> None:
    """c (nv,), zero before, = L^-T J^T F of the impulse F (6,) on a link, world axes about its tree's point.

    F is used up.
    """
    i = link
    while i >= 0:
        _pass(layout, factors, i, F, c)
        i = layout.parent[i]
    _pass(layout, factors, len(layout.parent), F, c)


@compiled
def _pass(layout: Layout, factors: np.ndarray, i: int, F: np.ndarray, c: np.ndarray) -> None:
    for e in range(layout.first[i], layout.first[i + 1]):
        d, slot = layout.data[e], layout.slot[e]
        if layout.column[e]:
            total = 0.0
            for k in range(6):
                total += factors[d + k] * F[k]
            c[slot] += total
        else:
            value = c[slot]
            for k in range(6):
                F[k] -= factors[d + k] * value
            for p in range(layout.port_first[e], layout.port_first[e + 1]):
                c[layout.port[p]] -= factors[d + 7 + p - layout.port_first[e]] * value


@compiled
def reach(layout: Layout, link: int, marks: np.ndarray, index: np.ndarray, count: int) -> int:
    """Append the slots that an impulse on a link reaches, rising, to the first ``count`` of index: its new count.

    marks (nv,): 1 of those that index has, 0 of the others.
    """
    before, i = count, link
    while i >= 0:
        count = _reach(layout, i, marks, index, count)
        i = layout.parent[i]
    count = _reach(layout, len(layout.parent), marks, index, count)
    index[before:count].sort()
    return count


@compiled
def _reach(layout: Layout, i: int, marks: np.ndarray, index: np.ndarray, count: int) -> int:
    for e in range(layout.first[i], layout.first[i + 1]):
        slot = layout.slot[e]
        if layout.column[e]:
            count = _append(slot, marks, index, count)
        elif marks[slot]:
            for p in range(layout.port_first[e], layout.port_first[e + 1]):
                count = _append(layout.port[p], marks, index, count)
    return count


@compiled
def _append(slot: int, marks: np.ndarray, index: np.ndarray, count: int) -> int:
    if marks[slot]:
        return count
    marks[slot], index[count] = 1, slot
    return count + 1


@compiled
def reduce(layout: Layout, factors: np.ndarray, c: np.ndarray) -> None:
    """c (nv,) <- L^-T c."""
    n = len(layout.parent)
    F = np.zeros((n + 1, 6))
    for i in range(n - 1, -1, -1):
        _pass(layout, factors, i, F[i], c)
        parent = layout.parent[i]
        if parent >= 0:
            for k in range(6):
                F[parent, k] += F[i, k]
    _pass(layout, factors, n, F[n], c)


@compiled
def expand(layout: Layout, factors: np.ndarray, x: np.ndarray) -> None:
    """x (nv,) <- L^-1 x: velocities from D^-1 c."""
    n = len(layout.parent)
    V = np.zeros((n + 1, 6))
    for e in range(layout.first[n + 1] - 1, layout.first[n] - 1, -1):
        _expand(layout, factors, e, V[n], x)
    for i in range(n):
        parent = layout.parent[i]
        if parent >= 0:
            V[i] = V[parent]
        for e in range(layout.first[i + 1] - 1, layout.first[i] - 1, -1):
            _expand(layout, factors, e, V[i], x)


@compiled
def _expand(layout: Layout, factors: np.ndarray, e: int, V: np.ndarray, x: np.ndarray) -> None:
    d, slot = layout.data[e], layout.slot[e]
    if layout.column[e]:
        for k in range(6):
            V[k] += factors[d + k] * x[slot]
    else:
        value = x[slot]
        for k in range(6):
            value -= factors[d + k] * V[k]
        for p in range(layout.port_first[e], layout.port_first[e + 1]):
            value -= factors[d + 7 + p - layout.port_first[e]] * x[layout.port[p]]
        x[slot] = value


@compiled
def twists(layout: Layout, factors: np.ndarray, v: np.ndarray, V: np.ndarray) -> None:
    """V (nl, 6): twist of every link at the velocity v (nv,), world axes at its tree's point."""
    for i in range(len(layout.parent)):
        parent = layout.parent[i]
        for k in range(6):
            V[i, k] = V[parent, k] if parent >= 0 else 0.0
        for e in range(layout.first[i], layout.first[i + 1]):
            if layout.column[e]:
                d, rate = layout.data[e], v[layout.slot[e]]
                for k in range(6):
                    V[i, k] += factors[d + k] * rate

"""Blocks of rows: their mobilities, velocities and what their impulses do to whitened coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.rows import SPIN, ContactRows, ScalarRows


class Island(NamedTuple):
    """Rows that are solved together, and what is found.

    contact_rows, scalar_rows: of the whole solve, of which this island has ``contacts`` and ``scalars``; G (n, 6, 6),
    g (m,): their mobilities; targets (n,), frictions (n, 5): of the contacts. P (n, 6), Q (m,): impulses; y: whitened
    velocities.
    """

    contact_rows: ContactRows
    scalar_rows: ScalarRows
    G: np.ndarray
    g: np.ndarray
    targets: np.ndarray
    frictions: np.ndarray
    contacts: np.ndarray
    scalars: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    y: np.ndarray


@compiled
def mobilities(rows: ContactRows, scalar_rows: ScalarRows) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal blocks: G (n, 6, 6) of each contact, g (m,) of each scalar row, whose ``soft`` becomes absolute."""
    G, g = np.zeros((len(rows.kind), 6, 6)), np.zeros(len(scalar_rows.speed))
    for c in range(len(G)):
        size = rows.first[c + 1] - rows.first[c]
        for i in range(height(rows, c)):
            for j in range(i + 1):
                total = 0.0
                for k in range(size):
                    total += rows.values[rows.start[c] + i * size + k] * rows.values[rows.start[c] + j * size + k]
                a, b = component(rows.kind[c], i), component(rows.kind[c], j)
                G[c, a, b] = total
                G[c, b, a] = total
    for s in range(len(g)):
        total = 0.0
        for k in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
            total += scalar_rows.values[k] ** 2
        g[s] = total
        scalar_rows.soft[s] *= total
    return G, g


@compiled
def component(kind: int, i: int) -> int:
    """Which of the six components of a block its i-th row is: rolling follows at once where nothing spins."""
    return i + 1 if i >= SPIN and kind & 1 == 0 else i


@compiled
def height(rows: ContactRows, c: int) -> int:
    """How many rows a contact's block has; 0 where it reaches nothing that moves."""
    return 0 if rows.first[c] == rows.first[c + 1] else 3 + (rows.kind[c] & 1) + (rows.kind[c] & 2)


@compiled
def add(rows: ContactRows, c: int, p: np.ndarray, y: np.ndarray) -> None:
    """y += A^T p of a contact's block, p (6,)."""
    size = rows.first[c + 1] - rows.first[c]
    for i in range(height(rows, c)):
        amount = p[component(rows.kind[c], i)]
        if amount != 0.0:
            at = rows.start[c] + i * size
            for k in range(size):
                y[rows.slots[rows.first[c] + k]] += rows.values[at + k] * amount


@compiled
def velocity(rows: ContactRows, c: int, i: int, y: np.ndarray) -> float:
    """Velocity of the i-th row of a contact's block."""
    size = rows.first[c + 1] - rows.first[c]
    at, total = rows.start[c] + i * size, rows.speed[c, component(rows.kind[c], i)]
    for k in range(size):
        total += rows.values[at + k] * y[rows.slots[rows.first[c] + k]]
    return total


@compiled
def accumulate(it: Island) -> None:
    """y = A^T p over these rows; y of the coordinates they reach only."""
    rows, scalar_rows, contacts, scalars, P, Q = it.contact_rows, it.scalar_rows, it.contacts, it.scalars, it.P, it.Q
    y = it.y
    for c in contacts:
        for k in range(rows.first[c], rows.first[c + 1]):
            y[rows.slots[k]] = 0.0
    for s in scalars:
        for k in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
            y[scalar_rows.slots[k]] = 0.0
    for c in contacts:
        add(rows, c, P[c], y)
    for s in scalars:
        if Q[s] != 0.0:
            for k in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
                y[scalar_rows.slots[k]] += scalar_rows.values[k] * Q[s]

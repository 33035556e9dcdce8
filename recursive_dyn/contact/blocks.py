"""Blocks of rows: their mobilities, velocities and what their impulses do to whitened coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.rows import SPIN, Rows


class Scalars(NamedTuple):
    """Rows on generalized directions: limits, motors, joint friction, loop constraints.

    first (m + 1,), slots, values: whitened coefficients; speed (m,): velocity without impulses; target (m,); low, high
    (m,): bounds of the impulse, within which the velocity meets its target; soft (m,): velocity by which an impulse of
    1 gives way, at first as a share of what it makes.
    """

    first: np.ndarray
    slots: np.ndarray
    values: np.ndarray
    speed: np.ndarray
    target: np.ndarray
    low: np.ndarray
    high: np.ndarray
    soft: np.ndarray


class Island(NamedTuple):
    """Rows that are solved together, and what is found.

    rows, scalars: of the whole solve, of which this island has ``contacts`` and ``singles``; G (n, 6, 6), weights (m,):
    their mobilities; targets (n,), frictions (n, 5): of the contacts. P (n, 6), Q (m,): impulses; y: whitened
    velocities.
    """

    rows: Rows
    scalars: Scalars
    G: np.ndarray
    weights: np.ndarray
    targets: np.ndarray
    frictions: np.ndarray
    contacts: np.ndarray
    singles: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    y: np.ndarray


@compiled
def mobilities(rows: Rows, scalars: Scalars, G: np.ndarray, weights: np.ndarray) -> None:
    """Diagonal blocks: G (n, 6, 6) of each contact, weights (m,) of each scalar row; ``soft`` becomes absolute."""
    for c in range(len(rows.kind)):
        size = rows.first[c + 1] - rows.first[c]
        for i in range(height(rows, c)):
            for j in range(i + 1):
                total = 0.0
                for k in range(size):
                    total += rows.values[rows.start[c] + i * size + k] * rows.values[rows.start[c] + j * size + k]
                a, b = place(rows.kind[c], i), place(rows.kind[c], j)
                G[c, a, b] = total
                G[c, b, a] = total
    for s in range(len(scalars.speed)):
        total = 0.0
        for k in range(scalars.first[s], scalars.first[s + 1]):
            total += scalars.values[k] ** 2
        weights[s] = total
        scalars.soft[s] *= total


@compiled
def place(kind: int, i: int) -> int:
    """Which of the six parts of a block its i-th row is: rolling follows at once where nothing spins."""
    return i + 1 if i >= SPIN and kind & 1 == 0 else i


@compiled
def height(rows: Rows, c: int) -> int:
    """How many rows a contact's block has; 0 where it reaches nothing that moves."""
    return 0 if rows.first[c] == rows.first[c + 1] else 3 + (rows.kind[c] & 1) + (rows.kind[c] & 2)


@compiled
def add(rows: Rows, c: int, p: np.ndarray, y: np.ndarray) -> None:
    """y += A^T p of a contact's block, p (6,)."""
    size = rows.first[c + 1] - rows.first[c]
    for i in range(height(rows, c)):
        amount = p[place(rows.kind[c], i)]
        if amount != 0.0:
            at = rows.start[c] + i * size
            for k in range(size):
                y[rows.slots[rows.first[c] + k]] += rows.values[at + k] * amount


@compiled
def velocity(rows: Rows, c: int, i: int, y: np.ndarray) -> float:
    """Velocity of the i-th row of a contact's block."""
    size = rows.first[c + 1] - rows.first[c]
    at, total = rows.start[c] + i * size, rows.speed[c, place(rows.kind[c], i)]
    for k in range(size):
        total += rows.values[at + k] * y[rows.slots[rows.first[c] + k]]
    return total


@compiled
def accumulate(it: Island) -> None:
    """y = A^T p over these rows; y of the coordinates they reach only."""
    rows, scalars, contacts, singles, P, Q = it.rows, it.scalars, it.contacts, it.singles, it.P, it.Q
    y = it.y
    for c in contacts:
        for k in range(rows.first[c], rows.first[c + 1]):
            y[rows.slots[k]] = 0.0
    for s in singles:
        for k in range(scalars.first[s], scalars.first[s + 1]):
            y[scalars.slots[k]] = 0.0
    for c in contacts:
        add(rows, c, P[c], y)
    for s in singles:
        if Q[s] != 0.0:
            for k in range(scalars.first[s], scalars.first[s + 1]):
                y[scalars.slots[k]] += scalars.values[k] * Q[s]

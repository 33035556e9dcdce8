"""The matrix of an island's linear equations, contact by contact and row by row, in an envelope."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, component
from recursive_dyn.contact.envelope import BODY, Envelope


@compiled
def assemble(it: Island, these: Envelope, X: Annotated[np.ndarray, float, 36], x: Floats) -> None:
    """K of what impulses do for velocities: X, 6 x 6 of each contact of the island, and x of each scalar row."""
    rows, lines, K, place, at = it.rows, it.lines, these.numbers, these.place, these.at
    K[:] = 0.0
    for i in range(len(at)):
        K[at[i] + i] = 1.0
    most = 0
    for c in it.contacts:
        most = max(most, rows.first[c + 1] - rows.first[c])
    T = np.empty((most, 6))
    for e in range(len(it.contacts)):
        c = it.contacts[e]
        if X[e, 0] != 0.0:
            if rows.height[c] == 3:
                _add_three(it, these, c, X[e], T)
            else:
                _add_block(it, these, c, X[e], T)
    for e in range(len(it.scalars)):
        s = it.scalars[e]
        if x[e] != 0.0:
            for a in range(lines.first[s], lines.first[s + 1]):
                row, weight = at[place[lines.slots[a]]], x[e] * lines.values[a]
                for b in range(lines.first[s], lines.first[s + 1]):
                    K[row + place[lines.slots[b]]] += weight * lines.values[b]


@compiled
def _add_three(it: Island, these: Envelope, c: int, X: Floats, T: Annotated[np.ndarray, float, 6]) -> None:
    """Add a contact of three rows."""
    rows, K, place = it.rows, these.numbers, these.place
    begin, size, values = rows.first[c], rows.first[c + 1] - rows.first[c], rows.values
    x0, x1, x2, x3, x4, x5, x6, x7, x8 = X[0], X[1], X[2], X[6], X[7], X[8], X[12], X[13], X[14]
    for b in range(size):
        v = rows.start[c] + 3 * b
        v0, v1, v2 = values[v], values[v + 1], values[v + 2]
        T[b, 0] = x0 * v0 + x1 * v1 + x2 * v2
        T[b, 1] = x3 * v0 + x4 * v1 + x5 * v2
        T[b, 2] = x6 * v0 + x7 * v1 + x8 * v2
    b = 0
    while b < size:
        column, end = place[rows.slots[begin + b]], min(b + BODY, size)
        if end == b + BODY and place[rows.slots[begin + end - 1]] == column + BODY - 1:
            _add_body(it, these, c, T, b, column)
        else:
            for a in range(size):
                v, row = rows.start[c] + 3 * a, these.at[place[rows.slots[begin + a]]]
                v0, v1, v2 = values[v], values[v + 1], values[v + 2]
                for k in range(b, end):
                    K[row + place[rows.slots[begin + k]]] += v0 * T[k, 0] + v1 * T[k, 1] + v2 * T[k, 2]
        b = end


@compiled
def _add_body(it: Island, these: Envelope, c: int, T: Annotated[np.ndarray, float, 6], b: int, column: int) -> None:
    """Add the columns from the b-th on of a contact of three rows, BODY of them that follow each other."""
    rows, K, place, values, v = it.rows, these.numbers, these.place, it.rows.values, it.rows.start[c]
    a0, a1, a2, a3, a4, a5 = T[b, 0], T[b + 1, 0], T[b + 2, 0], T[b + 3, 0], T[b + 4, 0], T[b + 5, 0]
    b0, b1, b2, b3, b4, b5 = T[b, 1], T[b + 1, 1], T[b + 2, 1], T[b + 3, 1], T[b + 4, 1], T[b + 5, 1]
    c0, c1, c2, c3, c4, c5 = T[b, 2], T[b + 1, 2], T[b + 2, 2], T[b + 3, 2], T[b + 4, 2], T[b + 5, 2]
    for k in range(rows.first[c], rows.first[c + 1]):
        at, v0, v1, v2 = these.at[place[rows.slots[k]]] + column, values[v], values[v + 1], values[v + 2]
        k0, k1, k2, k3, k4, k5 = K[at], K[at + 1], K[at + 2], K[at + 3], K[at + 4], K[at + 5]
        K[at] = k0 + (v0 * a0 + v1 * b0 + v2 * c0)
        K[at + 1] = k1 + (v0 * a1 + v1 * b1 + v2 * c1)
        K[at + 2] = k2 + (v0 * a2 + v1 * b2 + v2 * c2)
        K[at + 3] = k3 + (v0 * a3 + v1 * b3 + v2 * c3)
        K[at + 4] = k4 + (v0 * a4 + v1 * b4 + v2 * c4)
        K[at + 5] = k5 + (v0 * a5 + v1 * b5 + v2 * c5)
        v += 3


@compiled
def _add_block(it: Island, these: Envelope, c: int, X: Floats, T: Annotated[np.ndarray, float, 6]) -> None:
    """Add a contact that spins or rolls."""
    rows, K, place, kind, height = it.rows, these.numbers, these.place, it.rows.kind[c], it.rows.height[c]
    begin, size, values = rows.first[c], rows.first[c + 1] - rows.first[c], rows.values
    for b in range(size):
        v = rows.start[c] + height * b
        for i in range(height):
            total = 0.0
            for j in range(height):
                total += X[6 * component(kind, i) + component(kind, j)] * values[v + j]
            T[b, i] = total
    for a in range(size):
        v, row = rows.start[c] + height * a, these.at[place[rows.slots[begin + a]]]
        for b in range(size):
            total = 0.0
            for i in range(height):
                total += values[v + i] * T[b, i]
            K[row + place[rows.slots[begin + b]]] += total

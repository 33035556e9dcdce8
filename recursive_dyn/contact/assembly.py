"""The matrix of an island's linear equations, contact by contact and row by row."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.block_equations import Block, BlockEquations
from recursive_dyn.contact.blocks import Island, component
from recursive_dyn.contact.node_order import BODY, LANES


@compiled
def assemble(it: Island, these: BlockEquations, X: Annotated[np.ndarray, float, 36], x: Floats) -> None:
    """K of what impulses do for velocities: X, 6 x 6 of each contact of the island, and x of each scalar row."""
    K, n, heights = these.numbers, len(it.contacts), it.rows.height
    K[:] = 0.0
    for own in these.base:
        for i in range(BODY):
            K[own, i, i] = 1.0
    for e in range(n):
        if X[e, 0] != 0.0:
            if heights[it.contacts[e]] == 3:
                _add_three(these, e, X[e])
            else:
                _add_block(these, e, it.rows.kind[it.contacts[e]], heights[it.contacts[e]], X[e])
    for e in range(len(it.scalars)):
        if x[e] != 0.0:
            _add_block(these, n + e, 0, 1, x[e : e + 1])


@compiled
def _block(these: BlockEquations, e: int, a: int, b: int) -> int:
    """The block of the a-th and the b-th node that a row reaches; below the diagonal, where a > b, it is turned."""
    start = these.order.rows.start[e]
    count, first, second, below = these.order.rows.start[e + 1] - start, a, b, 0
    if a > b:
        first, second, node = b, a, these.order.rows.which[start + b]
        below = these.order.joined.start[node + 1] - these.order.joined.start[node]
    return these.cells[these.cell_begin[e] + second - first + first * count - first * (first - 1) // 2] + below


@compiled
def _add_three(these: BlockEquations, e: int, X: Floats) -> None:
    """Add a contact of three rows."""
    count = these.order.rows.start[e + 1] - these.order.rows.start[e]
    A, T, B = np.empty((3, 8)), np.empty((3, 8)), np.empty((3, 8))
    for b in range(count):
        first = these.first[e] + 3 * b
        A[:] = these.rows[first : first + 3]
        for i in range(3):
            x0, x1, x2, own = X[6 * i], X[6 * i + 1], X[6 * i + 2], T[i]
            for j in range(LANES):
                own[j] = x0 * A[0, j] + x1 * A[1, j] + x2 * A[2, j]
        for a in range(count):
            B[:] = these.rows[these.first[e] + 3 * a : these.first[e] + 3 * a + 3]
            block = _block(these, e, a, b)
            if a <= b:
                _add_products(these.numbers[block], B, T)
            else:
                _add_products(these.numbers[block], T, B)


@compiled
def _add_products(C: Block, S: Block, V: Block) -> None:
    """C += S^T V, of three rows."""
    for r in range(BODY):
        c, s0, s1, s2 = C[r], S[0, r], S[1, r], S[2, r]
        for j in range(LANES):
            c[j] += s0 * V[0, j] + s1 * V[1, j] + s2 * V[2, j]


@compiled
def _add_block(these: BlockEquations, e: int, kind: int, height: int, X: Floats) -> None:
    """Add a contact that spins or rolls, or, of kind 0 and one row, a scalar row."""
    count, T = these.order.rows.start[e + 1] - these.order.rows.start[e], np.empty((BODY, LANES))
    for b in range(count):
        first = these.first[e] + height * b
        for i in range(height):
            own = T[i]
            own[:] = 0.0
            for j in range(height):
                share, row = X[6 * component(kind, i) + component(kind, j)], these.rows[first + j]
                for lane in range(LANES):
                    own[lane] += share * row[lane]
        for a in range(count):
            B = these.rows[these.first[e] + height * a : these.first[e] + height * (a + 1)]
            block = _block(these, e, a, b)
            if a <= b:
                _add_rows(these.numbers[block], B, T, height)
            else:
                _add_rows(these.numbers[block], T, B, height)


@compiled
def _add_rows(C: Block, S: Block, V: Block, height: int) -> None:
    """C += S^T V, of so many rows."""
    for r in range(BODY):
        own = C[r]
        for i in range(height):
            share, row = S[i, r], V[i]
            for j in range(LANES):
                own[j] += share * row[j]

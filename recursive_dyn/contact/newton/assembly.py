"""The matrix of an island's linear equations, contact by contact and row by row."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, component
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations
from recursive_dyn.contact.newton.node_order import BODY, LANES

Answers = Annotated[np.ndarray, float, 36]


@compiled
def assemble(it: Island, these: BlockEquations, X: Answers, x: Floats) -> None:
    """K of what impulses do for velocities: X, 6 x 6 of each contact of the island, and x of each scalar row."""
    K, n, heights, e = these.numbers, len(it.contacts), it.rows.height, 0
    K[:] = 0.0
    for own in these.base:
        for i in range(BODY):
            K[own, i, i] = 1.0
    while e < n:
        end = e + 1
        if heights[it.contacts[e]] == 3:
            while end < n and heights[it.contacts[end]] == 3 and _reach_alike(these, e, end):
                end += 1
            _add_contacts(these, e, end, X)
        elif X[e, 0] != 0.0:
            _add_block(these, e, it.rows.kind[it.contacts[e]], heights[it.contacts[e]], X[e])
        e = end
    for e in range(len(it.scalars)):
        if x[e] != 0.0:
            _add_block(these, n + e, 0, 1, x[e : e + 1])


@compiled
def _reach_alike(these: BlockEquations, e: int, other: int) -> bool:
    """Whether two rows reach the same nodes."""
    start, which = these.order.rows.start, these.order.rows.which
    count = start[e + 1] - start[e]
    alike = start[other + 1] - start[other] == count
    for k in range(count if alike else 0):
        alike = alike and which[start[e] + k] == which[start[other] + k]
    return alike


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
def _add_contacts(these: BlockEquations, e: int, end: int, X: Answers) -> None:
    """Add contacts of three rows that reach the same nodes, as those of two bodies do."""
    count = these.order.rows.start[e + 1] - these.order.rows.start[e]
    for b in range(count):
        for a in range(b + 1):
            _add_to(these.numbers[_block(these, e, a, b)], these, e, end, a, b, X, 1, 6)
            if a < b:
                _add_to(these.numbers[_block(these, e, b, a)], these, e, end, a, b, X, 6, 1)


@compiled
def _add_to(
    C: Block, these: BlockEquations, e: int, end: int, a: int, b: int, X: Answers, along: int, down: int
) -> None:
    """C += A^T X B, of the rows A and B by which contacts reach their a-th and b-th node.

    along, down: from a number of X to the next in its row, and in its column.
    """
    c0, c1, c2, c3, c4, c5 = C[0].copy(), C[1].copy(), C[2].copy(), C[3].copy(), C[4].copy(), C[5].copy()
    t0, t1, t2 = np.empty(8), np.empty(8), np.empty(8)
    for k in range(e, end):
        if X[k, 0] != 0.0:
            i, j = these.first[k] + 3 * a, these.first[k] + 3 * b
            A0, A1, A2 = these.rows[i], these.rows[i + 1], these.rows[i + 2]
            B0, B1, B2 = these.rows[j], these.rows[j + 1], these.rows[j + 2]
            t0[:], t1[:], t2[:] = B0, B0, B0
            _mix(t0, B1, B2, X[k, 0], X[k, along], X[k, 2 * along])
            _mix(t1, B1, B2, X[k, down], X[k, down + along], X[k, down + 2 * along])
            _mix(t2, B1, B2, X[k, 2 * down], X[k, 2 * down + along], X[k, 2 * down + 2 * along])
            _more(c0, t0, t1, t2, A0[0], A1[0], A2[0])
            _more(c1, t0, t1, t2, A0[1], A1[1], A2[1])
            _more(c2, t0, t1, t2, A0[2], A1[2], A2[2])
            _more(c3, t0, t1, t2, A0[3], A1[3], A2[3])
            _more(c4, t0, t1, t2, A0[4], A1[4], A2[4])
            _more(c5, t0, t1, t2, A0[5], A1[5], A2[5])
    C[0], C[1], C[2], C[3], C[4], C[5] = c0, c1, c2, c3, c4, c5


@compiled
def _mix(own: Floats, second: Floats, third: Floats, x0: float, x1: float, x2: float) -> None:
    """own <- x0 own + x1 second + x2 third, of a node."""
    for j in range(LANES):
        own[j] *= x0
    for j in range(LANES):
        own[j] += x1 * second[j] + x2 * third[j]


@compiled
def _more(own: Floats, t0: Floats, t1: Floats, t2: Floats, s0: float, s1: float, s2: float) -> None:
    """own += s0 t0 + s1 t1 + s2 t2, of a node."""
    for j in range(LANES):
        own[j] += s0 * t0[j] + s1 * t1[j] + s2 * t2[j]


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

"""Factors of an island's equations, K = L U, with a diagonal of ones in L, and solutions by them.

As blocks below the diagonal are turned, the elimination of a node takes S^T V from another block, with two of its own,
whether that is above or below the diagonal. K need not be symmetric; as its symmetric part is positive for small angles
of friction, rows are not exchanged. What is written out here, number by number, keeps rows of blocks in registers.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations, Blocks
from recursive_dyn.contact.newton.node_order import BODY, LANES
from recursive_dyn.contact.newton.node_rows import add_products, total


@compiled
def _take(C: Block, S: Block, V: Block) -> None:
    """C -= S^T V."""
    for r in range(BODY):
        c, s0, s1, s2, s3, s4, s5 = C[r], S[0, r], S[1, r], S[2, r], S[3, r], S[4, r], S[5, r]
        for j in range(LANES):
            c[j] -= (s0 * V[0, j] + s1 * V[1, j]) + (s2 * V[2, j] + s3 * V[3, j]) + (s4 * V[4, j] + s5 * V[5, j])


@compiled
def factor(these: BlockEquations) -> bool:
    """K <- its factors, L with a diagonal of ones and U; False where a pivot is no number but zero."""
    start, which, numbers = these.order.joined.start, these.order.joined.which, these.numbers
    V, W = np.empty((6, 8)), np.empty((6, 8))
    for k in range(len(these.base)):
        size, own = start[k + 1] - start[k], these.base[k]
        if not _factor_node(numbers[own]):
            return False
        _follow(numbers[own], numbers[own + 1 : own + 1 + size])
        _divide(numbers[own], numbers[own + 1 + size : own + 1 + 2 * size])
        for b in range(size):
            V[:], W[:], at = numbers[own + 1 + b], numbers[own + 1 + size + b], these.begin[k] + b
            for a in range(b):
                i = which[start[k] + a]
                block = these.changes[at]
                _take(numbers[block], numbers[own + 1 + size + a], V)
                _take(numbers[block + start[i + 1] - start[i]], numbers[own + 1 + a], W)
                at += size - 1 - a
            _take(numbers[these.changes[at]], numbers[own + 1 + size + b], V)
    return True


@compiled
def _less(own: Floats, row: Floats, ratio: float) -> float:
    """own -= ratio x row, of a block's; the ratio."""
    for j in range(LANES):
        own[j] -= ratio * row[j]
    return ratio


@compiled
def _factor_node(K: Block) -> bool:
    """A block of the diagonal <- its factors."""
    a, b, c, d, e, f = K[0].copy(), K[1].copy(), K[2].copy(), K[3].copy(), K[4].copy(), K[5].copy()
    a1, a2, a3, a4, a5 = (
        _less(b, a, b[0] / a[0]), _less(c, a, c[0] / a[0]), _less(d, a, d[0] / a[0]),
        _less(e, a, e[0] / a[0]), _less(f, a, f[0] / a[0]),
    )  # fmt: skip
    b2, b3, b4, b5 = (
        _less(c, b, c[1] / b[1]), _less(d, b, d[1] / b[1]), _less(e, b, e[1] / b[1]),
        _less(f, b, f[1] / b[1]),
    )  # fmt: skip
    c3, c4, c5 = _less(d, c, d[2] / c[2]), _less(e, c, e[2] / c[2]), _less(f, c, f[2] / c[2])
    d4, d5 = _less(e, d, e[3] / d[3]), _less(f, d, f[3] / d[3])
    e5 = _less(f, e, f[4] / e[4])
    K[0], K[1], K[2], K[3], K[4], K[5] = a, b, c, d, e, f
    K[1, 0] = a1
    K[2, 0], K[2, 1] = a2, b2
    K[3, 0], K[3, 1], K[3, 2] = a3, b3, c3
    K[4, 0], K[4, 1], K[4, 2], K[4, 3] = a4, b4, c4, d4
    K[5, 0], K[5, 1], K[5, 2], K[5, 3], K[5, 4] = a5, b5, c5, d5, e5
    good = True
    for pivot in (a[0], b[1], c[2], d[3], e[4], f[5]):
        good = good and 0.0 < abs(pivot) < np.inf
    return good


@compiled
def _follow(L: Block, right: Blocks) -> None:
    """Blocks right of the diagonal after the elimination within their node."""
    for C in right:
        a, b, c, d, e, f = C[0].copy(), C[1].copy(), C[2].copy(), C[3].copy(), C[4].copy(), C[5].copy()
        _less(b, a, L[1, 0])
        _less(c, a, L[2, 0])
        _less(c, b, L[2, 1])
        _less(d, a, L[3, 0])
        _less(d, b, L[3, 1])
        _less(d, c, L[3, 2])
        _less(e, a, L[4, 0])
        _less(e, b, L[4, 1])
        _less(e, c, L[4, 2])
        _less(e, d, L[4, 3])
        _less(f, a, L[5, 0])
        _less(f, b, L[5, 1])
        _less(f, c, L[5, 2])
        _less(f, d, L[5, 3])
        _less(f, e, L[5, 4])
        C[1], C[2], C[3], C[4], C[5] = b, c, d, e, f


@compiled
def _divide(U: Block, below: Blocks) -> None:
    """Blocks below the diagonal, turned, by the pivots of their node."""
    for C in below:
        a, b, c, d, e, f = C[0].copy(), C[1].copy(), C[2].copy(), C[3].copy(), C[4].copy(), C[5].copy()
        _scale(a, 1.0 / U[0, 0])
        _less(b, a, U[0, 1])
        _scale(b, 1.0 / U[1, 1])
        _less(c, a, U[0, 2])
        _less(c, b, U[1, 2])
        _scale(c, 1.0 / U[2, 2])
        _less(d, a, U[0, 3])
        _less(d, b, U[1, 3])
        _less(d, c, U[2, 3])
        _scale(d, 1.0 / U[3, 3])
        _less(e, a, U[0, 4])
        _less(e, b, U[1, 4])
        _less(e, c, U[2, 4])
        _less(e, d, U[3, 4])
        _scale(e, 1.0 / U[4, 4])
        _less(f, a, U[0, 5])
        _less(f, b, U[1, 5])
        _less(f, c, U[2, 5])
        _less(f, d, U[3, 5])
        _less(f, e, U[4, 5])
        _scale(f, 1.0 / U[5, 5])
        C[0], C[1], C[2], C[3], C[4], C[5] = a, b, c, d, e, f


@compiled
def _scale(own: Floats, ratio: float) -> None:
    for j in range(LANES):
        own[j] *= ratio


@compiled
def solve(these: BlockEquations, y: Block) -> None:
    """y <- K^-1 y after ``factor``, node by node."""
    start, which, numbers, count = these.order.joined.start, these.order.joined.which, these.numbers, len(these.base)
    for k in range(count):
        own, size = these.base[k], start[k + 1] - start[k]
        _solve_lower(numbers[own], y[k])
        for a in range(size):
            _take_product(y[which[start[k] + a]], numbers[own + 1 + size + a], y[k])
    for k in range(count - 1, -1, -1):
        _solve_upper(these, k, y)


@compiled
def _solve_lower(L: Block, b: Floats) -> None:
    """b <- L^-1 b of a block of the diagonal."""
    b0 = b[0]
    b1 = b[1] - L[1, 0] * b0
    b2 = b[2] - L[2, 0] * b0 - L[2, 1] * b1
    b3 = b[3] - L[3, 0] * b0 - L[3, 1] * b1 - L[3, 2] * b2
    b4 = b[4] - L[4, 0] * b0 - L[4, 1] * b1 - L[4, 2] * b2 - L[4, 3] * b3
    b5 = b[5] - L[5, 0] * b0 - L[5, 1] * b1 - L[5, 2] * b2 - L[5, 3] * b3 - L[5, 4] * b4
    b[1], b[2], b[3], b[4], b[5] = b1, b2, b3, b4, b5


@compiled
def _take_product(c: Floats, V: Block, s: Floats) -> None:
    """c -= V^T s."""
    s0, s1, s2, s3, s4, s5, own = s[0], s[1], s[2], s[3], s[4], s[5], np.empty(LANES)
    own[:] = c[:LANES]
    for j in range(LANES):
        own[j] -= (s0 * V[0, j] + s1 * V[1, j]) + (s2 * V[2, j] + s3 * V[3, j]) + (s4 * V[4, j] + s5 * V[5, j])
    c[:LANES] = own


@compiled
def _solve_upper(these: BlockEquations, k: int, b: Block) -> None:
    """b <- U^-1 b of the k-th node, those after it being known."""
    start, which, own, y = these.order.joined.start, these.order.joined.which, these.base[k], b[k]
    s0, s1, s2, s3, s4, s5 = np.zeros(8), np.zeros(8), np.zeros(8), np.zeros(8), np.zeros(8), np.zeros(8)
    for a in range(start[k], start[k + 1]):
        V, x = these.numbers[own + 1 + a - start[k]], b[which[a]]
        add_products(s0, V[0], x)
        add_products(s1, V[1], x)
        add_products(s2, V[2], x)
        add_products(s3, V[3], x)
        add_products(s4, V[4], x)
        add_products(s5, V[5], x)
    U = these.numbers[own]
    y5 = (y[5] - total(s5)) / U[5, 5]
    y4 = (y[4] - total(s4) - U[4, 5] * y5) / U[4, 4]
    y3 = (y[3] - total(s3) - U[3, 5] * y5 - U[3, 4] * y4) / U[3, 3]
    y2 = (y[2] - total(s2) - U[2, 5] * y5 - U[2, 4] * y4 - U[2, 3] * y3) / U[2, 2]
    y1 = (y[1] - total(s1) - U[1, 5] * y5 - U[1, 4] * y4 - U[1, 3] * y3 - U[1, 2] * y2) / U[1, 1]
    y0 = y[0] - total(s0) - U[0, 5] * y5 - U[0, 4] * y4 - U[0, 3] * y3 - U[0, 2] * y2 - U[0, 1] * y1
    y[0], y[1], y[2], y[3], y[4], y[5] = y0 / U[0, 0], y1, y2, y3, y4, y5

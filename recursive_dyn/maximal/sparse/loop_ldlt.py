"""Factors of links and joints that form loops, by columns of blocks: links, then joints, as LoopOrder has them.

Links leave N = A M^-1 A^T + e between joints, of which joints take their part in turn. A row that follows from others,
as in a loop that closes in more ways than it has to, has nothing left at its turn and is left out.
"""

from __future__ import annotations

from typing import NamedTuple

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.maximal.sparse.sparse_order import LoopOrder
from recursive_dyn.maximal.sparse.tree_ldlt import (
    Block,
    BlockRows,
    Blocks,
    RowFlags,
    Sixes,
    cholesky,
    semidefinite_cholesky,
)


class LoopFactors(NamedTuple):
    """Columns of a LoopOrder: C (columns, 6, 6) their lower triangles with inverse diagonals, B the blocks below, one
    for each of ``below``; own (columns, 6): diagonals that joints' rows had at first."""

    C: Blocks
    B: Blocks
    own: Sixes


@compiled
def factor_loops(order: LoopOrder, rows: BlockRows, D: Blocks, to: LoopFactors, dependent: RowFlags) -> int:
    """Factors of loops. D (nl, 6, 6): inertias, with what trees have left; a link whose is not positive, or -1."""
    n = len(order.link)
    to.B[order.first[n] :] = 0.0
    for k, j in enumerate(order.joint):
        C = to.C[n + k]
        C[:] = 0.0
        for i in range(rows.size[j]):
            C[i, i] = rows.e[j, i]
    for k, link in enumerate(order.link):
        to.C[k] = D[link]
        if not cholesky(to.C[k], 6):
            return link
        _put_rows(order, rows, k, to)
        _eliminate(order, rows, k, 1.0, to)
    for k in range(n, len(to.C)):
        for i in range(6):
            to.own[k, i] = to.C[k, i, i]
    for k, j in enumerate(order.joint):
        semidefinite_cholesky(to.C[n + k], rows.size[j], to.own[n + k], dependent[j])
        for at in range(order.first[n + k], order.first[n + k + 1]):
            _divide(to.B[at], height(order, rows, order.below[at]), to.C[n + k], rows.size[j])
        _eliminate(order, rows, n + k, -1.0, to)
    return -1


@compiled
def height(order: LoopOrder, rows: BlockRows, column: int) -> int:
    """How many rows a column's diagonal has."""
    n = len(order.link)
    return 6 if column < n else rows.size[order.joint[column - n]]


@compiled
def _put_rows(order: LoopOrder, rows: BlockRows, k: int, to: LoopFactors) -> None:
    """Blocks below a link's column: what its joints' rows make of its velocity."""
    for at in range(order.first[k], order.first[k + 1]):
        B, j = to.B[at], order.joint[order.below[at] - len(order.link)]
        r = rows.size[j]
        if order.turned[at] >= 2:
            B[:] = 0.0
            B[0] = rows.Jm[order.turned[at] - 2]
        else:
            B[:] = rows.Ja[j] if order.turned[at] == 1 else rows.Jb[j]
        _divide(B, r, to.C[k], 6)


@compiled
def _divide(B: Block, r: int, C: Block, n: int) -> None:
    """B (r, n) <- B C^-T."""
    for i in range(r):
        for m in range(n):
            total = B[i, m]
            for s in range(m):
                total -= B[i, s] * C[m, s]
            B[i, m] = total * C[m, m]


@compiled
def _eliminate(order: LoopOrder, rows: BlockRows, k: int, sign: float, to: LoopFactors) -> None:
    """Add sign B_p B_q^T to block (p, q) for all blocks below a column."""
    n, end = height(order, rows, k), order.first[k + 1]
    for at in range(order.first[k], end):
        q = order.below[at]
        r = height(order, rows, q)
        _add(to.C[q], to.B[at], to.B[at], r, r, n, sign)
        found = order.first[q]
        for other in range(at + 1, end):
            p = order.below[other]
            while order.below[found] != p:
                found += 1
            _add(to.B[found], to.B[other], to.B[at], height(order, rows, p), r, n, sign)


@compiled
def _add(S: Block, P: Block, Q: Block, p: int, q: int, n: int, sign: float) -> None:
    """S (p, q) <- S + sign P Q^T."""
    for i in range(p):
        for j in range(q):
            total = 0.0
            for m in range(n):
                total += P[i, m] * Q[j, m]
            S[i, j] += sign * total


@compiled
def loops_inward(order: LoopOrder, rows: BlockRows, these: LoopFactors, f: Sixes, c: Sixes) -> None:
    """f (nl, 6), c (nj, 6): right-hand sides with what trees left in them, in what columns before the last leave."""
    n = len(order.link)
    for k in range(n + len(order.joint)):
        x = f[order.link[k]] if k < n else c[order.joint[k - n]]
        size, C = height(order, rows, k), these.C[k]
        for i in range(size):
            total = x[i]
            for m in range(i):
                total -= C[i, m] * x[m]
            x[i] = total * C[i, i]
        for at in range(order.first[k], order.first[k + 1]):
            j, B = order.joint[order.below[at] - n], these.B[at]
            for i in range(rows.size[j]):
                total = 0.0
                for m in range(size):
                    total += B[i, m] * x[m]
                c[j, i] -= total


@compiled
def loops_outward(order: LoopOrder, rows: BlockRows, these: LoopFactors, f: Sixes, c: Sixes) -> None:
    """Velocities f and multipliers c of what ``loops_inward`` left."""
    n = len(order.link)
    for back in range(n + len(order.joint)):
        k = n + len(order.joint) - 1 - back
        x = f[order.link[k]] if k < n else c[order.joint[k - n]]
        size, C, sign = height(order, rows, k), these.C[k], 1.0 if k < n else -1.0
        for at in range(order.first[k], order.first[k + 1]):
            j, B = order.joint[order.below[at] - n], these.B[at]
            for i in range(rows.size[j]):
                for m in range(size):
                    x[m] += sign * B[i, m] * c[j, i]
        for down in range(size):
            i = size - 1 - down
            x[i] *= C[i, i]
            for m in range(i):
                x[m] -= C[i, m] * x[i]

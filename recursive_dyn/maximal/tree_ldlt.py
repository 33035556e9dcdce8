"""Factors of trees of links and joints, and their solves: one link and its joint after the other, leaves first.

With D the inertia of a link that all before it left, and J its side of the rows of its joint, A the other link's,

    L L^T = D,   W = L^-1 J^T,   C C^T = W^T W + e,   Y = C^-1 A,   D_up <- D_up + Y^T Y,

which is the articulated inertia of the other link (Featherstone, 1983) in any coordinates. e: the rows' compliance.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.maximal.sparse_order import LeafOrder

Blocks = Annotated[np.ndarray, float, 6, 6]
Sixes = Annotated[np.ndarray, float, 6]
Block = Annotated[np.ndarray, float, 6]
RowFlags = Annotated[np.ndarray, bool, 6]

DEPENDENT = 1e-11  # of a row's own inverse inertia: a row of which less is left says what rows before it said


class TreeFactors(NamedTuple):
    """Factors of each link of a LeafOrder (m,): L, C lower triangles with inverse diagonals, W (6, r), Y (r, 6)."""

    L: Blocks
    W: Blocks
    C: Blocks
    Y: Blocks


class BlockRows(NamedTuple):
    """Joints' rows, size (nj,) of each, on velocities of links a and b (nj, 6, 6), compliances e (nj, 6)."""

    size: Integers
    Ja: Blocks
    Jb: Blocks
    e: Sixes


@compiled
def cholesky(D: Block, n: int) -> bool:
    """The lower triangle of D <- its Cholesky factor, with inverse diagonal; False where D is not positive."""
    for i in range(n):
        for j in range(i):
            total = D[i, j]
            for k in range(j):
                total -= D[i, k] * D[j, k]
            D[i, j] = total * D[j, j]
        pivot = D[i, i]
        for k in range(i):
            pivot -= D[i, k] * D[i, k]
        if not pivot > 0.0:
            return False
        D[i, i] = 1.0 / np.sqrt(pivot)
    return True


@compiled
def semidefinite_cholesky(S: Block, n: int, own: Floats, dependent: Flags) -> None:
    """The lower triangle of S <- its Cholesky factor, with inverse diagonal, 0 in rows that say nothing of their own.

    own (n,): what S's diagonal was before rows that went earlier were taken from it.
    """
    for i in range(n):
        for j in range(i):
            total = S[i, j]
            for k in range(j):
                total -= S[i, k] * S[j, k]
            S[i, j] = total * S[j, j]
        pivot = S[i, i]
        for k in range(i):
            pivot -= S[i, k] * S[i, k]
        dependent[i] = pivot <= DEPENDENT * own[i] < np.inf  # what is no number goes on, to be told of
        S[i, i] = 0.0 if dependent[i] else 1.0 / np.sqrt(pivot)


@compiled
def factor_trees(order: LeafOrder, rows: BlockRows, D: Blocks, to: TreeFactors, dependent: RowFlags) -> int:
    """Factors of trees. D (nl, 6, 6): inertias, added to on the way; a link whose own is not positive, or -1."""
    for k in range(len(order.link)):
        if not factor_step(order, rows, k, D, to, dependent):
            return order.link[k]
    return -1


@compiled
def factor_step(order: LeafOrder, rows: BlockRows, k: int, D: Blocks, to: TreeFactors, dependent: RowFlags) -> bool:
    """The k-th link and its joint; False where the link's inertia is not positive."""
    own = np.empty(6)
    j, L = order.joint[k], to.L[k]
    L[:] = D[order.link[k]]
    if not cholesky(L, 6):
        return False
    if j >= 0:
        r, W, C = rows.size[j], to.W[k], to.C[k]
        J = rows.Ja[j] if order.turned[k] == 1 else rows.Jb[j]
        for i in range(6):
            for c in range(r):
                W[i, c] = J[c, i]
            for m in range(i):
                for c in range(r):
                    W[i, c] -= L[i, m] * W[m, c]
            for c in range(r):
                W[i, c] *= L[i, i]
        for c in range(r):
            for d in range(c + 1):
                total = rows.e[j, c] if c == d else 0.0
                for m in range(6):
                    total += W[m, c] * W[m, d]
                C[c, d] = total
            own[c] = C[c, c]
        semidefinite_cholesky(C, r, own, dependent[j])
        if order.up[k] >= 0:
            pass_on(rows.Jb[j] if order.turned[k] == 1 else rows.Ja[j], C, r, to.Y[k], D[order.up[k]])
    return True


@compiled
def pass_on(A: Block, C: Block, r: int, Y: Block, D: Block) -> None:
    """Y = C^-1 A, and D + Y^T Y, the lower triangle of it."""
    for c in range(r):
        for i in range(6):
            Y[c, i] = A[c, i]
        for d in range(c):
            for i in range(6):
                Y[c, i] -= C[c, d] * Y[d, i]
        for i in range(6):
            Y[c, i] *= C[c, c]
    for c in range(r):
        for i in range(6):
            for m in range(i + 1):
                D[i, m] += Y[c, i] * Y[c, m]


@compiled
def inward(order: LeafOrder, rows: BlockRows, these: TreeFactors, f: Sixes, c: Sixes) -> None:
    """f (nl, 6), c (nj, 6): right-hand sides, in what all links before the last have left them."""
    for k in range(len(order.link)):
        step_inward(order, rows, these, k, f, c)


@compiled
def step_inward(order: LeafOrder, rows: BlockRows, these: TreeFactors, k: int, f: Sixes, c: Sixes) -> None:
    """The k-th link and its joint."""
    L, y, j = these.L[k], f[order.link[k]], order.joint[k]
    for i in range(6):
        total = y[i]
        for m in range(i):
            total -= L[i, m] * y[m]
        y[i] = total * L[i, i]
    if j >= 0:
        r, W, C, u = rows.size[j], these.W[k], these.C[k], c[j]
        for m in range(6):
            for i in range(r):
                u[i] -= W[m, i] * y[m]
        for i in range(r):
            total = u[i]
            for m in range(i):
                total -= C[i, m] * u[m]
            u[i] = total * C[i, i]
        if order.up[k] >= 0:
            Y, above = these.Y[k], f[order.up[k]]
            for m in range(r):
                for i in range(6):
                    above[i] += Y[m, i] * u[m]


@compiled
def outward(order: LeafOrder, rows: BlockRows, these: TreeFactors, f: Sixes, c: Sixes) -> None:
    """Velocities f and multipliers c of what ``inward`` left, the links above them being found."""
    for back in range(len(order.link)):
        step_outward(order, rows, these, len(order.link) - 1 - back, f, c)


@compiled
def step_outward(order: LeafOrder, rows: BlockRows, these: TreeFactors, k: int, f: Sixes, c: Sixes) -> None:
    """The k-th link and its joint."""
    L, y, j = these.L[k], f[order.link[k]], order.joint[k]
    if j >= 0:
        r, W, C, u = rows.size[j], these.W[k], these.C[k], c[j]
        if order.up[k] >= 0:
            Y, above = these.Y[k], f[order.up[k]]
            for i in range(r):
                total = u[i]
                for m in range(6):
                    total -= Y[i, m] * above[m]
                u[i] = total
        for back in range(r):
            i = r - 1 - back
            u[i] *= C[i, i]
            for m in range(i):
                u[m] -= C[i, m] * u[i]
        for i in range(6):
            for m in range(r):
                y[i] += W[i, m] * u[m]
    for back in range(6):
        i = 5 - back
        y[i] *= L[i, i]
        for m in range(i):
            y[m] -= L[i, m] * y[i]

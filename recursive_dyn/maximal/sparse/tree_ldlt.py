"""Factors of trees of links and joints, and their solves: one link and its joint after the other, leaves first.

With D the inertia of a link that all before it left, and J its side of the rows of its joint, A the other link's,

    L L^T = D,   W = L^-1 J^T,   C C^T = W^T W + e,   Y = C^-1 A,   D_up <- D_up + Y^T Y,

which is the articulated inertia of the other link (Featherstone, 1983) in any coordinates. e: the rows' compliance.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.maximal.sparse.sparse_order import LeafOrder

Blocks = Annotated[np.ndarray, float, 6, 6]
Sixes = Annotated[np.ndarray, float, 6]
Block = Annotated[np.ndarray, float, 6]
RowFlags = Annotated[np.ndarray, bool, 6]

DEPENDENT = 1e-11  # of a row's own inverse inertia: a row of which less is left says what rows before it said


class TreeFactors(NamedTuple):
    """Factors of each link of a LeafOrder (m,): L, C lower triangles with inverse diagonals, W^T and Y (r, 6)."""

    L: Blocks
    W: Blocks
    C: Blocks
    Y: Blocks


class BlockRows(NamedTuple):
    """Joints' rows, size (nj,) of each, on velocities of links a and b (nj, 6, 6), compliances e (nj, 6); Jm (x, 6): of
    the first row on further links, see MoreSides."""

    size: Integers
    Ja: Blocks
    Jb: Blocks
    e: Sixes
    Jm: Sixes


@compiled
def _cholesky_row(D: Block, i: int) -> float:
    """Row i of a Cholesky factor with inverse diagonal, left of that, in place; the pivot is told."""
    for j in range(i):
        total = D[i, j]
        for k in range(j):
            total -= D[i, k] * D[j, k]
        D[i, j] = total * D[j, j]
    pivot = D[i, i]
    for k in range(i):
        pivot -= D[i, k] * D[i, k]
    return pivot


@compiled
def cholesky(D: Block, n: int) -> bool:
    """The lower triangle of D <- its Cholesky factor, with inverse diagonal; False where D is not positive."""
    for i in range(n):
        pivot = _cholesky_row(D, i)
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
        pivot = _cholesky_row(S, i)
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
    if not cholesky_of_six(D[order.link[k]], L):
        return False
    if j >= 0:
        r, W, C = rows.size[j], to.W[k], to.C[k]
        J = rows.Ja[j] if order.turned[k] == 1 else rows.Jb[j]
        for c in range(r):
            substitute(L, J[c], W[c])
            w0, w1, w2, w3, w4, w5 = W[c, 0], W[c, 1], W[c, 2], W[c, 3], W[c, 4], W[c, 5]
            for d in range(c + 1):
                x = W[d]
                C[c, d] = w0 * x[0] + w1 * x[1] + w2 * x[2] + w3 * x[3] + w4 * x[4] + w5 * x[5]
            C[c, c] += rows.e[j, c]
            own[c] = C[c, c]
        semidefinite_cholesky(C, r, own, dependent[j])
        if order.up[k] >= 0:
            pass_on(rows.Jb[j] if order.turned[k] == 1 else rows.Ja[j], C, r, to.Y[k], D[order.up[k]])
    return True


@compiled
def cholesky_of_six(D: Block, L: Block) -> bool:
    """``cholesky`` of D (6, 6), written out as every link has one, into the lower triangle of L."""
    own = D[0, 0]
    if not own > 0.0:
        return False
    p0 = 1.0 / np.sqrt(own)
    l10 = D[1, 0] * p0
    l20 = D[2, 0] * p0
    l30 = D[3, 0] * p0
    l40 = D[4, 0] * p0
    l50 = D[5, 0] * p0
    own = D[1, 1] - l10 * l10
    if not own > 0.0:
        return False
    p1 = 1.0 / np.sqrt(own)
    l21 = (D[2, 1] - l20 * l10) * p1
    l31 = (D[3, 1] - l30 * l10) * p1
    l41 = (D[4, 1] - l40 * l10) * p1
    l51 = (D[5, 1] - l50 * l10) * p1
    own = D[2, 2] - l20 * l20 - l21 * l21
    if not own > 0.0:
        return False
    p2 = 1.0 / np.sqrt(own)
    l32 = (D[3, 2] - l30 * l20 - l31 * l21) * p2
    l42 = (D[4, 2] - l40 * l20 - l41 * l21) * p2
    l52 = (D[5, 2] - l50 * l20 - l51 * l21) * p2
    own = D[3, 3] - l30 * l30 - l31 * l31 - l32 * l32
    if not own > 0.0:
        return False
    p3 = 1.0 / np.sqrt(own)
    l43 = (D[4, 3] - l40 * l30 - l41 * l31 - l42 * l32) * p3
    l53 = (D[5, 3] - l50 * l30 - l51 * l31 - l52 * l32) * p3
    own = D[4, 4] - l40 * l40 - l41 * l41 - l42 * l42 - l43 * l43
    if not own > 0.0:
        return False
    p4 = 1.0 / np.sqrt(own)
    l54 = (D[5, 4] - l50 * l40 - l51 * l41 - l52 * l42 - l53 * l43) * p4
    own = D[5, 5] - l50 * l50 - l51 * l51 - l52 * l52 - l53 * l53 - l54 * l54
    if not own > 0.0:
        return False
    p5 = 1.0 / np.sqrt(own)
    L[0, 0] = p0
    L[1, 0], L[1, 1] = l10, p1
    L[2, 0], L[2, 1], L[2, 2] = l20, l21, p2
    L[3, 0], L[3, 1], L[3, 2], L[3, 3] = l30, l31, l32, p3
    L[4, 0], L[4, 1], L[4, 2], L[4, 3], L[4, 4] = l40, l41, l42, l43, p4
    L[5, 0], L[5, 1], L[5, 2], L[5, 3], L[5, 4], L[5, 5] = l50, l51, l52, l53, l54, p5
    return True


@compiled
def substitute(L: Block, x: Floats, y: Floats) -> None:
    """y <- L^-1 x (6,)."""
    y0 = x[0] * L[0, 0]
    y1 = (x[1] - L[1, 0] * y0) * L[1, 1]
    y2 = (x[2] - L[2, 0] * y0 - L[2, 1] * y1) * L[2, 2]
    y3 = (x[3] - L[3, 0] * y0 - L[3, 1] * y1 - L[3, 2] * y2) * L[3, 3]
    y4 = (x[4] - L[4, 0] * y0 - L[4, 1] * y1 - L[4, 2] * y2 - L[4, 3] * y3) * L[4, 4]
    y5 = (x[5] - L[5, 0] * y0 - L[5, 1] * y1 - L[5, 2] * y2 - L[5, 3] * y3 - L[5, 4] * y4) * L[5, 5]
    y[0], y[1], y[2], y[3], y[4], y[5] = y0, y1, y2, y3, y4, y5


@compiled
def pass_on(A: Block, C: Block, r: int, Y: Block, D: Block) -> None:
    """Y = C^-1 A, and D + Y^T Y, the lower triangle of it."""
    for c in range(r):
        y0, y1, y2, y3, y4, y5 = A[c, 0], A[c, 1], A[c, 2], A[c, 3], A[c, 4], A[c, 5]
        for d in range(c):
            x, share = Y[d], C[c, d]
            y0 -= share * x[0]
            y1 -= share * x[1]
            y2 -= share * x[2]
            y3 -= share * x[3]
            y4 -= share * x[4]
            y5 -= share * x[5]
        scale, x = C[c, c], Y[c]
        x[0], x[1], x[2], x[3], x[4], x[5] = y0 * scale, y1 * scale, y2 * scale, y3 * scale, y4 * scale, y5 * scale
    for i in range(6):
        for m in range(i + 1):
            total = D[i, m]
            for c in range(r):
                total += Y[c, i] * Y[c, m]
            D[i, m] = total


@compiled
def inward(order: LeafOrder, rows: BlockRows, these: TreeFactors, f: Sixes, c: Sixes) -> None:
    """f (nl, 6), c (nj, 6): right-hand sides, in what all links before the last have left them."""
    for k in range(len(order.link)):
        step_inward(order, rows, these, k, f, c)


@compiled
def step_inward(order: LeafOrder, rows: BlockRows, these: TreeFactors, k: int, f: Sixes, c: Sixes) -> None:
    """The k-th link and its joint."""
    L, y, j = these.L[k], f[order.link[k]], order.joint[k]
    substitute(L, y, y)
    if j >= 0:
        r, W, C, u = rows.size[j], these.W[k], these.C[k], c[j]
        y0, y1, y2, y3, y4, y5 = y[0], y[1], y[2], y[3], y[4], y[5]
        for i in range(r):
            x = W[i]
            total = u[i] - (x[0] * y0 + x[1] * y1 + x[2] * y2 + x[3] * y3 + x[4] * y4 + x[5] * y5)
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
            v0, v1, v2, v3, v4, v5 = above[0], above[1], above[2], above[3], above[4], above[5]
            for i in range(r):
                x = Y[i]
                u[i] -= x[0] * v0 + x[1] * v1 + x[2] * v2 + x[3] * v3 + x[4] * v4 + x[5] * v5
        for back in range(r):
            i = r - 1 - back
            u[i] *= C[i, i]
            for m in range(i):
                u[m] -= C[i, m] * u[i]
        y0, y1, y2, y3, y4, y5 = y[0], y[1], y[2], y[3], y[4], y[5]
        for m in range(r):
            x, share = W[m], u[m]
            y0 += share * x[0]
            y1 += share * x[1]
            y2 += share * x[2]
            y3 += share * x[3]
            y4 += share * x[4]
            y5 += share * x[5]
        y[0], y[1], y[2], y[3], y[4], y[5] = y0, y1, y2, y3, y4, y5
    substitute_back(L, y)


@compiled
def substitute_back(L: Block, y: Floats) -> None:
    """y <- L^-T y (6,)."""
    y5 = y[5] * L[5, 5]
    y4 = (y[4] - L[5, 4] * y5) * L[4, 4]
    y3 = (y[3] - L[4, 3] * y4 - L[5, 3] * y5) * L[3, 3]
    y2 = (y[2] - L[3, 2] * y3 - L[4, 2] * y4 - L[5, 2] * y5) * L[2, 2]
    y1 = (y[1] - L[2, 1] * y2 - L[3, 1] * y3 - L[4, 1] * y4 - L[5, 1] * y5) * L[1, 1]
    y0 = (y[0] - L[1, 0] * y1 - L[2, 0] * y2 - L[3, 0] * y3 - L[4, 0] * y4 - L[5, 0] * y5) * L[0, 0]
    y[0], y[1], y[2], y[3], y[4], y[5] = y0, y1, y2, y3, y4, y5

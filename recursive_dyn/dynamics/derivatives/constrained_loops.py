"""Derivatives of forward dynamics and multipliers of trees with constraints in machine code.

    [da     ]   [M  -C^T]^-1 [dtau - R ]
    [dlambda] = [C   0  ]    [     -g' ]

R and g' being derivatives of M a + bias - C^T lambda and of C a + C-dot v at given a and lambda (see
``analytic_derivatives.constraint_derivatives``): by x = M^-1 (dtau - R), Y = M^-1 C^T and S = C Y,
dlambda = -S^-1 (g' + C x) and da = x + Y dlambda. As in ``recursion.multipliers`` a row that depends on rows after it
is left out.
"""

from __future__ import annotations

from typing import NamedTuple

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.intrinsics import foreign
from recursive_dyn.dynamics.derivatives.tree_loops import (
    StateRows,
    TreeMemory,
    accelerate,
    equations,
    look,
    terms_of_columns,
    terms_of_links,
)
from recursive_dyn.dynamics.derivatives.tree_order import TreeOrder
from recursive_dyn.recursion.analytic_derivatives.motion_derivatives import COLUMN_TERMS
from recursive_dyn.recursion.equations.lagrangian import NOTHING
from recursive_dyn.recursion.multipliers import DEPENDENT


class ConstraintMemory(NamedTuple):
    """What constraints add, of which the numbers begin at ``first`` (1,) of the program's: C, dg / dq and dg / dv
    (m, n), wrenches (6,), their turning (6, 6), and direct rates of forces.

    wrench: terms of the links that wrenches act on; turned, turning: the last column of the chain that a wrench acts
    on, and of that of which the motion changes it; direct_row, direct_slot: where direct rates are, row of a column and
    slot. usual (m,): of rows, see ``Constraint``. S (m, m), inverse (m,) 1 / D, Z (m, 3 n): right-hand sides, then
    dlambda.
    """

    first: Integers
    wrench: Integers
    turned: Integers
    turning: Integers
    direct_row: Integers
    direct_slot: Integers
    usual: Floats
    S: Floats
    inverse: Floats
    Z: Floats


@compiled
def constrained_derivatives(
    order: TreeOrder,
    m: TreeMemory,
    k: ConstraintMemory,
    x: StateRows,
    nq: int,
    n: int,
    rows: int,
    by_q: Floats,
    by_v: Floats,
    by_tau: Floats,
) -> None:
    """Derivatives (rows, n + m, n) of accelerations and multipliers by q, v and tau."""
    width, size, count = len(m.X) // n, len(m.R) // n, len(k.inverse)
    moving = nq + 2 * n + x.size
    for row in range(rows):
        accelerate(m, x, row, nq, n, moving)
        m.given[moving : moving + count] = m.forward[n : n + count]
        terms_of_links(order, m)
        _push(m, k, count, n)
        terms_of_columns(order, m)
        equations(order, m, n, width, size)
        _turn(order, m, k, count, n, width)
        foreign(m.factor_code, size, n, m.R, m.inverse, order.end)
        foreign(m.solve_code, m.solved, width, size, n, m.X, m.R, m.inverse, order.end, order.nearest, m.squares)
        _sides(order, m, k, count, n, width)
        _multipliers(k, count, 3 * n)
        _accelerations(m, k, count, n, width)
        _write(order, m, k, row, count, n, width, by_q, by_v, by_tau)
        look(m)


@compiled
def _push(m: TreeMemory, k: ConstraintMemory, count: int, n: int) -> None:
    """External wrenches on links."""
    at = k.first[0] + 3 * count * n
    for link in range(len(k.wrench)):
        total, own = m.links[k.wrench[link] :], m.moving[at + 6 * link :]
        for c in range(6):
            total[c] -= own[c]


@compiled
def _twist(m: TreeMemory, i: int) -> Floats:
    """Where column i is, of numbers as far apart as there are lanes."""
    return m.columns[i // m.width * COLUMN_TERMS * m.width + i % m.width :]


@compiled
def _turn(order: TreeOrder, m: TreeMemory, k: ConstraintMemory, count: int, n: int, width: int) -> None:
    """The sides of the constraints' forces, and how they change besides going along."""
    w, at = m.width, k.first[0] + 3 * count * n + 6 * len(k.wrench)
    for pair in range(len(k.turned)):
        T, i = m.moving[at + 36 * pair :], k.turning[pair]
        while i >= 0:
            J, slot = _twist(m, i), order.slot[i]
            j0, j1, j2, j3, j4, j5 = J[0], J[w], J[2 * w], J[3 * w], J[4 * w], J[5 * w]
            t0 = T[0] * j0 + T[1] * j1 + T[2] * j2 + T[3] * j3 + T[4] * j4 + T[5] * j5
            t1 = T[6] * j0 + T[7] * j1 + T[8] * j2 + T[9] * j3 + T[10] * j4 + T[11] * j5
            t2 = T[12] * j0 + T[13] * j1 + T[14] * j2 + T[15] * j3 + T[16] * j4 + T[17] * j5
            t3 = T[18] * j0 + T[19] * j1 + T[20] * j2 + T[21] * j3 + T[22] * j4 + T[23] * j5
            t4 = T[24] * j0 + T[25] * j1 + T[26] * j2 + T[27] * j3 + T[28] * j4 + T[29] * j5
            t5 = T[30] * j0 + T[31] * j1 + T[32] * j2 + T[33] * j3 + T[34] * j4 + T[35] * j5
            r = k.turned[pair]
            while r >= 0:
                own = _twist(m, r)
                change = own[0] * t0 + own[w] * t1 + own[2 * w] * t2 + own[3 * w] * t3 + own[4 * w] * t4
                m.X[r * width + slot] -= change + own[5 * w] * t5
                r = order.nearest[r]
            i = order.nearest[i]
    at += 36 * len(k.turned)
    for d in range(len(k.direct_row)):
        m.X[k.direct_row[d] * width + k.direct_slot[d]] -= m.moving[at + d]
    for r in range(count):
        C = m.moving[k.first[0] + r * n :]
        for i in range(n):
            m.X[i * width + 3 * n + r] = C[order.slot[i]]


@compiled
def _sides(order: TreeOrder, m: TreeMemory, k: ConstraintMemory, count: int, n: int, width: int) -> None:
    """S = C Y, of which X has -Y, and Z = -g' - C x; ``inverse``: how much longer than they are rows usually are."""
    first, size = k.first[0], 3 * n
    for r in range(count):
        C, Z, S = m.moving[first + r * n :], k.Z[r * size : (r + 1) * size], k.S[r * count : (r + 1) * count]
        by_q, by_v = m.moving[first + (count + r) * n :], m.moving[first + (2 * count + r) * n :]
        S[:] = 0.0
        square = NOTHING
        for j in range(n):
            square += C[j] * C[j]
            Z[j], Z[n + j], Z[2 * n + j] = -by_q[j], -by_v[j], 0.0
        k.inverse[r] = max(1.0, k.usual[r] * k.usual[r] / square)
        for i in range(n):
            c = C[order.slot[i]]
            if c != 0.0:
                X = m.X[i * width : (i + 1) * width]
                for j in range(size):
                    Z[j] -= c * X[j]
                for s in range(count):
                    S[s] -= c * X[size + s]


@compiled
def _multipliers(k: ConstraintMemory, count: int, size: int) -> None:
    """dlambda = S^-1 Z in Z, S = L^T D L from the last row up; 0 for a row that depends on rows after it."""
    S = k.S
    for back in range(count):
        r = count - 1 - back
        k.inverse[r] *= S[r * count + r]  # the diagonal, of which a pivot must leave a share
    for back in range(count):
        r = count - 1 - back
        pivot, own = S[r * count + r], k.Z[r * size : (r + 1) * size]
        k.inverse[r] = 1.0 / pivot if pivot > DEPENDENT * k.inverse[r] else 0.0
        for i in range(r):
            share = S[r * count + i] * k.inverse[r]
            if share != 0.0:
                for j in range(i + 1):
                    S[i * count + j] -= share * S[r * count + j]
                Z = k.Z[i * size : (i + 1) * size]
                for j in range(size):
                    Z[j] -= share * own[j]
    for r in range(count):
        own, over = k.Z[r * size : (r + 1) * size], k.inverse[r]
        for j in range(size):
            own[j] *= over
        for i in range(r):
            share, Z = S[r * count + i] * over, k.Z[i * size : (i + 1) * size]
            for j in range(size):
                own[j] -= share * Z[j]


@compiled
def _accelerations(m: TreeMemory, k: ConstraintMemory, count: int, n: int, width: int) -> None:
    """da = x + Y dlambda in X."""
    size = 3 * n
    for i in range(n):
        X = m.X[i * width : (i + 1) * width]
        for r in range(count):
            y, Z = X[size + r], k.Z[r * size : (r + 1) * size]
            for j in range(size):
                X[j] -= y * Z[j]


@compiled
def _write(
    order: TreeOrder,
    m: TreeMemory,
    k: ConstraintMemory,
    row: int,
    count: int,
    n: int,
    width: int,
    by_q: Floats,
    by_v: Floats,
    by_tau: Floats,
) -> None:
    """Results of one state, and their squares."""
    total = 0.0
    for i in range(n + count):
        place = order.slot[i] if i < n else i
        own = m.X[i * width :] if i < n else k.Z[(i - n) * 3 * n :]
        to = (row * (n + count) + place) * n
        by_q[to : to + n] = own[:n]
        by_v[to : to + n] = own[n : 2 * n]
        by_tau[to : to + n] = own[2 * n : 3 * n]
        for j in range(3 * n):
            total += own[j] * own[j]
    m.squares[0] += total

"""Derivatives of inverse and forward dynamics of trees in machine code: terms in lanes, pairs of columns, a solve."""

from __future__ import annotations

from typing import NamedTuple

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.emitting.drivers import MODERATE
from recursive_dyn.codegen.loops.intrinsics import foreign, run
from recursive_dyn.dynamics.derivatives.tree_order import TreeOrder
from recursive_dyn.recursion.analytic_derivatives.motion_derivatives import COLUMN_TERMS, LINK, LINK_TERMS


class TreeMemory(NamedTuple):
    """Addresses of machine code, how many lanes a register has, numbers a column, and numbers to solve for a row of X;
    memory.

    forward: of forward dynamics; moving: of the program of the motion; links: terms of each; lanes, made: what a block
    of lanes is given and makes; columns: terms in blocks of lanes; row: products of a column; X, R, inverse, squares:
    as ``emitting.tree_products`` has them; doubt (1,): whether anything was too large.
    """

    forward_code: int
    moving_code: int
    link_code: int
    column_code: int
    gather_code: int
    scatter_code: int
    row_code: int
    factor_code: int
    solve_code: int
    width: int
    size: int
    solved: int
    forward_given: Floats
    forward: Floats
    forward_scratch: Floats
    given: Floats
    moving: Floats
    scratch: Floats
    links: Floats
    lanes: Floats
    made: Floats
    columns: Floats
    row: Floats
    X: Floats
    R: Floats
    inverse: Floats
    squares: Floats
    doubt: Integers


class StateRows(NamedTuple):
    """States, a row each: q, v, tau or a, and parameters, of which those with a stride of 0 are the same for all."""

    q: Floats
    v: Floats
    last: Floats
    parameters: Floats
    strides: Integers
    size: int


@compiled
def inverse_derivatives(
    order: TreeOrder, m: TreeMemory, x: StateRows, nq: int, nv: int, rows: int, by_q: Floats, by_v: Floats, by_a: Floats
) -> None:
    """Derivatives (rows, n, n) of inverse dynamics by q, v and a: of n columns as if each had a coordinate alone."""
    n, size = len(order.end), len(order.column)
    by_q[:], by_v[:], by_a[:] = 0.0, 0.0, 0.0
    for row in range(rows):
        set_state(m.given, x, row, nq, nv)
        terms(order, m)
        at = row * n * n
        for i in range(n):
            _row(order, m, i)
            inward, outward = at + order.slot[i] * n, at + order.slot[i]
            for k in range(i, order.end[i]):
                slot = order.slot[k]
                back = outward + slot * n
                by_q[back] = m.row[size + k]
                by_v[back] = m.row[3 * size + k]
                by_a[back] = m.row[4 * size + k]
            for k in range(i + 1, order.end[i]):
                there = inward + order.slot[k]
                by_q[there] = m.row[k]
                by_v[there] = m.row[2 * size + k]
                by_a[there] = m.row[4 * size + k]
            by_a[inward + order.slot[i]] += order.armature[i]
        for k in range(len(order.own_row)):
            by_q[at + order.slot[order.own_row[k]] * n + order.slot[order.own_column[k]]] += own_term(order, m, k)
        look(m)


@compiled
def accelerate(m: TreeMemory, x: StateRows, row: int, nq: int, n: int, count: int) -> None:
    """Solve for a state's accelerations, and take them in the place of forces to ``given``, whose first count inputs
    else are those of the solve."""
    set_state(m.forward_given, x, row, nq, n)
    run(m.forward_code, m.forward_given, m.forward, m.forward_scratch)
    m.given[:count] = m.forward_given[:count]
    m.given[nq + n : nq + 2 * n] = m.forward[:n]


@compiled
def forward_derivatives(
    order: TreeOrder,
    m: TreeMemory,
    x: StateRows,
    nq: int,
    n: int,
    rows: int,
    by_q: Floats,
    by_v: Floats,
    by_tau: Floats,
) -> None:
    """Derivatives (rows, n, n) of forward dynamics by q, v and tau: -M^-1 times those of inverse dynamics, and M^-1."""
    width, size = len(m.X) // n, len(m.R) // n
    for row in range(rows):
        accelerate(m, x, row, nq, n, len(m.given))
        terms(order, m)
        equations(order, m, n, width, size)
        foreign(m.factor_code, size, n, m.R, m.inverse, order.end)
        foreign(m.solve_code, m.solved, width, size, n, m.X, m.R, m.inverse, order.end, order.nearest, m.squares)
        for i in range(n):
            at, to = i * width, (row * n + order.slot[i]) * n
            by_q[to : to + n] = m.X[at : at + n]
            by_v[to : to + n] = m.X[at + n : at + 2 * n]
            by_tau[to : to + n] = m.X[at + 2 * n : at + 3 * n]
        look(m)


@compiled
def set_state(given: Floats, x: StateRows, row: int, nq: int, nv: int) -> None:
    """One row's state as the inputs of a program."""
    q, v, last = row * x.strides[0], row * x.strides[1], row * x.strides[2]
    given[:nq] = x.q[q : q + nq]
    given[nq : nq + nv] = x.v[v : v + nv]
    given[nq + nv : nq + 2 * nv] = x.last[last : last + nv]
    first, own = nq + 2 * nv, row * x.strides[3]
    given[first : first + x.size] = x.parameters[own : own + x.size]


@compiled
def terms(order: TreeOrder, m: TreeMemory) -> None:
    """The terms of all columns, from the inputs of the program of the motion."""
    terms_of_links(order, m)
    terms_of_columns(order, m)


@compiled
def terms_of_links(order: TreeOrder, m: TreeMemory) -> None:
    """The terms of each link alone."""
    w = m.width
    run(m.moving_code, m.given, m.moving, m.scratch)
    for b in range(len(order.link) // w):
        foreign(m.gather_code, m.moving, order.link[b * w :], LINK, m.lanes)
        run(m.link_code, m.lanes, m.made, m.scratch)
        foreign(m.scatter_code, m.links, order.terms[b * w :], LINK_TERMS, m.made)


@compiled
def terms_of_columns(order: TreeOrder, m: TreeMemory) -> None:
    """Sums of links' terms over all that hangs on each, and the terms of columns."""
    w, links = m.width, len(order.parent)
    for back in range(links):
        k = links - 1 - back
        if order.parent[k] >= 0:
            total, own = m.links[order.parent[k] :], m.links[order.terms[k] :]
            for c in range(LINK_TERMS):
                total[c] += own[c]
    for b in range(len(order.column) // w):
        foreign(m.gather_code, m.links, order.column_terms[b * w :], LINK_TERMS, m.lanes)
        foreign(m.gather_code, m.moving[links * LINK :], order.column[b * w :], m.size, m.lanes[LINK_TERMS * w :])
        run(m.column_code, m.lanes, m.columns[b * COLUMN_TERMS * w :], m.scratch)


@compiled
def own_term(order: TreeOrder, m: TreeMemory, k: int) -> float:
    """How the k-th pair of columns of one joint changes each other."""
    at, force, total = len(order.parent) * LINK + len(order.end) * m.size + 6 * k, order.own_link[k], 0.0
    for c in range(6):
        total += m.moving[at + c] * m.links[force + c]
    return total


@compiled
def _row(order: TreeOrder, m: TreeMemory, i: int) -> None:
    """Products of column i with all that hang on it, in ``m.row``."""
    foreign(m.row_code, i, order.end[i], len(order.column), m.columns, m.row, m.squares)


@compiled
def equations(order: TreeOrder, m: TreeMemory, n: int, width: int, size: int) -> None:
    """[dtau / dq, dtau / dv, -1] in X, the lower half of M in R, rows in the order of the columns."""
    many = len(order.column)
    m.X[:], m.R[:] = 0.0, 0.0
    for i in range(n):
        _row(order, m, i)
        slot, own = order.slot[i], i * width
        for k in range(i, order.end[i]):
            back = k * width + slot
            m.X[back] = m.row[many + k]
            m.X[back + n] = m.row[3 * many + k]
            m.R[k * size + i] = m.row[4 * many + k]
        for k in range(i + 1, order.end[i]):
            there = own + order.slot[k]
            m.X[there] = m.row[k]
            m.X[there + n] = m.row[2 * many + k]
        m.R[i * size + i] += order.armature[i]
        m.X[own + 2 * n + slot] = -1.0
    for k in range(len(order.own_row)):
        m.X[order.own_row[k] * width + order.slot[order.own_column[k]]] += own_term(order, m, k)


@compiled
def look(m: TreeMemory) -> None:
    """Whether results are too large, or not finite."""
    total = 0.0
    for lane in range(m.width):
        total += m.squares[lane]
        m.squares[lane] = 0.0
    if not total <= MODERATE * MODERATE:
        m.doubt[0] = 1

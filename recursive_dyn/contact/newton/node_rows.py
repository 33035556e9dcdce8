"""Rows of an island, and velocities, node by node: what Newton's method does with them takes few, wide words."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations
from recursive_dyn.contact.newton.node_order import LANES


@compiled
def still(these: BlockEquations) -> Block:
    """Whitened velocities of all nodes, none of which moves: (nodes, LANES)."""
    return np.zeros((len(these.base), LANES))


@compiled
def add_products(sums: Floats, row: Floats, x: Floats) -> None:
    """Add the products of a row and x, each alone."""
    for j in range(LANES):
        sums[j] += row[j] * x[j]


@compiled
def total(x: Floats) -> float:
    """The sum of a node's numbers."""
    return (x[0] + x[1]) + (x[2] + x[3]) + (x[4] + x[5])


@compiled
def along_three(these: BlockEquations, e: int, height: int, y: Block) -> tuple[float, float, float]:
    """What y makes of the first three rows of a contact that has so many."""
    a, b, c, at, nodes = np.zeros(8), np.zeros(8), np.zeros(8), these.first[e], these.order.rows
    for k in range(nodes.start[e], nodes.start[e + 1]):
        x = y[nodes.which[k]]
        add_products(a, these.rows[at], x)
        add_products(b, these.rows[at + 1], x)
        add_products(c, these.rows[at + 2], x)
        at += height
    return total(a), total(b), total(c)


@compiled
def along(these: BlockEquations, e: int, height: int, i: int, y: Block) -> float:
    """What y makes of the i-th row of a contact that has so many, or, of one, of a scalar row."""
    sums, at, nodes = np.zeros(8), these.first[e] + i, these.order.rows
    for k in range(nodes.start[e], nodes.start[e + 1]):
        add_products(sums, these.rows[at], y[nodes.which[k]])
        at += height
    return total(sums)


@compiled
def push_three(these: BlockEquations, e: int, height: int, p0: float, p1: float, p2: float, y: Block) -> None:
    """y changed by impulses along the first three rows of a contact that has so many."""
    at, nodes, own = these.first[e], these.order.rows, np.empty(8)
    for k in range(nodes.start[e], nodes.start[e + 1]):
        node = nodes.which[k]
        a, b, c = these.rows[at], these.rows[at + 1], these.rows[at + 2]
        own[:] = y[node]
        for j in range(LANES):
            own[j] += p0 * a[j] + p1 * b[j] + p2 * c[j]
        y[node] = own
        at += height


@compiled
def push(these: BlockEquations, e: int, height: int, i: int, amount: float, y: Block) -> None:
    """y changed by an impulse along the i-th row of a contact that has so many, or, of one, along a scalar row."""
    at, nodes, own = these.first[e] + i, these.order.rows, np.empty(8)
    for k in range(nodes.start[e], nodes.start[e + 1]):
        node, row = nodes.which[k], these.rows[at]
        own[:] = y[node]
        for j in range(LANES):
            own[j] += amount * row[j]
        y[node] = own
        at += height

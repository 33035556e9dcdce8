"""Linear equations in an island's whitened velocities, K = I + A^T X A.

A is the rows of its contacts and scalar rows, X what the impulses of each do for its own velocities. K, and then its
factors, is kept in blocks of two nodes of an order of ``node_order``; those below the diagonal are turned.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.newton.node_order import BODY, LANES, Lists, NodeOrder, node_order, slots_of

Block = Annotated[np.ndarray, float, 8]
Blocks = Annotated[np.ndarray, float, 6, 8]


class BlockEquations(NamedTuple):
    """Equations of n nodes.

    base (n,): the block of each node on the diagonal; those right of it, by the nodes that it is joined to, follow, and
    then, turned, those below it. begin (n,), changes: of the blocks that a node's elimination changes, with i <= j of
    those that it is joined to, that on the diagonal or right of it, i by i; cell_begin, cells: the same of nodes that a
    row reaches. numbers (.., BODY, LANES): of the blocks; first, rows: of each contact or scalar row from rows[first]
    on, node by node, its coefficients.
    """

    order: NodeOrder
    base: Integers
    begin: Integers
    changes: Integers
    cell_begin: Integers
    cells: Integers
    numbers: Blocks
    first: Integers
    rows: Block


@compiled
def block_equations(it: Island) -> BlockEquations:
    """Room for the equations of an island."""
    order = node_order(it)
    start, count = order.joined.start, len(order.joined.start) - 1
    base = np.empty(count, dtype=np.int64)
    for k in range(count):
        base[k] = k + 2 * start[k]
    begin, changes = _blocks_of(order, base, order.joined)
    cell_begin, cells = _blocks_of(order, base, order.rows)
    numbers = np.empty((count + 2 * start[count], BODY, LANES))
    first, rows = _rows_of(it, order)
    return BlockEquations(order, base, begin, changes, cell_begin, cells, numbers, first, rows)


@compiled
def _blocks_of(order: NodeOrder, base: Integers, lists: Lists) -> tuple[Integers, Integers]:
    """Where the blocks begin of all pairs of each list of nodes, and these."""
    count, start, which, at = len(lists.start) - 1, order.joined.start, order.joined.which, 0
    begin, where = np.zeros(count + 1, dtype=np.int64), np.empty(len(base), dtype=np.int64)
    for k in range(count):
        size = lists.start[k + 1] - lists.start[k]
        begin[k + 1] = begin[k] + size * (size + 1) // 2
    blocks = np.empty(begin[count], dtype=np.int64)
    for k in range(count):
        for a in range(lists.start[k], lists.start[k + 1]):
            i = lists.which[a]
            where[i] = base[i]
            for b in range(start[i], start[i + 1]):
                where[which[b]] = base[i] + 1 + b - start[i]
            for b in range(a, lists.start[k + 1]):
                blocks[at] = where[lists.which[b]]
                at += 1
    return begin, blocks


@compiled
def _rows_of(it: Island, order: NodeOrder) -> tuple[Integers, Block]:
    """Where coefficients of contacts and scalar rows begin, and these, node by node."""
    n, m, start, at = len(it.contacts), len(it.scalars), order.rows.start, 0
    first = np.zeros(n + m + 1, dtype=np.int64)
    for e in range(n + m):
        height = it.rows.height[it.contacts[e]] if e < n else 1
        first[e + 1] = first[e] + height * (start[e + 1] - start[e])
    rows = np.zeros((first[n + m], LANES))
    for e in range(n + m):
        height, at = 1, 0
        if e < n:
            height, at = it.rows.height[it.contacts[e]], it.rows.start[it.contacts[e]]
        else:
            at = it.lines.first[it.scalars[e - n]]
        for slot in slots_of(it, e):
            node, lane, k = order.place[slot] // LANES, order.place[slot] % LANES, start[e]
            while order.rows.which[k] != node:
                k += 1
            for i in range(height):
                rows[first[e] + height * (k - start[e]) + i, lane] = (
                    it.rows.values[at] if e < n else it.lines.values[at]
                )
                at += 1
    return first, rows

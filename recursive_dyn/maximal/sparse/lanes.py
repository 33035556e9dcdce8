"""Trees of links and joints solved at once, links that do not wait for each other side by side in vector lanes.

Levels of links, leaves first, fall into blocks of as many as there are lanes, of joints with equally many rows, each of
which is one call of its program (``link_program``); what a link's velocity is of that above it stays in the memory of
the block, which the way back reads. The same equations as ``tree_ldlt`` solves, in another order of operations.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.addresses import address as address_of
from recursive_dyn.codegen.addresses import aligned
from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.kernel import Kernel
from recursive_dyn.codegen.loops.intrinsics import foreign
from recursive_dyn.codegen.making import jit
from recursive_dyn.codegen.making.building import building
from recursive_dyn.maximal.sparse.link_program import KEPT, LINK, link_program
from recursive_dyn.maximal.sparse.sparse_order import LeafOrder
from recursive_dyn.maximal.sparse.tree_ldlt import Block, BlockRows, Blocks, Sixes

Array = np.ndarray


class LaneBlocks(NamedTuple):
    """width (b,): lanes of each block; first (b + 1,): their links in the order of link, joint, up, turned (m,), as in
    LeafOrder; address, scratch (b,): of their programs; place (b,): where their outputs begin in ``kept``; inputs: what
    programs are called with."""

    width: Integers
    first: Integers
    address: Integers
    scratch: Integers
    place: Integers
    link: Integers
    joint: Integers
    up: Integers
    turned: Integers
    inputs: Floats
    kept: Floats


def lane_blocks(order: LeafOrder, rows: Array, group: Array | None = None) -> tuple[LaneBlocks, list[Any], Array]:
    """Of an order of elimination and numbers of rows (nj,) of joints; what holds the programs; and where the blocks of
    each group (g,) begin, and those of the last end: of links of group 0 (m,), if that is given, then of others, which
    use the same memory to keep what they find."""
    group = np.zeros(len(order.link), dtype=np.int64) if group is None else group
    size = np.where(order.joint >= 0, rows[order.joint], 0) if len(rows) else np.zeros(len(order.link), dtype=np.int64)
    hung, level = order.up >= 0, levels(order)
    by = np.lexsort((order.link, hung, size, level, group))
    keys = np.stack([group, level, size, hung], axis=1)[by]
    changes = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))[: len(by)]
    runs, lanes = np.append(np.flatnonzero(changes), len(by)), jit.batch_width()
    first = np.concatenate([np.arange(a, b, lanes) for a, b in pairwise(runs.tolist())] or [runs[:0]])
    width = np.where(np.diff(first, append=len(by)) > 1, lanes, 1)
    address, scratch, outputs, held = *np.zeros((3, len(first)), dtype=np.int64), list[Any]()
    longest = 0
    for r, up, w in np.unique(np.column_stack([keys[first, 2:], width]), axis=0).tolist():
        kernel = _kernel(r, bool(up), w)
        memory, these = kernel.memory(), (size[by][first] == r) & (hung[by][first] == up) & (width == w)
        address[these], scratch[these] = kernel.native.address(kernel.entry), address_of(memory[2])
        outputs[these] = (KEPT if up else 6) * w
        longest = max(longest, len(memory[0]), len(memory[1]))
        held += [kernel, memory]
    begins = np.searchsorted(keys[first, 0], np.arange(group.max(initial=0) + 2))
    total = np.append(0, np.cumsum(outputs))
    place = total[:-1] - total[begins][keys[first, 0]]
    room = int((total[begins[1:]] - total[begins[:-1]]).max()) + longest
    blocks = LaneBlocks(
        width, np.append(first, len(by)), address, scratch, place, order.link[by], order.joint[by], order.up[by],
        order.turned[by], aligned(longest), aligned(room),
    )  # fmt: skip
    return blocks, held, begins


@lru_cache(maxsize=32)
def _kernel(rows: int, hung: bool, width: int) -> Kernel:
    with building():
        return Kernel(f"{LINK} {rows} {hung}", lambda: link_program(rows, hung), width)


def levels(order: LeafOrder) -> Array:
    """How many links go before each (m,) at least, one after the other."""
    result: Array = _levels(order, np.zeros(int(order.link.max(initial=-1)) + 1, dtype=np.int64))
    return result


@compiled
def _levels(order: LeafOrder, after: Integers) -> Integers:
    found = np.zeros(len(order.link), dtype=np.int64)
    for k in range(len(order.link)):
        found[k] = after[order.link[k]]
        up = order.up[k]
        if 0 <= up < len(after):
            after[up] = max(after[up], found[k] + 1)
    return found


@compiled
def blocks_inward(it: LaneBlocks, rows: BlockRows, D: Blocks, f: Sixes, c: Sixes, begin: int, end: int) -> None:
    """Eliminate blocks from ``begin`` to ``end``. D (nl, 6, 6), f (nl, 6): inertias and right-hand sides of links, that
    get more on the way; c (nj, 6): right-hand sides of joints."""
    for b in range(begin, end):
        first, last, width = it.first[b], it.first[b + 1] - 1, it.width[b]
        for lane in range(width):
            k = min(first + lane, last)
            j = it.joint[k]
            at = _spread_all(it.inputs, lane, width, D[it.link[k]], 6)
            at = _spread(it.inputs, at, width, f[it.link[k]])
            if j >= 0:
                at = _spread_all(it.inputs, at, width, rows.Ja[j] if it.turned[k] == 1 else rows.Jb[j], rows.size[j])
                if it.up[k] >= 0:
                    at = _spread_all(
                        it.inputs, at, width, rows.Jb[j] if it.turned[k] == 1 else rows.Ja[j], rows.size[j]
                    )
                at = _spread(it.inputs, at, width, rows.e[j])
                at = _spread(it.inputs, at, width, c[j])
        out = it.kept[it.place[b] :]
        foreign(it.address[b], it.inputs, out, it.scratch[b])
        if it.up[first] >= 0:
            for lane in range(last + 1 - first):
                up, at = it.up[first + lane], 42 * width + lane
                for i in range(6):
                    at = _gather(out, at, width, D[up, i])
                at = _gather(out, at, width, f[up])


@compiled
def _spread_all(x: Floats, at: int, width: int, rows: Block, count: int) -> int:
    """Write the first rows into every ``width``-th place of x; where the next number belongs."""
    for i in range(count):
        at = _spread(x, at, width, rows[i])
    return at


@compiled
def _spread(x: Floats, at: int, width: int, y: Floats) -> int:
    """Write six numbers into every ``width``-th place of x; where the next one belongs."""
    a, b, c, d, e = at + width, at + 2 * width, at + 3 * width, at + 4 * width, at + 5 * width
    x[at], x[a], x[b], x[c], x[d], x[e] = y[0], y[1], y[2], y[3], y[4], y[5]
    return e + width


@compiled
def _gather(x: Floats, at: int, width: int, y: Floats) -> int:
    """Add six numbers in every ``width``-th place of x to y; where the next one is."""
    a, b, c, d, e = at + width, at + 2 * width, at + 3 * width, at + 4 * width, at + 5 * width
    y0, y1, y2, y3, y4, y5 = y[0] + x[at], y[1] + x[a], y[2] + x[b], y[3] + x[c], y[4] + x[d], y[5] + x[e]
    y[0], y[1], y[2], y[3], y[4], y[5] = y0, y1, y2, y3, y4, y5
    return e + width


@compiled
def blocks_outward(it: LaneBlocks, v: Sixes, begin: int, end: int) -> None:
    """Velocities v (nl, 6) of the blocks' links, the links above them being found."""
    for back in range(end - begin):
        b = end - 1 - back
        width = it.width[b]
        for k in range(it.first[b], it.first[b + 1]):
            at = it.place[b] + k - it.first[b]
            y = v[it.link[k]]
            y[:] = 0.0
            at = _gather(it.kept, at, width, y)
            if it.up[k] >= 0:
                _moved_on(it.kept, at, width, v[it.up[k]], y)


@compiled
def _moved_on(x: Floats, at: int, width: int, v: Floats, y: Floats) -> None:
    """y <- y + P v of P (6, 6) in every ``width``-th place of x."""
    v0, v1, v2, v3, v4, v5 = v[0], v[1], v[2], v[3], v[4], v[5]
    for i in range(6):
        a, b, c, d, e = at + width, at + 2 * width, at + 3 * width, at + 4 * width, at + 5 * width
        y[i] += x[at] * v0 + x[a] * v1 + x[b] * v2 + x[c] * v3 + x[d] * v4 + x[e] * v5
        at = e + width

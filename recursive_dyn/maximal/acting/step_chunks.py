"""A step of many small trees, some at a time: all that is done with their numbers while these are in the core's cache.

Between phases of a whole large scene its numbers go to memory and back, which takes longer than to compute with them.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.maximal.acting.joint_action import DISPLACEMENTS, MET, SMALL
from recursive_dyn.maximal.acting.joint_landing import displaced_among
from recursive_dyn.maximal.acting.step_phases import (
    AWAY,
    FOUND,
    LOST,
    BodyArrays,
    cleared,
    forced_some,
    freed_some,
    most_of,
    targeted_some,
)
from recursive_dyn.maximal.acting.step_rows import StepRows
from recursive_dyn.maximal.acting.step_system import CONSTRAINED, SystemArrays, errors_taken
from recursive_dyn.maximal.kinds.kind_calls import KindCalls, some_calls
from recursive_dyn.maximal.kinds.row_arrays import RowArrays, followed, placed_some
from recursive_dyn.maximal.sparse.block_ldlt import SparseEquations
from recursive_dyn.maximal.sparse.lanes import LaneBlocks, blocks_inward, blocks_outward, lane_blocks
from recursive_dyn.maximal.sparse.sparse_order import LeafOrder

Array = np.ndarray
_AGAIN = -1  # before FOUND, AWAY, LOST
BODIES = 128  # of a chunk, or as many more as its last tree has: some 2.5 kB each


class Chunks(NamedTuple):
    """Whole trees, neighbours, c chunks of them. first (c + 1, 3): where those of each begin of ``kinds``, which are
    parts of kinds of joints, of ``blocks`` and of bodies."""

    kinds: KindCalls
    blocks: LaneBlocks
    first: Annotated[np.ndarray, int, 3]


def starts_of(rows: StepRows, roots: Array) -> Array | None:
    """The bodies that chunks begin with, and behind these how many bodies there are; None for what is no forest of
    small trees, one after the other in the order of bodies, whose joints need nothing but their bodies.

    roots (nl,): as of Joints.
    """
    it, s, links = rows.arrays, rows.system, len(roots)
    beside = len(rows.loops.rows), len(it.timed), len(it.of_time), len(s.turns.slots), len(it.more_links)
    if any(beside) or s.method[0] != CONSTRAINED or (np.diff(roots) < 0).any():
        return None
    trees = np.append(np.flatnonzero(roots == np.arange(links)), links)
    starts = np.unique(np.append(trees[np.searchsorted(trees, np.arange(0, links, BODIES))], links))
    return None if np.diff(starts).max() > 4 * BODIES else starts


def chunks_of(rows: StepRows, starts: Array) -> tuple[Chunks, list[Any]]:
    """Of trees that begin at some of ``starts`` and end where the last of them is; and what holds the programs."""
    calls, kept = rows.calls()
    count, kinds = len(starts) - 1, len(calls.still)
    begin, end = np.zeros((2, count, kinds), dtype=np.int64)
    for k in range(kinds):
        first = calls.numbers[k, 10]
        ends = np.searchsorted(rows.arrays.children[first : first + calls.numbers[k, 1]], starts)
        begin[:, k], end[:, k] = ends[:-1], ends[1:]
    chunk, kind = np.nonzero(end > begin)
    whole = rows.equations.order.tree
    mine = (whole.link >= starts[0]) & (whole.link < starts[-1])
    order = LeafOrder(*(np.ascontiguousarray(x[mine]) for x in whole))
    group = np.searchsorted(starts, order.link, side="right") - 1
    blocks, programs, begins = lane_blocks(order, rows.system.heights, group)
    first = np.stack([np.searchsorted(chunk, np.arange(count + 1)), begins, starts], axis=1)
    return Chunks(some_calls(calls, kind, begin[chunk, kind], end[chunk, kind]), blocks, first), [kept, programs]


@compiled
def chunks_over_step(chunks: Chunks, it: RowArrays, s: SystemArrays, on: BodyArrays, solving: SparseEquations) -> int:
    """``step_phases.over_step`` of whole trees, accelerations as if there were no joints being found."""
    for c in range(len(chunks.first) - 1):
        now, then = chunks.first[c], chunks.first[c + 1]
        placed_some(it, on.q, on.v, now[2], then[2])
        cleared(on, solving, now[2], then[2])
        if not followed(chunks.kinds, it, now[0], then[0]):
            return AWAY
        freed_some(it, s, on, now[2], then[2])
        for k in range(now[0], then[0]):
            begin = chunks.kinds.numbers[k, 10]
            targeted_some(it, s, on, begin, begin + chunks.kinds.numbers[k, 1])
        blocks_inward(chunks.blocks, solving.rows, solving.D, on.change, s.c, now[1], then[1])
        blocks_outward(chunks.blocks, on.change, now[1], then[1])
        if forced_some(on, now[2], then[2]) != FOUND:
            return LOST
    return FOUND


@compiled
def chunks_landing(
    chunks: Chunks, it: RowArrays, s: SystemArrays, on: BodyArrays, solving: SparseEquations, assemblies: Integers,
    roots: Integers,
) -> int:  # fmt: skip
    """``step_phases.landing`` of whole trees, none of which floats, each chunk as often as it needs."""
    for c in range(len(chunks.first) - 1):
        for _ in range(DISPLACEMENTS):
            said = _landing(chunks, chunks.first[c], chunks.first[c + 1], it, s, on, solving, assemblies, roots)
            if said != _AGAIN:
                break
        if said > FOUND:
            return said
    return FOUND


@compiled
def _landing(
    chunks: Chunks, now: Integers, then: Integers, it: RowArrays, s: SystemArrays, on: BodyArrays,
    solving: SparseEquations, assemblies: Integers, roots: Integers,
) -> int:  # fmt: skip
    """One displacement of a chunk; _AGAIN where another one is due."""
    placed_some(it, on.q, on.v, now[2], then[2])
    cleared(on, solving, now[2], then[2])
    if not followed(chunks.kinds, it, now[0], then[0]):
        return AWAY
    most = 0.0
    for k in range(now[0], then[0]):
        begin = chunks.kinds.numbers[k, 10]
        most = max(most, errors_taken(it, s, on.settings[1], begin, begin + chunks.kinds.numbers[k, 1]))
    if most <= MET:
        return FOUND
    blocks_inward(chunks.blocks, solving.rows, solving.D, on.change, s.c, now[1], then[1])
    blocks_outward(chunks.blocks, on.change, now[1], then[1])
    most = most_of(on, now[2], then[2])
    if most == np.inf:
        return LOST
    displaced_among(on.inertias, assemblies, roots, on.q, on.v, on.change, now[2], then[2])
    return FOUND if on.settings[1] < 1.0 or most < SMALL else _AGAIN

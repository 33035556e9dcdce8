"""A step of many bodies in two parts, each phase of ``step_phases`` for both at once, where there are threads for them.

Which numbers are of which part depends on the scene alone, and so does every sum: one thread and two find the same, bit
for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.compiled import Compiled, compiled
from recursive_dyn.codegen.making import jit
from recursive_dyn.codegen.threads import at_once, threads
from recursive_dyn.maximal.acting.joint_action import DISPLACEMENTS, MET, SMALL
from recursive_dyn.maximal.acting.joint_landing import displaced
from recursive_dyn.maximal.acting.step_chunks import chunks_landing, chunks_of, chunks_over_step, starts_of
from recursive_dyn.maximal.acting.step_phases import (
    AWAY,
    FOUND,
    LOST,
    BodyArrays,
    Part,
    accelerated,
    began,
    changed,
    eliminated,
    erring,
    forced,
    freed,
    most_changed,
    rows_followed,
    targeted,
)
from recursive_dyn.maximal.acting.step_rows import StepRows
from recursive_dyn.maximal.acting.step_system import SystemArrays
from recursive_dyn.maximal.acting.whirl_measured import Whirl, whirled
from recursive_dyn.maximal.joint_rows.joint_elements import ElementCall
from recursive_dyn.maximal.kinds.kind_calls import KindCalls, some_calls
from recursive_dyn.maximal.kinds.row_arrays import RowArrays, rows_beside
from recursive_dyn.maximal.sparse.block_ldlt import SparseEquations, solve_between
from recursive_dyn.maximal.sparse.lanes import LaneBlocks, blocks_inward, blocks_outward, lane_blocks
from recursive_dyn.maximal.sparse.tree_parts import in_parts

PARTS = 2
LARGE = 4096  # links from which on threads take less than it takes to have them begin and end some ten times a step


class StepParts:
    """``over_step`` and ``landing`` of one simulation's rows and bodies, without light bodies."""

    def __init__(
        self, rows: StepRows, bodies: BodyArrays, acting: ElementCall, whirl: Whirl, assemblies: np.ndarray
    ) -> None:
        orders, links = in_parts(rows.equations.order.tree, PARTS), len(bodies.change)
        made = [lane_blocks(order, rows.system.heights) for order in orders]
        calls = [rows.calls() for _ in range(PARTS)]
        self._kept = made, calls
        self._parts = [
            Part(_part_of(calls[k][0], k), _share(len(rows.order), k), _share(links, k), made[k][0])
            for k in range(PARTS)
        ]  # fmt: skip
        it, s, solving, on = rows.arrays, rows.system, rows.solving, bodies
        rest = made[PARTS][0]
        self._share = on.settings
        self._began = [began.bind(it, on)]
        self._rows, self._solve = self._each(rows_followed, it, on, solving), self._each(eliminated, s, on, solving)
        self._between, self._changed = [between.bind(rest, s, on, solving)], self._each(changed, on)
        self._over_step: list[Sequence[Callable[[], Any]]] = [
            self._began, self._rows, [accelerated.bind(rows.loops, it, s, on, acting)], self._each(freed, it, s, on),
            self._each(aimed, it, s, on), self._solve, self._between, self._changed, self._each(forced, on),
            [whirled.bind(it, s, on, whirl)],
        ]  # fmt: skip
        self._beside, self._erring = rows_beside.bind(rows.loops, it, on.parameters), self._each(erring, it, s, on)
        self._most = self._each(most_changed, on)
        self._displaced = displaced.bind(on.inertias, assemblies, whirl.roots, on.q, on.v, on.change)

    def _each(self, phase: Compiled[..., Any], *given: Any) -> list[Callable[[], Any]]:
        return [phase.bind(part, *given) for part in self._parts]

    def over_step(self) -> int:
        """As ``step_phases.over_step``."""
        return _said(self._over_step, threads())

    def landing(self) -> int:
        """As ``step_phases.landing``."""
        count = threads()
        for _ in range(DISPLACEMENTS):
            said = _said([self._began, self._rows], count)
            if said != FOUND or not self._beside():
                return max(said, AWAY)
            if max(at_once(self._erring, count)) <= MET:
                return FOUND
            said = _said([self._solve, self._between, self._changed], count)
            most = max(at_once(self._most, count))
            if said != FOUND or most == np.inf:
                return LOST
            self._displaced()
            if self._share[1] < 1.0 or most < SMALL:
                break
        return FOUND


class StepChunks:
    """The same of chunks of trees, which begin at ``starts``."""

    def __init__(
        self, rows: StepRows, bodies: BodyArrays, acting: ElementCall, whirl: Whirl, assemblies: np.ndarray,
        starts: np.ndarray,
    ) -> None:  # fmt: skip
        it, s, on, solving = rows.arrays, rows.system, bodies, rows.solving
        count = len(starts) - 1
        made = [chunks_of(rows, starts[count * k // PARTS : count * (k + 1) // PARTS + 1]) for k in range(PARTS)]
        self._kept = made
        roots = whirl.roots
        self._landing = [[chunks_landing.bind(chunks, it, s, on, solving, assemblies, roots) for chunks, _ in made]]
        self._over_step: list[Sequence[Callable[[], int]]] = [
            [accelerated.bind(rows.loops, it, s, on, acting)],
            [chunks_over_step.bind(chunks, it, s, on, solving) for chunks, _ in made],
            [whirled.bind(it, s, on, whirl)],
        ]

    def over_step(self) -> int:
        """As ``step_phases.over_step``."""
        return _said(self._over_step, threads())

    def landing(self) -> int:
        """As ``step_phases.landing``."""
        return _said(self._landing, threads())


def step_of(
    rows: StepRows, bodies: BodyArrays, acting: ElementCall, whirl: Whirl, assemblies: np.ndarray
) -> StepParts | StepChunks:
    """Of many bodies: chunk by chunk, if they are trees by themselves that nothing but their joints acts in.

    assemblies (nl,): as of Joints.
    """
    starts, n = starts_of(rows, whirl.roots), len(assemblies)
    beside = bodies.elements.address, len(acting.links), len(acting.joints), len(bodies.q) - 7 * n
    if starts is None or len(starts) <= PARTS or any(beside) or (assemblies >= 0).any():
        return StepParts(rows, bodies, acting, whirl, assemblies)
    return StepChunks(rows, bodies, acting, whirl, assemblies, starts)


def _part_of(calls: KindCalls, part: int) -> KindCalls:
    """A share of each kind's joints, whole registers of them but for the last."""
    count, width = calls.numbers[:, 1], jit.batch_width()
    ends = [count * k // PARTS // width * width if k < PARTS else count for k in (part, part + 1)]
    return some_calls(calls, np.arange(len(count)), *ends)


def _said(stages: Sequence[Sequence[Callable[[], int]]], count: int) -> int:
    """Of stages, one after the other, the first that is not FOUND."""
    for stage in stages:
        said = max(at_once(stage, count))
        if said != FOUND:
            return int(said)
    return FOUND


def _share(count: int, part: int) -> np.ndarray:
    """From which to which of so many a part has."""
    return np.array([count * part // PARTS, count * (part + 1) // PARTS])


@compiled
def aimed(part: Part, it: RowArrays, s: SystemArrays, on: BodyArrays) -> int:
    """``targeted``, whatever rows are solved for."""
    targeted(part, it, s, on)
    return FOUND


@compiled
def between(rest: LaneBlocks, s: SystemArrays, on: BodyArrays, solving: SparseEquations) -> int:
    """What the trees of all parts hang on."""
    blocks_inward(rest, solving.rows, solving.D, on.change, s.c, 0, len(rest.address))
    if solve_between(solving, on.change, s.c) >= 0:
        return LOST
    blocks_outward(rest, on.change, 0, len(rest.address))
    return FOUND

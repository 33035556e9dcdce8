"""The limits of balls, and of joints of several charts, as rows of a step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.problem import GeneralizedRows
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, evaluated, program_call
from recursive_dyn.dynamics.turn_rows import ROWS, turn_rates, turn_row
from recursive_dyn.model.ball_limits import MOST, SPEEDS, BallLimits, ball_limits
from recursive_dyn.simulation.joint_laws.row_writing import plain_row, rests, within_reach


class BallSources(NamedTuple):
    """limits (t); turns: program of how joints of several charts turn, where any has limits; asked (3 t,): 1 for limits
    that are rows wherever the ball is."""

    limits: BallLimits
    turns: ProgramCall
    asked: Integers


def ball_sources(dynamics: Dynamics) -> BallSources:
    """Those of a model."""
    own = ball_limits(dynamics.model)
    turns = program_call(dynamics, "chart_motion") if (own.motions >= 0).any() else NO_PROGRAM
    return BallSources(own, turns, np.zeros(ROWS * len(own.slots), dtype=np.int64))


@compiled
def ball_rows(
    it: BallSources,
    rows: GeneralizedRows,
    numbers: Integers,
    earlier: Floats,
    start: int,
    base: int,
    q: Floats,
    v: Floats,
    h: float,
    parameters: Floats,
    still: Integers,
) -> int:
    """Write those within reach at q, v, numbered from ``base`` on, from row ``start`` on; where they end. still: as of
    ``active_rows``."""
    i, rates, count = start, np.empty(MOST), len(it.limits.slots)
    if it.turns.address:
        evaluated(it.turns, q, q[:0], q[:0], parameters)
    for kind in range(ROWS):
        for k in range(count):
            own, slot, size = kind * count + k, it.limits.slots[k], it.limits.counts[k]
            if rests(still, slot):
                continue
            gap = _gap(it, k, kind, q, rates)
            if gap < np.inf and (within_reach(gap, _along(it, k, rates, v), h) or it.asked[own] != 0):
                plain_row(rows, numbers, earlier, i, base + own)
                at = rows.first[i]
                for j in range(size):
                    rows.slots[at + j], rows.values[at + j] = slot + j, rates[j]
                rows.first[i + 1] = at + size
                rows.gaps[i], rows.stops[i], rows.low[i], rows.high[i] = gap, True, 0.0, np.inf
                i += 1
    return i


@compiled
def balls_passed(it: BallSources, q: Floats, v: Floats, h: float, way: Floats, slop: float, still: Integers) -> bool:
    """Whether the ``way`` (nv,) from q, where ``ball_rows`` was asked, leads beyond limits that were no rows yet: from
    now on they are."""
    found, rates, count = False, np.empty(MOST), len(it.limits.slots)
    for kind in range(ROWS):
        for k in range(count):
            own, gap = kind * count + k, _gap(it, k, kind, q, rates)
            near = within_reach(gap, _along(it, k, rates, v), h)
            new = it.asked[own] == 0 and not rests(still, it.limits.slots[k])
            if gap + _along(it, k, rates, way) < -slop and new and not near:
                it.asked[own] = 1
                found = True
    return found


@compiled
def _gap(it: BallSources, k: int, kind: int, q: Floats, rates: Floats) -> float:
    """The gap of a row, infinite where there is none, and its rates by the ball's velocities."""
    turns, motion = np.empty(SPEEDS), it.turns.outputs
    gap = turn_row(it.limits, k, kind, q if it.limits.motions[k] < 0 else motion, turns)
    return gap if turn_rates(it.limits, k, turns, motion, rates) else np.inf


@compiled
def _along(it: BallSources, k: int, rates: Floats, v: Floats) -> float:
    """The rate of a gap at v, or the change of it by a way (nv,)."""
    total = 0.0
    for j in range(it.limits.counts[k]):
        total += rates[j] * v[it.limits.slots[k] + j]
    return total

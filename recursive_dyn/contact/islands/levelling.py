"""Heavy and light bodies in one island: first all are nearly alike, then step by step what they are.

A light body between heavy ones passes on forces a million times its own momentum: from most impulses Newton's method
comes to a standstill. Where the light ones weigh more it finds a solution from nothing, and from this those of lighter
ones, if each is near the last: the steps get shorter where it fails, and longer where it does not.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import ContactRows, Island, ScalarRows, accumulate
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.islands.squeezing import better, clear
from recursive_dyn.contact.newton.newton import newton
from recursive_dyn.contact.rows.sides import mobility
from recursive_dyn.contact.sweeps.mixing import read, write
from recursive_dyn.contact.sweeps.sweep import sweep
from recursive_dyn.contact.tuning import (
    FAILED,
    FIRST_LEVEL,
    FIRST_OF_MANY,
    FIRST_SWEEPS,
    FOLLOWED,
    LEAST_FALL,
    LEVEL_FALL,
    LEVELS,
    LEVELS_FORESEE,
)


@compiled
def levelled(it: Island, kept: Floats, change: float, iterations: int, tolerance: float) -> float:
    """Solve an island from nothing, and from light bodies that weigh more than they do; what the last sweep changed of
    the best impulses, which the island's are then.

    kept: room for impulses; change: what the last sweep changed of the island's; iterations: at most, on each level.
    """
    lengths = np.zeros(len(it.y))
    least, end = _lengths(it, lengths)
    if end <= FIRST_LEVEL:
        return change
    there, good = _copy(it), np.empty(len(kept))
    for foreseen in LEVELS_FORESEE:
        if change <= FAILED or late(it.time):
            break
        read(it, kept)
        clear(it)
        _go_down(it, there, lengths, least, end, good, iterations, tolerance, foreseen)
        accumulate(it)
        change = better(it, kept, change, sweep(it, 0.0))
    return change


@compiled
def _go_down(
    it: Island, there: Island, lengths: Floats, least: float, end: float, good: Floats, iterations: int,
    tolerance: float, foreseen: float,
) -> None:  # fmt: skip
    """From the first level to the island itself, at ``end``; there: a copy of it, good: room for impulses."""
    reached, level, fall = 0.0, FIRST_LEVEL, LEVEL_FALL
    for _ in range(LEVELS):
        if reached >= end or late(it.time):
            break
        _lighten(it, there, lengths, least * np.sqrt(level))
        miss = _follow(there, iterations, tolerance, foreseen, reached == 0.0)
        if miss <= FOLLOWED or reached == 0.0 or fall <= LEAST_FALL:
            read(there, good)
            reached, fall = level, fall * fall
        else:
            write(there, good)
            fall = np.sqrt(fall)
        level = min(fall * reached, end)


@compiled
def _follow(it: Island, iterations: int, tolerance: float, foreseen: float, begins: bool) -> float:
    """Improve the impulses of a level, from nothing or from those of the last; what the last sweep changed."""
    miss = 0.0
    accumulate(it)
    for _ in range(FIRST_SWEEPS if begins else 1):
        miss = sweep(it, 0.0)
    _, miss = newton(it, 0, iterations, tolerance, miss, 0 if begins else FIRST_OF_MANY, foreseen, 0.0)
    return miss


@compiled
def _lengths(it: Island, lengths: Floats) -> tuple[float, float]:
    """The largest coefficient of each whitened coordinate, the less the heavier what it moves; the least of these, and
    how many times as heavy the heaviest is as the lightest."""
    rows, lines = it.rows, it.lines
    for c in it.contacts:
        at = rows.start[c]
        for k in range(rows.first[c], rows.first[c + 1]):
            for _ in range(rows.height[c]):
                lengths[rows.slots[k]] = max(lengths[rows.slots[k]], abs(rows.values[at]))
                at += 1
    for s in it.scalars:
        for k in range(lines.first[s], lines.first[s + 1]):
            lengths[lines.slots[k]] = max(lengths[lines.slots[k]], abs(lines.values[k]))
    least, most = np.inf, 0.0
    for slot in it.slots:
        if lengths[slot] > 0.0:
            least, most = min(least, lengths[slot]), max(most, lengths[slot])
    return least, (most / least) * (most / least) if most > 0.0 else 0.0


@compiled
def _copy(it: Island) -> Island:
    """The same island with coefficients and mobilities of its own."""
    r, s = it.rows, it.lines
    rows = ContactRows(
        r.links, r.axes, r.first, r.slots, r.start, r.values.copy(), r.kind, r.height, r.speed, r.before, r.coasting,
        r.forced, r.rising, r.beside, r.lasting, r.mobility.copy(),
    )  # fmt: skip
    lines = ScalarRows(
        s.first, s.slots, s.values.copy(), s.speed, s.target, s.low, s.high, s.soft, s.mobility.copy()
    )  # fmt: skip
    return Island(rows, lines, it.targets, it.frictions, it.contacts, it.scalars, it.slots, it.P, it.Q, it.y, it.time)


@compiled
def _lighten(it: Island, there: Island, lengths: Floats, most: float) -> None:
    """The copy's coefficients: those of the island, of whose coordinates none is longer than ``most``."""
    shares = np.full(len(lengths), 1.0)
    for slot in it.slots:
        if lengths[slot] > most:
            shares[slot] = most / lengths[slot]
    rows, lines = there.rows, there.lines
    rows.values[:] = it.rows.values
    for c in it.contacts:
        mobility(rows, c, shares)
    for s in it.scalars:
        lines.mobility[s] = 0.0
        for k in range(lines.first[s], lines.first[s + 1]):
            lines.values[k] = shares[lines.slots[k]] * it.lines.values[k]
            lines.mobility[s] += lines.values[k] * lines.values[k]

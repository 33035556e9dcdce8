"""Other ways where what Newton's method ended at is no solution.

Coulomb's law makes no convex problem: from most impulses the method may come to a standstill. Along the central path it
does not (``central_path``), though that takes ten times as long; light bodies between heavy ones may weigh more at
first (``levelling``); few unknowns are begun with from elsewhere, again and again. Where contacts spin or roll with
friction it goes on, after sweeps, for long: from elsewhere it is no better.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.islands.levelling import levelled
from recursive_dyn.contact.islands.squeezing import better, clear, squeezed
from recursive_dyn.contact.newton.newton import from_nothing, has_moments, newton
from recursive_dyn.contact.sweeps.mixing import read, write
from recursive_dyn.contact.sweeps.sweep import sweep
from recursive_dyn.contact.tuning import (
    BEST,
    FAILED,
    FAR_INSIDE,
    FEW_UNKNOWNS,
    FIRST_OF_FEW,
    FIRST_OF_MANY,
    FIRST_RESCUE,
    FIRST_RESCUES,
    GIVEN,
    MANY_UNKNOWNS,
    MOMENTS_AGAIN,
    MOMENTS_RESCUE,
    NOTHING,
    PATH_FROM,
    PATH_STEPS,
    RESCUE,
    RESCUED,
    RESCUES,
    RESCUES_FORESEE,
    RESCUES_INSIDE,
    SWEEPS_TO_RESCUE,
    SWEPT,
)


@compiled
def rescued(it: Island, given: Floats, kept: Floats, change: float, iterations: int, tolerance: float) -> float:
    """Try one way after the other while the last sweep changed more than is right for so many unknowns, or than the
    tolerance if iterations are many; what it changed of the best, which the island's impulses are then.

    given: impulses that Newton's method began with; kept: room for impulses.
    """
    if has_moments(it) and len(kept) > FEW_UNKNOWNS:
        return _gone_on(it, kept, change, iterations, tolerance)
    few, missed = len(kept) <= FEW_UNKNOWNS, RESCUED if len(kept) <= MANY_UNKNOWNS else FAILED
    if few or iterations >= PATH_FROM:
        missed = tolerance
    if change > missed and not has_moments(it):
        read(it, kept)
        change = better(it, kept, change, from_nothing(it, PATH_STEPS * iterations, tolerance))
    if change > FAILED:
        change = levelled(it, kept, change, FIRST_RESCUE * iterations, tolerance)
    most, first = FIRST_RESCUE * iterations, FIRST_OF_FEW if len(kept) <= MANY_UNKNOWNS else FIRST_OF_MANY
    if few:
        most = RESCUE * iterations
    for k in range(len(RESCUES) if few else FIRST_RESCUES):
        if change <= missed or late(it.time):
            break
        read(it, kept)
        margin = FAR_INSIDE if few and RESCUES[k] == NOTHING else RESCUES_INSIDE[k]
        miss = change if RESCUES[k] == BEST else _elsewhere(it, given, RESCUES[k])
        _, found = newton(it, 0, most, tolerance, miss, first, RESCUES_FORESEE[k], margin)
        change = better(it, kept, change, found)
    return change


@compiled
def _gone_on(it: Island, kept: Floats, change: float, iterations: int, tolerance: float) -> float:
    """Sweeps and Newton steps in turn, as ``rescued``."""
    best = change
    read(it, kept)
    for _ in range(MOMENTS_AGAIN):
        if best <= FAILED or late(it.time):
            break
        for _ in range(SWEEPS_TO_RESCUE):
            change = sweep(it, 0.0)
        _, change = newton(it, 0, MOMENTS_RESCUE * iterations, tolerance, change, FIRST_OF_MANY, 0.0, 0.0)
        if change < best and not squeezed(it):
            best = change
            read(it, kept)
    write(it, kept)
    return best


@compiled
def _elsewhere(it: Island, given: Floats, begin: int) -> float:
    """Impulses to begin with that are not the best; by how much, m/s, laws are missed at most."""
    miss = np.inf
    if begin == GIVEN:
        write(it, given)
        return miss
    clear(it)
    if begin == SWEPT:
        for _ in range(SWEEPS_TO_RESCUE):
            miss = sweep(it, 0.0)
    return miss

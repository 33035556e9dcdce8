"""Another way where what Newton's method ended at is no solution.

Coulomb's law makes no convex problem: from most impulses the method may come to a standstill. Along the central path it
does not (``central_path``), though that takes several times as long.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.islands.squeezing import better
from recursive_dyn.contact.newton.block_equations import block_equations
from recursive_dyn.contact.newton.central_path import along_path, from_outside
from recursive_dyn.contact.newton.natural import trial
from recursive_dyn.contact.newton.newton import ended, has_moments
from recursive_dyn.contact.sweeps.mixing import read
from recursive_dyn.contact.tuning import (
    AT_FIRST,
    CAREFUL,
    CAREFULLY,
    EACH_LOOK,
    FAILED,
    FEW_UNKNOWNS,
    FIRST_LOOK,
    GIVES,
    LAST_STEPS,
    LATER_LOOK,
    LONG,
    LONG_LAST_STEPS,
    LONG_UNKNOWNS,
    LONGEST,
    MANY_UNKNOWNS,
    PATH_FROM,
    PATH_STEPS,
    RESCUED,
    UNEVEN,
    WITH_MOMENTS,
)


@compiled
def rescued(it: Island, kept: Floats, change: float, iterations: int, tolerance: float) -> float:
    """Solve an island from nothing, if the last sweep changed more than is right for so many unknowns: or than the
    tolerance where iterations are many, unknowns few or masses far apart; what it changed of the best impulses, which
    the island's are then.

    kept: room for impulses.
    """
    if change <= tolerance:
        return change
    missed, most = RESCUED if len(kept) <= MANY_UNKNOWNS else FAILED, iterations // 2
    few = WITH_MOMENTS if has_moments(it) else FEW_UNKNOWNS
    if len(kept) <= few or iterations >= PATH_FROM or _is_uneven(it):
        missed, most = tolerance, PATH_STEPS * iterations
    if change <= missed or late(it.time):
        return change
    aim, share = min(missed, RESCUED), min(float(LONG_UNKNOWNS) / float(len(kept)), 1.0)
    if missed > aim:
        most = PATH_STEPS * iterations
    longest, goes_on, path = max(PATH_STEPS * iterations, int(share * LONG)), False, 0
    while not goes_on and path < CAREFULLY and change > missed and not late(it.time):  # as they lead alike till then
        change, goes_on = _followed(it, kept, change, aim, most, longest, path, tolerance)
        path += 1
    most, path = max(longest, int(share * LONGEST)), CAREFULLY
    while path < len(GIVES) and change > (FAILED if iterations < PATH_FROM else RESCUED) and not late(it.time):
        change, _ = _followed(it, kept, change, aim, most, most, path, tolerance)
        path += 1
    return change


@compiled
def _followed(
    it: Island, kept: Floats, change: float, aim: float, most: int, longest: int, path: int, tolerance: float
) -> tuple[float, bool]:
    """Solve it along a central path, looking now and then whether it is ended from there already; as ``rescued``, and
    whether it would go on.

    path: one of those that GIVES names; aim: what laws may be missed by; most: factorizations, where it is FAILED
    longest.
    """
    these, system, done, look, goes_on = trial(it), block_equations(it), 0, FIRST_LOOK, True
    way, steps = from_outside(it, these, system, AT_FIRST[path] > 0, GIVES[path]), LAST_STEPS
    if path >= CAREFULLY:
        way.place[3], steps = CAREFUL, LONG_LAST_STEPS
    read(it, kept)
    while goes_on and change > aim and done < (longest if change > FAILED else most) and not late(it.time):
        took, arrived = along_path(it, these, system, way, min(look, longest) - done)
        change = better(it, kept, change, ended(it, these, system, steps, tolerance))
        read(it, kept)
        look, done = min(LATER_LOOK * look, look + EACH_LOOK), done + took
        goes_on = not arrived and way.place[2] > 0.0
    return change, goes_on


@compiled
def _is_uneven(it: Island) -> bool:
    """Whether what a contact touches moves by far more on one side than on another from the same impulse: of two bodies
    that are free, each has half of its coordinates."""
    least, most, rows = np.inf, 0.0, it.rows
    for c in it.contacts:
        begin, end, height, at = rows.first[c], rows.first[c + 1], rows.height[c], rows.start[c]
        for side in range(2):
            own, first, last = 0.0, begin + side * ((end - begin) // 2), end if side > 0 else begin + (end - begin) // 2
            for value in rows.values[at + height * (first - begin) : at + height * (last - begin)]:
                own += value * value
            if own > 0.0:
                least, most = min(least, own), max(most, own)
    return most > UNEVEN * least

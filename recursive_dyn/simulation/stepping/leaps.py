"""Flights that leap beyond a limit to where a joint is hardly one, as a coin past the flat: they are taken in parts.

Beside a place where M is singular rates are of any size, and what comes out beyond it is of no use. Parts of a step end
at the limit: its impulses are solved for in each.
"""

from __future__ import annotations

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.simulation.flying.flight import DONE
from recursive_dyn.simulation.report import HALVINGS, UNEXPLAINED
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

LEAPS, MOST_LEAPS = 8, 512  # parts of a step that leapt, or of such a part of it; of a step at most
_HARD = 8  # halvings of a flight that was hard to take


@compiled
def leapt(s: StepArrays, code: int, tally: Floats) -> bool:
    """Whether a flight that ended with a code and this tally is to be taken in parts, each with its limits: where a
    coordinate has some, and it left energy unexplained, led to numbers that are too large, or was hard to take and led
    beyond one."""
    it, beyond = s.sources, False
    if len(it.slots) == 0 or s.part[1] >= MOST_LEAPS:
        return False
    if code != DONE:  # what is far away from the start on is large for good reason
        far = 0.0
        for x in s.start_q:
            far = max(far, abs(x))
        return (code == drivers.LARGE or code == drivers.BAD_OUTPUT) and far < drivers.MODERATE
    if tally[UNEXPLAINED] > s.start_tally[UNEXPLAINED]:
        return True
    if tally[HALVINGS] >= s.start_tally[HALVINGS] + _HARD:
        for k in range(len(it.slots)):
            beyond = beyond or not it.low[k] <= s.q[it.places[k]] <= it.high[k]
    return beyond

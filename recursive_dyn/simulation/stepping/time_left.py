"""What a step's solves have left of the time that is allowed: parts of a step share it by their length.

A part has what those before it left, as each ends by its own share of the step. A third of that is kept for what is
solved again, with what blows or motors led into, or as a limit was passed: with less than that, what was pressed out of
something there goes back into it. Where a solve takes all that it has, it is looked once more where its blows led, not
three times.
"""

from __future__ import annotations

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.codegen.loops.intrinsics import foreign_int
from recursive_dyn.contact.tuning import PUSHING
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

MICROSECONDS, CLOCK, SPENT, LEFT, PARTS = 10, 11, 12, 13, 14  # of a step's settings
_AGAIN = 1.0 / 3.0  # of its share of the time that a part keeps for what is solved again
_MICRO = 1e-3  # of a nanosecond


@compiled
def begin_step(s: StepArrays) -> None:
    """Of a step, or of its first part, no time was spent."""
    if s.part[0] == 0:
        s.settings[SPENT] = 0.0


@compiled
def allow(s: StepArrays, first: bool) -> None:
    """Note how many microseconds the next solve of this step, or part of one, may take, the first one of it or not."""
    s.settings[LEFT] = s.settings[MICROSECONDS]
    if s.settings[CLOCK] != 0.0:
        share = s.settings[MICROSECONDS] / float(s.part[1])
        left, kept = (float(s.part[0]) + 1.0) * share - s.settings[SPENT], _AGAIN * share
        s.settings[LEFT] = max(left - kept if first else left, kept)


@compiled
def now(s: StepArrays) -> int:
    """Nanoseconds of the clock, 0 where nothing limits the time."""
    return foreign_int(int(s.settings[CLOCK])) if s.settings[CLOCK] != 0.0 else 0


@compiled
def spend(s: StepArrays, began: int) -> None:
    """Count the time of a solve that began then; if that was all that it had, it is looked once at most where blows
    lead, and not at all if it was so before."""
    if s.settings[CLOCK] != 0.0:
        took = _MICRO * float(now(s) - began)
        s.settings[SPENT] += took
        if took >= (1.0 - PUSHING) * s.settings[LEFT]:
            s.into[3] = max(s.into[3] - 2, 0)

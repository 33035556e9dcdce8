"""How rows of a step are written, and when limits are rows."""

from __future__ import annotations

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.problem import GeneralizedRows
from recursive_dyn.contact.tuning import LIMIT_REACH


@compiled
def plain_row(rows: GeneralizedRows, numbers: Integers, earlier: Floats, i: int, number: int) -> None:
    """Row i is the one of this number, and starts from its earlier impulse; all else of it is 0, or still to be set."""
    numbers[i], rows.impulses[i] = number, earlier[number]
    rows.offsets[i], rows.gaps[i], rows.targets[i], rows.compliance[i] = 0.0, 0.0, 0.0, 0.0
    rows.stops[i], rows.holds[i] = False, False


@compiled
def within_reach(gap: float, rate: float, h: float) -> bool:
    """Whether a limit may be reached in a step by what is not in the flight."""
    return gap <= LIMIT_REACH + h * abs(rate)


@compiled
def rests(still: Integers, slot: int) -> bool:
    """Whether a slot is one of those that are marked, where there are marks at all."""
    return len(still) > 0 and still[slot] != 0

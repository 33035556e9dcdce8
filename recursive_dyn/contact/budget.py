"""How long a solve may take: a clock that is looked at between a sweep, or a step of Newton's method, and the next.

time (2,): the address of a clock (``codegen.nanoseconds``), 0 where nothing limits it, and when it is over.
"""

from __future__ import annotations

from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.codegen.loops.intrinsics import foreign_int

ENDLESS = 1 << 60  # ns
_MICRO = 1000.0  # ns


@compiled
def late(time: Integers) -> bool:
    """Whether the time is over."""
    return foreign_int(time[0]) >= time[1] if time[0] != 0 else False


@compiled
def left(time: Integers) -> int:
    """Nanoseconds that are left, or more than any solve takes."""
    return time[1] - foreign_int(time[0]) if time[0] != 0 else ENDLESS


@compiled
def begun(time: Integers, clock: int, microseconds: float) -> int:
    """Start to look at a clock, 0 for none; when so many microseconds are over, ns."""
    time[0] = clock
    return foreign_int(clock) + int(_MICRO * microseconds) if clock != 0 else 0


@compiled
def allot(time: Integers, end: int, share: float) -> None:
    """Let the time be over after a share of what is left up to an end."""
    if time[0] != 0:
        now = foreign_int(time[0])
        time[1] = now + int(share * float(max(end - now, 0)))

"""The methods that solve an island, and which one solves which.

A method is a function (island, iterations, tolerance) -> (sweeps, residual) that starts from the island's impulses P
and Q, leaves there those it found, and in y what they do. Another one is a file of its own, a number here, a case of
``chosen`` and a line of ``solved``.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.islands.island import solve_island
from recursive_dyn.contact.islands.relief import relieved
from recursive_dyn.contact.islands.squeezing import clear
from recursive_dyn.contact.islands.sticking import stick_first
from recursive_dyn.contact.sweeps.sweep import sweep

SWEEPS, STICKING_FIRST = 0, 1


@compiled
def chosen(it: Island) -> int:
    """The method for an island: STICKING_FIRST where something sticks more than it slides, else SWEEPS."""
    for c in it.contacts:
        if it.frictions[c, 0] > it.frictions[c, 1]:
            return STICKING_FIRST
    return SWEEPS


@compiled
def solved(it: Island, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve an island by its method, with the least impulses that do so; as that returns. What ends at impulses that
    are not finite carries what one sweep finds."""
    done, change = 0, 0.0
    if chosen(it) == STICKING_FIRST:
        done, change = stick_first(it, iterations, tolerance)
    else:
        done, change = solve_island(it, iterations, tolerance)
    if not change < np.inf:
        clear(it)
        change = sweep(it, 0.0)
    return done, relieved(it, change, tolerance)

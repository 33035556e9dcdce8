"""Gaps of what bounces in stages: each stage's change of speed acts for as long as was left of the step then.

Where a bounce ends is known as it is solved for, if nothing follows. Where it is passed on, what passed it on has other
speeds from then on: the balls of a row that were led as far apart as the first bounce would have them were in others.
What follows happens when the stage before did, or later by as long as a gap took to close, not half a step ago.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, velocity
from recursive_dyn.contact.islands.passivity import Lent
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.tuning import LEAST_SINCE

# (n, 3) of an island's contacts: the gap where the step ends, as far as is known, and the speed along the normal;
# whether it bounced
Ways = Annotated[np.ndarray, float, 3]
GAP, SPEED, BOUNCED = 0, 1, 2


@compiled
def ways_of(it: Island, problem: ImpulseProblem) -> Ways:
    """As contacts fly, without impulses."""
    ways = np.zeros((len(it.contacts), 3))
    for j in range(len(it.contacts)):
        c = it.contacts[j]
        ways[j, GAP] = problem.contacts.gaps[c]
        ways[j, SPEED] = it.rows.speed[c, 0]
    return ways


@compiled
def go_on_after(it: Island, stage: Island, problem: ImpulseProblem, up: Floats, lent: Lent, ways: Ways) -> None:
    """A stage's impulses act; what bounces in it is ``up`` (n,) from half the slop deep, if nothing else follows."""
    time = LEAST_SINCE * problem.options.h
    for c in stage.contacts:
        if up[c] > 0.0:
            mean = it.targets[c] - 0.5 * lent[c, 0]  # of semi-implicit Euler, whose forces act at once, it may be 0
            time = max(time, up[c] / mean if mean * problem.options.h > up[c] else problem.options.h)
    for j in range(len(it.contacts)):
        now = velocity(it.rows, it.contacts[j], 0, it.y)
        ways[j, GAP] += time * (now - ways[j, SPEED])
        ways[j, SPEED] = now
    j = 0
    for c in stage.contacts:  # in the island's order
        if up[c] > 0.0:
            while it.contacts[j] != c:
                j += 1
            ways[j, GAP], ways[j, BOUNCED] = up[c] - 0.5 * problem.options.slop, 1.0


@compiled
def want_ways(it: Island, problem: ImpulseProblem, ways: Ways, wanted: Floats) -> None:
    """Gaps that are wanted (n or more,) of what bounced."""
    for j in range(len(it.contacts)):
        if ways[j, BOUNCED] > 0.0:
            wanted[it.contacts[j]] = max(ways[j, GAP], -0.5 * problem.options.slop)

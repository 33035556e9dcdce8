"""Contacts that stick more than they slide: all stick as hard as they can until it is known which slip."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island, velocity
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.islands.island import solve_island
from recursive_dyn.contact.tuning import JUDGEMENTS, STICK_SPEED


@compiled
def stick_first(it: Island, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve with every contact sticking as hard as it can; those that slip nevertheless slide, and it is solved again.

    Were each contact judged alone, a body that its contacts can hold together would slip one contact after the other.
    """
    own, total, change = np.empty((len(it.frictions), 5)), 0, 0.0
    for c in it.contacts:
        own[c] = it.frictions[c]
        own[c, 1] = it.frictions[c, 0]
    sticky = Island(it.rows, it.lines, it.targets, own, it.contacts, it.scalars, it.slots, it.P, it.Q, it.y, it.time)
    for _ in range(JUDGEMENTS):
        done, change = solve_island(sticky, iterations, tolerance)
        total += done
        slipped = False
        for c in it.contacts:
            slips, sliding = own[c, 1] > it.frictions[c, 1] and it.P[c, 0] > 0.0, it.frictions[c, 1]
            if slips and slip(it, c) > STICK_SPEED + 10.0 * tolerance:
                own[c, 0], own[c, 1] = sliding, sliding
                slipped = True
        if not slipped or late(it.time):
            break
    return total, change


@compiled
def slip(it: Island, c: int) -> float:
    """How fast a contact slips."""
    v1, v2 = velocity(it.rows, c, 1, it.y), velocity(it.rows, c, 2, it.y)
    return np.sqrt(v1 * v1 + v2 * v2)

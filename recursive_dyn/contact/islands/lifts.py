"""What an island's impulses and corrections lift: positions follow velocities for half of the step that they change."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import dot, lone_of, row, tree_of
from recursive_dyn.contact.rows.spins import turned_by
from recursive_dyn.contact.rows.sustaining import HALF


@compiled
def lift_of(problem: ImpulseProblem, it: Island) -> float:
    """Energy by which an island's impulses lift what floats as it moves on with them for half of the step, J."""
    lift, way, g = 0.0, HALF * problem.options.h, row(problem.lone.gravity)
    if problem.options.position_share != HALF:
        return 0.0
    for c in it.contacts:
        pull, axes = 0.0, it.rows.axes[c]
        for i in range(3):
            pull += it.P[c, i] * dot(row(axes[i]), g)
        for side in range(2):
            if tree_of(problem, c, side) >= 0:
                lift -= way * (1.0 - 2.0 * side) * pull
    return lift


@compiled
def given_by_kicks(problem: ImpulseProblem, it: Island) -> tuple[float, float]:
    """Kinetic energy that corrections bring to lone bodies of an island, and what they lift by, as ``lift_of``, J."""
    won, lift, lone, g = 0.0, 0.0, problem.lone, row(problem.lone.gravity)
    way = HALF * problem.options.h if problem.options.position_share == HALF else 0.0
    seen = np.zeros(len(lone.masses), dtype=np.bool_)
    for c in it.contacts:
        for side in range(2):
            k = lone_of(problem, c, side)
            if k >= 0 and not seen[k]:
                seen[k] = True
                w, v, m = row(lone.flown[k]), row(lone.flown[k, 3:6]), lone.masses[k]
                spin, push = row(lone.kicks[k]), row(lone.kicks[k, 3:6])
                lift -= way * dot(push, g)
                won += dot(push, v) + dot(spin, w)
                won += 0.5 * (dot(push, push) / m + dot(spin, turned_by(lone.inertias[k], spin)))
    return won, lift

"""Corrections of contacts that last are withdrawn where they bring energy in.

A correction (``rows/turning``) is what the last impulse did wrong if it presses on; with what is found then it is no
work. A body that is thrown into a wedge hits it again and again, with impulses that are alike by chance: then what is
found takes nothing of the correction, which throws it out with as much as it had. So what an island's corrections and
impulses do together is looked at, and if it is work the island is solved again without corrections.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.islands.impacts import Bounced
from recursive_dyn.contact.islands.islands import Partition, member, solve_one
from recursive_dyn.contact.islands.passivity import Lent, gain
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import dot, lone_of, row
from recursive_dyn.contact.rows.pushes import moved_by
from recursive_dyn.contact.rows.spins import spin_of, turned_by
from recursive_dyn.contact.spinning import is_alone
from recursive_dyn.contact.tuning import OVERDONE


@compiled
def withdraw(
    problem: ImpulseProblem, whole: Island, these: Partition, kicked: Floats, pushes: Floats, shares: Floats,
    wanted: Floats, bounced: Bounced,
) -> tuple[int, float]:  # fmt: skip
    """Solve islands again whose corrections bring energy in, without these; (most sweeps, largest residual) of theirs.

    kicked: whitened velocities that corrections made, among those of ``pushes``; shares, wanted, bounced as in a solve.
    """
    back, sweeps, residual, some = np.zeros(len(kicked)), 0, 0.0, False
    none, again = np.zeros((len(whole.targets), 3)), np.zeros(these.total[0], dtype=np.bool_)
    for k in range(these.total[0]):
        it = member(whole, these, k)
        if _is_corrected(problem, it, shares) and is_alone(problem, it) and _is_overdone(problem, it, none):
            again[k] = some = True
            _take_back(problem, it, kicked, pushes, back, shares, bounced)
    if some:
        moved_by(whole.rows, whole.lines, back)
    for k in range(these.total[0]):
        if again[k]:
            done, change = solve_one(member(whole, these, k), problem, wanted, bounced, none)
            sweeps, residual = max(sweeps, done), max(residual, change)
    return sweeps, residual


@compiled
def _is_corrected(problem: ImpulseProblem, it: Island, shares: Floats) -> bool:
    """Whether any contact of an island is; none of those that glide, whose impulses do change within a step."""
    some = False
    for c in it.contacts:
        if problem.contacts.gliding[c] != 0:
            return False
        some = some or shares[c] != 0.0
    return some


@compiled
def _is_overdone(problem: ImpulseProblem, it: Island, none: Lent) -> bool:
    """Whether corrections and impulses bring in more than their share of what an island's bodies have."""
    won, moves, lone = gain(it, none)[0], 0.0, problem.lone
    seen = np.zeros(len(lone.masses), dtype=np.bool_)
    for c in it.contacts:
        for side in range(2):
            k = lone_of(problem, c, side)
            if k >= 0 and not seen[k]:
                seen[k] = True
                w, v, m = row(lone.flown[k]), row(lone.flown[k, 3:6]), lone.masses[k]
                spin, push = row(lone.kicks[k]), row(lone.kicks[k, 3:6])
                moves += 0.5 * (m * dot(v, v) + dot(w, spin_of(lone.inertias[k], w)))
                won += dot(push, v) + dot(spin, w)
                won += 0.5 * (dot(push, push) / m + dot(spin, turned_by(lone.inertias[k], spin)))
    return won > OVERDONE * moves


@compiled
def _take_back(
    problem: ImpulseProblem, it: Island, kicked: Floats, pushes: Floats, back: Floats, shares: Floats, bounced: Bounced
) -> None:
    for slot in it.slots:
        back[slot] = -kicked[slot]
        pushes[slot] -= kicked[slot]
    for c in it.contacts:
        shares[c] = bounced[c, 0] = bounced[c, 1] = 0.0
        for side in range(2):
            k = lone_of(problem, c, side)
            if k >= 0:
                for i in range(6):
                    problem.lone.kicks[k, i] = 0.0

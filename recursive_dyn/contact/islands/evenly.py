"""Even pressure where something is held between others and begins to slip.

What presses from two sides may press at any of its contacts: whether it holds is not decided by Coulomb's law, which is
met by all on one corner, about which it turns, as by an even pressure that holds it. Sweeps find what comes first in
their order. Bodies that give way however little press evenly: so an island is solved again from there, as all of its
contacts find it at once, each with its part of what they touch, and the solution that moves less is taken.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Flags, compiled
from recursive_dyn.contact.blocks import Island, add_three
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.islands.methods import solved
from recursive_dyn.contact.islands.passivity import Lent, gain
from recursive_dyn.contact.islands.squeezing import clear
from recursive_dyn.contact.islands.sticking import slip
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import closing_before, dot, length, row
from recursive_dyn.contact.sweeps.mixing import read, unknowns, write
from recursive_dyn.contact.sweeps.sweep import met_alone
from recursive_dyn.contact.tuning import BALANCED, FEW_AGAIN, FEW_HELD, SLIDING, SPREADS, STICK_SPEED, STILL_STEPS


@compiled
def solved_evenly(it: Island, problem: ImpulseProblem, none: Lent) -> tuple[int, float]:
    """Solve an island, again from an even pressure where that may hold what slips; (sweeps, residual).

    none (n, 3): zeros, for ``gain``.
    """
    count, iterations, tolerance = len(it.contacts), problem.options.iterations, problem.options.tolerance
    if count < 4 or count > FEW_HELD:
        return solved(it, iterations, tolerance)
    stuck = np.empty(count, dtype=np.bool_)
    for j in range(count):
        stuck[j] = not _at_bound(it, it.contacts[j])
    done, change = solved(it, iterations, tolerance)
    if change > tolerance or late(it.time) or not _slips_between(it, problem, stuck, STICK_SPEED + 10.0 * tolerance):
        return done, change
    kept, moves = np.empty(unknowns(it)), gain(it, none)[0]
    read(it, kept)
    _spread(it)  # not quite at rest yet: whether it holds is known once it is solved from there
    again, found = solved(it, min(iterations, FEW_AGAIN), tolerance)
    if found > tolerance or gain(it, none)[0] >= moves:
        write(it, kept)
        return done + again, change
    return done + again, found


@compiled
def _at_bound(it: Island, c: int) -> bool:
    """Whether a contact presses, and friction does what it can."""
    P, bound = it.P[c], it.frictions[c, 1] * it.P[c, 0]
    return P[0] > 0.0 and P[1] * P[1] + P[2] * P[2] >= (1.0 - SLIDING) * bound * bound


@compiled
def _slips_between(it: Island, problem: ImpulseProblem, stuck: Flags, slow: float) -> bool:
    """Whether a contact slips that stuck before, or was not there, of a body that others hold from another side, and
    at rest on one of them when the step began: forces may pull at what is held by any acceleration."""
    g = problem.lone.gravity
    still = max(STILL_STEPS * problem.options.h * length(g[0], g[1], g[2]), problem.options.rest_speed)
    for j in range(len(stuck)):
        c = it.contacts[j]
        if not stuck[j] or not _at_bound(it, c) or slip(it, c) <= slow:
            continue
        u, axes = closing_before(problem, c), it.rows.axes
        if length(0.0, dot(row(axes[c, 1]), u), dot(row(axes[c, 2]), u)) > still:
            continue
        for side in range(2):
            if it.rows.links[c, side] >= 0 and _is_held(it, it.rows.links[c, side]):
                return True
    return False


@compiled
def _is_held(it: Island, link: int) -> bool:
    """Whether what presses on a link does so from several sides, and most of it against each other."""
    whole, x, y, z, axes = 0.0, 0.0, 0.0, 0.0, it.rows.axes
    for c in it.contacts:
        for side in range(2):
            if it.rows.links[c, side] == link:
                normal = it.P[c, 0] * (1.0 - 2.0 * side)
                whole += it.P[c, 0]
                x, y, z = x + normal * axes[c, 0, 0], y + normal * axes[c, 0, 1], z + normal * axes[c, 0, 2]
    return x * x + y * y + z * z < (BALANCED * whole) ** 2


@compiled
def _spread(it: Island) -> None:
    """Impulses that all contacts find at once, each with its part of the links that it touches."""
    count, y = len(it.contacts), it.y
    parts, steps = np.empty(count), np.empty((count, 3))
    clear(it)
    for j in range(count):
        parts[j] = _sharing(it, it.contacts[j])
    for _ in range(SPREADS):
        for j in range(count):
            steps[j, 0], steps[j, 1], steps[j, 2] = met_alone(it, it.contacts[j], parts[j], 0.0)
        for j in range(count):
            c = it.contacts[j]
            for i in range(3):
                steps[j, i] -= it.P[c, i]
                it.P[c, i] += steps[j, i]
            add_three(it.rows, c, steps[j, 0], steps[j, 1], steps[j, 2], y)


@compiled
def _sharing(it: Island, c: int) -> float:
    """How many contacts share the links that one touches, of that with more."""
    links, most = it.rows.links, 1.0
    for side in range(2):
        found = 0.0
        for other in it.contacts:
            touches = links[other, 0] == links[c, side] or links[other, 1] == links[c, side]
            found += 1.0 if links[c, side] >= 0 and touches else 0.0
        most = max(most, found)
    return most

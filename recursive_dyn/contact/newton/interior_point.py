"""An island by an interior-point method on Coulomb's law itself.

Newton's method on s z = nu -> 0 for every contact and bound at once, in Nesterov and Todd's scaling, with Mehrotra's
corrector. Moments of spinning and rolling friction stay as they are. Where a step comes to nothing, as the path is that
of no convex problem, it begins anew from the impulses it has.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.newton.assembly import assemble
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations
from recursive_dyn.contact.newton.block_factors import factor, solve
from recursive_dyn.contact.newton.interior import Interior, interior
from recursive_dyn.contact.newton.interior_contacts import (
    aim_contact,
    answer,
    change_contact,
    contact_gap,
    contact_room,
    enter_cone,
    gone,
    times,
)
from recursive_dyn.contact.newton.interior_rows import aim_row, answer_row, change_row, enter_bounds, row_gap, row_room
from recursive_dyn.contact.newton.natural import Trial, follow, has_room, missed
from recursive_dyn.contact.newton.node_rows import along, along_three, push, push_three, still
from recursive_dyn.contact.sweeps.mixing import read, unknowns, write
from recursive_dyn.contact.tuning import BOUNDARY, CENTRE, GIVE, JAMMED, LEAST_MARGIN, MARGIN, MOST_MARGIN, STALLS


@compiled
def interior_point(it: Island, these: Trial, system: BlockEquations, most: int, tolerance: float) -> tuple[int, float]:
    """Improve an island's impulses by at most so many steps; (how many, by how much, m/s, the laws are missed)."""
    kept, at, y = np.empty(unknowns(it)), interior(len(it.contacts), len(it.scalars)), still(system)
    follow(it, these, system, y)
    best = missed(it, these)
    read(it, kept)
    _begin(it, these, at, system, y, _margin(best))
    for e in range(len(it.contacts)):
        these.X[e] = 0.0
    stalled, done = 0, 0
    while best > tolerance and done < most and stalled < STALLS and not late(it.time):
        done += 1
        length = _step(it, these, at, system, y)
        miss = missed(it, these)
        if length < 0.0 or not miss < np.inf:
            break
        stalled += 1
        if miss < best:
            best, stalled = miss, 0
            read(it, kept)
        if length < JAMMED:
            _begin(it, these, at, system, y, _margin(miss))
    write(it, kept)
    return done, best


@compiled
def _margin(miss: float) -> float:
    """How far into the cones to go from impulses that miss the laws by so much."""
    return min(max(MARGIN * miss, LEAST_MARGIN), MOST_MARGIN)


@compiled
def _begin(it: Island, these: Trial, at: Interior, system: BlockEquations, y: Block, margin: float) -> None:
    """Into the cones and bounds, by a margin in m/s, from the island's impulses."""
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            enter_cone(it, these, at, e, margin)
    for e in range(len(it.scalars)):
        if has_room(it, these, e):
            enter_bounds(it, these, at, e, margin)
    _take(it, these, at, system, y)


@compiled
def _take(it: Island, these: Trial, at: Interior, system: BlockEquations, y: Block) -> None:
    """The island's impulses from z, and velocities y, u and w from these."""
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            c, mu = it.contacts[e], it.frictions[it.contacts[e], 1]
            it.P[c, 0], it.P[c, 1], it.P[c, 2] = at.z[e, 0], mu * at.z[e, 1], mu * at.z[e, 2]
    follow(it, these, system, y)


@compiled
def _step(it: Island, these: Trial, at: Interior, system: BlockEquations, y: Block) -> float:
    """One step of predictor and corrector; the share of it that was gone, -1 where its equations have no solution."""
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            answer(it, these, at, e, GIVE * these.scale[e, 0])
    for e in range(len(it.scalars)):
        these.x[e] = 0.0
        if has_room(it, these, e):
            answer_row(it, these, at, e, GIVE * these.line_scale[e])
    assemble(it, system, these.X, these.x)
    if not factor(system):
        return -1.0
    nu = _gap(it, these, at, 0.0)
    _direction(it, these, at, system, 0.0, 0.0)
    way = _room(it, these, at)
    left = _gap(it, these, at, way) / nu
    # the second order counts as far as that step could be gone
    _direction(it, these, at, system, min(max(left * left * left, CENTRE), 1.0) * nu, way * way)
    length = min(1.0, max(BOUNDARY, 1.0 - left) * _room(it, these, at))
    for e in range(len(it.contacts)):
        at.s[e, 0], at.s[e, 1], at.s[e, 2] = gone(at, e, length)
        at.apart[e, 0] += length * at.apart[e, 1]
        for i in range(3):
            at.z[e, i] += length * at.dz[e, i]
    for e in range(len(it.scalars)):
        it.Q[it.scalars[e]] += length * at.dQ[e]
        at.low[e] += length * at.dlow[e]
        at.high[e] += length * at.dhigh[e]
    _take(it, these, at, system, y)
    return length


@compiled
def _direction(it: Island, these: Trial, at: Interior, system: BlockEquations, nu: float, second: float) -> None:
    """Changes of everything that lead to products nu; ``second`` as in ``aim_contact``."""
    step, n, heights = still(system), len(it.contacts), it.rows.height
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            aim_contact(at, e, nu, second)
            c, mu = it.contacts[e], it.frictions[it.contacts[e], 1]
            p0, p1, p2 = times(
                at.M[e], at.aim[e, 0] - at.miss[e, 0], at.aim[e, 1] - at.miss[e, 1], at.aim[e, 2] - at.miss[e, 2]
            )
            push_three(system, e, heights[c], p0, mu * p1, mu * p2, step)
    for e in range(len(it.scalars)):
        if these.x[e] > 0.0:
            aim_row(it, these, at, e, nu, second)
            push(system, n + e, 1, 0, these.x[e] * at.wanted[e], step)
    solve(system, step)
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            change_contact(it, at, e, along_three(system, e, heights[it.contacts[e]], step))
    for e in range(len(it.scalars)):
        if these.x[e] > 0.0:
            change_row(it, these, at, e, along(system, n + e, 1, 0, step))


@compiled
def _room(it: Island, these: Trial, at: Interior) -> float:
    """The largest length <= 1 of the step that stays inside."""
    length = 1.0
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            length = contact_room(at, e, length)
    for e in range(len(it.scalars)):
        if these.x[e] > 0.0:
            length = min(length, row_room(it, at, e))
    return length


@compiled
def _gap(it: Island, these: Trial, at: Interior, length: float) -> float:
    """The mean of all products after a step of that length."""
    total, count = 0.0, 0.0
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            total += contact_gap(at, e, length)
            count += 1.0
    for e in range(len(it.scalars)):
        if these.x[e] > 0.0:
            more, some = row_gap(it, at, e, length)
            total += more
            count += some
    return max(total / count, 1e-300) if count > 0.0 else 1e-300

"""An island by augmented Lagrangians: Newton's method on the laws, as projections, of all contacts at once.

y = A^T p(u(y)), where p are the impulses of the last solution after a step against the velocities (``natural``), is
solved for y; p starts the next. The steps get longer while solutions are found soon, as far as impulses are good (Alart
& Curnier, 1991).
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import SPIN, Island
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.newton.assembly import assemble
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations
from recursive_dyn.contact.newton.block_factors import factor, solve
from recursive_dyn.contact.newton.line_search import go, missing, way_of
from recursive_dyn.contact.newton.natural import Trial, follow, missed, project, read_velocities, spread, take
from recursive_dyn.contact.newton.node_rows import along, along_three, still
from recursive_dyn.contact.sweeps.mixing import read, unknowns, write
from recursive_dyn.contact.tuning import (
    AT_ONCE,
    GIVEN_UP,
    INNER_SHARE,
    LATE,
    LEAST_SHARE,
    MOST_SHARE,
    NEVER,
    SHARE_FACTORS,
    SOON,
    START_SHARE,
    WORSE,
)


@compiled
def augmented(it: Island, these: Trial, system: BlockEquations, most: int, tolerance: float) -> tuple[int, float]:
    """Improve an island's impulses by at most so many Newton steps; (how many, by how much the laws are missed)."""
    kept, share, done, y = np.empty(unknowns(it)), START_SHARE, 0, still(system)
    follow(it, these, system, y)
    best = missed(it, these)
    read(it, kept)
    miss, enough = best, False
    while done < most and not enough and not late(it.time):
        enough = best <= tolerance  # from what only just meets the laws sweeps may lead away: one more
        room = min(NEVER, most - done)
        steps = _newton(it, these, system, share, y, room, max(0.3 * tolerance, INNER_SHARE * miss))
        done += max(steps, 1)
        project(it, these, share, False)
        take(it, these)
        spread(it, these, system, y)
        read_velocities(it, these, system, y)
        found = missed(it, these)
        if found < best:
            best = found
            read(it, kept)
        if (steps < 0 or steps >= room) and not found <= WORSE * miss:
            write(it, kept)
            follow(it, these, system, y)
            miss, share = best, min(GIVEN_UP * share, MOST_SHARE)
        else:
            miss, share = found, min(max(_factor(steps) * share, LEAST_SHARE), MOST_SHARE)
    write(it, kept)
    return done, best


@compiled
def _factor(steps: int) -> float:
    """By how much the share changes after a solution that took so many steps."""
    if steps <= AT_ONCE:
        return SHARE_FACTORS[0]
    if steps <= SOON:
        return SHARE_FACTORS[1]
    return SHARE_FACTORS[2] if steps <= LATE else SHARE_FACTORS[3]


@compiled
def _newton(
    it: Island, these: Trial, system: BlockEquations, share: float, y: Block, most: int, tolerance: float
) -> int:
    """Find y and its velocities for the impulses of one share; Newton steps, -1 where equations have no solution."""
    F, step, way = still(system), still(system), way_of(it)
    missing(it, these, system, share, y, F)
    for k in range(most):
        if _moves(it, system, F) <= tolerance:
            return k
        if late(it.time):
            break
        assemble(it, system, these.X, these.x)
        if not factor(system):
            return -1
        step[:] = F
        solve(system, step)
        go(it, these, system, share, y, step, way, F)
    return most


@compiled
def _moves(it: Island, system: BlockEquations, y: Block) -> float:
    """The largest velocity of a row, m/s, that whitened velocities make."""
    most, n = 0.0, len(it.contacts)
    for e in range(n):
        height = it.rows.height[it.contacts[e]]
        v0, v1, v2 = along_three(system, e, height, y)
        most = max(most, abs(v0), abs(v1), abs(v2))
        for i in range(SPIN, height):
            most = max(most, abs(along(system, e, height, i, y)))
    for e in range(len(it.scalars)):
        most = max(most, abs(along(system, n + e, 1, 0, y)))
    return most

"""An island by augmented Lagrangians: Newton's method on the laws, as projections, of all contacts at once.

y = A^T p(u(y)), where p are the impulses of the last solution after a step against the velocities (``natural``), is
solved for y; p starts the next. The steps get longer while solutions are found soon, as far as impulses are good (Alart
& Curnier, 1991).
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.assembly import assemble
from recursive_dyn.contact.block_equations import Block, BlockEquations
from recursive_dyn.contact.block_factors import factor, solve
from recursive_dyn.contact.blocks import SPIN, Island
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.mixing import read, unknowns, write
from recursive_dyn.contact.natural import Trial, follow, missed, project, read_velocities, spread, take
from recursive_dyn.contact.node_order import LANES
from recursive_dyn.contact.node_rows import add_products, along, along_three, still, total
from recursive_dyn.contact.tuning import (
    AT_ONCE,
    GIVEN_UP,
    HALVINGS,
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
    F, step, ahead = still(system), still(system), still(system)
    _missing(it, these, system, share, y, F)
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
        _search(it, these, system, share, y, step, ahead, F)
    return most


@compiled
def _missing(it: Island, these: Trial, system: BlockEquations, share: float, y: Block, F: Block) -> None:
    """F = A^T p(u) - y at the trial's velocities, which are those of y, with the slopes of p."""
    project(it, these, share, True)
    spread(it, these, system, F)
    for k in range(len(F)):
        _add(F[k], y[k], -1.0)


@compiled
def _add(x: Floats, d: Floats, share: float) -> None:
    """x += share x d, of a node."""
    for j in range(LANES):
        x[j] += share * d[j]


@compiled
def _search(
    it: Island, these: Trial, system: BlockEquations, share: float, y: Block, step: Block, ahead: Block, F: Block
) -> None:
    """Go along a step as far as what is missed, F, becomes less; F, velocities and slopes are those there."""
    size, length, tried, way = _square(F), 1.0, 0.0, 0.0
    best = size
    for k in range(HALVINGS):
        tried = length
        ahead[:] = y
        for node in range(len(y)):
            _add(ahead[node], step[node], length)
        read_velocities(it, these, system, ahead)
        _missing(it, these, system, share, ahead, F)
        found = _square(F)
        if found < best:
            best, way = found, length
            if found < 0.5 * size or k > 3:
                break
        elif way > 0.0:
            break
        length *= 0.5
    if way == 0.0:
        way = length
    for node in range(len(y)):
        _add(y[node], step[node], way)
    if tried != way:
        read_velocities(it, these, system, y)
        _missing(it, these, system, share, y, F)


@compiled
def _square(y: Block) -> float:
    sums = np.zeros(8)
    for node in y:
        add_products(sums, node, node)
    return total(sums)


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

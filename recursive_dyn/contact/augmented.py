"""An island by augmented Lagrangians: Newton's method on the laws, as projections, of all contacts at once.

y = A^T p(u(y)), where p are the impulses of the last solution after a step against the velocities (``natural``), is
solved for y; p starts the next. The steps get longer while solutions are found soon, as far as impulses are good (Alart
& Curnier, 1991).
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.assembly import assemble
from recursive_dyn.contact.block_equations import BlockEquations
from recursive_dyn.contact.block_factors import factor, solve
from recursive_dyn.contact.blocks import SPIN, Island, along, along_three, moving
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.mixing import read, unknowns, write
from recursive_dyn.contact.natural import Trial, missed, project, read_velocities, spread, take
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
    kept, share, done = np.empty(unknowns(it)), START_SHARE, 0
    read_velocities(it, these, it.y)
    best = missed(it, these)
    read(it, kept)
    miss = best
    while done < most and best > tolerance and not late(it.time):
        room = min(NEVER, most - done)
        steps = _newton(it, these, system, share, room, max(0.3 * tolerance, INNER_SHARE * miss))
        done += max(steps, 1)
        project(it, these, share, False)
        take(it, these)
        spread(it, these, it.y)
        read_velocities(it, these, it.y)
        found = missed(it, these)
        if found < best:
            best = found
            read(it, kept)
        if (steps < 0 or steps >= room) and not found <= WORSE * miss:
            write(it, kept)
            read_velocities(it, these, it.y)
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
def _newton(it: Island, these: Trial, system: BlockEquations, share: float, most: int, tolerance: float) -> int:
    """Find y and its velocities for the impulses of one share; Newton steps, -1 where equations have no solution."""
    F, step, ahead = np.zeros(len(it.y)), np.zeros(len(it.y)), np.zeros(len(it.y))
    _missing(it, these, share, it.y, F)
    for k in range(most):
        if _moves(it, F) <= tolerance:
            return k
        if late(it.time):
            break
        assemble(it, system, these.X, these.x)
        if not factor(system):
            return -1
        step[:] = F
        solve(system, step)
        _search(it, these, share, step, ahead, F)
    return most


@compiled
def _missing(it: Island, these: Trial, share: float, y: Floats, F: Floats) -> None:
    """F = A^T p(u) - y at the trial's velocities, which are those of y, with the slopes of p."""
    project(it, these, share, True)
    spread(it, these, F)
    for slot in it.slots:
        F[slot] -= y[slot]


@compiled
def _search(it: Island, these: Trial, share: float, step: Floats, ahead: Floats, F: Floats) -> None:
    """Go along a step as far as what is missed, F, becomes less; F, velocities and slopes are those there."""
    y, size, length, tried, way = it.y, _square(it, F), 1.0, 0.0, 0.0
    best = size
    for k in range(HALVINGS):
        tried = length
        for slot in it.slots:
            ahead[slot] = y[slot] + length * step[slot]
        read_velocities(it, these, ahead)
        _missing(it, these, share, ahead, F)
        found = _square(it, F)
        if found < best:
            best, way = found, length
            if found < 0.5 * size or k > 3:
                break
        elif way > 0.0:
            break
        length *= 0.5
    if way == 0.0:
        way = length
    for slot in it.slots:
        y[slot] += way * step[slot]
    if tried != way:
        read_velocities(it, these, y)
        _missing(it, these, share, y, F)


@compiled
def _square(it: Island, y: Floats) -> float:
    total = 0.0
    for slot in it.slots:
        total += y[slot] * y[slot]
    return total


@compiled
def _moves(it: Island, y: Floats) -> float:
    """The largest velocity of a row, m/s, that whitened velocities make."""
    most = 0.0
    for c in it.contacts:
        v0, v1, v2 = along_three(it.rows, c, 0.0, 0.0, 0.0, y)
        most = max(most, abs(v0), abs(v1), abs(v2))
        for i in range(SPIN, it.rows.height[c]):
            most = max(most, abs(along(it.rows, c, i, 0.0, y)))
    for s in it.scalars:
        most = max(most, abs(moving(it.lines, s, y)))
    return most

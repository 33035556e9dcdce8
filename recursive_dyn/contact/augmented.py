"""An island by augmented Lagrangians: Newton's method on the laws, as projections, of all contacts at once.

y = A^T p(u(y)), where p are the impulses of the last solution after a step against the velocities (``natural``), is
solved for y; p starts the next. The steps get longer as impulses get better (Alart & Curnier, 1991).
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, along, moving
from recursive_dyn.contact.envelope import Envelope, assemble, factor, solve
from recursive_dyn.contact.mixing import read, unknowns, write
from recursive_dyn.contact.natural import Trial, missed, project, read_velocities, spread, take
from recursive_dyn.contact.tuning import (
    HALVINGS,
    INNER_SHARE,
    LEAST_SHARE,
    SHARE_FACTOR,
    START_SHARE,
)


@compiled
def augmented(it: Island, these: Trial, system: Envelope, most: int, tolerance: float) -> tuple[int, float]:
    """Improve an island's impulses by at most so many Newton steps; (how many, by how much the laws are missed)."""
    kept, share, done = np.empty(unknowns(it)), START_SHARE, 0
    read_velocities(it, these, it.y)
    best = missed(it, these)
    read(it, kept)
    miss = best
    while done < most and best > tolerance:
        steps = _newton(it, these, system, share, most - done, max(0.3 * tolerance, INNER_SHARE * miss))
        if steps < 0:
            break
        done += max(steps, 1)
        project(it, these, share, False)
        take(it, these)
        spread(it, these, it.y)
        read_velocities(it, these, it.y)
        miss = missed(it, these)
        if miss < best:
            best = miss
            read(it, kept)
        elif not miss < np.inf:
            break
        share = max(share * SHARE_FACTOR, LEAST_SHARE)
    write(it, kept)
    return done, best


@compiled
def _newton(it: Island, these: Trial, system: Envelope, share: float, most: int, tolerance: float) -> int:
    """Find y and its velocities for the impulses of one share; Newton steps, -1 where equations have no solution."""
    F, ahead, y = np.zeros(len(it.y)), np.zeros(len(it.y)), it.y
    for k in range(most):
        project(it, these, share, True)
        spread(it, these, F)
        for slot in it.slots:
            F[slot] -= y[slot]
        if _moves(it, F) <= tolerance:
            return k
        assemble(it, system, these.X, these.x)
        if not factor(system):
            return -1
        size = _square(it, F)
        solve(system, F)
        _search(it, these, share, F, size, ahead)
    return most


@compiled
def _search(it: Island, these: Trial, share: float, step: Floats, size: float, ahead: Floats) -> None:
    """Go along a step as far as what is missed becomes less; ``size`` is its square now."""
    y, length, best, way = it.y, 1.0, size, 0.0
    start, room = np.empty(len(y)), np.empty(len(y))
    start[:] = y
    room[:] = 0.0
    for k in range(HALVINGS):
        for slot in it.slots:
            ahead[slot] = start[slot] + length * step[slot]
        read_velocities(it, these, ahead)
        project(it, these, share, False)
        spread(it, these, room)
        for slot in it.slots:
            room[slot] -= ahead[slot]
        found = _square(it, room)
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
        y[slot] = start[slot] + way * step[slot]
    read_velocities(it, these, y)


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
        for i in range(it.rows.height[c]):
            most = max(most, abs(along(it.rows, c, i, 0.0, y)))
    for s in it.scalars:
        most = max(most, abs(moving(it.lines, s, y)))
    return most

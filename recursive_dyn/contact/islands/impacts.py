"""Impacts that follow from impacts within a step: one after the other, as a row of balls passes a blow on.

Solved at once with the impact that causes it, the next contact would only be kept from closing: it would take energy
where it approached before, and give some where it parted, P (u before + u after) / 2 of either sign. So what bounces is
solved alone, then what its impulses let bounce, until nothing does; then all contacts as they then are. Constraints and
what else answers impulses (``staged_rows``) do so in every stage. With e = 1 and without friction no stage changes the
energy; none brings any in (``passivity``). Where what meets at once has no common
solution, as a ball in a corner that rubs, it bounces off one after the other, off what it meets fastest first.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island, accumulate, component, velocity
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.islands.methods import solved
from recursive_dyn.contact.islands.passed_gaps import GAP, Ways, go_on_after, want_ways, ways_of
from recursive_dyn.contact.islands.passivity import Lent, solved_without_gain, without_gain
from recursive_dyn.contact.islands.squeezing import clear
from recursive_dyn.contact.islands.staged_rows import Given, guess_rows, note_rows, only_answer, rows_go_on, rows_of_all
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.targets import target_after
from recursive_dyn.contact.tuning import FAILED, IMPACTS, LEAST_IMPACTS

# (n, 2) of contacts: impulses along their normals that bounced, and what forces lend to these afterwards, J, for which
# heights make up
Bounced = Annotated[np.ndarray, float, 2]


@compiled
def has_impacts(it: Island, wanted: Floats, depth: float) -> bool:
    """Whether anything bounces; wanted: gaps at the end, m, from a surface so deep on."""
    bouncing = 0
    for c in it.contacts:
        bouncing += wanted[c] + depth > 0.0
    return bouncing > 0


@compiled
def solve_impacts(
    it: Island, problem: ImpulseProblem, iterations: int, tolerance: float, bounced: Bounced, wanted: Floats
) -> tuple[int, float]:
    """Solve an island in which something bounces, in stages; (sweeps, residual) of the worst one. P and y are of all
    stages together. bounced (n, 2): 0, to be what bounced; wanted (n or more,): gaps at the end, also of what follows.

    Islands with generalized rows that push by themselves are solved at once, as one contact is.
    """
    rows, P, count, given = it.rows, it.P, len(it.contacts), np.empty((len(it.scalars), 6))
    lent, up = np.zeros((len(it.targets), 3)), np.zeros(len(it.targets))
    free, guess, total = np.empty((count, 6)), np.empty((count, 6)), np.zeros((count, 6))
    for j in range(count):
        free[j], guess[j] = rows.speed[it.contacts[j]], P[it.contacts[j]]
    struck, sweeps, residual, stages, singly = np.empty(count, dtype=np.int64), 0, 0.0, 0, False
    if count == 1 or not only_answer(it, problem):
        for c in it.contacts:
            _, up[c] = target_after(problem, rows, c, 0.0, problem.contacts.gaps[c], lent[c])
        sweeps, residual = solved_without_gain(it, lent, iterations, tolerance)
        _count(it, lent, up, bounced)
        return sweeps, residual
    note_rows(it, given)
    ways = ways_of(it, problem)
    active = _struck(it, problem, free, ways, lent, up, struck)
    most = min(max(iterations, LEAST_IMPACTS), IMPACTS)
    while active > 0 and stages < most and (stages == 0 or not late(it.time)):
        stage = _stage(it, struck[0:active] if not singly else _fastest(it, up, struck[0:active]))
        done, change = solved(stage, iterations, tolerance)
        if change > FAILED and active > 1 and not singly:
            singly, stage = True, _stage(it, _fastest(it, up, struck[0:active]))
            done, change = solved(stage, iterations, tolerance)
        done, change = without_gain(stage, lent, iterations, tolerance, done, change)
        _count(stage, lent, up, bounced)
        sweeps, residual, stages = max(sweeps, done), max(residual, change), stages + 1
        go_on_after(it, stage, problem, up, lent, ways)
        _go_on(it, problem, total, given)
        active = _struck(it, problem, free, ways, lent, up, struck)
    for j in range(count):
        c = it.contacts[j]
        P[c] = guess[j]
        if active > 0:
            it.targets[c], up[c] = min(it.targets[c], 0.0), 0.0
            lent[c, 0] = lent[c, 1] = lent[c, 2] = 0.0
    guess_rows(it, given)
    done, change = solved_without_gain(it, lent, iterations, tolerance)
    _count(it, lent, up, bounced)
    rows_of_all(it, given)
    for j in range(count):
        P[it.contacts[j]] += total[j]
        rows.speed[it.contacts[j]] = free[j]
    accumulate(it)
    if stages > 1:
        want_ways(it, problem, ways, wanted)
    return max(sweeps, done), max(residual, change)


@compiled
def _stage(it: Island, struck: Integers) -> Island:
    """The island with these contacts only, from no impulses."""
    clear(it)
    return Island(it.rows, it.lines, it.targets, it.frictions, struck, it.scalars, it.slots, it.P, it.Q, it.y, it.time)


@compiled
def _fastest(it: Island, up: Floats, struck: Integers) -> Integers:
    """Of those that bounce the one that approaches fastest, alone."""
    found, most = 0, -np.inf
    for j in range(len(struck)):
        c = struck[j]
        speed = it.targets[c] - it.rows.speed[c, 0]
        if up[c] > 0.0 and speed > most:
            found, most = j, speed
    return struck[found : found + 1]


@compiled
def _struck(
    it: Island, problem: ImpulseProblem, free: Annotated[np.ndarray, float, 6], ways: Ways, lent: Lent, up: Floats,
    struck: Integers,
) -> int:  # fmt: skip
    """Targets of all contacts after the stages so far, what forces lend them, how far up they bounce, and in ``struck``
    those of the next one, their number: what bounces, and what never gives anything back. None if nothing bounces."""
    bouncing, active = False, 0
    for j in range(len(it.contacts)):
        c = it.contacts[j]
        change = it.rows.speed[c, 0] - free[j, 0]
        it.targets[c], up[c] = target_after(problem, it.rows, c, change, ways[j, GAP], lent[c])
        bounces = up[c] > 0.0
        bouncing = bouncing or bounces
        if bounces or it.frictions[c, 4] == 0.0:
            struck[active] = c
            active += 1
    return active if bouncing else 0


@compiled
def _count(it: Island, lent: Lent, up: Floats, bounced: Bounced) -> None:
    """Add what bounces in a stage."""
    for c in it.contacts:
        if up[c] > 0.0:
            bounced[c, 0] += it.P[c, 0]
            bounced[c, 1] += it.P[c, 0] * lent[c, 0] + it.P[c, 1] * lent[c, 1] + it.P[c, 2] * lent[c, 2]


@compiled
def _go_on(it: Island, problem: ImpulseProblem, total: Annotated[np.ndarray, float, 6], given: Given) -> None:
    """A stage's impulses have acted: contacts and rows move as they let them."""
    rows = it.rows
    for j in range(len(it.contacts)):
        c = it.contacts[j]
        total[j] += it.P[c]
        for i in range(rows.height[c]):
            rows.speed[c, component(rows.kind[c], i)] = velocity(rows, c, i, it.y)
    rows_go_on(it, problem, given)

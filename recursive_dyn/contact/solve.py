"""One solve in machine code: rows, targets, impulses, and what they do to velocities and positions."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import ContactRows, Island, along
from recursive_dyn.contact.budget import begun
from recursive_dyn.contact.gaps import Gaps
from recursive_dyn.contact.islands.impacts import has_impacts
from recursive_dyn.contact.islands.islands import Partition, member, partition, solve_islands, timed
from recursive_dyn.contact.owing import owe_lifts
from recursive_dyn.contact.positions import immobile, open_up, remain, separate
from recursive_dyn.contact.problem import ELSEWHERE, FreeInertias, ImpulseFacts, ImpulseProblem, is_short
from recursive_dyn.contact.push_speed import restrain
from recursive_dyn.contact.rows.balance import measured
from recursive_dyn.contact.rows.bending import bent
from recursive_dyn.contact.rows.jointed_trees import jointed_trees
from recursive_dyn.contact.rows.judging import judged
from recursive_dyn.contact.rows.lasting import length, lone_of, placed
from recursive_dyn.contact.rows.meeting import met, told
from recursive_dyn.contact.rows.pushes import given_pushes, moved_by
from recursive_dyn.contact.rows.reach import reach_of
from recursive_dyn.contact.rows.responses import expand, inverses, twists
from recursive_dyn.contact.rows.rows import contact_rows, links_of
from recursive_dyn.contact.rows.scalar_rows import scalar_rows
from recursive_dyn.contact.rows.straying import without_straying
from recursive_dyn.contact.rows.sustaining import carried, given_halves, noted, owed_halves
from recursive_dyn.contact.rows.targets import contact_targets, limit_targets
from recursive_dyn.contact.rows.turning import corrected, ended
from recursive_dyn.contact.rows.warm_start import matched, started, to_world_axes
from recursive_dyn.contact.sinking import bounded, is_bounded, left_to_lift, put_in, settled, straightened
from recursive_dyn.contact.spinning import give_back, struck_trees
from recursive_dyn.contact.tuning import FAILED, LEAST_SEPARATION, PUSHING, SEPARATION_SWEEPS
from recursive_dyn.contact.withdrawing import withdraw


@compiled
def solve(given: ImpulseProblem) -> ImpulseFacts:
    """The impulses that meet the laws of all contacts and rows, and what they lead to."""
    problem = without_straying(given)
    time, options = np.zeros(2, dtype=np.int64), problem.options
    end = begun(time, options.clock, (1.0 - PUSHING) * options.microseconds)
    layout, factors, links, changes = problem.layout, problem.factors, problem.moving.links, problem.changes
    n, m, free = problem.contacts.size[0], len(problem.rows.offsets), len(problem.free.masses)
    root, V = np.full(layout.nv + 6 * free, 1.0), np.empty((len(layout.parent), 6))
    inverses(layout, factors, links, root)
    twists(layout, factors, problem.v, links, V)
    touched = links_of(problem)
    reach = reach_of(layout, touched, problem.rows)
    found, same = matched(problem.contacts, problem.earlier, n), np.empty(n, dtype=np.int64)
    points = met(problem, touched, found)
    rows = contact_rows(problem, touched, reach, root, V)
    lines = scalar_rows(layout, reach, factors, root, problem.v, problem.rows)
    targets, wanted, began, shares = np.empty(n), np.empty(n + m), np.empty(n + m), np.empty(n)
    placed(problem, found, same)
    contact_targets(problem, rows, found, same, targets, wanted, began)
    limit_targets(problem, lines, wanted[n : n + m], began[n : n + m])
    P, Q, y, pushes = np.zeros((n, 6)), changes.row_impulses, np.zeros(len(root)), np.zeros(len(root))
    pushed, put = given_pushes(problem, root, pushes), put_in(problem, rows, found, began)
    started(rows, problem.earlier, found, P)
    Q[:] = problem.rows.impulses
    these, frictions = partition(layout, rows, lines, problem.moving.slots, free), problem.contacts.frictions[0:n]
    whole = Island(rows, lines, targets, frictions, these.contacts, these.scalars, these.slots, P, Q, y, time)
    before, u, f, powers = np.empty(len(root)), np.zeros(len(root)), np.full(len(root), np.nan), np.empty(n)
    kicked, bounced, weighed = np.zeros(len(root)), np.zeros((n, 2)), measured(problem, root, u, f)
    some = _corrected(problem, whole, found, same, root, before, u, f, shares, powers, kicked)
    if some or pushed:
        for k in range(layout.nv):
            pushes[k] += kicked[k]
        moved_by(rows, lines, pushes)
    bends = bent(problem, rows, same, targets)
    sweeps, residual, early = solve_islands(whole, these, problem, wanted, bounced, end)
    if some:
        trees = jointed_trees(problem, root, f)
        new, left = withdraw(problem, whole, these, trees, same, powers, kicked, pushes, shares, wanted, bounced, early)
        sweeps, residual = max(sweeps, new), max(residual, left)
    straightened(whole, these, early, bends, bounced)
    most, swept = left_to_lift(problem, whole, these, early, root, pushes, put), _swept(problem, whole, found)
    _velocities(problem, y, pushes, root, V)
    ends, states = np.empty((len(problem.lone.links), 6)), _gaps(problem, whole, wanted, began, residual)
    ended(problem, V, ends)
    _positions(problem, whole, these, states, root, V, most, ends)
    if give_back(problem, whole, these, bounced, states.push, ends, V):
        expand(layout, factors, root, y, links, V, changes.v)
    noted(problem, whole, before, root, pushes, u, f, weighed)
    to_world_axes(rows, P, problem.contacts)
    told(problem.contacts, points)
    judged(problem, found, same, shares, wanted, states.push, ends)
    if some:
        owe_lifts(problem, whole, these, found, same, powers, wanted, states.push)
    settled(problem, whole, these, early, put)
    if struck_trees(problem, whole, these, bounced, states.push, found):
        expand(layout, factors, root, y, links, V, changes.struck)
    return ImpulseFacts(m + _height(rows), these.total[0], sweeps, residual, _deepest(problem, rows), swept)


@compiled
def _corrected(
    problem: ImpulseProblem, whole: Island, found: Integers, same: Integers, root: Floats, before: Floats, u: Floats,
    f: Floats, shares: Floats, powers: Floats, kicked: Floats,
) -> bool:  # fmt: skip
    """Add what corrections of impulses that last do to whitened velocities to ``kicked``; whether there are any. before
    becomes what the last impulses did, u and f are as of ``balance.measured``; the others as of ``turning.corrected``.
    """
    halves = np.full(problem.layout.groups, np.nan)
    halved = carried(problem, root, before) and given_halves(problem, whole, before, u, f, kicked, halves)
    some = corrected(problem, whole, found, same, root, shares, powers, halves, before, kicked)
    if halved:
        owed_halves(problem, whole.rows, whole.P, found, halves)
    return some or halved


@compiled
def _velocities(
    problem: ImpulseProblem, y: Floats, pushes: Floats, root: Floats, V: Annotated[np.ndarray, float, 6]
) -> None:
    """What impulses y and pushes do to velocities, of links to V; y is of both afterwards."""
    layout, factors, links, changes = problem.layout, problem.factors, problem.moving.links, problem.changes
    if len(changes.acted) > 0:
        expand(layout, factors, root, y, links, V, changes.acted)
    for k in range(layout.nv):
        y[k] += pushes[k]
    expand(layout, factors, root, y, links, V, changes.v)
    _free_twists(problem.free, y[layout.nv : len(y)], changes.free_twists)


@compiled
def _positions(
    problem: ImpulseProblem,
    whole: Island,
    these: Partition,
    states: Gaps,
    root: Floats,
    V: Annotated[np.ndarray, float, 6],
    most: Floats,
    ends: Annotated[np.ndarray, float, 6],
) -> None:
    """The ways by which to move, and the gaps that are left."""
    options, changes, total, z = problem.options, problem.changes, these.total[0], states.z
    left, pushed, count, opened = states.gaps.copy(), np.empty(total, dtype=np.bool_), 0, False
    changes.since[:] = 0.0
    end = begun(whole.time, options.clock, 0.5 * PUSHING * options.microseconds)
    for k in range(total):
        it = timed(whole, these, k, end)
        pushed[k] = separate(it, states, left, options.slop)
        count += pushed[k]
        if pushed[k] and has_impacts(it, states.wanted, 0.5 * options.slop):
            _date(problem, it, z)
    if count > 0 or is_bounded(most):
        before, pushes = z.copy(), states.push.copy()
        end = begun(whole.time, options.clock, 0.5 * PUSHING * options.microseconds)
        for k in range(total):
            it = timed(whole, these, k, end)
            if pushed[k] and open_up(it, states, options.push_speed * options.h, options.slop):
                opened = True
        if opened:
            restrain(problem, whole, these, states, root, before, pushes)
        bounded(problem, whole, these, root, most, ends, z)
        for k in range(total):
            if pushed[k] or most[k] < np.inf:
                remain(member(whole, these, k), states, left)
        expand(problem.layout, problem.factors, root, z, problem.moving.links, V, changes.q)
        _free_twists(problem.free, z[problem.layout.nv : len(z)], changes.free_ways)
    else:
        share = options.position_share * options.h
        for k in range(len(changes.q)):
            changes.q[k] = share * changes.v[k]
        for k in range(len(changes.free_ways)):
            for i in range(6):
                changes.free_ways[k, i] = share * changes.free_twists[k, i]
    for c in range(len(whole.targets)):
        problem.contacts.gaps[c] = left[c]


@compiled
def _date(problem: ImpulseProblem, it: Island, z: Floats) -> None:
    """Write how long ago an island bounced: its impulses moved positions z for so long, by the least squares of M. Of
    velocities that lie behind positions, less than that by as much."""
    layout, options, moved, square = problem.layout, problem.options, 0.0, 0.0
    for slot in it.slots:
        moved += z[slot] * it.y[slot]
        square += it.y[slot] * it.y[slot]
    if square > 0.0:
        before = min(max(moved / square, 0.0), options.h)
        for slot in it.slots:
            if slot < layout.nv:
                group, behind = layout.group[slot], (2.0 * options.position_share - 1.0) * options.h
                for j in range(layout.group_first[group], layout.group_first[group + 1]):
                    problem.changes.since[layout.group_slots[j]] = before - behind


@compiled
def _gaps(problem: ImpulseProblem, whole: Island, wanted: Floats, began: Floats, residual: float) -> Gaps:
    """The gaps of all rows where impulses alone lead."""
    n, m, given, options = len(whole.targets), len(whole.Q), problem.rows, problem.options
    gaps, acted, z = np.empty(n + m), np.empty(n + m), np.empty(len(whole.y))
    bounded, share = np.empty(n + m, dtype=np.bool_), options.position_share
    for c in range(n):
        gaps[c], bounded[c], acted[c] = problem.contacts.gaps[c], True, options.h * whole.P[c, 0]
    for s in range(m):
        gaps[n + s], bounded[n + s], acted[n + s] = given.gaps[s], given.stops[s], options.h * whole.Q[s]
    for k in range(len(z)):
        z[k] = share * options.h * whole.y[k]
    short = is_short(options.iterations, options.microseconds, options.tolerance)
    exact = residual <= FAILED or not short  # what ended early cannot pay
    sweeps = max(min(int(options.iterations), SEPARATION_SWEEPS), LEAST_SEPARATION)
    return Gaps(
        gaps, began, wanted, bounded, acted, given.holds, z, share, options.h, np.empty(n + m), np.zeros(n + m),
        np.empty(n + m, dtype=np.bool_), immobile(whole.rows), exact, sweeps,
    )  # fmt: skip


@compiled
def _height(rows: ContactRows) -> int:
    """How many rows contacts have."""
    total = 0
    for height in rows.height:
        total += height
    return total


@compiled
def _deepest(problem: ImpulseProblem, rows: ContactRows) -> float:
    """The lowest gap, at most 0, of contacts that one of the model's links takes part in."""
    result, count = 0.0, len(problem.layout.parent)
    for c in range(len(rows.kind)):
        if 0 <= rows.links[c, 0] < count or 0 <= rows.links[c, 1] < count:
            result = min(result, problem.contacts.gaps[c])
    return result


@compiled
def _swept(problem: ImpulseProblem, whole: Island, found: Integers) -> float:
    """How deep contacts of bodies that float alone are at most that were none before, and open again with no impulse on
    a side; what was built so does not get there within the step. found (n,): earlier contacts nearest to these."""
    deepest, slop = 0.0, problem.options.slop
    for c in range(len(whole.targets)):
        depth, u = -problem.contacts.gaps[c], whole.rows.speed[c]
        if whole.P[c, 0] != 0.0 or depth > problem.options.h * length(u[0], u[1], u[2]):
            continue
        alone = lone_of(problem, c, 0) != ELSEWHERE and lone_of(problem, c, 1) != ELSEWHERE
        new = found[c] < 0 or problem.earlier.gaps[found[c]] > -slop
        if new and alone and along(whole.rows, c, 0, 0.0, whole.y) == 0.0:
            deepest = max(deepest, depth)
    return deepest


@compiled
def _free_twists(free: FreeInertias, y: Floats, twists: Annotated[np.ndarray, float, 6]) -> None:
    """Twists (m, 6) of whitened coordinates (6 m,)."""
    for k in range(len(free.masses)):
        for i in range(3):
            turn = 0.0
            for j in range(3):
                turn += free.spins[k, i, j] * y[6 * k + j]
            twists[k, i], twists[k, 3 + i] = turn, free.masses[k] * y[6 * k + 3 + i]

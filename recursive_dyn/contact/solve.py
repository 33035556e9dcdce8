"""One solve in machine code: rows, targets, impulses, and what they do to velocities and positions."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import ContactRows, Island
from recursive_dyn.contact.islands import Partition, partition, solve_islands
from recursive_dyn.contact.positions import Gaps, remain, separate
from recursive_dyn.contact.problem import FreeInertias, ImpulseFacts, ImpulseProblem
from recursive_dyn.contact.push_speed import restrain
from recursive_dyn.contact.pushes import given_pushes
from recursive_dyn.contact.reach import reach_of
from recursive_dyn.contact.responses import expand, inverses, twists
from recursive_dyn.contact.rows import contact_rows, links_of
from recursive_dyn.contact.scalar_rows import scalar_rows
from recursive_dyn.contact.targets import contact_targets, limit_targets
from recursive_dyn.contact.warm_start import started, to_world_axes


@compiled
def solve(problem: ImpulseProblem) -> ImpulseFacts:
    """The impulses that meet the laws of all contacts and rows, and what they lead to."""
    layout, factors, options, changes = problem.layout, problem.factors, problem.options, problem.changes
    n, m, free = problem.contacts.size[0], len(problem.rows.offsets), len(problem.free.masses)
    root, V = np.full(layout.nv + 6 * free, 1.0), np.empty((len(layout.parent), 6))
    inverses(layout, factors, root)
    twists(layout, factors, problem.v, V)
    links = links_of(problem)
    reach = reach_of(layout, links, problem.rows)
    rows = contact_rows(problem, links, reach, root, V)
    lines = scalar_rows(layout, reach, factors, root, problem.v, problem.rows)
    targets, wanted = np.empty(n), np.empty(n + m)
    contact_targets(problem, rows, targets, wanted)
    limit_targets(problem, lines, wanted[n : n + m])
    P, Q, y, given = np.zeros((n, 6)), changes.row_impulses, np.zeros(len(root)), np.zeros(len(root))
    pushed = given_pushes(problem, root, rows, lines, given)
    started(problem.contacts, rows, problem.earlier, P)
    Q[:] = problem.rows.impulses
    these = partition(layout, rows, lines, free)
    frictions = problem.contacts.frictions[0:n]
    whole = Island(rows, lines, targets, frictions, these.contacts, these.scalars, these.slots, P, Q, y)
    sweeps, residual = solve_islands(whole, these, options.iterations, options.tolerance)
    if pushed:
        for k in range(layout.nv):
            y[k] += given[k]
    expand(layout, factors, root, y, V, changes.v)
    _free_twists(problem.free, y[layout.nv : len(y)], changes.free_twists)
    _positions(problem, whole, these, wanted, root, V)
    to_world_axes(rows, P, problem.contacts)
    height = m
    for c in range(n):
        height += rows.height[c]
    return ImpulseFacts(height, these.total[0], sweeps, residual, _deepest(problem, rows))


@compiled
def _positions(
    problem: ImpulseProblem,
    whole: Island,
    these: Partition,
    wanted: Floats,
    root: Floats,
    V: Annotated[np.ndarray, float, 6],
) -> None:
    """The ways by which to move, and the gaps that are left."""
    n, m, given, options = len(whole.targets), len(whole.Q), problem.rows, problem.options
    changes, share = problem.changes, options.position_share * options.h
    gaps, z, before = np.empty(n + m), np.empty(len(whole.y)), np.empty(len(whole.y))
    bounded, pressed = np.empty(n + m, dtype=np.bool_), np.empty(n + m, dtype=np.bool_)
    for c in range(n):
        gaps[c], bounded[c], pressed[c] = problem.contacts.gaps[c], True, whole.P[c, 0] > 0.0
    for s in range(m):
        gaps[n + s], bounded[n + s], pressed[n + s] = given.gaps[s], given.stops[s], whole.Q[s] > 0.0
    for k in range(len(z)):
        z[k] = share * whole.y[k]
    before[:] = z
    states = Gaps(gaps, wanted, bounded, pressed, given.holds, z)
    way = options.push_speed * options.h
    if separate(whole.rows, whole.lines, states, options.position_share, way, options.slop):
        restrain(problem, these, root, whole.y, before, z)
        remain(whole.rows, whole.lines, states)
        expand(problem.layout, problem.factors, root, z, V, changes.q)
        _free_twists(problem.free, z[problem.layout.nv : len(z)], changes.free_ways)
    else:
        for k in range(len(changes.q)):
            changes.q[k] = share * changes.v[k]
        for k in range(len(changes.free_ways)):
            for i in range(6):
                changes.free_ways[k, i] = share * changes.free_twists[k, i]
    problem.contacts.gaps[0:n] = gaps[0:n]


@compiled
def _deepest(problem: ImpulseProblem, rows: ContactRows) -> float:
    """The lowest gap, at most 0, of contacts that one of the model's links takes part in."""
    result, count = 0.0, len(problem.layout.parent)
    for c in range(len(rows.kind)):
        if 0 <= rows.links[c, 0] < count or 0 <= rows.links[c, 1] < count:
            result = min(result, problem.contacts.gaps[c])
    return result


@compiled
def _free_twists(free: FreeInertias, y: Floats, twists: Annotated[np.ndarray, float, 6]) -> None:
    """Twists (m, 6) of whitened coordinates (6 m,)."""
    for k in range(len(free.masses)):
        for i in range(3):
            turn = 0.0
            for j in range(3):
                turn += free.spins[k, i, j] * y[6 * k + j]
            twists[k, i], twists[k, 3 + i] = turn, free.masses[k] * y[6 * k + 3 + i]

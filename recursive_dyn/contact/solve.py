"""One solve in machine code: rows, targets, impulses, and what they do to velocities and positions."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.blocks import height, mobilities
from recursive_dyn.contact.given import contact_arrays, direction_rows, earlier_arrays
from recursive_dyn.contact.islands import solve_islands
from recursive_dyn.contact.positions import separate
from recursive_dyn.contact.problem import FreeInertias, ImpulseFacts, ImpulseProblem
from recursive_dyn.contact.responses import unwhitened, whitening
from recursive_dyn.contact.rows import contact_rows, scalar_rows
from recursive_dyn.contact.targets import contact_targets, limit_targets
from recursive_dyn.contact.warm_start import in_world_axes, started


@compiled
def solve(problem: ImpulseProblem) -> ImpulseFacts:
    """The impulses that meet the laws of all contacts and rows, and what they lead to."""
    layout, factors, options, changes = problem.layout, problem.factors, problem.options, problem.changes
    contacts, given = contact_arrays(problem), direction_rows(problem.rows, problem.layout.nv)
    free, nv, table = problem.free, problem.layout.nv, problem.contacts
    root, V = whitening(layout, factors, problem.v)
    rows = contact_rows(layout, factors, root, V, contacts, free)
    scalars = scalar_rows(layout, factors, root, problem.v, problem.start_v, given)
    n, m = len(rows.kind), len(scalars.speed)
    targets, wanted = np.zeros(n), np.full(n + m, np.nan)
    contact_targets(contacts, rows, options, targets, wanted[:n])
    limit_targets(given, scalars, options, wanted[n:])
    G, g = mobilities(rows, scalars)
    P, Q = started(contacts, rows, earlier_arrays(problem.earlier)), given.impulses.copy()
    y = np.zeros(nv + 6 * len(free.masses))
    count, sweeps, residual = solve_islands(
        layout, rows, scalars, G, g, targets, contacts.frictions, P, Q, y, options.iterations, options.tolerance
    )
    gaps, z = np.concatenate((contacts.gaps, given.gaps)), options.position_share * options.h * y
    pressed = np.concatenate((P[:, 0] > 0.0, Q > 0.0))
    separate(rows, scalars, G, g, gaps, given.stops, given.holds, wanted, pressed, z, options.slop)
    impulses, moments = in_world_axes(rows, P)
    table.impulses[:n], table.moments[:n], table.gaps[:n] = impulses, moments, gaps[:n]
    changes.v[:], changes.q[:] = unwhitened(layout, factors, root, y), unwhitened(layout, factors, root, z)
    changes.free_twists[:], changes.free_ways[:] = _free_twists(free, y[nv:]), _free_twists(free, z[nv:])
    changes.row_impulses[:] = Q
    size = m
    for c in range(n):
        size += height(rows, c)
    return ImpulseFacts(size, count, sweeps, residual, _deepest(len(layout.parent), contacts.links, gaps))


@compiled
def _deepest(count: int, links: np.ndarray, gaps: np.ndarray) -> float:
    """The lowest gap, at most 0, of contacts that one of ``count`` links takes part in."""
    result = 0.0
    for c in range(len(links)):
        if 0 <= links[c, 0] < count or 0 <= links[c, 1] < count:
            result = min(result, gaps[c])
    return result


@compiled
def _free_twists(free: FreeInertias, y: np.ndarray) -> np.ndarray:
    """Twists (m, 6) of whitened coordinates (6 m,)."""
    result = np.zeros((len(free.masses), 6))
    for k in range(len(result)):
        for i in range(3):
            for j in range(3):
                result[k, i] += free.spins[k, i, j] * y[6 * k + j]
            result[k, 3 + i] = free.masses[k] * y[6 * k + 3 + i]
    return result


@compiled
def bracket(turning: np.ndarray, d: np.ndarray, v: np.ndarray) -> np.ndarray:
    """ad_d v (nv,) of the ball and free factors, whose velocities are written in axes that turn with them; else 0.

    turning (k, 2): first slot and number of slots of each.
    """
    result = np.zeros_like(v)
    for k in range(len(turning)):
        at = turning[k, 0]
        for i in range(3):
            a, b = at + (i + 1) % 3, at + (i + 2) % 3
            result[at + i] = d[a] * v[b] - d[b] * v[a]
            if turning[k, 1] == 6:
                result[at + 3 + i] = d[a] * v[3 + b] - d[b] * v[3 + a] + d[3 + a] * v[b] - d[3 + b] * v[a]
    return result

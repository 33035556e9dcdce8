"""The whole solve of one step in machine code: rows, laws, impulses, what they do to velocities and positions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact import blocks, islands, laws, positions, rows
from recursive_dyn.contact.layout import Layout


class Touching(NamedTuple):
    """Contacts (n of them) for compiled code.

    movers (n, 2): links, len(links) + k for free body k, negative where nothing moves; owners (n, 2): rows of origins
    (m, 3) and early (m, 6), the twists at the step's start, or negative; points (n, 2, 3); gaps, normals, frictions,
    drift and keys as in Contacts, of which impulses and moments (n, 3) are filled in.
    """

    movers: np.ndarray
    owners: np.ndarray
    points: np.ndarray
    gaps: np.ndarray
    normals: np.ndarray
    frictions: np.ndarray
    drift: np.ndarray
    keys: np.ndarray
    origins: np.ndarray
    early: np.ndarray
    impulses: np.ndarray
    moments: np.ndarray


class Free(NamedTuple):
    """Free bodies (m of them): centres, twists at the end, 1 / sqrt(mass), X (3, 3) with I^-1 = X X^T."""

    centers: np.ndarray
    twists: np.ndarray
    masses: np.ndarray
    spins: np.ndarray


class Single(NamedTuple):
    """Rows on generalized directions C (m, nv): C v + offsets; gaps, stops, targets and bounds; impulses to start from,
    which are replaced by those found."""

    C: np.ndarray
    offsets: np.ndarray
    gaps: np.ndarray
    stops: np.ndarray
    targets: np.ndarray
    low: np.ndarray
    high: np.ndarray
    soft: np.ndarray
    impulses: np.ndarray


class Earlier(NamedTuple):
    """The last step's contacts: keys (k,), points (k, 3), impulses and moments (k, 2, 3)."""

    keys: np.ndarray
    points: np.ndarray
    impulses: np.ndarray


class Numbers(NamedTuple):
    """h: the step, s; share: see ``laws.law``; rest, threshold: speeds, m/s; the rest as in Settings."""

    h: float
    share: float
    rest: float
    threshold: float
    slop: float
    tolerance: float
    iterations: int
    separations: int


@compiled
def solved(
    layout: Layout,
    groups: int,
    factors: np.ndarray,
    v: np.ndarray,
    v0: np.ndarray,
    touching: Touching,
    free: Free,
    single: Single,
    earlier: Earlier,
    numbers: Numbers,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, int, int, float, float]:
    """(change of v (nv,), of q (nv,), of free twists (m, 6), of free places (m, 6), rows, islands, sweeps, residual,
    deepest gap left)."""
    n, m, nv, others = len(touching.movers), len(single.C), layout.nv, len(free.masses)
    root, V = np.zeros(nv), np.zeros((len(layout.parent), 6))
    rows.prepare(layout, factors, v, root, V)
    before = laws.relative(touching.owners, touching.points, touching.origins, touching.early, touching.drift)
    parts = rows.contact_rows(
        layout, factors, root, touching.movers, touching.points, touching.normals, touching.frictions, touching.drift,
        V, before, free.centers, free.twists, free.masses, free.spins,
    )  # fmt: skip
    first, slots, values = laws.compressed(rows.generalized_rows(layout, factors, root, single.C))
    speed, early = single.offsets.copy(), single.offsets.copy()
    for i in range(m):
        for k in range(nv):
            speed[i] += single.C[i, k] * v[k]
            early[i] += single.C[i, k] * v0[k]
    scalars = blocks.Scalars(first, slots, values, speed, single.targets, single.low, single.high, single.soft)
    targets, wanted = np.zeros(n), np.full(n + m, np.nan)
    h, share, rest = numbers.h, numbers.share, numbers.rest
    laws.contact_laws(
        touching.gaps, parts, touching.frictions, h, share, rest, numbers.threshold, numbers.slop, targets, wanted
    )
    for i in range(m):
        if single.stops[i]:
            single.targets[i], wanted[n + i] = laws.law(single.gaps[i], speed[i], early[i], 0.0, h, share, rest)
    G, weights, P = np.zeros((n, 6, 6)), np.zeros(m), np.zeros((n, 6))
    blocks.mobilities(parts, scalars, G, weights)
    laws.warm(touching.keys, touching.points[:, 1], parts.axes, earlier.keys, earlier.points, earlier.impulses, P)
    Q = single.impulses
    y = np.zeros(nv + 6 * others)
    places = islands.partition(layout, groups, others, parts, scalars)
    count, sweeps, residual = islands.solve(
        parts, scalars, G, weights, targets, touching.frictions, places, P, Q, y, numbers.iterations,
        numbers.tolerance,
    )  # fmt: skip
    gaps, z, pressed = np.concatenate((touching.gaps, single.gaps)), share * h * y, np.zeros(n + m, dtype=np.bool_)
    pressed[:n] = P[:, 0] > 0.0
    pressed[n:] = Q > 0.0
    positions.settle(
        parts, scalars, G, weights, gaps, single.stops, wanted, pressed, z, numbers.slop, numbers.separations
    )
    touching.gaps[:] = gaps[:n]
    deepest = 0.0
    for c in range(n):
        if _ours(layout, touching.movers[c, 0]) or _ours(layout, touching.movers[c, 1]):
            deepest = min(deepest, gaps[c])
    laws.world_impulses(parts, P, touching.impulses, touching.moments)
    height = m
    for c in range(n):
        height += blocks.height(parts, c)
    return (
        rows.unwhitened(layout, factors, root, y),
        rows.unwhitened(layout, factors, root, z),
        _free(free, y[nv:]),
        _free(free, z[nv:]),
        height,
        count,
        sweeps,
        residual,
        deepest,
    )


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


@compiled
def _ours(layout: Layout, mover: int) -> bool:
    return 0 <= mover < len(layout.parent)


@compiled
def _free(free: Free, y: np.ndarray) -> np.ndarray:
    """Twists (m, 6) of whitened coordinates (6 m,)."""
    result = np.zeros((len(free.masses), 6))
    for k in range(len(result)):
        for i in range(3):
            for j in range(3):
                result[k, i] += free.spins[k, i, j] * y[6 * k + j]
            result[k, 3 + i] = free.masses[k] * y[6 * k + 3 + i]
    return result

"""Where positions go beyond the flight: with the impulses, to where impacts end, and out of overlaps."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.rows import ContactRows, ScalarRows
from recursive_dyn.contact.tuning import BEYOND_SLOP, IMMOBILE, SEPARATION_SWEEPS, SETTLED


@compiled
def separate(
    rows: ContactRows,
    scalar_rows: ScalarRows,
    G: np.ndarray,
    g: np.ndarray,
    gaps: np.ndarray,
    stops: np.ndarray,
    holds: np.ndarray,
    wanted: np.ndarray,
    pressed: np.ndarray,
    z: np.ndarray,
    slop: float,
) -> None:
    """Move whitened positions z so that gaps + A z are as wanted where ``pressed`` (n + m,), and nowhere below -slop.

    gaps, wanted: of the contacts, then of the scalar rows, of which only ``stops`` (m,) count; NaN: nothing wanted.
    What is overlapping is pushed to half the slop, the least way in the metric of M; that comes first where not all can
    be had. Nothing is pushed along rows that ``holds`` (m,) marks. gaps become what is left.
    """
    n, m = len(rows.kind), len(scalar_rows.speed)
    push, floor, active = np.zeros(n + m), np.zeros(n + m), np.zeros(n + m, dtype=np.bool_)
    least, pushed = _immobile(G), False
    half = SEPARATION_SWEEPS // 2
    for k in range(SEPARATION_SWEEPS):
        if k == half:  # what is wanted cannot all be had: from here on only overlaps are removed
            floor[:] = np.where(pressed & ~np.isnan(wanted), push, 0.0)
            active[:] = False
        change = 0.0
        for c in range(n + m):
            if c >= n and not stops[c - n]:
                continue
            mobility = G[c, 0, 0] if c < n else g[c - n]
            if mobility <= least:
                continue
            gap = gaps[c] + _moved(rows, scalar_rows, c, z)
            two_sided = k < half and pressed[c] and not np.isnan(wanted[c])
            if not (two_sided or active[c] or gap < -slop * BEYOND_SLOP):
                continue
            active[c] = True
            aim = wanted[c] if two_sided else -0.5 * slop
            target = push[c] + (aim - gap) / mobility
            step = (target if two_sided else max(floor[c], target)) - push[c]
            if step != 0.0:
                pushed = True
                push[c] += step
                change = max(change, abs(step) * mobility)
                _move(rows, scalar_rows, c, step, z)
        if pushed:
            change = max(change, _hold(rows, scalar_rows, g, holds, z))
        if change <= SETTLED * slop:
            break
    for c in range(n):
        gaps[c] += _moved(rows, scalar_rows, c, z)


@compiled
def _immobile(G: np.ndarray) -> float:
    """The mobility up to which a contact cannot be moved."""
    least = 0.0
    for c in range(len(G)):
        least = max(least, IMMOBILE * (G[c, 0, 0] + G[c, 1, 1] + G[c, 2, 2]))
    return least


@compiled
def _hold(rows: ContactRows, scalar_rows: ScalarRows, g: np.ndarray, holds: np.ndarray, z: np.ndarray) -> float:
    """Take back what moves along the rows that ``holds`` marks, one after the other; the most that was."""
    n, most = len(rows.kind), 0.0
    for s in range(len(holds)):
        if holds[s] and g[s] > 0.0:
            way = _moved(rows, scalar_rows, n + s, z)
            _move(rows, scalar_rows, n + s, -way / g[s], z)
            most = max(most, abs(way))
    return most


@compiled
def _moved(rows: ContactRows, scalar_rows: ScalarRows, c: int, z: np.ndarray) -> float:
    total, n = 0.0, len(rows.kind)
    if c < n:
        for k in range(rows.first[c], rows.first[c + 1]):
            total += rows.values[rows.start[c] + k - rows.first[c]] * z[rows.slots[k]]
    else:
        for k in range(scalar_rows.first[c - n], scalar_rows.first[c - n + 1]):
            total += scalar_rows.values[k] * z[scalar_rows.slots[k]]
    return total


@compiled
def _move(rows: ContactRows, scalar_rows: ScalarRows, c: int, step: float, z: np.ndarray) -> None:
    n = len(rows.kind)
    if c < n:
        for k in range(rows.first[c], rows.first[c + 1]):
            z[rows.slots[k]] += rows.values[rows.start[c] + k - rows.first[c]] * step
    else:
        for k in range(scalar_rows.first[c - n], scalar_rows.first[c - n + 1]):
            z[scalar_rows.slots[k]] += scalar_rows.values[k] * step

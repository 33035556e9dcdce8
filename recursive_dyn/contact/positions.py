"""Where positions go beyond the flight: with the impulses, to where impacts end, and out of overlaps."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Scalars
from recursive_dyn.contact.rows import Rows

_RIGID = 1e-10  # share of the mobility that contacts have at most below which one cannot be moved
_ROUNDING = 1.0 + 1e-6
_SETTLED = 0.05  # share of the slop that the last sweep may still change


@compiled
def settle(
    rows: Rows,
    scalars: Scalars,
    G: np.ndarray,
    weights: np.ndarray,
    gaps: np.ndarray,
    stops: np.ndarray,
    wanted: np.ndarray,
    pressed: np.ndarray,
    z: np.ndarray,
    slop: float,
    sweeps: int,
) -> None:
    """Move whitened positions z so that gaps + A z are as wanted where ``pressed`` (n + m,), and nowhere below -slop.

    gaps, wanted: of the contacts, then of the scalar rows, of which only ``stops`` (m,) count; NaN: nothing wanted.
    What is overlapping is pushed to half the slop, the least way in the metric of M; that comes first where not all can
    be had. gaps become what is left.
    """  # fmt: skip
    n, m = len(rows.kind), len(scalars.speed)
    push, floor, active = np.zeros(n + m), np.zeros(n + m), np.zeros(n + m, dtype=np.bool_)
    least = 0.0
    for c in range(n):
        least = max(least, _RIGID * (G[c, 0, 0] + G[c, 1, 1] + G[c, 2, 2]))
    half = sweeps // 2
    for k in range(sweeps):
        if k == half:  # what is wanted cannot all be had: from here on only overlaps are removed
            floor[:] = np.where(pressed & ~np.isnan(wanted), push, 0.0)
            active[:] = False
        change = 0.0
        for c in range(n + m):
            if c >= n and not stops[c - n]:
                continue
            mobility = G[c, 0, 0] if c < n else weights[c - n]
            if mobility <= least:
                continue
            gap = gaps[c] + _moved(rows, scalars, c, z)
            two_sided = k < half and pressed[c] and not np.isnan(wanted[c])
            if not (two_sided or active[c] or gap < -slop * _ROUNDING):
                continue
            active[c] = True
            aim = wanted[c] if two_sided else -0.5 * slop
            target = push[c] + (aim - gap) / mobility
            step = (target if two_sided else max(floor[c], target)) - push[c]
            if step != 0.0:
                push[c] += step
                change = max(change, abs(step) * mobility)
                _move(rows, scalars, c, step, z)
        if change <= _SETTLED * slop:
            break
    for c in range(n):
        gaps[c] += _moved(rows, scalars, c, z)


@compiled
def _moved(rows: Rows, scalars: Scalars, c: int, z: np.ndarray) -> float:
    total, n = 0.0, len(rows.kind)
    if c < n:
        for k in range(rows.first[c], rows.first[c + 1]):
            total += rows.values[rows.start[c] + k - rows.first[c]] * z[rows.slots[k]]
    else:
        for k in range(scalars.first[c - n], scalars.first[c - n + 1]):
            total += scalars.values[k] * z[scalars.slots[k]]
    return total


@compiled
def _move(rows: Rows, scalars: Scalars, c: int, step: float, z: np.ndarray) -> None:
    n = len(rows.kind)
    if c < n:
        for k in range(rows.first[c], rows.first[c + 1]):
            z[rows.slots[k]] += rows.values[rows.start[c] + k - rows.first[c]] * step
    else:
        for k in range(scalars.first[c - n], scalars.first[c - n + 1]):
            z[scalars.slots[k]] += scalars.values[k] * step

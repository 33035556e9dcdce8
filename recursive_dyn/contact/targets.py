"""What contacts and limits ask for: the velocity at the step's end, and the gap there."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.given import ContactArrays, DirectionRows
from recursive_dyn.contact.problem import Options
from recursive_dyn.contact.rows import ContactRows, ScalarRows


@compiled
def unilateral(
    gap: float, free: float, before: float, restitution: float, h: float, share: float, rest: float
) -> tuple[float, float]:
    """(target velocity, gap wanted at the end of the step) of a unilateral row; NaN for no particular gap.

    gap: at the end of the step without impulses, where the row's velocity is ``free``; ``before``: at the start. share:
    1 where an integrator moves positions with the end's velocity, 1/2 with the mean one. What rests on each other keeps
    its gap as all impulses move positions for that share of the step; what meets within the step ends where the true
    path ends: at the surface, or, after a bounce, as far from it, and as fast, as it then flew. rest: approach speed up
    to which surfaces rest on each other.
    """
    if gap > 0.0:
        return free - gap / h, np.nan
    acceleration = (free - before) / h
    # semi-implicit Euler's positions lie on the parabola whose velocity is ahead of its own by half a step
    ahead = acceleration * h * (share - 0.5)
    end = free + ahead
    square = end * end - 2.0 * acceleration * gap
    since = h
    if end < 0.0 and square >= 0.0:
        since = min(2.0 * gap / (end - np.sqrt(square)), h)
    hit = end - acceleration * since
    if hit - ahead >= -rest:
        return 0.0, np.nan
    rebound = -restitution * hit
    height = (rebound + 0.5 * acceleration * since) * since
    if rebound <= 0.0 or height <= 0.0:
        return 0.0, 0.0
    return rebound + acceleration * since - ahead, height


@compiled
def contact_targets(
    contacts: ContactArrays, rows: ContactRows, options: Options, targets: np.ndarray, wanted: np.ndarray
) -> None:
    """Targets and gaps wanted (n,) of all contacts; surfaces come to rest half the slop deep."""
    half = 0.5 * options.slop
    for c in range(len(contacts.gaps)):
        before, speed = rows.before[c, 0], rows.speed[c, 0]
        bounces = min(before, speed) < -options.restitution_threshold
        restitution = contacts.frictions[c, 4] if bounces else 0.0
        targets[c], height = unilateral(
            contacts.gaps[c] + half, speed, before, restitution, options.h, options.position_share, options.rest_speed
        )
        wanted[c] = height - half


@compiled
def limit_targets(given: DirectionRows, rows: ScalarRows, options: Options, wanted: np.ndarray) -> None:
    """Targets and gaps wanted (m,) of the limits among scalar rows: stops give nothing back."""
    for i in range(len(wanted)):
        if given.stops[i]:
            rows.target[i], wanted[i] = unilateral(
                given.gaps[i], rows.speed[i], rows.before[i], 0.0, options.h, options.position_share, options.rest_speed
            )

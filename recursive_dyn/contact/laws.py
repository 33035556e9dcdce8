"""What each row asks for: its target velocity, and where it should be at the step's end."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.rows import Rows


@compiled
def law(
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
def contact_laws(
    gaps: np.ndarray,
    rows: Rows,
    frictions: np.ndarray,
    h: float,
    share: float,
    rest: float,
    threshold: float,
    slop: float,
    targets: np.ndarray,
    wanted: np.ndarray,
) -> None:
    """Targets and gaps wanted (n,) of all contacts; surfaces come to rest half the slop deep."""
    for c in range(len(gaps)):
        before = rows.before[c, 0]
        restitution = frictions[c, 4] if min(before, rows.speed[c, 0]) < -threshold else 0.0
        targets[c], height = law(gaps[c] + 0.5 * slop, rows.speed[c, 0], before, restitution, h, share, rest)
        wanted[c] = height - 0.5 * slop


@compiled
def world_impulses(rows: Rows, P: np.ndarray, impulse: np.ndarray, moment: np.ndarray) -> None:
    """Impulses (n, 3) and moments (n, 3) on A in world axes."""
    for c in range(len(P)):
        for k in range(3):
            impulse[c, k], moment[c, k] = 0.0, rows.axes[c, 0, k] * P[c, 3]
            for r in range(3):
                impulse[c, k] += rows.axes[c, r, k] * P[c, r]
            for r in range(1, 3):
                moment[c, k] += rows.axes[c, r, k] * P[c, 3 + r]


@compiled
def warm(
    keys: np.ndarray,
    points: np.ndarray,
    axes: np.ndarray,
    old_keys: np.ndarray,
    old_points: np.ndarray,
    old: np.ndarray,
    P: np.ndarray,
) -> None:
    """P (n, 6) from the last step's impulses ``old`` (m, 2, 3), world axes: of the same pair's nearest points."""
    order = np.argsort(old_keys, kind="mergesort")
    ordered = old_keys[order]
    used = np.zeros(len(old_keys), dtype=np.bool_)
    for c in range(len(keys)):
        best, found = np.inf, -1
        for k in range(np.searchsorted(ordered, keys[c]), len(ordered)):
            if ordered[k] != keys[c]:
                break
            i = order[k]
            if not used[i]:
                distance = 0.0
                for j in range(3):
                    distance += (points[c, j] - old_points[i, j]) ** 2
                if distance < best:
                    best, found = distance, i
        if found >= 0:
            used[found] = True
            for r in range(3):
                for k in range(3):
                    P[c, r] += axes[c, r, k] * old[found, 0, k]
                    P[c, 3 + r] += axes[c, r, k] * old[found, 1, k]


@compiled
def relative(
    owners: np.ndarray, points: np.ndarray, origins: np.ndarray, twists: np.ndarray, drift: np.ndarray
) -> np.ndarray:
    """Velocity (n, 3) of A's point against B's; owners (n, 2): rows of origins (m, 3), twists (m, 6); -1: none."""
    result = -drift
    for c in range(len(owners)):
        for side in range(2):
            i = owners[c, side]
            if i >= 0:
                sign = 1.0 - 2.0 * side
                for k in range(3):
                    a, b = (k + 1) % 3, (k + 2) % 3
                    arm_a, arm_b = points[c, side, a] - origins[i, a], points[c, side, b] - origins[i, b]
                    result[c, k] += sign * (twists[i, 3 + k] + twists[i, a] * arm_b - twists[i, b] * arm_a)
    return result


@compiled
def compressed(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(first, index, values) of the nonzero entries of dense (m, n), row by row."""
    m, n = dense.shape
    first = np.zeros(m + 1, dtype=np.int64)
    for i in range(m):
        first[i + 1] = first[i]
        for k in range(n):
            if dense[i, k] != 0.0:
                first[i + 1] += 1
    index, values = np.zeros(first[m], dtype=np.int64), np.zeros(first[m])
    at = 0
    for i in range(m):
        for k in range(n):
            if dense[i, k] != 0.0:
                index[at], values[at] = k, dense[i, k]
                at += 1
    return first, index, values

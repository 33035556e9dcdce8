"""Where positions go beyond the flight: with the impulses, to where impacts end, and out of overlaps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, compiled
from recursive_dyn.contact.blocks import ContactRows, ScalarRows, add, add_scalar, along, moving
from recursive_dyn.contact.tuning import BEYOND_SLOP, IMMOBILE, PUSH_ARM, SEPARATION_SWEEPS, SETTLED


class Gaps(NamedTuple):
    """Gaps of contacts (n of them), then of scalar rows (m).

    gaps, wanted (n + m,): where the flight ends, and at the step's end; NaN: nothing wanted. bounded, pressed (n + m,):
    which cannot be negative, and where impulses press; holds (m,): rows along which nothing is pushed. z: whitened
    positions.
    """

    gaps: Floats
    wanted: Floats
    bounded: Flags
    pressed: Flags
    holds: Flags
    z: Floats


class _Pushes(NamedTuple):
    """What moves them apart, push (n + m,): what is given back down to floor (n + m,) only; active (n + m,): what was
    found to overlap."""

    push: Floats
    floor: Floats
    active: Flags


@compiled
def separate(rows: ContactRows, lines: ScalarRows, these: Gaps, share: float, way: float, slop: float) -> bool:
    """Move z so that gaps + A z are as wanted where pressed, and nowhere below -slop; whether anything was moved.

    Where nothing is, gaps become what is left of them. What is overlapping is pushed to half the slop, the least way in
    the metric of M, but by ``way`` at most; that comes first where not all can be had. share: of the step, for which
    positions z follow impulses.
    """
    least, left = _immobile(rows), np.empty(len(these.gaps))
    moves = _amiss(rows, lines, these, left, least, slop)
    if moves:
        most = np.empty(len(these.gaps))
        _reachable(rows, lines, these, share, way, most)
        _push_apart(rows, lines, these, most, least, slop)
    else:
        these.gaps[:] = left
    return moves


@compiled
def remain(rows: ContactRows, lines: ScalarRows, these: Gaps) -> None:
    """gaps of what is bounded become what is left of them."""
    for c in range(len(these.gaps)):
        if these.bounded[c]:
            these.gaps[c] += moved(rows, lines, c, these.z)


@compiled
def _amiss(rows: ContactRows, lines: ScalarRows, these: Gaps, left: Floats, least: float, slop: float) -> bool:
    """Whether a gap that can be moved is not as it should be; if none is, left (n + m,) are those that remain."""
    for c in range(len(these.gaps)):
        left[c] = these.gaps[c]
        if these.bounded[c]:
            left[c] += moved(rows, lines, c, these.z)
            wrong = (these.pressed[c] and not np.isnan(these.wanted[c])) or left[c] < -slop * BEYOND_SLOP
            if wrong and _mobility(rows, lines, c) > least:
                return True
    return False


@compiled
def _reachable(rows: ContactRows, lines: ScalarRows, these: Gaps, share: float, way: float, most: Floats) -> None:
    """most (n + m,): how far gaps may be opened, by ``way`` beyond where impulses bring them in a whole step.

    Impacts end where the true path does, which is within that.
    """
    for c in range(len(most)):
        by = moved(rows, lines, c, these.z) if these.bounded[c] else 0.0
        most[c] = these.gaps[c] + max(by, by / share) + (way if c < len(rows.kind) else way / PUSH_ARM)


@compiled
def _immobile(rows: ContactRows) -> float:
    """The mobility up to which a contact cannot be moved."""
    least, G = 0.0, rows.mobility
    for c in range(len(rows.kind)):
        least = max(least, IMMOBILE * (G[c, 0] + G[c, 2] + G[c, 5]))
    return least


@compiled
def _mobility(rows: ContactRows, lines: ScalarRows, c: int) -> float:
    n = len(rows.kind)
    return rows.mobility[c, 0] if c < n else lines.mobility[c - n]


@compiled
def _push_apart(rows: ContactRows, lines: ScalarRows, these: Gaps, most: Floats, least: float, slop: float) -> None:
    count, pushed, half = len(these.gaps), False, SEPARATION_SWEEPS // 2
    by = _Pushes(np.zeros(count), np.zeros(count), np.zeros(count, dtype=np.bool_))
    for k in range(SEPARATION_SWEEPS):
        if k == half:  # what is wanted cannot all be had: from here on only overlaps are removed
            for c in range(count):
                by.active[c] = False
                if these.pressed[c] and not np.isnan(these.wanted[c]):
                    by.floor[c] = by.push[c]
        change = 0.0
        for c in range(count):
            if these.bounded[c] and _mobility(rows, lines, c) > least:
                change = max(change, _push_one(rows, lines, these, by, most[c], c, k < half, slop))
        pushed = pushed or change > 0.0
        if pushed:
            change = max(change, _hold(rows, lines, these.holds, these.z))
        if change <= SETTLED * slop:
            break


@compiled
def _push_one(
    rows: ContactRows, lines: ScalarRows, these: Gaps, by: _Pushes, most: float, c: int, wanting: bool, slop: float
) -> float:
    """Push one gap to where it should be, ``most`` at most; how far it was. wanting: what is wanted counts too."""
    gap, mobility = these.gaps[c] + moved(rows, lines, c, these.z), _mobility(rows, lines, c)
    two_sided = wanting and these.pressed[c] and not np.isnan(these.wanted[c])
    if not (two_sided or by.active[c] or gap < -slop * BEYOND_SLOP):
        return 0.0
    by.active[c] = True
    target = by.push[c] + (min(these.wanted[c] if two_sided else -0.5 * slop, most) - gap) / mobility
    if not two_sided:
        target = max(by.floor[c], target)
    step = target - by.push[c]
    if step != 0.0:
        by.push[c] += step
        _move(rows, lines, c, step, these.z)
    return abs(step) * mobility


@compiled
def _hold(rows: ContactRows, lines: ScalarRows, holds: Flags, z: Floats) -> float:
    """Take back what moves along the rows that hold, one after the other; the most that was."""
    most = 0.0
    for s in range(len(holds)):
        if holds[s] and lines.mobility[s] > 0.0:
            way = moving(lines, s, z)
            add_scalar(lines, s, -way / lines.mobility[s], z)
            most = max(most, abs(way))
    return most


@compiled
def moved(rows: ContactRows, lines: ScalarRows, c: int, z: Floats) -> float:
    """A z of a gap: what positions z move it by."""
    n = len(rows.kind)
    if c >= n:
        return moving(lines, c - n, z)
    return along(rows, c, 0, 0.0, z)


@compiled
def _move(rows: ContactRows, lines: ScalarRows, c: int, step: float, z: Floats) -> None:
    n = len(rows.kind)
    if c < n:
        add(rows, c, 0, step, z)
    else:
        add_scalar(lines, c - n, step, z)

"""Where positions go beyond the flight: with the impulses, to where impacts end, and out of overlaps."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, compiled
from recursive_dyn.contact.blocks import ContactRows, Island, add, add_scalar, add_three, along_three, moving
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.exact_pushes import push_exactly
from recursive_dyn.contact.gaps import Gaps, gap_number, go_part, is_wanted, mobility_of, moved
from recursive_dyn.contact.tuning import (
    BEYOND_SLOP,
    HEAVY,
    IMMOBILE,
    LEAST_SEPARATION,
    OPENED,
    OPENED_SHARE,
    PATIENT_SWEEPS,
    PUSH_ARM,
    SETTLED,
)


@compiled
def separate(it: Island, these: Gaps, left: Floats, slop: float) -> bool:
    """Move z so that an island's gaps + A z are as wanted where impulses press, and nowhere below -slop.

    An impulse may have acted for all of the step, or not at all: so far do gaps go to where they are wanted. Beyond
    that what overlaps is pushed to half the slop, the least way in the metric of M; but what did so as the step began,
    only back to there. Whether z was moved; if not, left (n + m,) are the gaps that remain.
    """
    if not _amiss(it, these, left, slop):
        return False
    n = len(it.rows.kind)
    for c in it.contacts:
        _bound(it, these, c, slop)
    for s in it.scalars:
        _bound(it, these, n + s, slop)
    _push_apart(it, these, slop)
    return True


@compiled
def _rub_along(it: Island, these: Gaps) -> bool:
    """Move z so that friction acted for as long as what it goes with along the normal; whether it was moved. Where
    others take back what an impulse does, as on what is light between heavy things, it acts as long as they do."""
    rubs, share = False, these.share
    for c in it.contacts:
        P = it.P[c]
        if is_wanted(these, c) and these.wanted[c] > 0.0 and (P[1] != 0.0 or P[2] != 0.0):
            longer = min(max(these.push[c], -share * these.acted[c]), (1.0 - share) * these.acted[c]) / P[0]
            longer *= _own_share(it, c)
            add_three(it.rows, c, 0.0, longer * P[1], longer * P[2], these.z)
            rubs = True
    return rubs


@compiled
def _own_share(it: Island, c: int) -> float:
    """What all impulses change a contact's velocity by, as a share of what those of others do, at most 1."""
    G, P, y = it.rows.mobility[c], it.P[c], it.y
    n, s, t = along_three(it.rows, c, 0.0, 0.0, 0.0, y)
    a = n - (G[0] * P[0] + G[1] * P[1] + G[3] * P[2])
    b = s - (G[1] * P[0] + G[2] * P[1] + G[4] * P[2])
    d = t - (G[3] * P[0] + G[4] * P[1] + G[5] * P[2])
    total, others = np.sqrt(n * n + s * s + t * t), np.sqrt(a * a + b * b + d * d)
    return 1.0 if total >= others else total / others


@compiled
def open_up(it: Island, these: Gaps, way: float, slop: float) -> bool:
    """After ``separate``: move z so that what overlapped as the step began opens, by ``way`` at most; whether any did.
    What pushes is told of both together.

    A limit opens by a turn as a wheel of radius PUSH_ARM makes on that way.
    """
    n, overlaps = len(it.rows.kind), False
    for k in range(len(it.contacts) + len(it.scalars)):
        c = gap_number(it, k)
        if these.most[c] < np.inf and mobility_of(it, c) > these.least:
            overlaps = overlaps or these.gaps[c] + moved(it, c, these.z) < -slop * BEYOND_SLOP
            these.most[c] += way if c < n else way / PUSH_ARM
        these.acted[c] = 0.0
    if overlaps:
        before, pushed = these.z.copy(), these.push.copy()
        heavy = _push_apart(it, these, slop)
        for k in range(len(it.contacts) + len(it.scalars)):
            c = gap_number(it, k)
            these.push[c] += pushed[c]
        if heavy:
            go_part(it, these, before, pushed, _slow_share(it, these, before))
    return overlaps


@compiled
def _slow_share(it: Island, these: Gaps, before: Floats) -> float:
    """The share of an island's way from ``before`` on by which it opens, as something heavy is lifted by it off what is
    light."""
    deepest, most = 0.0, 0.0
    for c in it.contacts:
        if mobility_of(it, c) > these.least:
            gap = these.gaps[c] + moved(it, c, before)
            deepest = max(deepest, -gap)
            if gap < 0.0:
                most = max(most, these.gaps[c] + moved(it, c, these.z) - gap)
    return min(max(OPENED, OPENED_SHARE * deepest) / most, 1.0) if most > 0.0 else 1.0


@compiled
def remain(it: Island, these: Gaps, left: Floats) -> None:
    """What is left (n + m,) of an island's gaps."""
    n = len(it.rows.kind)
    for c in it.contacts:
        left[c] = these.gaps[c] + moved(it, c, these.z)
    for s in it.scalars:
        if these.bounded[n + s]:
            left[n + s] = these.gaps[n + s] + moved(it, n + s, these.z)


@compiled
def immobile(rows: ContactRows) -> float:
    """The mobility up to which a contact cannot be moved."""
    least, G = 0.0, rows.mobility
    for c in range(len(rows.kind)):
        least = max(least, IMMOBILE * (G[c, 0] + G[c, 2] + G[c, 5]))
    return least


@compiled
def _amiss(it: Island, these: Gaps, left: Floats, slop: float) -> bool:
    """Whether a gap that can be moved is not as it should be; if none is, left (n + m,) are those that remain."""
    for k in range(len(it.contacts) + len(it.scalars)):
        c = gap_number(it, k)
        if these.bounded[c]:
            left[c] = these.gaps[c] + moved(it, c, these.z)
            if (is_wanted(these, c) or left[c] < -slop * BEYOND_SLOP) and mobility_of(it, c) > these.least:
                return True
    return False


@compiled
def _bound(it: Island, these: Gaps, c: int, slop: float) -> None:
    """Where the step began with an overlap, ``separate`` opens it no further than it was, or than impulses do."""
    these.most[c] = np.inf
    if these.bounded[c] and these.began[c] < -slop * BEYOND_SLOP:
        these.most[c] = max(these.gaps[c] + moved(it, c, these.z), these.began[c])


@compiled
def _push_apart(it: Island, these: Gaps, slop: float) -> bool:
    """Push from nothing, and let friction go with it; all at once where sweeps do not settle. Whether what is light
    was weighed for that as if it were far heavier."""
    for k in range(len(it.contacts) + len(it.scalars)):
        c = gap_number(it, k)
        these.push[c], these.active[c] = 0.0, False
    before = np.empty(len(it.slots))  # of its own: there may be many islands
    for k in range(len(before)):
        before[k] = these.z[it.slots[k]]
    patience = min(PATIENT_SWEEPS, these.sweeps)
    settled = _push_on(it, these, slop, patience)
    rubbed = settled and _rub_along(it, these)
    if rubbed:
        settled = _push_on(it, these, slop, patience)
    if settled or late(it.time):
        return False
    z, push, active = these.z.copy(), these.push.copy(), these.active.copy()
    for k in range(len(before)):
        these.z[it.slots[k]] = before[k]
    weight = push_exactly(it, these, slop) if these.exact else 0.0
    if weight == 0.0:
        these.z[:] = z
        these.push[:] = push
        these.active[:] = active
        _push_on(it, these, slop, these.sweeps)
        if not rubbed and _rub_along(it, these):
            _push_on(it, these, slop, these.sweeps)
    return weight > HEAVY


@compiled
def _push_on(it: Island, these: Gaps, slop: float, most: int) -> bool:
    """Sweeps until no gap is moved any more, so many at most, or the time is over; whether that was not before."""
    n, pushed, settled = len(it.rows.kind), False, False
    for k in range(most):
        change = 0.0
        for c in it.contacts:
            change = max(change, _push_one(it, these, c, slop))
        for s in it.scalars:
            if these.bounded[n + s]:
                change = max(change, _push_one(it, these, n + s, slop))
        pushed = pushed or change > 0.0
        if pushed:
            change = max(change, _hold(it, these.holds, these.z))
        settled = change <= SETTLED * slop
        if settled or (k + 1 >= LEAST_SEPARATION and late(it.time)):
            break
    return settled


@compiled
def _push_one(it: Island, these: Gaps, c: int, slop: float) -> float:
    """Push one gap to where it should be; how far it was."""
    mobility = mobility_of(it, c)
    if mobility <= these.least:
        return 0.0
    gap, most = these.gaps[c] + moved(it, c, these.z), these.most[c]
    wanting = is_wanted(these, c)
    if not (wanting or these.active[c] or gap < -slop * BEYOND_SLOP):
        return 0.0
    these.active[c] = True
    low = 0.0
    if wanting:
        low = these.push[c] + (min(these.wanted[c], most) - gap) / mobility
        low = min(max(low, -these.share * these.acted[c]), (1.0 - these.share) * these.acted[c])
    step = max(these.push[c] + (min(-0.5 * slop, most) - gap) / mobility, low) - these.push[c]
    if step != 0.0:
        these.push[c] += step
        _move(it, c, step, these.z)
    return abs(step) * mobility


@compiled
def _hold(it: Island, holds: Flags, z: Floats) -> float:
    """Take back what moves along the rows that hold, one after the other; the most that was."""
    most, lines = 0.0, it.lines
    for s in it.scalars:
        if holds[s] and lines.mobility[s] > 0.0:
            way = moving(lines, s, z)
            add_scalar(lines, s, -way / lines.mobility[s], z)
            most = max(most, abs(way))
    return most


@compiled
def _move(it: Island, c: int, step: float, z: Floats) -> None:
    n = len(it.rows.kind)
    if c < n:
        add(it.rows, c, 0, step, z)
    else:
        add_scalar(it.lines, c - n, step, z)

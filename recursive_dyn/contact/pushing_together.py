"""Where overlaps go that sweeps do not settle: what is light between heavy things is pushed as it was struck.

An impulse between heavy things that passes through light ones moves these by metres were it alone to act for longer.
Sweeps over gaps push them from one side, then from the other, and end with them turned, and in each other. All impulses
together, as the solve found them, move light things by no more than they move heavy ones.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, along_three
from recursive_dyn.contact.gaps import Gaps, gap_number, is_wanted, mobility_of, moved


@compiled
def overlap_left(it: Island, these: Gaps, slop: float) -> float:
    """How far an island's gaps are below what they are pushed to, at most."""
    result = 0.0
    for k in range(len(it.contacts) + len(it.scalars)):
        c = gap_number(it, k)
        if these.bounded[c] and mobility_of(it, c) > these.least:
            result = max(result, min(-0.5 * slop, these.most[c]) - these.gaps[c] - moved(it, c, these.z))
    return result


@compiled
def square_of_way(it: Island, these: Gaps, before: Floats) -> float:
    """The square of an island's whitened way from ``before`` on."""
    result = 0.0
    for slot in it.slots:
        result += (these.z[slot] - before[slot]) ** 2
    return result


@compiled
def time_of_all(it: Island, these: Gaps, z: Floats) -> float:
    """For which share of the step, beyond that for which they moved z, all impulses together bring what bounces nearest
    to where it is wanted, by the mobility of each."""
    work, square = 0.0, 0.0
    for c in it.contacts:
        if is_wanted(these, c) and these.wanted[c] > 0.0 and mobility_of(it, c) > these.least:
            short, speed = these.wanted[c] - these.gaps[c] - moved(it, c, z), moved(it, c, it.y)
            work += short * speed / mobility_of(it, c)
            square += speed * speed / mobility_of(it, c)
    if not square > 0.0:
        return 0.0
    share = these.share
    return min(max(work / (square * these.h), -share), 1.0 - share)


@compiled
def go_on_for(it: Island, these: Gaps, before: Floats, time: float) -> None:
    """Let all impulses act for longer by a share of the step, from whitened ways ``before`` on."""
    for slot in it.slots:
        these.z[slot] = before[slot] + time * these.h * it.y[slot]
    for k in range(len(it.contacts) + len(it.scalars)):
        c = gap_number(it, k)
        these.push[c], these.active[c] = time * these.acted[c], False


@compiled
def own_share(it: Island, c: int) -> float:
    """What all impulses change a contact's velocity by, as a share of what those of others do, at most 1."""
    G, P, y = it.rows.mobility[c], it.P[c], it.y
    n, s, t = along_three(it.rows, c, 0.0, 0.0, 0.0, y)
    a = n - (G[0] * P[0] + G[1] * P[1] + G[3] * P[2])
    b = s - (G[1] * P[0] + G[2] * P[1] + G[4] * P[2])
    d = t - (G[3] * P[0] + G[4] * P[1] + G[5] * P[2])
    total, others = np.sqrt(n * n + s * s + t * t), np.sqrt(a * a + b * b + d * d)
    return 1.0 if total >= others else total / others

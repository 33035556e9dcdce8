"""Laws of gaps, as pushes that answer them: where each is to be, and by which pushes.

In the metric of M the shortest way out of overlaps moves what is light by metres, along what nothing holds but
friction, to let what is heavy sink by a little; so light bodies count as if they were heavier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.gaps import Gaps, gap_number, is_wanted, mobility_of, moved
from recursive_dyn.contact.newton.block_equations import BlockEquations
from recursive_dyn.contact.newton.node_order import LANES
from recursive_dyn.contact.tuning import BEYOND_SLOP, EVEN, SOFT


class Pushes(NamedTuple):
    """Pushes of an island's contacts and scalar rows (n of them), by which its nodes are moved.

    stiff (n,): by how much each grows with what its gap lacks, 0 of what takes no part; gap, rate (n,): where the way
    is, and by what the next step changes it; goal (n,): where gaps are to be by pushes from low to high (n,); floor
    (n,): where they are to be by any push; last, now (n,): pushes of the last minimum, and those of gaps as they are;
    gives, gave (n,): whether these answer to gaps, now and in the factors. weights: of nodes, by which ways are
    measured.
    """

    stiff: Floats
    gap: Floats
    rate: Floats
    goal: Floats
    low: Floats
    high: Floats
    floor: Floats
    last: Floats
    now: Floats
    gives: Flags
    gave: Flags
    weights: Floats


@compiled
def begun(it: Island, these: Gaps, system: BlockEquations, slop: float) -> Pushes:
    """The laws of all gaps, from where nothing is pushed."""
    n, size = len(it.contacts), len(it.contacts) + len(it.scalars)
    own = Pushes(
        np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size),
        np.full(size, -np.inf), np.zeros(size), np.zeros(size), np.zeros(size, dtype=np.bool_),
        np.zeros(size, dtype=np.bool_), _weights(it, system),
    )  # fmt: skip
    for e in range(size):
        c = gap_number(it, e)
        mobility = mobility_of(it, c)
        if these.bounded[c] and mobility > these.least:
            own.stiff[e], own.gap[e] = SOFT / _mobility(it, own, system, e), these.gaps[c] + moved(it, c, these.z)
            these.active[c] = is_wanted(these, c)
            if these.active[c]:
                own.goal[e] = min(these.wanted[c], these.most[c])
                own.low[e], own.high[e] = -these.share * these.acted[c], 0.0
                own.floor[e] = min(-0.5 * slop, these.most[c])
        elif e >= n and these.holds[it.scalars[e - n]] and mobility > 0.0:
            own.stiff[e], own.gap[e] = SOFT / _mobility(it, own, system, e), moved(it, c, these.z)
            own.low[e], own.high[e] = -np.inf, np.inf
    return own


@compiled
def _weights(it: Island, system: BlockEquations) -> Floats:
    """By which ways of each node count more than in the metric of M: as if no lone body were lighter than what it
    touches by more than so many times."""
    count, start, which = len(system.base), system.order.rows.start, system.order.rows.which
    result, mobility, changed = np.full(count, 1.0), np.full(count, np.inf), True
    for e in range(len(it.contacts)):
        height = it.rows.height[it.contacts[e]]
        for k in range(start[e], start[e + 1]):
            own = _square(system.rows[system.first[e] + height * (k - start[e])])
            mobility[which[k]] = min(mobility[which[k]], own)
    for _ in range(count):
        if not changed:
            break
        changed = False
        for e in range(len(it.contacts)):
            if start[e + 1] - start[e] == 2:
                i, j = which[start[e]], which[start[e] + 1]
                a, b = mobility[i] / result[i], mobility[j] / result[j]
                if a > EVEN * b > 0.0:
                    result[i] *= a / (EVEN * b)
                    changed = True
                elif b > EVEN * a > 0.0:
                    result[j] *= b / (EVEN * a)
                    changed = True
    return result


@compiled
def _square(row: Floats) -> float:
    result = 0.0
    for j in range(LANES):
        result += row[j] * row[j]
    return result


@compiled
def _mobility(it: Island, own: Pushes, system: BlockEquations, e: int) -> float:
    """What a push of 1 moves its gap by, as ways are weighed."""
    height, start, result = it.rows.height[it.contacts[e]] if e < len(it.contacts) else 1, system.order.rows.start, 0.0
    for k in range(start[e], start[e + 1]):
        result += (
            _square(system.rows[system.first[e] + height * (k - start[e])]) / own.weights[system.order.rows.which[k]]
        )
    return result


@compiled
def pressed(own: Pushes, e: int, gap: float) -> float:
    """The push that a gap asks for, by what it lacks and the last one."""
    wanted = own.last[e] + own.stiff[e] * (own.goal[e] - gap)
    return max(min(max(wanted, own.low[e]), own.high[e]), own.last[e] + own.stiff[e] * (own.floor[e] - gap))


@compiled
def press(it: Island, these: Gaps, own: Pushes, slop: float) -> None:
    """Pushes of gaps as they are, and which of them answer; what gets to overlap is parted from then on."""
    for e in range(len(own.gap)):
        if own.stiff[e] > 0.0:
            c = gap_number(it, e)
            if not these.active[c] and these.bounded[c] and own.gap[e] < -slop * BEYOND_SLOP:
                these.active[c] = True
                own.floor[e] = min(-0.5 * slop, these.most[c])
            push = pressed(own, e, own.gap[e])
            own.now[e] = push
            own.gives[e] = own.low[e] < push < own.high[e] or push > own.high[e]


@compiled
def missing(own: Pushes) -> float:
    """How far gaps are from where their pushes hold them, at most."""
    result = 0.0
    for e in range(len(own.gap)):
        if own.stiff[e] > 0.0:
            result = max(result, abs(own.now[e] - own.last[e]) / own.stiff[e])
    return result

"""The least of what presses against itself.

What is wedged between others by friction may press on them with any force: all that keep it at rest meet the law, and
sweeps end at whatever they come to first, tens of thousands of newton seconds between bodies that move by a few. Bodies
that give way however little would be pressed by the least that holds them. So the impulses go towards the least ones
that do the same to all bodies, as far as friction and normals let them.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import ROLL, SPIN, Island, component
from recursive_dyn.contact.sweeps.mixing import read, unknowns, write
from recursive_dyn.contact.sweeps.subspace import refine
from recursive_dyn.contact.sweeps.sweep import sweep
from recursive_dyn.contact.tuning import (
    ON_THE_CONE,
    RELIEF_SOFTNESS,
    RELIEFS,
    RELIEVED,
    RUBBING,
    WEDGED,
    WEDGED_ROWS,
)


@compiled
def relieved(it: Island, change: float, tolerance: float) -> float:
    """Lessen an island's impulses where friction wedges them; what the last sweep changed, which was ``change``."""
    if not _is_wedged(it):
        return change
    n = unknowns(it)
    if n > WEDGED_ROWS:
        return change
    first, kept, now = np.empty(n), np.empty(n), np.empty(n)
    read(it, first)
    for _ in range(RELIEFS):
        read(it, kept)
        if not refine(it, RELIEF_SOFTNESS, True):
            break
        read(it, now)
        share = _room(it, kept)
        for k in range(n):
            now[k] = kept[k] + share * (now[k] - kept[k])
        write(it, now)
        if share == 0.0 or share == 1.0:
            break
    found, before, after = sweep(it, 0.0), 0.0, 0.0
    read(it, now)
    for k in range(n):
        before, after = before + first[k] * first[k], after + now[k] * now[k]
    if found <= max(change, tolerance) and after <= RELIEVED * before:
        return found
    write(it, first)
    return change


@compiled
def _is_wedged(it: Island) -> bool:
    """Whether impulses are much more than what they do, and friction has a good part in them."""
    whole, rubs, net, G = 0.0, 0.0, 0.0, it.rows.mobility
    for c in it.contacts:
        P = it.P[c]
        rub = P[1] * P[1] * G[c, 2] + P[2] * P[2] * G[c, 5]
        whole, rubs = whole + P[0] * P[0] * G[c, 0] + rub, rubs + rub
    for slot in it.slots:
        net += it.y[slot] * it.y[slot]
    return net < WEDGED * whole and rubs > RUBBING * whole


@compiled
def _room(it: Island, kept: Floats) -> float:
    """The share of the way from impulses ``kept`` to the island's that all may go within their bounds."""
    share, at = 1.0, 0
    for c in it.contacts:
        old, kind, height = np.zeros(6), it.rows.kind[c], it.rows.height[c]
        for i in range(height):
            old[component(kind, i)] = kept[at]
            at += 1
        if height > 0:
            new, bounds = it.P[c], it.frictions[c]
            square, bound = old[1] * old[1] + old[2] * old[2], bounds[1] * old[0]
            most = bounds[1] if square <= (1.0 + ON_THE_CONE) * bound * bound else bounds[0]
            share = min(share, _within(old[0], old[1], old[2], new[0], new[1], new[2], most))
            share = min(share, _within(old[0], old[SPIN], 0.0, new[0], new[SPIN], 0.0, bounds[3]))
            share = min(share, _within(old[0], old[ROLL], old[ROLL + 1], new[0], new[ROLL], new[ROLL + 1], bounds[2]))
    for s in it.scalars:
        way, low, high = it.Q[s] - kept[at], it.lines.low[s], it.lines.high[s]
        if it.Q[s] < low or it.Q[s] > high:
            share = min(share, max(((low if way < 0.0 else high) - kept[at]) / way, 0.0))
        at += 1
    return share


@compiled
def _within(p: float, x: float, y: float, q: float, u: float, v: float, most: float) -> float:
    """The share of the way from an impulse (p, x, y), which is within its cone |(x, y)| <= most p, to (q, u, v) that is
    too."""
    if q >= 0.0 and u * u + v * v <= (1.0 + ON_THE_CONE) * (most * q) ** 2:
        return 1.0
    d, a, b, share = q - p, u - x, v - y, 1.0
    if q < 0.0:
        share = p / (p - q)
    k0 = max((most * p) ** 2 - x * x - y * y, 0.0)
    k1, k2 = most * most * p * d - x * a - y * b, (most * d) ** 2 - a * a - b * b  # k0 + 2 k1 s + k2 s^2
    root = k1 * k1 - k0 * k2
    if root < 0.0:
        return share
    # the least root above 0, without cancelling
    turn = -k1 + np.sqrt(root) if k1 < 0.0 else -k1 - np.sqrt(root)
    if turn < 0.0 and k2 < 0.0:
        share = min(share, turn / k2)
    if turn > 0.0:
        share = min(share, k0 / turn)
    return max(share, 0.0)

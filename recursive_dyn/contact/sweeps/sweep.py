"""Block Gauss-Seidel over the rows of an island: one sweep meets the law of one contact or row after the other."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import (
    ROLL,
    SPIN,
    Island,
    add,
    add_scalar,
    add_three,
    along_three,
    component,
    velocity,
)
from recursive_dyn.contact.sweeps.cone import bounded, coulomb
from recursive_dyn.contact.tuning import ROLLING_SINGULAR


@compiled
def sweep(it: Island, soft: float) -> float:
    """Meet the law of every row of an island once; the largest change of a velocity, m/s, or infinity where they are
    not finite: no law changes these.

    soft: share of what its impulse does by which a contact gives way.
    """
    change, total = 0.0, 0.0
    for s in it.scalars:
        change = max(change, _sweep_scalar(it, s))
    for c in it.contacts:
        change = max(change, _sweep_contact(it, c, soft))
    for slot in it.slots:
        total += abs(it.y[slot])
    return change if total < np.inf else np.inf


@compiled
def _sweep_scalar(it: Island, s: int) -> float:
    """Meet the law of one scalar row; the change of its velocity."""
    lines, Q, y = it.lines, it.Q, it.y
    if lines.mobility[s] <= 0.0:
        return 0.0
    total = lines.speed[s]
    for k in range(lines.first[s], lines.first[s + 1]):
        total += lines.values[k] * y[lines.slots[k]]
    wanted = Q[s] + (lines.target[s] - total - lines.soft[s] * Q[s]) / (lines.mobility[s] + lines.soft[s])
    wanted = min(max(wanted, lines.low[s]), lines.high[s])
    step = wanted - Q[s]
    if step != 0.0:
        Q[s] = wanted
        add_scalar(lines, s, step, y)
    return abs(step) * lines.mobility[s]


@compiled
def _sweep_contact(it: Island, c: int, soft: float) -> float:
    """Meet the law of one contact; the largest change of one of its velocities. soft as in sweep."""
    rows, P, y, G, kind = it.rows, it.P, it.y, it.rows.mobility, it.rows.kind[c]
    p0, p1, p2 = P[c, 0], P[c, 1], P[c, 2]
    g00, g10, g11, g20, g21, g22 = G[c, 0], G[c, 1], G[c, 2], G[c, 3], G[c, 4], G[c, 5]
    n0, n1, n2 = met_alone(it, c, 1.0, soft)
    P[c, 0], P[c, 1], P[c, 2] = n0, n1, n2
    d0, d1, d2 = n0 - p0, n1 - p1, n2 - p2
    if kind > 0:
        return _turn(it, c, n0, d0, d1, d2)
    moved0 = abs(g00 * d0 + g10 * d1 + g20 * d2)
    moved1 = abs(g10 * d0 + g11 * d1 + g21 * d2)
    moved2 = abs(g20 * d0 + g21 * d1 + g22 * d2)
    change = max(moved0, moved1, moved2)
    if change != 0.0:
        add_three(rows, c, d0, d1, d2, y)
    return change


@compiled
def met_alone(it: Island, c: int, part: float, soft: float) -> tuple[float, float, float]:
    """The impulse that meets the law of one contact, all others given, were all of its mobility ``part`` times as
    large. soft as in sweep."""
    rows, P, G = it.rows, it.P, it.rows.mobility
    v0, v1, v2 = along_three(rows, c, rows.speed[c, 0], rows.speed[c, 1], rows.speed[c, 2], it.y)
    p0, p1, p2 = P[c, 0], P[c, 1], P[c, 2]
    g00, g10, g11 = part * G[c, 0], part * G[c, 1], part * G[c, 2]
    g20, g21, g22 = part * G[c, 3], part * G[c, 4], part * G[c, 5]
    return coulomb(
        g00 * (1.0 + soft), g10, g20, g11 * (1.0 + soft), g21, g22 * (1.0 + soft),
        v0 - g00 * p0 - g10 * p1 - g20 * p2,
        v1 - g10 * p0 - g11 * p1 - g21 * p2,
        v2 - g20 * p0 - g21 * p1 - g22 * p2,
        it.targets[c], it.frictions[c, 0], it.frictions[c, 1], p1, p2,
    )  # fmt: skip


@compiled
def _turn(it: Island, c: int, normal: float, d0: float, d1: float, d2: float) -> float:
    """Spinning and rolling friction of a contact that changed its normal impulse, and those of friction by d: changes
    that too, and all velocities by both; the largest change of a velocity of the contact."""
    rows, P, y, G, kind = it.rows, it.P, it.y, it.rows.mobility, it.rows.kind[c]
    step, v = np.zeros(6), np.zeros(6)
    step[0], step[1], step[2] = d0, d1, d2
    for i in range(SPIN, rows.height[c]):
        v[component(kind, i)] = velocity(rows, c, i, y)
    if kind & 1 != 0:
        g, old = G[c, 9], P[c, SPIN]
        free = v[SPIN] - g * old + G[c, 6] * d0 + G[c, 7] * d1 + G[c, 8] * d2
        bound = it.frictions[c, 3] * normal
        P[c, SPIN] = min(max(-free / g, -bound), bound) if g > 0.0 else 0.0
        step[SPIN] = P[c, SPIN] - old
    if kind & 2 != 0:
        a, b, d = G[c, 14], G[c, 19], G[c, 20]
        p4, p5 = P[c, ROLL], P[c, ROLL + 1]
        for j in range(ROLL):
            v[ROLL] += G[c, 10 + j] * step[j]
            v[ROLL + 1] += G[c, 15 + j] * step[j]
        n4, n5 = 0.0, 0.0
        if a * d - b * b > ROLLING_SINGULAR * (a + d) * (a + d):
            _, n4, n5 = bounded(
                a, b, d, v[ROLL] - (a * p4 + b * p5), v[ROLL + 1] - (b * p4 + d * p5), it.frictions[c, 2] * normal
            )
        P[c, ROLL], P[c, ROLL + 1] = n4, n5
        step[ROLL], step[ROLL + 1] = n4 - p4, n5 - p5
    for i in range(rows.height[c]):
        add(rows, c, i, step[component(kind, i)], y)
    return _largest(G[c], step)


@compiled
def _largest(G: Floats, step: Floats) -> float:
    """The largest change of a velocity by impulses ``step`` (6,) of a block of mobility G (21,)."""
    largest = 0.0
    for i in range(6):
        moved = 0.0
        for j in range(6):
            at = i * (i + 1) // 2 + j if j <= i else j * (j + 1) // 2 + i
            moved += G[at] * step[j]
        largest = max(largest, abs(moved))
    return largest

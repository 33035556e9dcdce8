"""Block Gauss-Seidel over the rows of an island: one sweep meets the law of one contact or row after the other."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.blocks import Island, add, component, height, velocity
from recursive_dyn.contact.cone import bounded, coulomb
from recursive_dyn.contact.rows import ROLL, SPIN, ContactRows
from recursive_dyn.contact.tuning import ROLLING_SINGULAR


@compiled
def _sweep_contact(
    rows: ContactRows,
    c: int,
    G: np.ndarray,
    target: float,
    friction: np.ndarray,
    p: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
    soft: float,
) -> float:
    """Meet the law of one contact; the largest change of one of its velocities. w (7, 6): scratch; soft as in sweep."""
    v, old, new, x = w[0], w[1], w[2], w[3]
    for i in range(height(rows, c)):
        v[component(rows.kind[c], i)] = velocity(rows, c, i, y)
    for i in range(6):
        old[i] = p[i]
        new[i] = 0.0
    for i in range(3):
        for j in range(3):
            v[i] -= G[i, j] * p[j]
            w[4 + i, j] = G[i, j] * (1.0 + soft) if i == j else G[i, j]
    coulomb(w[4:], v, target, friction, new, x)
    normal = new[0]
    if rows.kind[c] & 1:
        free = v[SPIN] - G[SPIN, SPIN] * p[SPIN]
        for j in range(3):
            free += G[SPIN, j] * (new[j] - old[j])
        bound = friction[3] * normal
        if G[SPIN, SPIN] > 0.0:
            new[SPIN] = min(max(-free / G[SPIN, SPIN], -bound), bound)
    if rows.kind[c] & 2:
        for i in (ROLL, ROLL + 1):
            for j in range(ROLL):
                v[i] += G[i, j] * (new[j] - old[j])
            v[i] -= G[i, ROLL] * p[ROLL] + G[i, ROLL + 1] * p[ROLL + 1]
        a, b, d = G[ROLL, ROLL], G[ROLL, ROLL + 1], G[ROLL + 1, ROLL + 1]
        if a * d - b * b > ROLLING_SINGULAR * (a + d) ** 2:
            bounded(a, b, d, v[ROLL], v[ROLL + 1], friction[2] * normal, x)
            new[ROLL], new[ROLL + 1] = x[0], x[1]
    change = 0.0
    for i in range(6):
        p[i] = new[i]
        new[i] -= old[i]
    for i in range(6):
        moved = 0.0
        for j in range(6):
            moved += G[i, j] * new[j]
        change = max(change, abs(moved))
    if change != 0.0 or rows.kind[c] > 0:
        add(rows, c, new, y)
    return change


@compiled
def sweep(it: Island, w: np.ndarray, soft: float) -> float:
    """Meet the law of every row of an island once; the largest change of a velocity, m/s.

    soft: share of what its impulse does by which a contact gives way. w (7, 6): scratch.
    """
    rows, scalar_rows, G, g, targets, frictions = it.contact_rows, it.scalar_rows, it.G, it.g, it.targets, it.frictions
    contacts, scalars, P, Q, y = it.contacts, it.scalars, it.P, it.Q, it.y
    change = 0.0
    for s in scalars:
        if g[s] <= 0.0:
            continue
        total = scalar_rows.speed[s]
        for k in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
            total += scalar_rows.values[k] * y[scalar_rows.slots[k]]
        wanted = Q[s] + (scalar_rows.target[s] - total - scalar_rows.soft[s] * Q[s]) / (g[s] + scalar_rows.soft[s])
        wanted = min(max(wanted, scalar_rows.low[s]), scalar_rows.high[s])
        step = wanted - Q[s]
        if step != 0.0:
            Q[s] = wanted
            for k in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
                y[scalar_rows.slots[k]] += scalar_rows.values[k] * step
            change = max(change, abs(step) * g[s])
    for c in contacts:
        change = max(change, _sweep_contact(rows, c, G[c], targets[c], frictions[c], P[c], y, w, soft))
    return change

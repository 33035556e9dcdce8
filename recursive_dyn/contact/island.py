"""One island: sweeps, direct solves of what binds, and mixing, until no law is missed by more than the tolerance."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.blocks import Island, accumulate, height, velocity
from recursive_dyn.contact.mixing import mixed, read, scales, write
from recursive_dyn.contact.subspace import refine
from recursive_dyn.contact.sweep import sweep
from recursive_dyn.contact.tuning import (
    CANCELLED,
    DIRECT_SOFTNESS,
    FAILED,
    FIRST_SWEEPS,
    MIXED,
    MIXING_TRUST,
    PATIENCE,
    SWEEPS_BETWEEN,
    UNMIXED_END,
    YIELDING,
    YIELDING_SWEEPS,
)


@compiled
def solve_island(it: Island, local: np.ndarray, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve the rows of one island from the impulses P (n, 6), Q (m,); (sweeps, largest change in the last, m/s).

    local (len(y),): scratch of ``refine``.
    """
    contacts, scalars = it.contacts, it.scalars
    w = np.zeros((7, 6))
    accumulate(it)
    if _squeezed(it):
        _clear(it)
    change, done = 0.0, 0
    while done < min(FIRST_SWEEPS, iterations):
        change = sweep(it, w, 0.0)
        done += 1
        if change <= tolerance:
            return done, change
    size = 6 * len(contacts) + len(scalars)
    kept, best = np.zeros(size), change
    read(it, kept)
    for attempt in range(len(DIRECT_SOFTNESS)):
        least, patience = attempt == len(DIRECT_SOFTNESS) - 1, PATIENCE
        while patience > 0 and done < iterations // 2:
            if not refine(it, local, DIRECT_SOFTNESS[attempt], least):
                break
            accumulate(it)
            for _ in range(SWEEPS_BETWEEN):
                change = sweep(it, w, 0.0)
                done += 1
                if change <= tolerance:
                    return done, change
            patience -= 1
            if change < best:
                best, patience = change, PATIENCE
                read(it, kept)
        write(it, kept)
        accumulate(it)
        change = best
    done, change = _mixing(it, w, done, change, iterations, tolerance)
    failed = change > FAILED or _squeezed(it)
    if failed and iterations >= YIELDING_SWEEPS:
        _clear(it)
        for k in range(YIELDING_SWEEPS):  # the last ones leave no doubt that they end
            soft = YIELDING[k * len(YIELDING) // YIELDING_SWEEPS]
            change = sweep(it, w, soft)
        read(it, kept)
        change = sweep(it, w, 0.0)
        change = max(change, 2.0 * tolerance)  # by how much the laws as they are would still change it
        write(it, kept)
        accumulate(it)
    return done, change


@compiled
def _clear(it: Island) -> None:
    contacts, scalars, P, Q = it.contacts, it.scalars, it.P, it.Q
    for c in contacts:
        P[c] = 0.0
    for s in scalars:
        Q[s] = 0.0
    accumulate(it)


@compiled
def _squeezed(it: Island) -> bool:
    """Whether impulses do next to nothing but press against each other, as on a wedge: they would grow for ever."""
    rows, scalar_rows, G, g, contacts, scalars = it.contact_rows, it.scalar_rows, it.G, it.g, it.contacts, it.scalars
    P, Q, y = it.P, it.Q, it.y
    whole, net = 0.0, 0.0
    for c in contacts:
        for r in range(3):
            whole += P[c, r] * P[c, r] * G[c, r, r]
        for i in range(min(height(rows, c), 3)):
            net += P[c, i] * (velocity(rows, c, i, y) - rows.speed[c, i])
    for s in scalars:
        whole += Q[s] * Q[s] * g[s]
        for k in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
            net += Q[s] * scalar_rows.values[k] * y[scalar_rows.slots[k]]
    return net < CANCELLED * whole


@compiled
def _mixing(
    it: Island, w: np.ndarray, done: int, change: float, iterations: int, tolerance: float
) -> tuple[int, float]:
    """Sweeps whose last iterates are mixed."""
    contacts, scalars = it.contacts, it.scalars
    size = 6 * len(contacts) + len(scalars)
    x, scale = np.zeros(size), np.zeros(size)
    end, r, last_end, last_r = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    dF, dR = np.zeros((MIXED, size)), np.zeros((MIXED, size))
    scales(it, scale)
    used, best, fresh = 0, np.inf, True
    while done < iterations:
        read(it, x)
        change = sweep(it, w, 0.0)
        done += 1
        if change <= tolerance:
            break
        read(it, end)
        r[:] = (end - x) * scale
        length = np.sqrt(np.dot(r, r))
        if length > MIXING_TRUST * best:
            used, fresh, best = 0, True, length
        best = min(best, length)
        if not fresh:
            for k in range(min(used, MIXED - 1), 0, -1):
                dF[k] = dF[k - 1]
                dR[k] = dR[k - 1]
            dF[0] = end - last_end
            dR[0] = r - last_r
            used = min(used + 1, MIXED)
        last_end[:] = end
        last_r[:] = r
        fresh = False
        if used > 0 and done < iterations - UNMIXED_END:
            gamma = mixed(dR, r, used)
            for k in range(used):
                if gamma[k] != 0.0:
                    end -= dF[k] * gamma[k]
            write(it, end)
            accumulate(it)
    return done, change

"""One island: sweeps, direct solves of what binds, and mixing, until no law is missed by more than the tolerance."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island, accumulate, height, velocity
from recursive_dyn.contact.mixing import mixed, read, scales, write
from recursive_dyn.contact.subspace import refine
from recursive_dyn.contact.sweep import sweep

_FIRST = 3  # sweeps before anything else
_BETWEEN = 3  # sweeps after each direct solve
_SOFT = (1e-9, 1e-7, 1e-5)  # of direct solves, see ``refine``: softer where they do not help
_PATIENCE = 3  # direct solves that may pass without a better residual
_NET = 1e-6  # share of the impulses' energies, each alone, that all together have, below which they are forgotten
_MEMORY = 8  # iterates that are mixed
_CALM = 8  # last sweeps, unmixed: what has not converged by then ends on impulses that take energy away
_FAILED = 1e-3  # m/s: a residual that is no solution
_CAREFUL = 60  # sweeps from nothing with contacts that give way, where there is none, as between wedges that jam
_GIVING = (1e-3, 1e-2, 1e-1)  # share of what its impulse does by which a contact then gives way
_TRUST = 2.0  # growth of the residual at which mixing starts anew


@compiled
def island(it: Island, local: np.ndarray, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve the rows of one island from the impulses P (n, 6), Q (m,); (sweeps, largest change in the last, m/s).

    local (len(y),): scratch of ``refine``.
    """
    contacts, singles = it.contacts, it.singles
    w = np.zeros((7, 6))
    accumulate(it)
    if _squeezed(it):
        _clear(it)
    change, done = 0.0, 0
    while done < min(_FIRST, iterations):
        change = sweep(it, w, 0.0)
        done += 1
        if change <= tolerance:
            return done, change
    size = 6 * len(contacts) + len(singles)
    kept, best = np.zeros(size), change
    read(it, kept)
    for attempt in range(len(_SOFT)):
        least, patience = attempt == len(_SOFT) - 1, _PATIENCE
        while patience > 0 and done < iterations // 2:
            if not refine(it, local, _SOFT[attempt], least):
                break
            accumulate(it)
            for _ in range(_BETWEEN):
                change = sweep(it, w, 0.0)
                done += 1
                if change <= tolerance:
                    return done, change
            patience -= 1
            if change < best:
                best, patience = change, _PATIENCE
                read(it, kept)
        write(it, kept)
        accumulate(it)
        change = best
    done, change = _mixing(it, w, done, change, iterations, tolerance)
    failed = change > _FAILED or _squeezed(it)
    if failed and iterations >= _CAREFUL:
        _clear(it)
        for k in range(_CAREFUL):  # the last ones leave no doubt that they end
            soft = _GIVING[k * len(_GIVING) // _CAREFUL]
            change = sweep(it, w, soft)
        read(it, kept)
        change = sweep(it, w, 0.0)
        change = max(change, 2.0 * tolerance)  # by how much the laws as they are would still change it
        write(it, kept)
        accumulate(it)
    return done, change


@compiled
def _clear(it: Island) -> None:
    contacts, singles, P, Q = it.contacts, it.singles, it.P, it.Q
    for c in contacts:
        P[c] = 0.0
    for s in singles:
        Q[s] = 0.0
    accumulate(it)


@compiled
def _squeezed(it: Island) -> bool:
    """Whether impulses do next to nothing but press against each other, as on a wedge: they would grow for ever."""
    rows, scalars, G, weights, contacts, singles = it.rows, it.scalars, it.G, it.weights, it.contacts, it.singles
    P, Q, y = it.P, it.Q, it.y
    whole, net = 0.0, 0.0
    for c in contacts:
        for r in range(3):
            whole += P[c, r] * P[c, r] * G[c, r, r]
        for i in range(min(height(rows, c), 3)):
            net += P[c, i] * (velocity(rows, c, i, y) - rows.speed[c, i])
    for s in singles:
        whole += Q[s] * Q[s] * weights[s]
        for k in range(scalars.first[s], scalars.first[s + 1]):
            net += Q[s] * scalars.values[k] * y[scalars.slots[k]]
    return net < _NET * whole


@compiled
def _mixing(
    it: Island, w: np.ndarray, done: int, change: float, iterations: int, tolerance: float
) -> tuple[int, float]:
    """Sweeps whose last iterates are mixed."""
    contacts, singles = it.contacts, it.singles
    size = 6 * len(contacts) + len(singles)
    x, scale = np.zeros(size), np.zeros(size)
    end, r, last_end, last_r = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    dF, dR = np.zeros((_MEMORY, size)), np.zeros((_MEMORY, size))
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
        if length > _TRUST * best:
            used, fresh, best = 0, True, length
        best = min(best, length)
        if not fresh:
            for k in range(min(used, _MEMORY - 1), 0, -1):
                dF[k] = dF[k - 1]
                dR[k] = dR[k - 1]
            dF[0] = end - last_end
            dR[0] = r - last_r
            used = min(used + 1, _MEMORY)
        last_end[:] = end
        last_r[:] = r
        fresh = False
        if used > 0 and done < iterations - _CALM:
            gamma = mixed(dR, r, used)
            for k in range(used):
                if gamma[k] != 0.0:
                    end -= dF[k] * gamma[k]
            write(it, end)
            accumulate(it)
    return done, change

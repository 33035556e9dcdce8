"""One island: sweeps, then direct solves, Newton's method, mixing, until laws are missed by the tolerance at most."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, accumulate, component
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.newton.newton import newton
from recursive_dyn.contact.sweeps.mixing import mixing, read, unknowns, write
from recursive_dyn.contact.sweeps.subspace import refine
from recursive_dyn.contact.sweeps.sweep import sweep
from recursive_dyn.contact.tuning import (
    ATTEMPTS,
    CANCELLED,
    DIRECT_SOFTNESS,
    FAILED,
    FAR_INSIDE,
    FEW_UNKNOWNS,
    FIRST_SWEEPS,
    FORESEEN,
    HOPELESS,
    INSIDE_MANY,
    LAGGED,
    LEAST_STEPS,
    MANY_UNKNOWNS,
    PATIENCE,
    RESCUE,
    RESCUE_OF_MANY,
    RESCUED,
    SWEEPS_BETWEEN,
    TOO_MANY_UNKNOWNS,
    YIELDING,
    YIELDING_SWEEPS,
)


@compiled
def solve_island(it: Island, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve the rows of one island from its impulses P, Q; (iterations, largest change in the last sweep, m/s)."""
    accumulate(it)
    if _squeezed(it):
        _clear(it)
    change, done = 0.0, 0
    while done < min(FIRST_SWEEPS, iterations):
        change = sweep(it, 0.0)
        done += 1
        if change <= tolerance or late(it.time):
            return done, change
    kept = np.empty(unknowns(it))
    read(it, kept)
    few, enough = len(kept) <= FEW_UNKNOWNS, iterations - done >= LEAST_STEPS
    if few or not enough:
        for attempt in range(ATTEMPTS if enough else len(DIRECT_SOFTNESS)):
            done, change = _direct(it, kept, attempt, done, change, iterations, tolerance)
            if change <= tolerance:
                return done, change
    patient = iterations >= YIELDING_SWEEPS
    if iterations - done >= LEAST_STEPS and not late(it.time):
        read(it, kept)
        done, found = newton(it, done, iterations, tolerance, change, 0, FORESEEN, 0.0)
        if _squeezed(it):
            write(it, kept)
        else:
            change = found
        if patient:
            change = _rescued(it, kept, change, iterations, tolerance)
        if change <= FAILED:
            return done, change
    done, change = mixing(it, done, change, iterations, tolerance)
    if patient and not late(it.time) and (change > FAILED or _squeezed(it)):
        change = _yielding(it, kept, change, tolerance)
    return done, change


@compiled
def _rescued(it: Island, kept: Floats, change: float, iterations: int, tolerance: float) -> float:
    """Try other ways while the last sweep changed more than is right for so many unknowns; what it changed of the best.

    kept: room for impulses.
    """
    few, most = len(kept) <= FEW_UNKNOWNS, (RESCUE if len(kept) <= TOO_MANY_UNKNOWNS else RESCUE_OF_MANY) * iterations
    missed = tolerance if few else RESCUED if len(kept) <= MANY_UNKNOWNS else FAILED
    if change > missed and not late(it.time):
        change = _longer(it, kept, change, most, tolerance, FORESEEN, 0.0)
    if change > missed and not late(it.time):
        change = _longer(it, kept, change, most, tolerance, FORESEEN, FAR_INSIDE if few else INSIDE_MANY)
    if change > missed and not late(it.time):
        change = _longer(it, kept, change, most, tolerance, LAGGED, 0.0)
    attempt = ATTEMPTS
    while few and change > missed and attempt < len(DIRECT_SOFTNESS):
        read(it, kept)
        _, change = _direct(it, kept, attempt, 0, change, iterations, tolerance)
        attempt += 1
    return change


@compiled
def _longer(
    it: Island, kept: Floats, change: float, iterations: int, tolerance: float, foreseen: float, margin: float
) -> float:
    """Newton's method, longer, from nothing if there is a margin; what the last sweep of the better one changed.

    Impulses so large that velocities drown in their rounding are none: no sweep changes them.
    """
    read(it, kept)
    if margin > 0.0:
        _clear(it)
    _, found = newton(it, 0, iterations, tolerance, np.inf if margin > 0.0 else change, 1, foreseen, margin)
    if found < change and not _squeezed(it):
        return found
    write(it, kept)
    return change


@compiled
def _direct(
    it: Island, kept: Floats, attempt: int, done: int, change: float, iterations: int, tolerance: float
) -> tuple[int, float]:
    """Direct solves of what binds with sweeps between them, while these help; as ``solve_island`` returns them.

    kept: the best impulses so far, whose last sweep made ``change``; they are those of the island afterwards.
    """
    best, patience = change, PATIENCE
    while patience > 0 and done < iterations // 4 and not late(it.time):
        if not refine(it, DIRECT_SOFTNESS[attempt], attempt == len(DIRECT_SOFTNESS) - 1):
            break
        accumulate(it)
        for _ in range(SWEEPS_BETWEEN):
            change = sweep(it, 0.0)
            done += 1
            if change <= tolerance:
                return done, change
        patience -= 1
        if change > HOPELESS * best:
            break
        if change < best:
            best, patience = change, PATIENCE
            read(it, kept)
    write(it, kept)
    return done, best


@compiled
def _yielding(it: Island, kept: Floats, change: float, tolerance: float) -> float:
    """From nothing with contacts that give way, the last ones so much that there is no doubt that they end; by how much
    the laws as they are would still change it. What there is, which they would change by ``change``, stays if it is
    better, unless it is squeezed."""
    before, squeezed = np.empty(len(kept)), _squeezed(it)
    read(it, before)
    _clear(it)
    for k in range(YIELDING_SWEEPS):
        sweep(it, YIELDING[k * len(YIELDING) // YIELDING_SWEEPS])
    read(it, kept)
    found = max(sweep(it, 0.0), 2.0 * tolerance)
    if found > change and not squeezed:
        write(it, before)
        return change
    write(it, kept)
    return found


@compiled
def _clear(it: Island) -> None:
    for c in it.contacts:
        for i in range(6):
            it.P[c, i] = 0.0
    for s in it.scalars:
        it.Q[s] = 0.0
    accumulate(it)


@compiled
def _squeezed(it: Island) -> bool:
    """Whether impulses do next to nothing but press against each other, as on a wedge: they would grow for ever."""
    whole, net, G = 0.0, 0.0, it.rows.mobility
    for c in it.contacts:
        for i in range(it.rows.height[c]):
            k = component(it.rows.kind[c], i)
            whole += it.P[c, k] * it.P[c, k] * G[c, k * (k + 1) // 2 + k]
    for s in it.scalars:
        whole += it.Q[s] * it.Q[s] * it.lines.mobility[s]
    for slot in it.slots:
        net += it.y[slot] * it.y[slot]
    return net < CANCELLED * whole

"""One island: sweeps, then direct solves, Newton's method, mixing, until laws are missed by the tolerance at most."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, accumulate
from recursive_dyn.contact.budget import ENDLESS, late, left
from recursive_dyn.contact.islands.rescue import rescued
from recursive_dyn.contact.islands.squeezing import better, clear, squeezed
from recursive_dyn.contact.newton.newton import has_moments, newton
from recursive_dyn.contact.sweeps.mixing import mixing, read, unknowns, write
from recursive_dyn.contact.sweeps.subspace import refine
from recursive_dyn.contact.sweeps.sweep import sweep
from recursive_dyn.contact.tuning import (
    ATTEMPTS,
    DIRECT_SOFTNESS,
    FAILED,
    FEW_UNKNOWNS,
    FIRST_SWEEPS,
    HOPELESS,
    LEAST_STEPS,
    LIMITED,
    MOMENTS_STEPS,
    PATIENCE,
    SWEEPS_BETWEEN,
    WORTH_BEGINNING,
    YIELDING,
    YIELDING_SWEEPS,
)


@compiled
def solve_island(it: Island, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve the rows of one island from its impulses P, Q; (iterations, largest change in the last sweep, m/s)."""
    accumulate(it)
    if squeezed(it):
        clear(it)
    change, done, began = 0.0, 0, left(it.time)
    while done < min(FIRST_SWEEPS, iterations):
        change = sweep(it, 0.0)
        done += 1
        if change <= tolerance or late(it.time):
            return done, change
    kept, now = np.empty(unknowns(it)), left(it.time)
    read(it, kept)
    few, enough = len(kept) <= FEW_UNKNOWNS, iterations - done >= LEAST_STEPS
    hurried = now < ENDLESS and now * done < WORTH_BEGINNING * (began - now)
    if few or not (enough or hurried):
        for attempt in range(ATTEMPTS if enough else len(DIRECT_SOFTNESS)):
            done, change = _direct(it, kept, attempt, done, change, iterations, tolerance)
            if change <= tolerance:
                return done, change
    patient = iterations >= YIELDING_SWEEPS
    if iterations - done >= LEAST_STEPS and not hurried and not late(it.time):
        done, change = _all_at_once(it, kept, done, change, iterations, tolerance)
        if change <= FAILED:
            return done, change
    read(it, kept)
    done, found = mixing(it, done, change, iterations, tolerance)
    change = better(it, kept, change, found) if patient else found
    if patient and not late(it.time) and (change > FAILED or squeezed(it)):
        change = _yielding(it, kept, change, tolerance)
    return done, change


@compiled
def _all_at_once(
    it: Island, kept: Floats, done: int, change: float, iterations: int, tolerance: float
) -> tuple[int, float]:
    """Newton's method and, if iterations allow for it, rescues and softer direct solves; as ``solve_island`` returns
    them.

    kept: room for impulses, of those that ``change`` says of, the island's.
    """
    read(it, kept)
    swept, few, patient, most = change, len(kept) <= FEW_UNKNOWNS, iterations >= YIELDING_SWEEPS, iterations
    if patient and has_moments(it):
        most *= MOMENTS_STEPS
    done, found = newton(it, done, most, tolerance, change)
    done = min(done, iterations)
    if squeezed(it):
        write(it, kept)
    else:
        change = found
    if not patient:
        return done, change
    first = kept.copy()
    if iterations >= LIMITED:  # it takes many times as long as less than that
        change = rescued(it, kept, change, iterations, tolerance)
    attempt = ATTEMPTS
    while few and change > tolerance and attempt < len(DIRECT_SOFTNESS):
        read(it, kept)
        _, change = _direct(it, kept, attempt, 0, change, iterations, tolerance)
        attempt += 1
    if change > FAILED:
        change = better(it, first, swept, change)
    return done, change


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
    before, pressed = np.empty(len(kept)), squeezed(it)
    read(it, before)
    clear(it)
    for k in range(YIELDING_SWEEPS):
        sweep(it, YIELDING[k * len(YIELDING) // YIELDING_SWEEPS])
    read(it, kept)
    found = max(sweep(it, 0.0), 2.0 * tolerance)
    if found > change and not pressed:
        write(it, before)
        return change
    write(it, kept)
    return found

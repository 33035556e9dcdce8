"""An island whose sweeps do not converge: Newton's method on all of its laws at once.

An interior-point method finds which contacts are open, stick and slide, an augmented Lagrangian ends what it leaves
(Acary, Bremond & Huber, 2018, compare such methods), and sweeps have the last word.
"""

from __future__ import annotations

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.augmented import augmented
from recursive_dyn.contact.block_equations import block_equations
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.interior_point import interior_point
from recursive_dyn.contact.natural import trial
from recursive_dyn.contact.sweep import sweep
from recursive_dyn.contact.tuning import (
    AUGMENTED_STEPS,
    CLOSE,
    INTERIOR_STEPS,
    LAST_SWEEPS,
    LEAST_AGAIN,
    NEWTON_SHARE,
    STEP_COST,
)


@compiled
def newton(it: Island, done: int, iterations: int, tolerance: float, foreseen: float) -> tuple[int, float]:
    """Improve an island's impulses after ``done`` iterations; (iterations, largest change in the last sweep, m/s).

    foreseen: as in ``interior_contacts.answer``.
    """
    these, system, aim, most = trial(it), block_equations(it), NEWTON_SHARE * tolerance, iterations - LAST_SWEEPS
    for k in range(len(INTERIOR_STEPS)):
        if k > 0 and done + LEAST_AGAIN * STEP_COST > most:
            break
        if done + STEP_COST <= most:
            close, count = max(CLOSE, aim) if k == 0 else aim, min(INTERIOR_STEPS[k], (most - done) // STEP_COST)
            steps, miss = interior_point(it, these, system, count, close, foreseen)
            done += STEP_COST * steps
            if miss <= aim:
                break
        if done + STEP_COST <= most:
            steps, miss = augmented(it, these, system, min(AUGMENTED_STEPS[k], (most - done) // STEP_COST), aim)
            done += STEP_COST * steps
            if miss <= aim:
                break
    change = 0.0
    for _ in range(LAST_SWEEPS):
        change = sweep(it, 0.0)
        done += 1
        if change <= tolerance:
            break
    return done, change

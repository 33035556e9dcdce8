"""An island whose sweeps do not converge: Newton's method on all of its laws at once.

An interior-point method finds which contacts are open, stick and slide, an augmented Lagrangian ends what it leaves
(Acary, Bremond & Huber, 2018, compare such methods), and sweeps have the last word. What opens by far more than laws
are missed by takes no part, nor do bodies that touch nowhere else join others in the factors; should it be reached all
the same, it does from there on. Where contacts spin or roll with friction the interior point leads away: what bounds
moments are impulses that nothing determines.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island, velocity
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.newton.augmented import augmented
from recursive_dyn.contact.newton.block_equations import BlockEquations, block_equations
from recursive_dyn.contact.newton.interior_point import interior_point
from recursive_dyn.contact.newton.natural import Trial, take, trial
from recursive_dyn.contact.sweeps.mixing import read, unknowns, write
from recursive_dyn.contact.sweeps.sweep import sweep
from recursive_dyn.contact.tuning import (
    AUGMENTED_AGAIN,
    AUGMENTED_STEPS,
    CLOSE,
    FAILED,
    FAR,
    FAR_AT_LEAST,
    INTERIOR_STEPS,
    LAST_SWEEPS,
    LED_AWAY,
    NEWTON_SHARE,
    REACHED,
    STEP_COST,
)


@compiled
def newton(it: Island, done: int, iterations: int, tolerance: float, miss: float) -> tuple[int, float]:
    """Improve an island's impulses after ``done`` iterations; (iterations, largest change in the last sweep, m/s).

    miss: by how much laws are missed, m/s, or more.
    """
    aim, most, steps = NEWTON_SHARE * tolerance, iterations - LAST_SWEEPS, AUGMENTED_STEPS
    if not has_moments(it):
        if done + STEP_COST <= most:
            these, count = near(it, miss), max(min(INTERIOR_STEPS, 2 * (most - done) // (3 * STEP_COST)), 1)
            took, miss = interior_point(these, trial(these), block_equations(these), count, max(CLOSE, aim))
            done, miss = done + STEP_COST * took, max(miss, entering(it))
        most = min(most, done + STEP_COST * AUGMENTED_STEPS)
    again = REACHED
    while miss > aim and again > 0 and done + STEP_COST <= most and not late(it.time):
        these, count = near(it, miss), min(steps, (most - done) // STEP_COST)
        took, left = augmented(these, trial(these), block_equations(these), count, aim)
        reached, steps, done = entering(it), AUGMENTED_AGAIN, done + STEP_COST * max(took, 1)
        miss, again = max(left, reached), again - 1 if reached > left else again
    swept, change = _last_sweeps(it, miss, tolerance)
    return done + swept, change


@compiled
def ended(it: Island, these: Trial, system: BlockEquations, steps: int, tolerance: float) -> float:
    """Go on from the trial's impulses, where the central path was left, by so many steps at most; what the last sweep
    changed."""
    take(it, these)
    _, miss = augmented(it, these, system, steps, NEWTON_SHARE * tolerance)
    return _last_sweeps(it, miss, tolerance)[1]


@compiled
def _last_sweeps(it: Island, miss: float, tolerance: float) -> tuple[int, float]:
    """Sweeps have the last word: (how many, largest change in the last one, m/s), but where laws are met, or by far
    better without: as rough as two contacts may be for each other, one alone has two solutions, and sweeps may take the
    other."""
    kept, change = np.empty(unknowns(it)), np.inf
    read(it, kept)
    for k in range(LAST_SWEEPS):
        change = sweep(it, 0.0)
        if change <= tolerance:
            return k + 1, change
    if miss <= tolerance or (change > FAILED and miss <= LED_AWAY * change):
        write(it, kept)
        return LAST_SWEEPS, miss
    return LAST_SWEEPS, change


@compiled
def has_moments(it: Island) -> bool:
    """Whether any contact has spinning or rolling friction."""
    kinds = 0
    for c in it.contacts:
        kinds += it.rows.kind[c]
    return kinds > 0


@compiled
def near(it: Island, miss: float) -> Island:
    """An island, whose y is known, without the contacts that open, and that by far more than laws are missed by."""
    contacts, count, far = np.empty(len(it.contacts), dtype=np.int64), 0, max(FAR * miss, FAR_AT_LEAST)
    for c in it.contacts:
        if it.P[c, 0] > 0.0 or not velocity(it.rows, c, 0, it.y) > it.targets[c] + far:
            contacts[count] = c
            count += 1
    return Island(
        it.rows, it.lines, it.targets, it.frictions, contacts[:count], it.scalars, it.slots, it.P, it.Q, it.y, it.time
    )


@compiled
def entering(it: Island) -> float:
    """By how much, m/s, contacts that carry nothing miss that they open."""
    most = 0.0
    for c in it.contacts:
        if it.P[c, 0] <= 0.0:
            most = max(most, it.targets[c] - velocity(it.rows, c, 0, it.y))
    return most

"""Impulses that last on trees that hang on the world: half of them act where the step began.

A solve knows where a step ends. What presses for longer on a tree whose masses swing meets another M there than where
the step began, and all of it there takes energy of first order in the step from what swings: P v of the mean is not P v
of the end. So half of what the last impulses did, carried to here along the way, less half of what they would do here,
is given before anything is solved for: with what is found then, the trapezoidal rule. Nothing is of
trees whose impulses jump, or that stops, motors or constraints hold too, nor by semi-implicit Euler, whose flight errs
by as much.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, add, add_scalar, component
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.responses import whitened
from recursive_dyn.contact.tuning import SMOOTH

HALF = 0.5  # of a step, or of an impulse


@compiled
def carried(problem: ImpulseProblem, root: Floats, w: Floats) -> bool:
    """w <- what the last impulses did, as whitened velocities here; whether there is any of it."""
    w[:] = 0.0
    if len(problem.acted) == 0 or problem.options.position_share != HALF:
        return False
    whitened(problem.layout, problem.factors, root, problem.acted, w)
    return True


@compiled
def given_halves(problem: ImpulseProblem, whole: Island, w: Floats, pushes: Floats) -> bool:
    """Add the corrections to ``pushes``; whether there are any. whole: all rows, with the last impulses at their new
    places; w: as in ``carried``."""
    layout, some, y, held = problem.layout, False, np.zeros(len(whole.y)), np.zeros(len(whole.y))
    for c in range(len(whole.targets)):
        for i in range(whole.rows.height[c]):
            add(whole.rows, c, i, whole.P[c, component(whole.rows.kind[c], i)], y)
    for s in range(len(whole.Q)):
        add_scalar(whole.lines, s, abs(whole.Q[s]), held)
    for group in range(layout.groups):
        first, last = layout.group_first[group], layout.group_first[group + 1]
        touched = first < last and problem.steady[layout.group_slots[first]] > 0.0
        for j in range(first, last):
            touched = touched and held[layout.group_slots[j]] == 0.0
        if touched and _smooth(layout, group, w, y):
            some = True
            for j in range(first, last):
                slot = layout.group_slots[j]
                pushes[slot] += HALF * (w[slot] - y[slot])
    return some


@compiled
def noted(problem: ImpulseProblem, w: Floats, y: Floats) -> None:
    """Write to ``changes.steady`` which trees' impulses y are as the last ones, w, were."""
    layout, steady = problem.layout, problem.changes.steady
    steady[:] = 0.0
    for group in range(layout.groups if len(problem.acted) > 0 else 0):
        if _smooth(layout, group, w, y):
            for j in range(layout.group_first[group], layout.group_first[group + 1]):
                steady[layout.group_slots[j]] = 1.0


@compiled
def _smooth(layout: Layout, group: int, a: Floats, b: Floats) -> bool:
    """Whether what impulses do to a tree differs by no more than a share of the smaller one."""
    own, other, apart = 0.0, 0.0, 0.0
    for j in range(layout.group_first[group], layout.group_first[group + 1]):
        x, z = a[layout.group_slots[j]], b[layout.group_slots[j]]
        own, other, apart = own + x * x, other + z * z, apart + (x - z) * (x - z)
    least = min(own, other)
    return least > 0.0 and apart <= SMOOTH * SMOOTH * least

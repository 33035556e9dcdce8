"""Impulses that are given, not found: what they do before anything is solved for."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import ContactRows, ScalarRows, component, moving, velocity
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.lasting import any_hang, at_center, floats
from recursive_dyn.contact.rows.responses import expand, reduce


@compiled
def given_pushes(problem: ImpulseProblem, root: Floats, y: Floats) -> bool:
    """Put what pushes on coordinates do to whitened velocities into y, zeros before; whether there are any. Bodies that
    hang on the world fall by less where these hold them, as motors do."""
    layout, any_push = problem.layout, False
    for k in range(layout.nv):
        y[k] = problem.pushes[k]
        any_push = any_push or y[k] != 0.0
    if not any_push:
        return False
    reduce(layout, problem.factors, y[: layout.nv])
    for k in range(layout.nv):
        y[k] *= root[k]
    if any_hang(problem):
        _hold(problem, root, y)
    return True


@compiled
def _hold(problem: ImpulseProblem, root: Floats, y: Floats) -> None:
    """Let bodies that hang on the world have coasted with less, by what whitened velocities y do to them."""
    layout, lone, factors = problem.layout, problem.lone, problem.factors
    V, x = np.empty((len(layout.parent), 6)), np.empty(layout.nv)
    expand(layout, factors, root, y, problem.moving.links, V, x)
    for k in problem.moving.lone:
        if not floats(problem, k):
            v = at_center(problem, V, k, (0.0, 0.0, 0.0))
            lone.coasting[k, 3] -= v[0]
            lone.coasting[k, 4] -= v[1]
            lone.coasting[k, 5] -= v[2]


@compiled
def moved_by(rows: ContactRows, lines: ScalarRows, y: Floats) -> None:
    """Add what whitened velocities y do to the velocities that rows have without impulses.

    Targets are to be known by then: what a contact may do within the step is said of the flight alone.
    """
    for c in range(len(rows.kind)):
        for i in range(rows.height[c]):
            rows.speed[c, component(rows.kind[c], i)] = velocity(rows, c, i, y)
    for s in range(len(lines.speed)):
        lines.speed[s] += moving(lines, s, y)

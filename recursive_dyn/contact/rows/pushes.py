"""Impulses that are given, not found: what they do before anything is solved for."""

from __future__ import annotations

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import ContactRows, ScalarRows, component, moving, velocity
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.responses import reduce


@compiled
def given_pushes(problem: ImpulseProblem, root: Floats, y: Floats) -> bool:
    """Put what pushes on coordinates do to whitened velocities into y, zeros before; whether there are any."""
    layout, any_push = problem.layout, False
    for k in range(layout.nv):
        y[k] = problem.pushes[k]
        any_push = any_push or y[k] != 0.0
    if not any_push:
        return False
    reduce(layout, problem.factors, y[: layout.nv])
    for k in range(layout.nv):
        y[k] *= root[k]
    return True


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

"""The energy that lasting impulses bring to trees of several joints, measured: the next halves make up for it.

Halves of impulses (``sustaining``) are of second order, and may win as well as lose. What touches nothing but what does
not move has no energy from it but what friction takes: whatever else a step brought is owed, and the next correction is
so much smaller, or larger. With y what a step does to whitened velocities u, and z to places, that is

    y . (u + y / 2) - f . z,

f whitened accelerations by forces at rest. Where moments of rolling, or motors, stops and dry friction take energy too,
no more is known than that there should be no gain, or nothing.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island, add_scalar, velocity
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.responses import whitened
from recursive_dyn.contact.rows.scalar_rows import is_cone
from recursive_dyn.contact.tuning import CREDIT, SETTLING, SLIDING

_CLOSED, _ROLLING, _OPEN = range(3)  # what is known of a tree: its energy, that there is no gain, nothing


@compiled
def measured(problem: ImpulseProblem, root: Floats, u: Floats, f: Floats) -> bool:
    """Whitened velocities u (nv,), and accelerations f (nv,) by forces; whether f, NaN before, is known."""
    if len(problem.pull) == 0:
        return False
    whitened(problem.layout, problem.factors, root, problem.v, u)
    whitened(problem.layout, problem.factors, root, problem.pull, f)
    return True


@compiled
def settling_share(
    problem: ImpulseProblem, group: int, y: Floats, push: Floats, u: Floats, f: Floats, owed: float
) -> float:
    """By how much to change a tree by ``push``, before impulses that are likely to do y: all, but for the energy that
    is owed."""
    layout, power, half = problem.layout, 0.0, 0.5 * problem.options.h
    for j in range(layout.group_first[group], layout.group_first[group + 1]):
        k = layout.group_slots[j]
        power += push[k] * (u[k] + y[k] + 0.5 * push[k] - half * f[k])
    if np.isnan(power) or power == 0.0 or owed == 0.0:
        return 1.0
    return 1.0 - min(max(owed / power, -SETTLING), SETTLING)


@compiled
def owed_after(
    problem: ImpulseProblem, whole: Island, own: Floats, root: Floats, pushes: Floats, u: Floats, f: Floats,
    owed: Floats,
) -> None:  # fmt: skip
    """Energies owed (groups,) after a step in which ``whole``, its ``own`` impulses and pushes, changed u: before it,
    here, and after it."""
    layout, z = problem.layout, np.empty(len(root))
    whitened(layout, problem.factors, root, problem.changes.q, z)
    open_to, rubbed = np.full(layout.groups, _CLOSED), np.zeros(layout.groups)
    for c in range(len(whole.targets)):
        for side in range(2):
            group = _group_of(problem, whole, c, side)
            if group >= 0:
                other = whole.rows.links[c, 1 - side]
                level = _OPEN if other >= 0 or _drifts(problem, c) else _ROLLING if whole.rows.kind[c] > 0 else _CLOSED
                open_to[group] = max(open_to[group], level)
                rubbed[group] += _rubbed(problem, whole, own, c)
    _opened(problem, whole, f, open_to)
    for group in range(layout.groups):
        work, turn = -rubbed[group], 0.0
        for j in range(layout.group_first[group], layout.group_first[group + 1]):
            k = layout.group_slots[j]
            work += whole.y[k] * (u[k] + 0.5 * whole.y[k]) - f[k] * z[k]
            turn += pushes[k] * u[k]
        least = min(owed[group], -CREDIT * abs(turn)) if open_to[group] == _CLOSED else 0.0
        owed[group] = max(owed[group] + work, least) if open_to[group] != _OPEN else 0.0


@compiled
def _group_of(problem: ImpulseProblem, whole: Island, c: int, side: int) -> int:
    """The tree of a contact's side; -1 for none."""
    link = whole.rows.links[c, side]
    return problem.layout.link_groups[link] if 0 <= link < len(problem.layout.parent) else -1


@compiled
def _drifts(problem: ImpulseProblem, c: int) -> bool:
    drift = problem.contacts.drift
    return drift[c, 0] != 0.0 or drift[c, 1] != 0.0 or drift[c, 2] != 0.0


@compiled
def _rubbed(problem: ImpulseProblem, whole: Island, own: Floats, c: int) -> float:
    """Work of friction, at most 0, where a contact slides at a step's end, and there can be no more of it."""
    rows, P = whole.rows, whole.P[c]
    bound = problem.contacts.frictions[c, 1] * P[0]
    if P[1] * P[1] + P[2] * P[2] < (1.0 - SLIDING) * bound * bound:
        return 0.0
    work = 0.0
    for i in range(1, 3):
        work += P[i] * velocity(rows, c, i, own)
    return min(work, 0.0)


@compiled
def _opened(problem: ImpulseProblem, whole: Island, f: Floats, open_to: Integers) -> None:
    """What rows of joints act on may gain or lose energy by them, but by constraints, which do no work, and cones of
    balls, which give none; and by whatever acts that is not known."""
    layout, rows = problem.layout, problem.rows
    taken, held = np.zeros(len(whole.y)), np.zeros(len(whole.y))
    for s in range(len(whole.Q)):
        if not rows.holds[s]:
            add_scalar(whole.lines, s, abs(whole.Q[s]), taken if is_cone(rows, s) else held)
    for k in range(layout.nv):
        level = _OPEN if held[k] != 0.0 or np.isnan(f[k]) else _ROLLING if taken[k] != 0.0 else _CLOSED
        open_to[layout.group[k]] = max(open_to[layout.group[k]], level)

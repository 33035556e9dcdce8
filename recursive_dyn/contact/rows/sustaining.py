"""Impulses that last on trees of several joints, and on what hangs on the world: half act where the step began.

A solve knows where a step ends. What holds a tree for longer whose masses swing, contacts, stops, motors, dry friction,
constraints, meets another M there than where the step began, and all of it there takes energy of first order in the
step from what swings: P v of the mean is not P v of the end. So half of what the last impulses did, carried to here
along the way, less half of what they would do here, is given before anything is solved for: with what is found then,
the trapezoidal rule. The momentum of trees that float is owed as much of each. Nothing is of trees whose impulses jump,
those of cones of balls above all, which are struck again and again, nor by semi-implicit Euler, whose flight errs by as
much; bodies that float alone have the same in their own way (``turning``), and what carries such bodies has it with
impulses that turn with their contacts (``carrying``).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.blocks import ContactRows, Island, add_impulse, add_scalar
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import JUMPED, ImpulseProblem
from recursive_dyn.contact.rows.balance import owed_after, settling_share
from recursive_dyn.contact.rows.lasting import floats, has_limbs, tree_of
from recursive_dyn.contact.rows.responses import whitened
from recursive_dyn.contact.rows.scalar_rows import is_cone
from recursive_dyn.contact.rows.warm_start import to_world_axes
from recursive_dyn.contact.tuning import SMOOTH, STEADY

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
def given_halves(
    problem: ImpulseProblem, whole: Island, w: Floats, u: Floats, f: Floats, pushes: Floats, halves: Floats
) -> bool:
    """Add the corrections to ``pushes``; whether there are any. whole: all rows, with the last impulses at their new
    places; w: as in ``carried``; u, f: as in ``measured``; halves (groups,): shares that are given, NaN for none."""
    halves[:] = np.nan
    layout, some, y = problem.layout, False, np.zeros(len(whole.y))
    half, carries = np.empty(layout.nv), np.zeros(layout.groups, dtype=np.bool_)
    for c in range(len(whole.targets)):
        _mark_carrier(problem, c, carries)
        add_impulse(whole.rows, c, 1.0, whole.P[c], y)
    for s in range(len(whole.Q)):
        add_scalar(whole.lines, s, whole.Q[s], y)
    for group in range(layout.groups):
        first, last = layout.group_first[group], layout.group_first[group + 1]
        touched = first < last and problem.steady[layout.group_slots[first]] != JUMPED
        if touched and not carries[group] and _smooth(layout, group, w, y):
            some = True
            for j in range(first, last):
                slot = layout.group_slots[j]
                half[slot] = HALF * (w[slot] - y[slot])
            owed = problem.steady[layout.group_slots[first]]
            halves[group] = settling_share(problem, group, y, half, u, f, owed)
            for j in range(first, last):
                pushes[layout.group_slots[j]] += halves[group] * half[layout.group_slots[j]]
    return some


@compiled
def _mark_carrier(problem: ImpulseProblem, c: int, carries: Flags) -> None:
    """Mark the tree that hangs on the world and carries by a contact what floats: a half of an impulse as it was would
    not turn with the contact, as the correction of what floats does, and won energy with every swing."""
    for side in range(2):
        k, other = tree_of(problem, c, side), tree_of(problem, c, 1 - side)
        if k >= 0 and not floats(problem, k) and floats(problem, other):
            carries[problem.layout.link_groups[problem.lone.links[k]]] = True


@compiled
def halved_share(problem: ImpulseProblem, c: int, halves: Floats) -> float:
    """The share that such a tree that floats is given, if a side of a contact is of one; else NaN."""
    found = np.nan
    for side in range(2):
        k = tree_of(problem, c, side)
        share = halves[problem.layout.link_groups[problem.lone.links[k]]] if floats(problem, k) else np.nan
        found = found if np.isnan(share) else share
    return found


@compiled
def owed_halves(
    problem: ImpulseProblem, rows: ContactRows, P: Annotated[np.ndarray, float, 6], found: Integers, halves: Floats
) -> None:
    """Write to ``lone.kicks`` what halves change of the momentum of trees that float, and of their spin about their
    centres of mass: half of what the last impulses did where the step began, less half of what they, P (n, 6), would
    do here, both at the points on B. found (n,): the last step's contacts."""
    lone, contacts, earlier = problem.lone, problem.contacts, problem.earlier
    to_world_axes(rows, P, contacts)
    for c in range(len(found)):
        i = found[c]
        for side in range(2 if i >= 0 else 0):
            k, tree, share = tree_of(problem, c, side), -1, np.nan
            if has_limbs(problem, k):
                tree, share = lone.home[k], halves[problem.layout.link_groups[lone.links[k]]]
            if np.isnan(share):
                continue
            lone.kicked[0] = 1
            sign = HALF * share * (1.0 - 2.0 * side)
            for j in range(3):
                a, b = (j + 1) % 3, (j + 2) % 3
                spin = earlier.moments[i, j] - contacts.moments[c, j]
                spin += _arm(problem, tree, earlier.points[i, 1], a, 1.0) * earlier.impulses[i, b]
                spin -= _arm(problem, tree, earlier.points[i, 1], b, 1.0) * earlier.impulses[i, a]
                spin -= _arm(problem, tree, contacts.points[c, 1], a, 0.0) * contacts.impulses[c, b]
                spin += _arm(problem, tree, contacts.points[c, 1], b, 0.0) * contacts.impulses[c, a]
                lone.kicks[tree, j] += sign * spin
                lone.kicks[tree, 3 + j] += sign * (earlier.impulses[i, j] - contacts.impulses[c, j])


@compiled
def _arm(problem: ImpulseProblem, tree: int, point: Floats, j: int, back: float) -> float:
    """A component of the way to a point from a tree's centre of mass, as it was a share ``back`` of a step ago."""
    lone = problem.lone
    way = HALF * problem.options.h * (lone.start[tree, 3 + j] + lone.flown[tree, 3 + j])
    return point[j] - lone.centers[tree, j] + back * way


@compiled
def noted(
    problem: ImpulseProblem, whole: Island, w: Floats, root: Floats, pushes: Floats, u: Floats, f: Floats, weighed: bool
) -> None:
    """Write to ``changes.steady`` the energies owed to trees whose impulses are as the last ones, w, were, JUMPED
    for others. whole: with what pushes did; weighed: whether u and f are known, as in ``measured``."""
    layout, steady, owed = problem.layout, problem.changes.steady, np.zeros(problem.layout.groups)
    steady[:] = JUMPED
    if len(problem.acted) == 0:
        return
    own = whole.y.copy()
    for k in range(layout.nv):
        own[k] -= pushes[k]
    if weighed:
        for k in range(layout.nv):
            owed[layout.group[k]] = 0.0 if problem.steady[k] == JUMPED else problem.steady[k]
        owed_after(problem, whole, own, root, pushes, u, f, owed)
    struck, bears = _struck(problem, whole), _only_bears(problem, whole)
    for group in range(layout.groups):
        if bears[group] or (not _any(layout, group, struck) and _smooth(layout, group, w, own)):
            for j in range(layout.group_first[group], layout.group_first[group + 1]):
                steady[layout.group_slots[j]] = owed[group]


@compiled
def _struck(problem: ImpulseProblem, whole: Island) -> Floats:
    """Coordinates (nv,) on which stops over several act, cones of balls, whose impulses jump: these are of a step, and
    not along where the stop is in the next, however small beside all that a tree bears; 0 for others."""
    rows, found = problem.rows, np.zeros(len(whole.y))
    for s in range(len(whole.Q)):
        if is_cone(rows, s):
            last, now = abs(rows.impulses[s]), abs(whole.Q[s])
            if abs(now - last) > STEADY * min(now, last):
                add_scalar(whole.lines, s, now + last, found)
    return found


@compiled
def _only_bears(problem: ImpulseProblem, whole: Island) -> Flags:
    """Which trees, by group, hang on the world and carry what floats, with no rows: whether what that does to them
    lasts is for contacts to tell, as it may be nothing."""
    layout, rows, result = problem.layout, problem.rows, np.zeros(problem.layout.groups, dtype=np.bool_)
    for c in range(len(whole.targets)):
        _mark_carrier(problem, c, result)
    for s in range(len(whole.Q)):
        if rows.impulses[s] != 0.0 or whole.Q[s] != 0.0:
            for k in range(whole.lines.first[s], whole.lines.first[s + 1]):
                slot = whole.lines.slots[k]
                if slot < layout.nv:
                    result[layout.group[slot]] = False
    return result


@compiled
def _any(layout: Layout, group: int, values: Floats) -> bool:
    """Whether any of the values of a tree's coordinates is not 0."""
    for j in range(layout.group_first[group], layout.group_first[group + 1]):
        if values[layout.group_slots[j]] != 0.0:
            return True
    return False


@compiled
def _smooth(layout: Layout, group: int, a: Floats, b: Floats) -> bool:
    """Whether what impulses do to a tree differs by no more than a share of the smaller one."""
    own, other, apart = 0.0, 0.0, 0.0
    for j in range(layout.group_first[group], layout.group_first[group + 1]):
        x, z = a[layout.group_slots[j]], b[layout.group_slots[j]]
        own, other, apart = own + x * x, other + z * z, apart + (x - z) * (x - z)
    least = min(own, other)
    return least > 0.0 and apart <= SMOOTH * SMOOTH * least

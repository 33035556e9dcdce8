"""What presses for longer presses along the mean of where it did and where it does.

A solve knows where a step ends. All of a sustained impulse P acting along J there, where it acted along J0 a step
before, takes P (J - J0) v / 2 of energy from what rolls and rocks: first order in the step. So half of what the last
impulse would do at its old place, less half of what it would do at the new one, is given before anything is solved for:
with what is found then, the trapezoidal rule. Semi-implicit Euler's velocities lie half a step before its positions:
impulses between two of them act at the old place, all of them (see ``bending``, too). The rest, of second order and
either sign, is measured: every contact carries as debt the energy that it brought in beyond what friction took, and its
next correction is so much smaller, or larger.
A contact that was not there, that bounced, or whose impulse jumps, is not corrected; what a blow takes is lost: else
a disc that slapped down flat got up again.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.problem import ImpulseProblem, LoneBodies
from recursive_dyn.contact.rows.carrying import LASTS, carriers, give_carriers
from recursive_dyn.contact.rows.lasting import (
    LASTING,
    any_hang,
    at_center,
    has_limbs,
    known_of,
    length,
    lone_of,
    row,
    tree_of,
    turned,
)
from recursive_dyn.contact.rows.responses import push
from recursive_dyn.contact.rows.spins import turned_by
from recursive_dyn.contact.rows.sustaining import HALF, halved_share
from recursive_dyn.contact.tuning import RESOLVED, SETTLING


@compiled
def corrected(
    problem: ImpulseProblem, whole: Island, found: Integers, same: Integers, root: Floats, shares: Floats,
    powers: Floats, halves: Floats, w: Floats, y: Floats,
) -> bool:  # fmt: skip
    """Add what corrections do to whitened velocities to y, and write it to ``lone.kicks``; whether there are any.

    found, same (n,): earlier contacts nearest to these, and those that these go on; shares (n,): of each correction
    that is given, NaN where it is one of halves; powers (n,): what each does if all of it is given, J; halves: NaN for
    trees, by group, that do not have theirs otherwise (``sustaining``); whole, w: see ``carrying``.
    """
    lone, earlier, some, wrench = problem.lone, problem.earlier, False, np.zeros(9)
    shares[:] = 0.0
    powers[:] = 0.0
    forget_kicks(lone)
    for c in range(len(same)):
        i, share = same[c], halved_share(problem, c, halves)
        if not np.isnan(share):
            shares[c] = np.nan
            if found[c] >= 0:  # what the tree is given the other one gives
                correction(problem, c, found[c], False, wrench)
                some = True
                _give(problem, c, share, wrench)
        elif i >= 0 and known_of(earlier, i) == LASTING and not _is_of_limbs(problem, c):
            correction(problem, c, i, True, wrench)
            powers[c], owed = power(problem, c, wrench, lone.start, lone.start), earlier.debts[i]
            shares[c] = 1.0
            if abs(owed) > 0.0 and abs(powers[c]) > 0.0:
                shares[c] -= min(max(owed / powers[c], -SETTLING), SETTLING)
            shares[c] *= _resolved(problem, c, wrench)
            some = True
            _give(problem, c, shares[c], wrench)
    if some:
        lone.kicked[0] = 1
        which = carriers(problem, whole, root, found, same)
        _whitened(problem, root, halves, which, y)
        if any_hang(problem):
            give_carriers(problem, whole, w, same, shares, which, y)
    return some


@compiled
def _is_of_limbs(problem: ImpulseProblem, c: int) -> bool:
    """Whether a side of a contact is of a tree that floats, and has halves of impulses: none either where they jump."""
    halves = problem.options.position_share == HALF
    return halves and (has_limbs(problem, tree_of(problem, c, 0)) or has_limbs(problem, tree_of(problem, c, 1)))


@compiled
def forget_kicks(lone: LoneBodies) -> None:
    """None are given, also to what sleeps."""
    if lone.kicked[0] != 0:
        lone.kicks[:] = 0.0
        lone.kicked[0] = 0


@compiled
def correction(problem: ImpulseProblem, c: int, i: int, turns: bool, w: Floats) -> None:
    """The correction of a contact, w (9,): impulse on A, moment on A and on B about their centres; turns: whether the
    impulse turns with the normal."""
    old, new = problem.earlier.arms, problem.contacts.arms
    x, y, z = row(problem.earlier.impulses[i])
    p, q, r = turned(problem, c, i, (x, y, z)) if turns else (x, y, z)
    share = problem.options.position_share
    w[0], w[1], w[2] = share * (x - p), share * (y - q), share * (z - r)
    for side in range(2):
        half, k = share * (1.0 - 2.0 * side), 3 + 3 * side
        a, b, d = row(old[i, side])
        e, f, g = row(new[c, side])
        w[k] = half * (b * z - d * y - f * r + g * q)
        w[k + 1] = half * (d * x - a * z - g * p + e * r)
        w[k + 2] = half * (a * y - b * x - e * q + f * p)
        if tree_of(problem, c, side) < 0:
            w[k] = w[k + 1] = w[k + 2] = 0.0


@compiled
def _resolved(problem: ImpulseProblem, c: int, w: Floats) -> float:
    """The share of a correction w that a step resolves: all of what changes the motion by little of what the contact
    moves by, nothing of more than that. What heavy bodies squeeze between them takes its contacts along faster than
    that; the correction would throw it out."""
    lone, contacts, worst = problem.lone, problem.contacts, 0.0
    for side in range(2):
        k = lone_of(problem, c, side)
        if k >= 0:
            a, V = row(contacts.arms[c, side]), lone.start
            turn, arm = turned_by(lone.inertias[k], row(w[3 + 3 * side : 6 + 3 * side])), length(a[0], a[1], a[2])
            change = arm * length(turn[0], turn[1], turn[2]) + length(w[0], w[1], w[2]) / lone.masses[k]
            moves = arm * length(V[k, 0], V[k, 1], V[k, 2]) + contacts.ways[c] / problem.options.h
            if change > worst * moves:
                worst = change / moves if moves > 0.0 else 2.0 * RESOLVED
    return min(max(2.0 - worst / RESOLVED, 0.0), 1.0)


@compiled
def power(
    problem: ImpulseProblem, c: int, w: Floats, before: Annotated[np.ndarray, float, 6],
    after: Annotated[np.ndarray, float, 6],
) -> float:  # fmt: skip
    """Work of an impulse w on the two bodies of a contact, which move as the mean of ``before`` and ``after``."""
    total = 0.0
    for side in range(2):
        k, sign = tree_of(problem, c, side), 1.0 - 2.0 * side
        if k >= 0:
            for i in range(3):
                total += 0.5 * w[3 + 3 * side + i] * (before[k, i] + after[k, i])
                total += 0.5 * sign * w[i] * (before[k, 3 + i] + after[k, 3 + i])
    return total


@compiled
def _give(problem: ImpulseProblem, c: int, share: float, w: Floats) -> None:
    kicks = problem.lone.kicks
    for side in range(2):
        k, sign = tree_of(problem, c, side), 1.0 - 2.0 * side
        if k >= 0:
            for i in range(3):
                kicks[k, i] += share * w[3 + 3 * side + i]
                kicks[k, 3 + i] += share * sign * w[i]


@compiled
def _whitened(problem: ImpulseProblem, root: Floats, halves: Floats, which: Integers, y: Floats) -> None:
    """Add what the kicks do to y."""
    layout, factors, lone = problem.layout, problem.factors, problem.lone
    inward = np.empty((layout.nv, 3))  # zeros where it is used
    for k in problem.moving.lone:
        group = layout.link_groups[lone.links[k]]
        if not np.isnan(halves[group]) or which[group] == LASTS:
            for i in range(6):
                lone.kicks[k, i] = 0.0
        m0, m1, m2 = lone.kicks[k, 0], lone.kicks[k, 1], lone.kicks[k, 2]
        f0, f1, f2 = lone.kicks[k, 3], lone.kicks[k, 4], lone.kicks[k, 5]
        if m0 == 0.0 and m1 == 0.0 and m2 == 0.0 and f0 == 0.0 and f1 == 0.0 and f2 == 0.0:
            continue
        link, at = lone.links[k], layout.refs + 3 * lone.links[k]
        x, u, z = (
            lone.centers[k, 0] - factors[at],
            lone.centers[k, 1] - factors[at + 1],
            lone.centers[k, 2] - factors[at + 2],
        )
        for j in range(layout.group_first[group], layout.group_first[group + 1]):
            for i in range(3):
                inward[layout.group_slots[j], i] = 0.0
        push(
            layout, factors, link, m0 + u * f2 - z * f1, m1 + z * f0 - x * f2, m2 + x * f1 - u * f0, f0, f1, f2,
            0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, inward,
        )  # fmt: skip
        for j in range(layout.group_first[group], layout.group_first[group + 1]):
            slot = layout.group_slots[j]
            y[slot] += root[slot] * inward[slot, 0]


@compiled
def ended(problem: ImpulseProblem, V: Annotated[np.ndarray, float, 6], twists: Annotated[np.ndarray, float, 6]) -> None:
    """Twists (k, 6) of lone bodies at the step's end, at their centres; V (nl, 6): what impulses add to links'."""
    lone = problem.lone
    for k in problem.moving.lone:
        for j in range(3):
            twists[k, j] = lone.flown[k, j] + V[lone.links[k], j]
        twists[k, 3], twists[k, 4], twists[k, 5] = at_center(problem, V, k, row(lone.flown[k, 3:6]))

"""What hangs on the world and carries what floats: half of what that did to it acts where the step began.

What lies on a swing presses on where the swing was and on where it is: the impulse, which turns with the contact, does
another thing to the swing's coordinates as these go on, though what it does to them may be nothing, as where both fall
alike. So trees that hang have half of what the last impulses did, carried to here along the way, less half of what
these, turned with their contacts, would do here, in place of what corrections (``turning``) would do to them as bodies:
where each of their contacts lasts, is with a body that floats alone, and is of nothing that glides, whose impulses
change by more than that, no stop, motor or friction of a joint acts, and nothing is led. Else they have the latter.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island, add_impulse
from recursive_dyn.contact.problem import JUMPED, ImpulseProblem
from recursive_dyn.contact.rows.lasting import (
    LASTING,
    any_hang,
    floats,
    has_limbs,
    known_of,
    pressed_by,
    row,
    tree_of,
    turned,
)
from recursive_dyn.contact.rows.sustaining import HALF

NONE, LASTS, BREAKS = range(3)  # of a tree: it carries nothing, by contacts that last, by others too


@compiled
def carriers(problem: ImpulseProblem, whole: Island, root: Floats, found: Integers, same: Integers) -> Integers:
    """Which trees, by group, hang on the world and carry; found, same: as in ``turning.corrected``."""
    layout, earlier, result = problem.layout, problem.earlier, np.zeros(problem.layout.groups, dtype=np.int64)
    if len(problem.acted) == 0 or problem.options.position_share != HALF or not any_hang(problem):
        return result
    lines = whole.lines
    met = np.zeros(earlier.size[0], dtype=np.bool_)
    for c in range(len(found)):
        i = found[c]
        if i < 0:
            continue
        met[i] = True
        for side in range(2):
            k, other = tree_of(problem, c, side), tree_of(problem, c, 1 - side)
            if k < 0 or floats(problem, k) or not pressed_by(earlier, i):
                continue
            lasts = same[c] == i and known_of(earlier, i) == LASTING and problem.contacts.gliding[c] == 0
            alone = floats(problem, other) and not has_limbs(problem, other)
            group = layout.link_groups[problem.lone.links[k]]
            result[group] = max(result[group], LASTS if lasts and alone else BREAKS)
    for i in range(len(met)):
        for side in range(0 if met[i] or not pressed_by(earlier, i) else 2):
            body = earlier.a[i] if side == 0 else earlier.b[i]
            k = problem.lone.of[body] if 0 <= body < len(problem.lone.of) else -1
            if k >= 0 and not floats(problem, k):
                result[layout.link_groups[problem.lone.links[k]]] = BREAKS
    for s in range(len(lines.speed)):
        for j in range(lines.first[s], lines.first[s + 1] if problem.rows.impulses[s] != 0.0 else lines.first[s]):
            if lines.slots[j] < layout.nv:
                result[layout.group[lines.slots[j]]] = BREAKS
    for k in range(layout.nv):
        if problem.steady[k] == JUMPED or root[k] == 0.0:
            result[layout.group[k]] = BREAKS
    return result


@compiled
def give_carriers(
    problem: ImpulseProblem, whole: Island, w: Floats, same: Integers, shares: Floats, which: Integers, y: Floats
) -> None:  # fmt: skip
    """Add their corrections to whitened velocities y. whole: all rows, with the last impulses at their new places; w:
    what these did, as whitened velocities here; which: as of ``carriers``; same (n,): earlier contacts that these go
    on, shares (n,): of their corrections that others are given, of which they have the mean."""
    layout, z, P = problem.layout, np.zeros(len(whole.y)), np.empty(6)
    count, given = np.zeros(layout.groups), np.zeros(layout.groups)
    for c in range(len(same)):
        for side in range(2):
            k = tree_of(problem, c, side)
            group = layout.link_groups[problem.lone.links[k]] if k >= 0 else -1
            if group < 0 or floats(problem, k) or which[group] != LASTS or not pressed_by(problem.earlier, same[c]):
                continue
            count[group] += 1.0
            given[group] += shares[c]
            _turned(problem, whole, c, same[c], P)
            add_impulse(whole.rows, c, 1.0, P, z)
    for group in range(layout.groups):
        if which[group] == LASTS and count[group] > 0.0:
            for j in range(layout.group_first[group], layout.group_first[group + 1]):
                slot = layout.group_slots[j]
                y[slot] += given[group] / count[group] * HALF * (w[slot] - z[slot])


@compiled
def _turned(problem: ImpulseProblem, whole: Island, c: int, i: int, P: Floats) -> None:
    """P (6,): the impulse and moment of an earlier contact, turned with its normal, along the axes of contact c."""
    axes, p = whole.rows.axes[c], turned(problem, c, i, row(problem.earlier.impulses[i]))
    m = turned(problem, c, i, row(problem.earlier.moments[i]))
    for r in range(3):
        P[r] = axes[r, 0] * p[0] + axes[r, 1] * p[1] + axes[r, 2] * p[2]
        P[3 + r] = axes[r, 0] * m[0] + axes[r, 1] * m[1] + axes[r, 2] * m[2]

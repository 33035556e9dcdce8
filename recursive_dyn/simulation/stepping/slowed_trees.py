"""Where impulses lead what has joints far, it wins no energy by that: what is too much goes, momenta stay exact.

A solve makes velocities where a flight ended, then positions are moved by the time for which impulses acted, and with
them M. Velocities are carried along that way in second order, and a base gets the momentum that it is owed: a limb that
is led by half a radian is faster by some percent, one that is led by two may have several times its energy. Of what
bounces, a share of its impulses makes up for that as far as it can (``bounced_trees``). So a tree that was led far has
no more afterwards than the solve left it, and, where nothing but joints acts on it, than it has with the momenta that
its flight made of those, and the work of forces on the way. How it moves as a whole its momenta say; how it moves
beside that is orthogonal to it in M, and becomes slower, all by one share. Trees that bounce off each other have one
energy.

Where moving as a whole takes more than there is, as momenta of spin do where inertia became less, a step is taken in
shorter parts; where these are short already, that is told (``report.unexplained_energy``).
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.tuning import SWEPT
from recursive_dyn.integrators.compiled_loop import TALLY
from recursive_dyn.simulation.flying.flight import DONE, LOST
from recursive_dyn.simulation.kept.momentum import CENTER, INERTIA, LINEAR, NUMBERS, SPIN, corrected_base, spun
from recursive_dyn.simulation.present import seen
from recursive_dyn.simulation.report import UNEXPLAINED
from recursive_dyn.simulation.stepping.step_arrays import StepArrays
from recursive_dyn.simulation.stepping.time_left import PARTS
from recursive_dyn.simulation.stepping.tree_energies import (
    factored,
    height,
    keeps_energy,
    owed_linear,
    pushed_tree,
    whiten,
)

TOO_LONG = -4  # of a stage of a step: it is to be taken in parts
SHORTER, MOST_PARTS, PARTS_OF_MANY = 4, 64, 16  # by how many times then; of a step at most, where coordinates are
MANY = 64  # more than so many, as the whole scene is looked at in each
FAR = 0.04  # rad or m, of a coordinate: what impulses lead less far wins less than is seen
SEEN = 1e-3  # of its motion's energy that something may win unseen
_TAKEN = 0.01  # of what a solve took from it, too
_CUT = 0.01  # of both together, that is worth shorter parts
_WHOLE = 6  # coordinates of what moves as a whole only


@compiled
def may_be_shorter(s: StepArrays) -> bool:
    """Whether a step, or a part of one, may be taken in shorter parts for the energy that it makes."""
    return SHORTER * s.part[1] <= (PARTS_OF_MANY if len(s.v) > MANY else MOST_PARTS)


@compiled
def sweeps_through(s: StepArrays) -> bool:
    """Whether something met nothing, as it was in and out again too soon, and there may be shorter parts."""
    return s.facts[5] > SWEPT and may_be_shorter(s) and float(SHORTER * s.part[1]) <= s.settings[PARTS]


@compiled
def led_far(s: StepArrays, layout: Layout, solved: bool, bounced: bool, left: Floats, taken: Floats) -> bool:
    """Write what floating trees with joints that are led far have as the solve leaves them, J, (groups,) when gravity
    as it is has worked along the way, NaN for others, and what the solve took from them: whether there are any. Those
    are not counted that bounce with others, of which more is known (``bounced_trees``), or have springs. Where nothing
    was ``solved`` for, the flight is all there is."""
    changed, trees, some = s.impulses.changes, s.trees, False
    left[:] = np.nan
    if s.impulses.bound[0]:
        return False
    floating = s.sleep.moving_lone[: s.sleep.counts[2]]
    for k in floating:
        group, far = layout.group[trees.slots[k, 0]], 0.0
        first, end = layout.group_first[group], layout.group_first[group + 1]
        if end - first <= _WHOLE or s.impulses.sprung[group] > 0:
            continue
        if bounced and changed.islands[trees.slots[k, 0]] >= 0:
            continue
        for j in range(first, end):
            far = max(far, abs(changed.q[layout.group_slots[j]]) if solved else 0.0)
        if far > FAR or _misses(s, layout, k):
            left[group], some = 0.0, True
    if not some:
        return False
    nv, had, has = len(s.v), np.zeros(layout.groups), np.zeros(layout.groups)
    v, fall, root, y, z, f = np.empty(nv), np.zeros(nv), np.full(nv, 1.0), np.empty(nv), np.empty(nv), np.empty(nv)
    factored(s, layout, root)
    whiten(s, layout, root, s.v, y)
    taken[:] = 0.0
    for i in range(nv):
        taken[layout.group[i]] += 0.5 * y[i] * y[i]
        v[i] = s.v[i] + (changed.v[i] if solved else 0.0)
        z[i] = 0.0
    whiten(s, layout, root, v, y)
    for i in range(nv):
        had[layout.group[i]] += 0.5 * y[i] * y[i]
    for k in floating:
        group, pose = layout.group[trees.slots[k, 0]], s.present.poses[16 * trees.bases[k] : 16 * trees.bases[k] + 16]
        if np.isnan(left[group]):
            continue
        for i in range(3):
            for j in range(3):
                fall[trees.slots[k, 3 + j]] += pose[4 * i + j] * trees.gravity[i]
        if not pushed_tree(s, k):
            corrected_base(trees, k, owed_linear(s, k), s.owed.spin[k], v, s.present)
        left[group] = height(s, k, s.owed.centers[k])
    whiten(s, layout, root, v, y)
    if solved:
        whiten(s, layout, root, changed.q, z)
    whiten(s, layout, root, fall, f)
    for i in range(nv):
        has[layout.group[i]] += 0.5 * y[i] * y[i]
        left[layout.group[i]] -= f[i] * z[i]
    for group in range(layout.groups):
        taken[group] -= had[group]
        left[group] += min(had[group], has[group]) if _keeps(s, layout, group) else has[group]
    return True


@compiled
def _misses(s: StepArrays, layout: Layout, k: int) -> bool:
    """Whether a flight missed so much of a floating tree's momenta that it is seen to win energy by what is owed."""
    if pushed_tree(s, k) or not _keeps(s, layout, layout.group[s.trees.slots[k, 0]]):
        return False
    at = NUMBERS * k
    owed = _as_a_whole(s, k, owed_linear(s, k), s.owed.spin[k])
    had = _as_a_whole(s, k, s.present.momenta[at + LINEAR : at + SPIN], s.present.momenta[at + SPIN : at + INERTIA])
    return owed > (1.0 + SEEN) * had


@compiled
def _keeps(s: StepArrays, layout: Layout, group: int) -> bool:
    """Whether a tree keeps its energy in flight."""
    for j in range(layout.group_first[group], layout.group_first[group + 1]):
        if not keeps_energy(s, layout.group_slots[j]):
            return False
    return True


@compiled
def keep_below(s: StepArrays, layout: Layout, left: Floats, taken: Floats) -> int:
    """Let trees have no more than these energies, as ``led_far`` wrote them, where positions were moved to and momenta
    were settled: DONE, LOST where not all numbers are finite, or TOO_LONG where that cannot be, and the step may be
    shorter."""
    root, y, unit, won = np.full(len(s.v), 1.0), np.empty(len(s.v)), np.full(layout.groups, -1), np.zeros(layout.groups)
    # what nothing touched was turned as it was settled: it is another base, of another inertia, that has its momenta
    finite = seen(s.present, s.q, s.v, s.parameters) and factored(s, layout, root)
    whiten(s, layout, root, s.v, y)
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        group, at = layout.group[s.trees.slots[k, 0]], NUMBERS * k + CENTER
        if np.isnan(left[group]):
            continue
        unit[group], won[group] = group, height(s, k, s.present.momenta[at : at + 3]) - left[group]
        for j in range(layout.group_first[group], layout.group_first[group + 1]):
            won[group] += 0.5 * y[layout.group_slots[j]] * y[layout.group_slots[j]]
    if slow_inside(s, layout, unit, y, won, taken):
        return TOO_LONG
    return DONE if finite else LOST


@compiled
def slow_inside(s: StepArrays, layout: Layout, unit: Integers, y: Floats, won: Floats, taken: Floats) -> bool:
    """Take from units of trees, groups (groups,) are of which, -1 for none, what each won (units,), J, if that is seen,
    by having them move slower beside how they move as a whole; y (nv,): whitened velocities; taken (units,): what the
    solve took. Whether that cannot be, and the step may be shorter; if not, what is too much is told."""
    trees, floating, count = s.trees, s.sleep.moving_lone[: s.sleep.counts[2]], len(won)
    inside, moving, share, least, cut = np.zeros(count), np.zeros(count), np.full(count, 1.0), 0.0, False
    for k in floating:
        group, own = layout.group[trees.slots[k, 0]], 0.0
        if unit[group] < 0:
            continue
        for j in range(layout.group_first[group], layout.group_first[group + 1]):
            own += 0.5 * y[layout.group_slots[j]] * y[layout.group_slots[j]]
        moving[unit[group]] += own
        if layout.group_first[group + 1] - layout.group_first[group] > _WHOLE:
            inside[unit[group]] += max(own - _as_a_whole(s, k, s.owed.linear[k], s.owed.spin[k]), 0.0)
    for i in range(count):
        had = max(moving[i] - won[i], 0.0) + max(taken[i], 0.0)
        unseen = SEEN * max(moving[i] - won[i], 0.0) + _TAKEN * max(taken[i], 0.0)
        if won[i] > unseen:
            share[i] = np.sqrt(max(1.0 - won[i] / inside[i], 0.0)) if inside[i] > 0.0 else 0.0
            rest = won[i] - inside[i]
            least += rest if rest > unseen else 0.0
            cut = cut or rest > _CUT * had
    if cut and may_be_shorter(s):
        return True
    s.flight.work[TALLY + UNEXPLAINED] += least
    for k in floating:
        group = layout.group[trees.slots[k, 0]]
        if unit[group] >= 0 and share[unit[group]] < 1.0:
            _slow(s, layout, k, share[unit[group]])
    s.owed.v[:] = s.v
    s.present.known[0] = 0
    return False


@compiled
def _as_a_whole(s: StepArrays, k: int, linear: Floats, spin: Floats) -> float:
    """Energy of a floating tree with these momenta, if none of its joints moves."""
    at, turn, nothing = NUMBERS * k, np.empty(3), np.zeros(3)
    spun(s.present.momenta[at + INERTIA : at + NUMBERS], spin, nothing, turn)
    energy = 0.0
    for i in range(3):
        energy += 0.5 * (linear[i] ** 2 / s.present.momenta[at] + spin[i] * turn[i])
    return energy


@compiled
def _slow(s: StepArrays, layout: Layout, k: int, share: float) -> None:
    """Have a floating tree move slower by a share, beside how it moves as a whole."""
    group, at, whole = layout.group[s.trees.slots[k, 0]], NUMBERS * k, s.v.copy()
    for i in range(LINEAR, INERTIA):
        s.present.momenta[at + i] = 0.0  # of no motion, beside which the base is to have what is owed
    for j in range(layout.group_first[group], layout.group_first[group + 1]):
        whole[layout.group_slots[j]] = 0.0
    corrected_base(s.trees, k, s.owed.linear[k], s.owed.spin[k], whole, s.present)
    for j in range(layout.group_first[group], layout.group_first[group + 1]):
        slot = layout.group_slots[j]
        s.v[slot] = whole[slot] + share * (s.v[slot] - whole[slot])

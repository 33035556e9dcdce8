"""What floats with more hung on it, or has springs, bounces without winning or losing energy by where that moves it.

Impulses act where a step ends; then positions are moved by the time for which they acted, velocities are carried along,
and the base is given the momentum that is owed (``momentum``): in first order of that time this changes energy. As with
lone bodies (``contact.spinning``) the impulses of each island that bounce do so longer or shorter by one share, so that
its energy is what the solve left: momenta stay exact, as what an impulse gives to one body it takes from another.

What forces do along that way a solve lends to a bounce as if they stayed as they are: springs do not, and what they do
more or less is to be made up for too. Of trees that float it is counted by their heights and springs, of the others by
all that forces do.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout, group_of
from recursive_dyn.contact.problem import DRIVEN, MEETS
from recursive_dyn.contact.rows.lasting import BOUNCED, PUT
from recursive_dyn.contact.spinning import is_too_much, share_of
from recursive_dyn.simulation.flying.flight import DONE, LOST
from recursive_dyn.simulation.kept.momentum import (
    CENTER,
    NUMBERS,
    Momentum,
    corrected_base,
    pushed_by,
    settled_one,
)
from recursive_dyn.simulation.present import seen
from recursive_dyn.simulation.stepping.impulses import pulled
from recursive_dyn.simulation.stepping.slowed_trees import FAR, SEEN, TOO_LONG, keep_below, may_be_shorter, slow_inside
from recursive_dyn.simulation.stepping.step_arrays import StepArrays
from recursive_dyn.simulation.stepping.tree_energies import (
    FLOATS,
    Energies,
    add_gained,
    add_kinetic,
    add_work,
    counted_groups,
    factored,
    height,
    is_driven,
    keeps_energy,
    owed_linear,
    pushed_tree,
    whiten,
)

LEFT, FREE, MOVING, MOST = 0, 1, 2, 3  # which energies
LIFTED = 0.02  # of its motion's energy that springs may bring into an island


@compiled
def energies_left(s: StepArrays, layout: Layout, energies: Energies) -> bool:
    """Write what energies (k, 4), J, trees in islands that bounced or met have: as the solve leaves them, when forces
    that are as they are now have worked along the way that positions go, and as they are now, of which that of their
    motion; whether they are finite. Bases have the momenta they are owed. At last what they may have: where nothing
    but joints acts, no more than there is now, and than there would be with the momenta that a flight made of those."""
    changed, nv = s.impulses.changes, len(s.v)
    left, free, fall = np.empty(nv), s.v.copy(), np.zeros(nv)
    for i in range(nv):
        left[i] = s.v[i] + changed.v[i]
    flown = left.copy()
    _settle(s, left, free, fall)
    energies[:] = 0.0
    root, y, z, f = np.full(nv, 1.0), np.empty(nv), np.empty(nv), np.empty(nv)
    finite, counted, work = factored(s, layout, root), counted_groups(s, layout), np.zeros(len(energies))
    whiten(s, layout, root, left, y)
    add_kinetic(s, layout, counted, y, energies, LEFT)
    whiten(s, layout, root, flown, y)
    add_kinetic(s, layout, counted, y, energies, MOST)
    for k in range(len(energies)):
        energies[k, MOST] = min(energies[k, MOST] - energies[k, LEFT], 0.0)
    whiten(s, layout, root, free, y)
    add_kinetic(s, layout, counted, y, energies, FREE)
    for k in range(len(energies)):
        energies[k, MOVING] = energies[k, FREE]
    whiten(s, layout, root, changed.q, z)
    whiten(s, layout, root, fall, f)
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        island, group = changed.islands[s.trees.slots[k, 0]], layout.group[s.trees.slots[k, 0]]
        if island >= 0:
            energies[island, FREE] += height(s, k, s.owed.centers[k])
            energies[island, LEFT] += height(s, k, s.owed.centers[k])
            for j in range(layout.group_first[group], layout.group_first[group + 1]):
                energies[island, LEFT] -= f[layout.group_slots[j]] * z[layout.group_slots[j]]
    if np.isnan(s.impulses.swing[nv]):
        finite = pulled(s.impulses, s.q, s.tau, s.parameters, nv) and finite
    finite = add_work(s, layout, root, counted, s.impulses.swing[nv : 2 * nv], z, work) and finite
    for k in range(len(energies)):
        energies[k, LEFT] -= 0.5 * work[k]
        energies[k, FREE] += 0.5 * work[k]
    _bound(s, layout, counted, energies)
    return finite


@compiled
def _bound(s: StepArrays, layout: Layout, counted: Integers, energies: Energies) -> None:
    """Write what islands may have at most, J, where before what momenta bring in is: what is left, but that and more
    than there was only where something may bring it in."""
    changed, closed = s.impulses.changes, np.full(len(energies), 1.0)
    for slot in range(len(s.v)):
        island, alone = changed.islands[slot], not s.impulses.hanging[slot]
        if island >= 0:
            keeps = (not is_driven(s, slot)) if alone else keeps_energy(s, slot)
            closed[island] *= 1.0 if keeps and counted[layout.group[slot]] == FLOATS else 0.0
    for k in range(len(energies)):
        brought, energies[k, MOST] = energies[k, MOST], energies[k, LEFT]
        if closed[k] > 0.0 and changed.strikes[1 + k] < DRIVEN:
            energies[k, MOST] = min(energies[k, LEFT], energies[k, FREE]) + brought


@compiled
def _settle(s: StepArrays, left: Floats, free: Floats, fall: Floats) -> None:
    """Give bases of trees in islands the momenta they are owed, in velocities (nv,) as the solve leaves them and
    without it; and write into fall (nv,) their gravity."""
    trees = s.trees
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        if s.impulses.changes.islands[trees.slots[k, 0]] < 0:
            continue
        pose, linear = s.present.poses[16 * trees.bases[k] : 16 * trees.bases[k] + 16], owed_linear(s, k)
        for i in range(3):
            for j in range(3):
                fall[trees.slots[k, 3 + j]] += pose[4 * i + j] * trees.gravity[i]
        if not pushed_tree(s, k):
            corrected_base(trees, k, linear, s.owed.spin[k], left, s.present)
            corrected_base(trees, k, linear, s.owed.spin[k], free, s.present)


@compiled
def bring_down(
    s: StepArrays, layout: Layout, contacts: ContactTable, energies: Energies, bounced: bool, left: Floats,
    taken: Floats, far: bool,
) -> int:  # fmt: skip
    """Let trees that ``bounced``, or were led ``far``, have the energies that were written for them, and be at the
    state: DONE, or why not."""
    code = keep_energies(s, layout, contacts, energies) if bounced else DONE
    if code == DONE and far:
        code = keep_below(s, layout, left, taken)
    if code == DONE and (bounced or len(s.trees.bases) > 0) and not seen(s.present, s.q, s.v, s.parameters):
        return LOST
    return code


@compiled
def keep_energies(s: StepArrays, layout: Layout, contacts: ContactTable, energies: Energies) -> int:
    """Let impulses that bounced be longer or shorter, velocities and momenta with them, so that islands have these
    energies where positions were moved to and momenta were settled: DONE, LOST where not all numbers are finite, or
    TOO_LONG where springs make that more than they have, and the step is not a short part of one yet."""
    changed, trees, owed, n, size = s.impulses.changes, s.trees, s.owed, contacts.size[0], len(s.trees.bases)
    floating, by = s.sleep.moving_lone[: s.sleep.counts[2]], changed.struck
    linear, spin = np.zeros((size, 3)), np.zeros((size, 3))
    bounced = Momentum(owed.known, owed.q, owed.v, owed.parameters, linear, spin, owed.centers, owed.flown)
    pushed_by(trees, bounced, contacts, n, True)
    root, y, z = np.full(len(s.v), 1.0), np.empty(len(s.v)), np.empty(len(s.v))
    finite = seen(s.present, s.q, by, s.parameters) and factored(s, layout, root)
    for k in floating:
        if changed.islands[trees.slots[k, 0]] >= 0:
            settled_one(trees, k, pushed_tree(s, k), bounced, by, s.present)
    whiten(s, layout, root, s.v, y)
    whiten(s, layout, root, by, z)
    count = len(energies)
    now, power, square, shares = np.zeros((count, 4)), np.zeros(count), np.zeros(count), np.zeros(count)
    sprung, driven, gained, work = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    counted, way = counted_groups(s, layout), np.empty(len(s.v))
    whiten(s, layout, root, changed.q, way)
    add_kinetic(s, layout, counted, y, now, LEFT)
    finite = pulled(s.impulses, s.q, s.tau, s.parameters, 0) and finite
    finite = add_gained(s, layout, root, counted, y, gained) and finite
    finite = add_work(s, layout, root, counted, s.impulses.swing[: len(s.v)], way, work) and finite
    for k in floating:
        island = changed.islands[trees.slots[k, 0]]
        if island >= 0:
            at = NUMBERS * k + CENTER
            now[island, LEFT] += height(s, k, s.present.momenta[at : at + 3])
    for slot in range(len(s.v)):
        island = changed.islands[slot]
        if island >= 0:
            power[island] += y[slot] * z[slot]
            square[island] += 0.5 * z[slot] * z[slot]
            sprung[island] = max(sprung[island], float(s.impulses.sprung[layout.group[slot]]))
            driven[island] += 1.0 if is_driven(s, slot) else 0.0
    too_much = False
    for k in range(count):
        now[k, LEFT] -= 0.5 * work[k]
        won, does, moving = now[k, LEFT] - energies[k, LEFT], changed.strikes[1 + k], energies[k, MOVING]
        if sprung[k] > 0.0 and driven[k] == 0.0 and does < DRIVEN and len(s.impulses.leading) == 0:
            # what dampers take of a flight that is none is nobody's loss
            gain = min(now[k, LEFT] - energies[k, FREE], gained[k])
            too_much, won = too_much or gain > LIFTED * moving, max(won, gain)
        if does % DRIVEN != MEETS:
            # a bounce that works against the motion gives nothing back in parts of any length: only what counts is cut
            counts = sprung[k] > 0.0 and driven[k] == 0.0 and power[k] > 0.0 and abs(won) > SEEN * moving
            too_much = too_much or (counts and is_too_much(won, power[k], square[k]))
            shares[k] = share_of(won, power[k], square[k]) if power[k] > 0.0 else 0.0
    if not s.impulses.bound[0]:  # else when it is brought onto what holds it (``bounced_parts``)
        if too_much and may_be_shorter(s):
            s.present.known[0] = 0
            return TOO_LONG
        _lengthen(s, layout, contacts, bounced, shares)
        too_much = _keep_rest(s, layout, y, z, shares, now, energies)
    s.present.known[0] = 0
    if too_much and may_be_shorter(s):
        return TOO_LONG
    return DONE if finite else LOST


@compiled
def _keep_rest(
    s: StepArrays, layout: Layout, y: Floats, z: Floats, shares: Floats, now: Energies, energies: Energies
) -> bool:  # fmt: skip
    """Take from islands without springs what they have more than they may after shares of bounces, whitened z, are
    added to y, which had the energies ``now``; as ``slow_inside``."""
    unit, changed, count = np.full(layout.groups, -1), s.impulses.changes, len(shares)
    over, far, sprung, taken = np.empty(count), np.zeros(count), np.zeros(count), np.empty(count)
    for k in range(count):
        over[k], taken[k] = now[k, LEFT] - energies[k, MOST], energies[k, FREE] - energies[k, LEFT]
    for slot in range(len(y)):
        group, island = layout.group[slot], changed.islands[slot]
        unit[group] = island
        if island >= 0:
            over[island] += shares[island] * z[slot] * (y[slot] + 0.5 * shares[island] * z[slot])
            y[slot] += shares[island] * z[slot]
            far[island] = max(far[island], abs(changed.q[slot]))
            sprung[island] = max(sprung[island], float(s.impulses.sprung[group]))
    for k in range(count):
        missed = energies[k, LEFT] - energies[k, MOST]
        if sprung[k] > 0.0 or (far[k] < FAR and missed < SEEN * energies[k, MOVING]):
            over[k] = 0.0
    return slow_inside(s, layout, unit, y, over, taken)


@compiled
def _lengthen(s: StepArrays, layout: Layout, contacts: ContactTable, bounced: Momentum, shares: Floats) -> None:
    """Change the bounces of each island by its share."""
    changed, trees, owed, links = s.impulses.changes, s.trees, s.owed, s.frames.links
    for slot in range(len(s.v)):
        if changed.islands[slot] >= 0:
            s.v[slot] += shares[changed.islands[slot]] * changed.struck[slot]
    owed.v[:] = s.v
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        island = changed.islands[trees.slots[k, 0]]
        if island >= 0:
            for i in range(3):
                owed.linear[k, i] += shares[island] * bounced.linear[k, i]
                owed.spin[k, i] += shares[island] * bounced.spin[k, i]
    for c in range(contacts.size[0]):
        if contacts.levels[c] % PUT != BOUNCED:
            continue
        contacts.levels[c] -= BOUNCED  # nothing is known of it, but whether it was put so
        island = -1
        for side in range(2):
            group = group_of(layout, links, contacts.a[c] if side == 0 else contacts.b[c])
            if group >= 0:
                island = changed.islands[layout.group_slots[layout.group_first[group]]]
        for i in range(3):
            contacts.impulses[c, i] *= 1.0 + shares[island]
            contacts.moments[c, i] *= 1.0 + shares[island]

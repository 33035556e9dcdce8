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

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout, group_of
from recursive_dyn.contact.problem import DRIVEN, MEETS
from recursive_dyn.contact.rows.lasting import BOUNCED, UNKNOWN
from recursive_dyn.contact.rows.responses import inverses, whitened
from recursive_dyn.contact.spinning import is_too_much, share_of
from recursive_dyn.dynamics.program_calls import evaluated, evaluated_awake
from recursive_dyn.simulation.flying.flight import DONE, LOST
from recursive_dyn.simulation.kept.momentum import (
    CENTER,
    NUMBERS,
    Momentum,
    corrected_base,
    is_pushed,
    pushed_by,
    settled_one,
)
from recursive_dyn.simulation.present import seen
from recursive_dyn.simulation.stepping.impulses import pulled
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

Energies = Annotated[np.ndarray, float, 3]
LEFT, FREE, MOVING = 0, 1, 2  # which energies
FLOATS, SPRUNG = 1, 2  # kinds of trees whose energies are counted
TOO_LONG = -4  # of a stage of a step: it is to be taken in parts
LIFTED = 0.02  # of its motion's energy that springs may bring into an island
SEEN = 1e-3  # of its motion's energy that is worth shorter parts, where springs are and something bounces
SHORTER, MOST_PARTS, PARTS_OF_MANY = 4, 64, 16  # by how many times then; of a step at most, where coordinates are
MANY = 64  # more than so many, as the whole scene is looked at in each


@compiled
def energies_left(s: StepArrays, layout: Layout, energies: Energies) -> bool:
    """Write what energies (k, 3), J, trees in islands that bounced or met have: as the solve leaves them, when forces
    that are as they are now have worked along the way that positions go, and as they are now, of which that of their
    motion; whether they are finite. Bases have the momenta they are owed."""
    changed, nv = s.impulses.changes, len(s.v)
    left, free, fall = np.empty(nv), s.v.copy(), np.zeros(nv)
    for i in range(nv):
        left[i] = s.v[i] + changed.v[i]
    _settle(s, left, free, fall)
    energies[:] = 0.0
    root, y, z, f = np.full(nv, 1.0), np.empty(nv), np.empty(nv), np.empty(nv)
    finite, counted, work = factored(s, layout, root), _counted(s, layout), np.zeros(len(energies))
    _whiten(s, layout, root, left, y)
    _add_kinetic(s, layout, counted, y, energies, LEFT)
    _whiten(s, layout, root, free, y)
    _add_kinetic(s, layout, counted, y, energies, FREE)
    for k in range(len(energies)):
        energies[k, MOVING] = energies[k, FREE]
    _whiten(s, layout, root, changed.q, z)
    _whiten(s, layout, root, fall, f)
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        island, group = changed.islands[s.trees.slots[k, 0]], layout.group[s.trees.slots[k, 0]]
        if island >= 0:
            energies[island, FREE] += _height(s, k, s.owed.centers[k])
            energies[island, LEFT] += _height(s, k, s.owed.centers[k])
            for j in range(layout.group_first[group], layout.group_first[group + 1]):
                energies[island, LEFT] -= f[layout.group_slots[j]] * z[layout.group_slots[j]]
    if np.isnan(s.impulses.swing[nv]):
        finite = pulled(s.impulses, s.q, s.tau, s.parameters, nv) and finite
    finite = _add_work(s, layout, root, counted, s.impulses.swing[nv : 2 * nv], z, work) and finite
    for k in range(len(energies)):
        energies[k, LEFT] -= 0.5 * work[k]
        energies[k, FREE] += 0.5 * work[k]
    return finite


@compiled
def _settle(s: StepArrays, left: Floats, free: Floats, fall: Floats) -> None:
    """Give bases of trees in islands the momenta they are owed, in velocities (nv,) as the solve leaves them and
    without it; and write into fall (nv,) their gravity."""
    trees, linear = s.trees, np.empty(3)
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        if s.impulses.changes.islands[trees.slots[k, 0]] < 0:
            continue
        mass, pose = s.present.momenta[NUMBERS * k], s.present.poses[16 * trees.bases[k] : 16 * trees.bases[k] + 16]
        for i in range(3):
            linear[i] = s.owed.linear[k, i] + mass * (s.settings[0] * trees.gravity[i])
            for j in range(3):
                fall[trees.slots[k, 3 + j]] += pose[4 * i + j] * trees.gravity[i]
        if not _is_pushed(s, k):
            corrected_base(trees, k, linear, s.owed.spin[k], left, s.present)
            corrected_base(trees, k, linear, s.owed.spin[k], free, s.present)


@compiled
def keep_energies(s: StepArrays, layout: Layout, contacts: ContactTable, energies: Energies) -> int:
    """Let impulses that bounced be longer or shorter, velocities and momenta with them, so that islands have these
    energies where positions were moved to and momenta were settled: DONE, LOST where not all numbers are finite, or
    TOO_LONG where springs make that more than they have, and the step is not a short part of one yet."""
    changed, trees, owed, n, size = s.impulses.changes, s.trees, s.owed, contacts.size[0], len(s.trees.bases)
    floating, by = s.sleep.moving_lone[: s.sleep.counts[2]], changed.struck
    linear, spin = np.zeros((size, 3)), np.zeros((size, 3))
    bounced = Momentum(owed.known, owed.q, owed.v, owed.parameters, linear, spin, owed.centers, owed.flown)
    pushed_by(trees, bounced, contacts, n, True, np.zeros(size, dtype=np.int64))
    root, y, z = np.full(len(s.v), 1.0), np.empty(len(s.v)), np.empty(len(s.v))
    finite = seen(s.present, s.q, by, s.parameters) and factored(s, layout, root)
    for k in floating:
        if changed.islands[trees.slots[k, 0]] >= 0:
            settled_one(trees, k, _is_pushed(s, k), bounced, by, s.present)
    _whiten(s, layout, root, s.v, y)
    _whiten(s, layout, root, by, z)
    count = len(energies)
    now, power, square, shares = np.zeros((count, 3)), np.zeros(count), np.zeros(count), np.zeros(count)
    sprung, driven, gained, work = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    counted, way = _counted(s, layout), np.empty(len(s.v))
    _whiten(s, layout, root, changed.q, way)
    _add_kinetic(s, layout, counted, y, now, LEFT)
    finite = pulled(s.impulses, s.q, s.tau, s.parameters, 0) and finite
    finite = _add_gained(s, layout, root, counted, y, gained) and finite
    finite = _add_work(s, layout, root, counted, s.impulses.swing[: len(s.v)], way, work) and finite
    for k in floating:
        island = changed.islands[trees.slots[k, 0]]
        if island >= 0:
            at = NUMBERS * k + CENTER
            now[island, LEFT] += _height(s, k, s.present.momenta[at : at + 3])
    for slot in range(len(s.v)):
        island = changed.islands[slot]
        if island >= 0:
            power[island] += y[slot] * z[slot]
            square[island] += 0.5 * z[slot] * z[slot]
            sprung[island] = max(sprung[island], float(s.impulses.sprung[layout.group[slot]]))
            driven[island] += 1.0 if _is_driven(s, slot) else 0.0
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
        _lengthen(s, layout, contacts, bounced, shares)
    s.present.known[0] = 0
    if too_much and SHORTER * s.part[1] <= (PARTS_OF_MANY if len(s.v) > MANY else MOST_PARTS):
        return TOO_LONG
    return DONE if finite else LOST


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
        if contacts.levels[c] != BOUNCED:
            continue
        contacts.levels[c] = UNKNOWN
        island = -1
        for side in range(2):
            group = group_of(layout, links, contacts.a[c] if side == 0 else contacts.b[c])
            if group >= 0:
                island = changed.islands[layout.group_slots[layout.group_first[group]]]
        for i in range(3):
            contacts.impulses[c, i] *= 1.0 + shares[island]
            contacts.moments[c, i] *= 1.0 + shares[island]


@compiled
def _is_pushed(s: StepArrays, k: int) -> bool:
    return is_pushed(s.trees, k, s.tau, s.sources.motors.motors.drives, s.flight.acting)


@compiled
def _is_driven(s: StepArrays, slot: int) -> bool:
    """Whether a motor, a law or a person's force may bring energy in at a coordinate."""
    return s.sources.motors.motors.drives[slot] > 0 or s.pressed.asked[slot] > 0 or s.flight.acting[slot] > 0


@compiled
def _height(s: StepArrays, k: int, center: Floats) -> float:
    """Potential energy of a floating tree in gravity, with its centre of mass there."""
    g = s.trees.gravity
    return -s.present.momenta[NUMBERS * k] * (g[0] * center[0] + g[1] * center[1] + g[2] * center[2])


@compiled
def factored(s: StepArrays, layout: Layout, root: Floats) -> bool:
    """Factors of M alone, without motors and what gives way, where the state is; root: see ``inverses``."""
    none = np.zeros(2 + 2 * len(s.v))
    finite = evaluated_awake(s.impulses.factors, s.q, none, none[:0], s.parameters)
    inverses(layout, s.impulses.factors.outputs, s.sleep.moving_links[: s.sleep.counts[0]], root)
    return finite


@compiled
def _counted(s: StepArrays, layout: Layout) -> Integers:
    """Of groups (groups,) of coordinates, whether their energies are counted: FLOATS, SPRUNG, or 0."""
    found = np.zeros(layout.groups, dtype=np.int64)
    for group in range(layout.groups):
        found[group] = SPRUNG if s.impulses.sprung[group] > 0 else 0
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        found[layout.group[s.trees.slots[k, 0]]] = FLOATS
    return found


@compiled
def _whiten(s: StepArrays, layout: Layout, root: Floats, x: Floats, y: Floats) -> None:
    """Whitened velocities y (nv,) of x, but 0 of what nothing moves."""
    whitened(layout, s.impulses.factors.outputs, root, x, y)
    for slot in range(len(x)):
        if root[slot] == 0.0:
            y[slot] = 0.0


@compiled
def _add_kinetic(
    s: StepArrays, layout: Layout, counted: Integers, y: Floats, energies: Energies, at: int
) -> None:  # fmt: skip
    """Add kinetic energies, of whitened velocities y, to those of islands."""
    islands = s.impulses.changes.islands
    for slot in range(len(s.v)):
        if islands[slot] >= 0 and counted[layout.group[slot]] > 0:
            energies[islands[slot], at] += 0.5 * y[slot] * y[slot]


@compiled
def _add_work(
    s: StepArrays, layout: Layout, root: Floats, counted: Integers, accelerations: Floats, z: Floats, work: Floats
) -> bool:
    """Add what springs and force elements, as they are where the state is, do along the ways of trees, z (nv,) as they
    are whitened, to the work (k,) of their islands; of those that do not float, all that forces do, by the
    accelerations (nv,) that they make; whether they are finite. What is done on the way is, to third order, the mean of
    what it would be by forces of either end."""
    it, none, a = s.impulses, np.zeros(len(s.v)), np.empty(len(s.v))
    islands, way = it.changes.islands, it.changes.q
    if it.passive.address == 0:
        return True
    finite = evaluated(it.passive, s.q, none, none[:0], s.parameters)
    _whiten(s, layout, root, accelerations, a)
    for slot in range(len(s.v)):
        kind = counted[layout.group[slot]]
        if islands[slot] >= 0 and kind > 0:
            work[islands[slot]] += it.passive.outputs[slot] * way[slot] if kind == FLOATS else a[slot] * z[slot]
    return finite


@compiled
def _add_gained(
    s: StepArrays, layout: Layout, root: Floats, counted: Integers, y: Floats, gained: Floats
) -> bool:  # fmt: skip
    """Add what islands (k,) of trees with springs, whose whitened velocities are y, have more than where the step
    began, J, to third order in how far it went; whether that is finite."""
    it, nv = s.impulses, len(s.v)
    if it.difference.address == 0:
        return True
    finite = evaluated(it.difference, s.start_q, s.q, s.v[:0], s.parameters)
    finite = pulled(it, s.start_q, s.tau, s.parameters, nv) and finite
    forces, a, began, z = np.empty(nv), np.empty(nv), np.empty(nv), np.empty(nv)
    for k in range(nv):
        forces[k] = it.swing[k] + it.swing[nv + k]
    _whiten(s, layout, root, forces, a)
    _whiten(s, layout, root, s.start_v, began)
    _whiten(s, layout, root, it.difference.outputs, z)
    for slot in range(nv):
        island = it.changes.islands[slot]
        if island >= 0 and counted[layout.group[slot]] > 0:
            gained[island] += 0.5 * (y[slot] * y[slot] - began[slot] * began[slot] - a[slot] * z[slot])
    return finite

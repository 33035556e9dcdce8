"""What floats with more hung on it bounces without winning or losing energy by where the bounce moves it.

Impulses act where a step ends; then positions are moved by the time for which they acted, velocities are carried along,
and the base is given the momentum that is owed (``momentum``): in first order of that time this changes energy. As with
lone bodies (``contact.spinning``) the impulses of each island that bounce do so longer or shorter by one share, so that
its energy is what the solve left: momenta stay exact, as what an impulse gives to one body it takes from another.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.rows.lasting import BOUNCED, UNKNOWN
from recursive_dyn.contact.rows.responses import inverses, whitened
from recursive_dyn.contact.spinning import share_of
from recursive_dyn.dynamics.program_calls import evaluated, evaluated_awake
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
from recursive_dyn.simulation.stepping.step_arrays import StepArrays


@compiled
def energies_left(s: StepArrays, layout: Layout, energies: Floats) -> bool:
    """Write what energies (k,), J, trees that float in the islands that bounced have as the solve leaves them, when
    forces that are as they are now have worked along the way that positions go; whether they are finite. Bases have the
    momenta they are owed."""
    changed, trees, nv = s.impulses.changes, s.trees, len(s.v)
    v, fall, linear = np.empty(nv), np.zeros(nv), np.empty(3)
    for i in range(nv):
        v[i] = s.v[i] + changed.v[i]
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        if changed.islands[trees.slots[k, 0]] < 0:
            continue
        mass, pose = s.present.momenta[NUMBERS * k], s.present.poses[16 * trees.bases[k] : 16 * trees.bases[k] + 16]
        for i in range(3):
            linear[i] = s.owed.linear[k, i] + mass * (s.settings[0] * trees.gravity[i])
            for j in range(3):
                fall[trees.slots[k, 3 + j]] += pose[4 * i + j] * trees.gravity[i]
        if not _is_pushed(s, k):
            corrected_base(trees, k, linear, s.owed.spin[k], v, s.present)
    energies[:] = 0.0
    root, y, z, f = np.full(nv, 1.0), np.empty(nv), np.empty(nv), np.empty(nv)
    finite = factored(s, layout, root)
    whitened(layout, s.impulses.factors.outputs, root, v, y)
    whitened(layout, s.impulses.factors.outputs, root, changed.q, z)
    whitened(layout, s.impulses.factors.outputs, root, fall, f)
    _add_kinetic(s, layout, y, energies)
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        island, group = changed.islands[trees.slots[k, 0]], layout.group[trees.slots[k, 0]]
        if island >= 0:
            energies[island] += _height(s, k, s.owed.centers[k])
            for j in range(layout.group_first[group], layout.group_first[group + 1]):
                energies[island] -= f[layout.group_slots[j]] * z[layout.group_slots[j]]
    return _add_springs(s, layout, -0.5, energies) and finite


@compiled
def keep_energies(s: StepArrays, layout: Layout, contacts: ContactTable, energies: Floats) -> bool:
    """Let impulses that bounced be longer or shorter, velocities and momenta with them, so that islands have these
    energies where positions were moved to and momenta were settled; whether all numbers are finite."""
    changed, trees, owed, n, size = s.impulses.changes, s.trees, s.owed, contacts.size[0], len(s.trees.bases)
    moving, by = s.sleep.moving_lone[: s.sleep.counts[2]], changed.struck
    bounced = Momentum(owed.known, owed.q, owed.v, np.zeros((size, 3)), np.zeros((size, 3)), owed.centers)
    pushed_by(trees, bounced, contacts, n, True)
    root, y, z = np.full(len(s.v), 1.0), np.empty(len(s.v)), np.empty(len(s.v))
    finite = seen(s.present, s.q, by, s.parameters) and factored(s, layout, root)
    for k in moving:
        if changed.islands[trees.slots[k, 0]] >= 0:
            settled_one(trees, k, _is_pushed(s, k), bounced, by, s.present)
    whitened(layout, s.impulses.factors.outputs, root, s.v, y)
    whitened(layout, s.impulses.factors.outputs, root, by, z)
    won, power, square = np.zeros(len(energies)), np.zeros(len(energies)), np.zeros(len(energies))
    _add_kinetic(s, layout, y, won)
    finite = _add_springs(s, layout, -0.5, won) and finite
    for k in moving:
        island = changed.islands[trees.slots[k, 0]]
        if island >= 0:
            at = NUMBERS * k + CENTER
            won[island] += _height(s, k, s.present.momenta[at : at + 3])
    for slot in range(len(s.v)):
        island = changed.islands[slot]
        if island >= 0:
            power[island] += y[slot] * z[slot]
            square[island] += 0.5 * z[slot] * z[slot]
    for island in range(len(energies)):
        won[island] -= energies[island]
        energies[island] = share_of(won[island], power[island], square[island]) if power[island] > 0.0 else 0.0
    _lengthen(s, layout, contacts, bounced, energies)
    s.present.known[0] = 0
    return finite


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
            body = contacts.a[c] if side == 0 else contacts.b[c]
            link = links[body] if 0 <= body < len(links) else -1
            if link >= 0 and layout.link_groups[link] >= 0:
                island = changed.islands[layout.group_slots[layout.group_first[layout.link_groups[link]]]]
        for i in range(3):
            contacts.impulses[c, i] *= 1.0 + shares[island]
            contacts.moments[c, i] *= 1.0 + shares[island]


@compiled
def _is_pushed(s: StepArrays, k: int) -> bool:
    return is_pushed(s.trees, k, s.tau, s.sources.motors.motors.drives, s.flight.acting)


@compiled
def _height(s: StepArrays, k: int, center: Floats) -> float:
    """Potential energy of a floating tree in gravity, with its centre of mass there."""
    g = s.trees.gravity
    return -s.present.momenta[NUMBERS * k] * (g[0] * center[0] + g[1] * center[1] + g[2] * center[2])


@compiled
def factored(s: StepArrays, layout: Layout, root: Floats) -> bool:
    """Factors of M alone, without motors and what gives way, where the state is; root: see ``inverses``."""
    none = np.zeros(len(s.v) + 2)
    finite = evaluated_awake(s.impulses.factors, s.q, none[:2], none[2:], s.parameters)
    inverses(layout, s.impulses.factors.outputs, s.sleep.moving_links[: s.sleep.counts[0]], root)
    return finite


@compiled
def _add_kinetic(s: StepArrays, layout: Layout, y: Floats, energies: Floats) -> None:
    """Add kinetic energies of floating trees, of whitened velocities y, to those of their islands."""
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        slot = s.trees.slots[k, 0]
        island, group = s.impulses.changes.islands[slot], layout.group[slot]
        if island >= 0:
            for j in range(layout.group_first[group], layout.group_first[group + 1]):
                energies[island] += 0.5 * y[layout.group_slots[j]] * y[layout.group_slots[j]]


@compiled
def _add_springs(s: StepArrays, layout: Layout, share: float, energies: Floats) -> bool:
    """Add a share of what springs and force elements, as they are where the state is, do along the ways of floating
    trees to the energies of their islands; whether they are finite. What they work more than those of the way's start
    is, to third order, half of what they grow by there."""
    it, none = s.impulses, np.zeros(len(s.v))
    if it.passive.address == 0:
        return True
    finite = evaluated(it.passive, s.q, none, none[:0], s.parameters)
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        slot = s.trees.slots[k, 0]
        island, group = it.changes.islands[slot], layout.group[slot]
        if island >= 0:
            for j in range(layout.group_first[group], layout.group_first[group + 1]):
                at = layout.group_slots[j]
                energies[island] += share * it.passive.outputs[at] * it.changes.q[at]
    return finite

"""What energies trees have where a state is: of their motion, of heights, and what springs and forces do on a way."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.rows.responses import inverses, whitened
from recursive_dyn.dynamics.program_calls import evaluated, evaluated_awake
from recursive_dyn.simulation.kept.momentum import NUMBERS, is_pushed
from recursive_dyn.simulation.stepping.impulses import pulled
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

Energies = Annotated[np.ndarray, float, 4]
FLOATS, SPRUNG = 1, 2  # kinds of trees whose energies are counted


@compiled
def pushed_tree(s: StepArrays, k: int) -> bool:
    """Whether anything but contacts may change the momentum of a floating tree otherwise than gravity does."""
    return is_pushed(s.trees, k, s.tau, s.sources.motors.motors.drives, s.flight.acting)


@compiled
def is_driven(s: StepArrays, slot: int) -> bool:
    """Whether a motor, a law or a person's force may bring energy in at a coordinate."""
    return s.sources.motors.motors.drives[slot] > 0 or s.pressed.asked[slot] > 0 or s.flight.acting[slot] > 0


@compiled
def keeps_energy(s: StepArrays, slot: int) -> bool:
    """Whether a coordinate is of what keeps its energy in flight, of joints that nothing springs, damps or drives."""
    return bool(s.impulses.conserving[slot]) and not is_driven(s, slot)


@compiled
def owed_linear(s: StepArrays, k: int) -> Floats:
    """Momentum (3,) that a floating tree is owed where a flight ended, N s, but for what touches it."""
    linear = np.empty(3)
    for i in range(3):
        linear[i] = s.owed.linear[k, i] + s.present.momenta[NUMBERS * k] * (s.settings[0] * s.trees.gravity[i])
    return linear


@compiled
def factored(s: StepArrays, layout: Layout, root: Floats) -> bool:
    """Factors of M alone, without motors and what gives way, where the state is; root: see ``inverses``."""
    none = np.zeros(2 + 2 * len(s.v))
    finite = evaluated_awake(s.impulses.factors, s.q, none, none[:0], s.parameters)
    inverses(layout, s.impulses.factors.outputs, s.sleep.moving_links[: s.sleep.counts[0]], root)
    return finite


@compiled
def counted_groups(s: StepArrays, layout: Layout) -> Integers:
    """Of groups (groups,) of coordinates, whether their energies are counted: FLOATS, SPRUNG, or 0."""
    found = np.zeros(layout.groups, dtype=np.int64)
    for group in range(layout.groups):
        found[group] = SPRUNG if s.impulses.sprung[group] > 0 else 0
    for k in s.sleep.moving_lone[: s.sleep.counts[2]]:
        found[layout.group[s.trees.slots[k, 0]]] = FLOATS
    return found


@compiled
def height(s: StepArrays, k: int, center: Floats) -> float:
    """Potential energy of a floating tree in gravity, with its centre of mass there."""
    g = s.trees.gravity
    return -s.present.momenta[NUMBERS * k] * (g[0] * center[0] + g[1] * center[1] + g[2] * center[2])


@compiled
def whiten(s: StepArrays, layout: Layout, root: Floats, x: Floats, y: Floats) -> None:
    """Whitened velocities y (nv,) of x, but 0 of what nothing moves."""
    whitened(layout, s.impulses.factors.outputs, root, x, y)
    for slot in range(len(x)):
        if root[slot] == 0.0:
            y[slot] = 0.0


@compiled
def add_kinetic(
    s: StepArrays, layout: Layout, counted: Integers, y: Floats, energies: Energies, at: int
) -> None:  # fmt: skip
    """Add kinetic energies, of whitened velocities y, to those of islands."""
    islands = s.impulses.changes.islands
    for slot in range(len(s.v)):
        if islands[slot] >= 0 and counted[layout.group[slot]] > 0:
            energies[islands[slot], at] += 0.5 * y[slot] * y[slot]


@compiled
def add_work(
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
    whiten(s, layout, root, accelerations, a)
    for slot in range(len(s.v)):
        kind = counted[layout.group[slot]]
        if islands[slot] >= 0 and kind > 0:
            work[islands[slot]] += it.passive.outputs[slot] * way[slot] if kind == FLOATS else a[slot] * z[slot]
    return finite


@compiled
def add_gained(
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
    whiten(s, layout, root, forces, a)
    whiten(s, layout, root, s.start_v, began)
    whiten(s, layout, root, it.difference.outputs, z)
    for slot in range(nv):
        island = it.changes.islands[slot]
        if island >= 0 and counted[layout.group[slot]] > 0:
            gained[island] += 0.5 * (y[slot] * y[slot] - began[slot] * began[slot] - a[slot] * z[slot])
    return finite

"""Bodies that float, by themselves or with others, as contacts that last ask about them: how they moved and how they
would."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.forest_layout import links_of_bodies
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import ELSEWHERE, NOWHERE, LoneBodies
from recursive_dyn.contact.rows.turning import forget_kicks
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.simulation.kept.momentum import CENTER, INERTIA, LINEAR, NUMBERS, SPIN, FloatingTrees, Momentum, spun
from recursive_dyn.simulation.present import FrameArrays


def lone_bodies(model: Model, layout: Layout, trees: FloatingTrees) -> LoneBodies:
    """Those of a model, of which nothing else is known yet."""
    links, count = links_of_bodies(model), len(trees.bases)
    own = links[trees.bases]
    groups, alone = layout.link_groups[own], np.zeros(count + 1, dtype=bool)  # the last one of no tree
    alone[:count] = layout.group_first[groups + 1] - layout.group_first[groups] == 6
    of = np.where(links == WORLD, NOWHERE, ELSEWHERE)
    lone = alone[trees.bodies]
    of[lone] = trees.bodies[lone]
    jointed = ((trees.bodies >= 0) & ~lone).nonzero()[0]
    others = np.concatenate([jointed, ((links != WORLD) & (trees.bodies < 0)).nonzero()[0] if count else jointed[:0]])
    of[others] = count + np.arange(len(others))
    size = count + len(others)
    (start, flown, coasting, kicks), inertias = np.empty((4, size, 6)), np.empty((count, 6))
    bodies, home = np.append(trees.bases, others), np.append(np.arange(count), trees.bodies[others])
    return LoneBodies(
        of, links[bodies], bodies, home, np.empty((size, 3)), start, flown, coasting, inertias,
        np.empty(count), kicks, np.ones(1, dtype=np.int64), trees.gravity,
    )  # fmt: skip


@compiled
def moving_alone(
    trees: FloatingTrees, owed: Momentum, present: FrameArrays, lone: LoneBodies, moving: Integers
) -> None:  # fmt: skip
    """How those that are ``moving`` do where a flight ended; owed: momenta at the step's start."""
    nothing, turn = np.zeros(3), np.zeros(3)
    forget_kicks(lone)
    for k in moving:
        if k >= len(trees.bases):
            break
        at, body = NUMBERS * k, trees.bases[k]
        mass = present.momenta[at]
        spun(present.momenta[at + INERTIA : at + NUMBERS], present.momenta[at + SPIN : at + INERTIA], nothing, turn)
        lone.masses[k] = mass
        lone.inertias[k] = present.momenta[at + INERTIA : at + NUMBERS]
        for i in range(3):
            lone.centers[k, i] = present.momenta[at + CENTER + i]
            lone.start[k, i], lone.flown[k, i] = present.start_twists[6 * body + i], turn[i]
            lone.coasting[k, i] = turn[i]
            lone.start[k, 3 + i] = lone.coasting[k, 3 + i] = owed.linear[k, i] / mass
            lone.flown[k, 3 + i] = present.momenta[at + LINEAR + i] / mass
    for k in moving:
        if k < len(trees.bases):
            continue
        body = lone.bodies[k]
        for i in range(6):
            lone.start[k, i], lone.flown[k, i] = present.start_twists[6 * body + i], present.twists[6 * body + i]
            lone.coasting[k, i] = lone.start[k, i]
        for i in range(3):
            lone.centers[k, i] = present.poses[16 * body + 4 * i + 3]


@compiled
def kicked(owed: Momentum, lone: LoneBodies, moving: Integers, touched: Integers) -> None:
    """What corrections of contacts did is owed too; touched (k,) becomes 1 for trees that they did something to."""
    if lone.kicked[0] == 0:
        return
    count = len(lone.inertias)
    for k in moving:
        tree = lone.home[k]
        if tree < 0:
            continue
        for i in range(3):
            a, b, moment = (i + 1) % 3, (i + 2) % 3, lone.kicks[k, i]
            if k >= count:
                moment += (lone.centers[k, a] - owed.centers[tree, a]) * lone.kicks[k, 3 + b]
                moment -= (lone.centers[k, b] - owed.centers[tree, b]) * lone.kicks[k, 3 + a]
            touched[tree] = 1 if moment != 0.0 or lone.kicks[k, 3 + i] != 0.0 else touched[tree]
            owed.spin[tree, i] += moment
            owed.linear[tree, i] += lone.kicks[k, 3 + i]


@compiled
def straight(trees: FloatingTrees, lone: LoneBodies, moving: Integers, present: FrameArrays, way: Floats) -> None:
    """Change the way (nv,) that positions go so that centres of mass go straight on while bodies turn.

    A joint takes [omega; v] as a screw, which would bend it: with V the integral of exp over the way (Murray, Li &
    Sastry, eq. 2.36), v + (V^-1 - 1) v_c goes by v_c.
    """
    for k in moving:
        body = trees.bases[k]
        if lone.of[body] != k:
            continue
        pose, slots = present.poses[16 * body : 16 * body + 16], trees.slots[k]
        a, b, c = way[slots[0]], way[slots[1]], way[slots[2]]
        square = a * a + b * b + c * c
        if square == 0.0:
            continue
        d0, d1, d2 = lone.centers[k, 0] - pose[3], lone.centers[k, 1] - pose[7], lone.centers[k, 2] - pose[11]
        r0 = pose[0] * d0 + pose[4] * d1 + pose[8] * d2
        r1 = pose[1] * d0 + pose[5] * d1 + pose[9] * d2
        r2 = pose[2] * d0 + pose[6] * d1 + pose[10] * d2
        x = way[slots[3]] + b * r2 - c * r1
        y = way[slots[4]] + c * r0 - a * r2
        z = way[slots[5]] + a * r1 - b * r0
        u0, u1, u2 = b * z - c * y, c * x - a * z, a * y - b * x
        share = (
            1.0 + square * (1.0 + square * (1.0 + square / 40.0) / 42.0) / 60.0
        ) / 12.0  # 1 - x cot x, x half of it
        way[slots[3]] += share * (b * u2 - c * u1) - 0.5 * u0
        way[slots[4]] += share * (c * u0 - a * u2) - 0.5 * u1
        way[slots[5]] += share * (a * u1 - b * u0) - 0.5 * u2

"""Momentum of what floats together, tied by force elements to each other and to nothing else.

What elements hand from tree to tree is what a flight, or a solve that they answer, made of it, in coordinates of bases
that turn meanwhile: that adds up to nothing to the order of the step only, and on stiff springs, pressed in every step,
to anything. So the sum is carried from step to step, as that of one tree is, and a rigid motion of all gives it back.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.problem import LoneBodies
from recursive_dyn.simulation.kept.momentum import (
    CENTER,
    INERTIA,
    LINEAR,
    NUMBERS,
    SPIN,
    FloatingTrees,
    Momentum,
    is_driven,
    spun,
)
from recursive_dyn.simulation.present import FrameArrays

Masses = Annotated[np.ndarray, float, 4]  # of groups, and these times their centres


@compiled
def begun(trees: FloatingTrees, owed: Momentum, present: FrameArrays) -> None:
    """Write what groups have where a step begins: momentum, and spin about their own centres of mass."""
    masses = np.zeros((len(trees.whole), 4))
    for g in range(len(trees.whole)):
        for i in range(6):
            trees.whole[g, i] = 0.0
    for k in range(len(trees.bases)):
        at = NUMBERS * k
        _weigh(trees, k, present.momenta[at], present.momenta[at + CENTER : at + LINEAR], masses)
    for k in range(len(trees.bases)):
        g, at = trees.bound[k], NUMBERS * k + CENTER
        if g < 0:
            continue
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            arm_a = present.momenta[at + a] - masses[g, 1 + a] / masses[g, 0]
            arm_b = present.momenta[at + b] - masses[g, 1 + b] / masses[g, 0]
            trees.whole[g, i] += owed.linear[k, i]
            trees.whole[g, 3 + i] += owed.spin[k, i] + arm_a * owed.linear[k, b] - arm_b * owed.linear[k, a]


@compiled
def _weigh(trees: FloatingTrees, k: int, mass: float, center: Floats, masses: Masses) -> None:
    """Add a tree's mass, and it times its centre (3,), to its group's, if it has one."""
    g = trees.bound[k]
    if g >= 0:
        masses[g, 0] += mass
        for i in range(3):
            masses[g, 1 + i] += mass * center[i]


@compiled
def settled_together(
    trees: FloatingTrees,
    owed: Momentum,
    v: Floats,
    tau: Floats,
    drives: Integers,
    acting: Integers,
    h: float,
    contacts: ContactTable,
    count: int,
    lone: LoneBodies,
    kicked: Integers,
    moving: Integers,
    present: FrameArrays,
) -> None:
    """Move groups as a whole so that they have, in v, what they had at the start, with what gravity and the first
    ``count`` contacts with others gave them, and what was corrected of these on bodies that were ``kicked``; not groups
    of which something sleeps, or that somebody drives. The rest as of ``momentum.settled``."""
    left, masses = np.zeros(len(trees.whole), dtype=np.int64), np.zeros((len(trees.whole), 4))
    for k in range(len(trees.bases)):
        if trees.bound[k] >= 0:
            left[trees.bound[k]] += 1
    for k in moving:
        _weigh(trees, k, present.momenta[NUMBERS * k], owed.centers[k], masses)
        if trees.bound[k] >= 0 and not is_driven(trees, k, tau, drives, acting):
            left[trees.bound[k]] -= 1
    _take_contacts(trees, contacts, count, lone, kicked, masses)
    for g in range(len(trees.whole)):
        if left[g] == 0:
            for i in range(3):
                trees.whole[g, i] += masses[g, 0] * h * trees.gravity[i]
            _give(trees, g, owed, v, moving, present)
    owed.v[:] = v
    present.known[0] = 0


@compiled
def _take_contacts(
    trees: FloatingTrees, contacts: ContactTable, count: int, lone: LoneBodies, kicked: Integers, masses: Masses
) -> None:
    """Add what contacts gave groups, but those between two of one, and what was corrected of them; masses: as they
    weigh where contacts were found."""
    outer = np.zeros(len(trees.whole), dtype=np.int64)
    for c in range(count):
        first, second = _group(trees, contacts.a[c]), _group(trees, contacts.b[c])
        for side in range(2):
            g, sign = first if side == 0 else second, 1.0 - 2.0 * side
            if g < 0 or first == second or masses[g, 0] == 0.0:
                continue
            outer[g] = 1
            for i in range(3):
                a, b = (i + 1) % 3, (i + 2) % 3
                arm_a = contacts.points[c, side, a] - masses[g, 1 + a] / masses[g, 0]
                arm_b = contacts.points[c, side, b] - masses[g, 1 + b] / masses[g, 0]
                moment = arm_a * contacts.impulses[c, b] - arm_b * contacts.impulses[c, a]
                trees.whole[g, i] += sign * contacts.impulses[c, i]
                trees.whole[g, 3 + i] += sign * (moment + contacts.moments[c, i])
    for k in kicked:
        g = trees.bound[lone.home[k]]
        if g < 0 or outer[g] == 0:
            continue
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            arm_a = lone.centers[k, a] - masses[g, 1 + a] / masses[g, 0]
            arm_b = lone.centers[k, b] - masses[g, 1 + b] / masses[g, 0]
            trees.whole[g, i] += lone.kicks[k, 3 + i]
            trees.whole[g, 3 + i] += lone.kicks[k, i] + arm_a * lone.kicks[k, 3 + b] - arm_b * lone.kicks[k, 3 + a]


@compiled
def _group(trees: FloatingTrees, body: int) -> int:
    """Of a body, -1 for none."""
    k = trees.bodies[body] if 0 <= body < len(trees.bodies) else -1
    return trees.bound[k] if k >= 0 else -1


@compiled
def _give(trees: FloatingTrees, g: int, owed: Momentum, v: Floats, moving: Integers, present: FrameArrays) -> None:
    """Give one group what it misses."""
    it, mass, center = present.momenta, 0.0, np.zeros(3)
    missing, inertia, nothing, turn, push = trees.whole[g], np.zeros(6), np.zeros(3), np.empty(3), np.empty(3)
    for k in moving:
        if trees.bound[k] == g:
            mass += it[NUMBERS * k]
            for i in range(3):
                center[i] += it[NUMBERS * k] * it[NUMBERS * k + CENTER + i]
    for i in range(3):
        center[i] /= mass
    for k in moving:
        at = NUMBERS * k
        if trees.bound[k] == g:
            for i in range(3):
                a, b = (i + 1) % 3, (i + 2) % 3
                moment = (it[at + CENTER + a] - center[a]) * it[at + LINEAR + b]
                moment -= (it[at + CENTER + b] - center[b]) * it[at + LINEAR + a]
                missing[i] -= it[at + LINEAR + i]
                missing[3 + i] -= it[at + SPIN + i] + moment
    for i in range(3):
        push[i] = missing[i] / mass
    for k in moving:
        if trees.bound[k] == g:
            _add_inertia(it[NUMBERS * k : NUMBERS * k + NUMBERS], center, inertia)
    spun(inertia, missing[3:], nothing, turn)
    for k in moving:
        if trees.bound[k] == g:
            _move(trees, k, owed, push, turn, center, v, present)


@compiled
def _add_inertia(tree: Floats, center: Floats, inertia: Floats) -> None:
    """Add a tree's inertia, as its numbers (NUMBERS,) have it, about a centre (3,): the upper half, row by row."""
    x, y, z = tree[CENTER] - center[0], tree[CENTER + 1] - center[1], tree[CENTER + 2] - center[2]
    square, mass = x * x + y * y + z * z, tree[0]
    for i in range(6):
        inertia[i] += tree[INERTIA + i]
    inertia[0] += mass * (square - x * x)
    inertia[1] -= mass * x * y
    inertia[2] -= mass * x * z
    inertia[3] += mass * (square - y * y)
    inertia[4] -= mass * y * z
    inertia[5] += mass * (square - z * z)


@compiled
def _move(
    trees: FloatingTrees, k: int, owed: Momentum, push: Floats, turn: Floats, center: Floats, v: Floats,
    present: FrameArrays,
) -> None:  # fmt: skip
    """Have a tree move more by a push, and by a turn about a centre."""
    it, at, pose = present.momenta, NUMBERS * k, 16 * trees.bases[k]
    xx, xy, xz, yy, yz, zz = (
        it[at + INERTIA], it[at + INERTIA + 1], it[at + INERTIA + 2], it[at + INERTIA + 3], it[at + INERTIA + 4],
        it[at + INERTIA + 5],
    )  # fmt: skip
    owed.spin[k, 0] += xx * turn[0] + xy * turn[1] + xz * turn[2]
    owed.spin[k, 1] += xy * turn[0] + yy * turn[1] + yz * turn[2]
    owed.spin[k, 2] += xz * turn[0] + yz * turn[1] + zz * turn[2]
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        arm_a, arm_b = it[at + CENTER + a] - center[a], it[at + CENTER + b] - center[b]
        owed.linear[k, i] += it[at] * (push[i] + turn[a] * arm_b - turn[b] * arm_a)
        arm_a = present.poses[pose + 4 * a + 3] - center[a]
        arm_b = present.poses[pose + 4 * b + 3] - center[b]
        speed = push[i] + turn[a] * arm_b - turn[b] * arm_a
        for j in range(3):
            v[trees.slots[k, j]] += present.poses[pose + 4 * i + j] * turn[i]
            v[trees.slots[k, 3 + j]] += present.poses[pose + 4 * i + j] * speed

"""Into how many parts a step is to be cut, in machine code: what ``whirl`` says."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.maximal.acting.joint_landing import about_center, carried, center_of
from recursive_dyn.maximal.acting.step_phases import FOUND, BodyArrays, Part, over_step
from recursive_dyn.maximal.acting.step_system import CONSTRAINED, SystemArrays, coordinate_row
from recursive_dyn.maximal.acting.triples import cross, solve, square, times
from recursive_dyn.maximal.acting.whirl import FURTHEST, FURTHEST_SPRUNG, MOST, SHARE
from recursive_dyn.maximal.joint_rows.joint_elements import ElementCall
from recursive_dyn.maximal.joint_rows.light_bodies import LightBodies
from recursive_dyn.maximal.kinds.row_arrays import LoopCall, RowArrays, rate
from recursive_dyn.maximal.sparse.block_ldlt import SparseEquations
from recursive_dyn.maximal.sparse.tree_ldlt import Block


class Whirl(NamedTuple):
    """asked (2,): parts of the step, and the link that asked for most, -1 for none; watched (1,): whether joints do no
    work; roots (n,): as of Joints; work, energies (n,): room."""

    asked: Integers
    watched: Integers
    roots: Integers
    work: Floats
    energies: Floats


@compiled
def asking(
    part: Part, loops: LoopCall, it: RowArrays, s: SystemArrays, on: BodyArrays, solving: SparseEquations,
    acting: ElementCall, light: LightBodies, whirl: Whirl,
) -> int:  # fmt: skip
    """``over_step``, and for how many parts it asks."""
    said = over_step(part, loops, it, s, on, solving, acting, light)
    return whirled(it, s, on, whirl) if said == FOUND else said


@compiled
def whirled(it: RowArrays, s: SystemArrays, on: BodyArrays, whirl: Whirl) -> int:
    """After forces of a step are found: for how many parts it asks. What joints changed is added to ``free``."""
    whirl.asked[0], whirl.asked[1] = 1, -1
    h, limit, parts = on.settings[0], FURTHEST if s.method[0] == CONSTRAINED else FURTHEST_SPRUNG, 1
    far, most = limit * limit / (h * h), limit
    for i in range(len(it.parent_poses)):
        if max(square(it.twists[it.children[i]]), square(it.twists[it.parents[i]])) > far:
            angle = _angle(it, s, on, i, far)
            if angle > most:
                most, whirl.asked[1] = angle, it.children[i]
    while parts <= MOST and most > limit * float(parts):
        parts *= 2
    whirl.asked[0] = parts
    if parts == 1 and whirl.watched[0] and s.method[0] == CONSTRAINED:
        _watch(it, s, on, whirl)
    return FOUND


@compiled
def _angle(it: RowArrays, s: SystemArrays, on: BodyArrays, i: int, far: float) -> float:
    """By which bodies turn about a joint over the step, if one of them turns far."""
    n, child, parent, h = len(on.change), it.children[i], it.parents[i], on.settings[0]
    spin, total, apart, least = np.inf, 0.0, np.zeros(3), on.inertias[child, 3, 3]
    if square(it.twists[child]) > far:
        spin = _spin(on.inertias[child], it.twists[child])
    _add_velocity(on.inertias[child], it.poses[child], it.twists[child], 1.0, apart)
    if parent < n:
        if square(it.twists[parent]) > far:
            spin = min(spin, _spin(on.inertias[parent], it.twists[parent]))
        _add_velocity(on.inertias[parent], it.poses[parent], it.twists[parent], -1.0, apart)
        least = least * on.inertias[parent, 3, 3] / (least + on.inertias[parent, 3, 3])
    energy = spin + least * square(apart)
    for r in range(s.counts[i]):
        opening = h * (rate(it, on.straight, i, r) - it.drift[i, r])
        mobility = _mobility(on.inertias[child], it.child[i, r])
        if parent < n:
            mobility += _mobility(on.inertias[parent], it.parent[i, r])
        total += opening * opening / mobility
    return sqrt(total / energy) if energy > 0.0 else 0.0


@compiled
def _add_velocity(M: Block, pose: Floats, V: Floats, sign: float, to: Floats) -> None:
    """Add that of a body's centre of mass, world axes."""
    still, center, velocity, spin, way = np.zeros(6), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    carried(M, pose, V, still, center, velocity, spin, way)
    for k in range(3):
        to[k] += sign * velocity[k]


@compiled
def _spin(M: Block, V: Floats) -> float:
    """omega . I omega about the centre of mass."""
    I, y = np.zeros((3, 3)), np.zeros(3)
    about_center(M, I)
    times(I, V, y)
    return V[0] * y[0] + V[1] * y[1] + V[2] * y[2]


@compiled
def _mobility(M: Block, J: Floats) -> float:
    """J M^-1 J^T of a row."""
    I, c, y, x = np.zeros((3, 3)), np.zeros(3), np.zeros(3), np.zeros(3)
    m = center_of(M, c)
    about_center(M, I)
    cross(c, J[3:], y)
    for k in range(3):
        y[k] = J[k] - y[k]
    solve(I, y, x)
    return y[0] * x[0] + y[1] * x[1] + y[2] * x[2] + square(J[3:]) / m


@compiled
def _watch(it: RowArrays, s: SystemArrays, on: BodyArrays, whirl: Whirl) -> None:
    """Ask for two parts where joints add energy."""
    n, h = len(on.change), on.settings[0]
    whirl.work[:] = 0.0
    whirl.energies[:] = 0.0
    for i in range(n):
        V, x, y, work = it.twists[i], on.free[i], on.straight[i], 0.0
        for k in range(6):
            x[k] += on.change[i, k]
            work += (V[k] + x[k] - h * y[k]) * (on.forces[i, k] - on.pushes[6 * i + k])
        whirl.work[whirl.roots[i]] += 0.5 * h * work
    _pass_over_soft(it, s, on, whirl)
    more = False
    for i in range(n):
        root = whirl.roots[i]
        if whirl.work[root] > 0.0:
            whirl.energies[root] += 0.5 * _square(on.inertias[i], it.twists[i])
    for i in range(n):
        more = more or whirl.work[i] > SHARE * whirl.energies[i]
    if not more:
        return
    for i in range(n):
        root = whirl.roots[i]
        if whirl.work[root] > 0.0:
            whirl.energies[root] += 0.5 * _fallen(it, on, i)
    for i in range(n):
        if whirl.work[i] > SHARE * whirl.energies[i]:
            whirl.asked[0], whirl.asked[1] = 2, i


@compiled
def _pass_over_soft(it: RowArrays, s: SystemArrays, on: BodyArrays, whirl: Whirl) -> None:
    """Take from work what rotors, dampers and springs do."""
    h = on.settings[0]
    for i in range(len(s.counts)):
        for r in range(s.counts[i], s.heights[i]):
            if s.e[i, r] < np.inf:
                coordinate_row(it, s, i, r, h, h)
                after = rate(it, on.free, i, r)
                push = (s.c[i, r] - after) / s.e[i, r]
                mean = rate(it, it.twists, i, r) + after - h * rate(it, on.straight, i, r)
                whirl.work[whirl.roots[it.children[i]]] -= 0.5 * push * mean


@compiled
def _fallen(it: RowArrays, on: BodyArrays, i: int) -> float:
    """Twice the kinetic energy that a body gets in the step from rest, by what acts on it beside joints."""
    y, h = np.zeros(6), on.settings[0]
    for k in range(6):
        y[k] = on.free[i, k] - on.change[i, k] - it.twists[i, k] - h * on.straight[i, k]
    return _square(on.inertias[i], y)


@compiled
def _square(M: Block, x: Floats) -> float:
    """x . M x."""
    total = 0.0
    for k in range(6):
        y = M[k, 0] * x[0] + M[k, 1] * x[1] + M[k, 2] * x[2] + M[k, 3] * x[3] + M[k, 4] * x[4] + M[k, 5] * x[5]
        total += x[k] * y
    return total

"""How what floats freely comes to the momentum that it is owed where a step ends.

A rule leaves a flight's spin a little beside what is owed, mostly because it leaves the attitude beside what that
should be. Turning what moves until its spin is that one, at the velocities in its own axes that the rule found, changes
no energy: neither its motion's nor that of its height. A change of its angular velocity does, and as attitude lags
behind spin always to more of it. So what flew without a touch is turned about its centre of mass, by the least rotation
that leads its spin to the direction of the one that is owed. What contacts touched stays where these moved it, and gets
its momentum by its velocity; so does what else a solve, as of a motor or a stop between links, left amiss.

A body by itself has two invariants: before it is turned its spin, in its own axes, is brought to the length it is owed
and to the energy with which the step began, along the gradient of energy on the sphere of that length (Hairer, Lubich &
Wanner 2006, Geometric Numerical Integration, IV.4). That of several links is brought to its length only.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.simulation.kept.momentum import (
    CENTER,
    INERTIA,
    NUMBERS,
    FloatingTrees,
    Momentum,
    corrected_base,
    is_pushed,
    pushed_by,
    settled_one,
    spun,
    touched_by,
)
from recursive_dyn.simulation.present import FrameArrays

_SWEEPS = 4  # of Newton's method, that lead from 1e-2 of the energy to rounding
_ROUNDING = 1e-15
_STEADY = 1e-8  # squared sine between spin and angular velocity, below which energy says nothing of a direction


@compiled
def settled(
    trees: FloatingTrees,
    owed: Momentum,
    q: Floats,
    v: Floats,
    tau: Floats,
    drives: Integers,
    acting: Integers,
    h: float,
    contacts: ContactTable,
    count: int,
    moving: Integers,
    solved: Floats,
    touched: Integers,
    present: FrameArrays,
) -> None:
    """Give trees, in q and v, the momentum that they had, plus h m g, plus the pushes.

    drives (nv,): 1 for slots with motors; acting (nv,): as of a flight. contacts: the first ``count``, whose points are
    where ``located`` was asked; moving: the trees that do not sleep, others have none; solved (nv,): by what a solve
    changed velocities, or of none; touched (k,): 1 for trees that were corrected already, else 0, changed in place;
    present: not known after this.
    """
    measured = present.momenta
    for k in moving:
        for i in range(3):
            owed.linear[k, i] += measured[NUMBERS * k] * (h * trees.gravity[i])
    pushed_by(trees, owed, contacts, count, False)
    touched_by(trees, contacts, count, touched)
    for k in moving:
        pushed = is_pushed(trees, k, tau, drives, acting)
        if pushed or touched[k] != 0 or not _turned_back(trees, k, solved, h, owed, q, v, present):
            settled_one(trees, k, pushed, owed, v, present)
    present.known[0] = 0  # asked for again, they are what they are in whatever starts from this state, to the bit
    owed.known[0] = 1
    owed.q[:] = q
    owed.v[:] = v
    owed.parameters[:] = present.parameters


@compiled
def _turned_back(
    trees: FloatingTrees, k: int, solved: Floats, h: float, owed: Momentum, q: Floats, v: Floats, present: FrameArrays
) -> bool:  # fmt: skip
    """Turn a tree as a whole to where it has the momentum that it is owed, and give it that. False, and nothing done,
    where there is nothing to turn, or it would be by more than how far it turns in the step, squared: a spin next to
    nothing, off by what links do, has no direction."""
    inertia = present.momenta[NUMBERS * k + INERTIA : NUMBERS * k + NUMBERS]
    spin, flown = owed.spin[k], owed.flown[k]
    square = spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2]
    length = flown[0] * flown[0] + flown[1] * flown[1] + flown[2] * flown[2]
    if square == 0.0 or length == 0.0:
        return False
    aim, omega, scale = np.empty(3), np.empty(3), np.sqrt(square / length)
    for i in range(3):
        aim[i] = scale * flown[i]
    first, twice = 6 * trees.bases[k], 0.0
    if trees.links[k] == 1 and _only_flew(trees, k, solved):
        for i in range(3):
            omega[i] = scale * present.twists[first + i]
            twice += present.start_twists[first + i] * spin[i]
        _aimed(inertia, square, twice, aim, omega)
    else:
        spun(inertia, aim, np.zeros(3), omega)
    turn = np.empty(4)
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        turn[i] = aim[a] * spin[b] - aim[b] * spin[a]
    sine = turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]
    cosine = aim[0] * spin[0] + aim[1] * spin[1] + aim[2] * spin[2]
    way = h * h * (omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2])
    if cosine <= 0.0 or sine > way * way * (square * square) or sine <= (_ROUNDING * square) ** 2:
        return False
    turn[3] = square + cosine
    share = 1.0 / np.sqrt(sine + turn[3] * turn[3])
    back, linear = np.empty(4), np.empty(3)
    for i in range(4):
        turn[i] *= share
        back[i] = turn[i] if i == 3 else -turn[i]
    for i in range(3):
        linear[i] = owed.linear[k, i]
    _turn(back, linear)
    corrected_base(trees, k, linear, aim, v, present)
    _turn_base(trees, k, turn, q, present)
    return True


@compiled
def _only_flew(trees: FloatingTrees, k: int, solved: Floats) -> bool:
    """Whether a solve left a tree's base alone."""
    if len(solved) == 0:
        return True
    found = False
    for i in range(6):
        found = found or solved[trees.slots[k, i]] != 0.0
    return not found


@compiled
def _aimed(inertia: Floats, square: float, twice: float, aim: Floats, omega: Floats) -> None:
    """Move a body's spin aim (3,), of that squared length, to twice the energy; omega (3,): its angular velocity."""
    along, nothing = np.empty(3), np.zeros(3)
    for _ in range(_SWEEPS):
        had = aim[0] * omega[0] + aim[1] * omega[1] + aim[2] * omega[2]
        steepness, speed = 0.0, 0.0
        for i in range(3):
            along[i] = omega[i] - had / square * aim[i]
            steepness += along[i] * along[i]
            speed += omega[i] * omega[i]
        if abs(twice - had) <= _ROUNDING * had or steepness <= _STEADY * speed:
            return
        step = 0.5 * (twice - had) / steepness
        if 4.0 * (step * step) * speed > square:  # as far as to where energy is steady, and more
            return
        scale = np.sqrt(square / (square + step * step * steepness))
        for i in range(3):
            aim[i] = scale * (aim[i] + step * along[i])
        if step * step * speed <= _ROUNDING * square:
            return
        spun(inertia, aim, nothing, omega)


@compiled
def _turn_base(trees: FloatingTrees, k: int, turn: Floats, q: Floats, present: FrameArrays) -> None:
    """Turn one tree about its centre of mass: its base, in q, by a unit quaternion (4,), world axes."""
    pose, center = present.poses[16 * trees.bases[k] : 16 * trees.bases[k] + 16], NUMBERS * k + CENTER
    own, way, arm, at = np.empty(4), np.empty(3), np.empty(3), trees.places[k]
    attitude, norm = np.empty(4), 0.0
    for j in range(3):
        own[j] = arm[j] = 0.0
        for i in range(3):
            own[j] += pose[4 * i + j] * turn[i]
            arm[j] += pose[4 * i + j] * (pose[4 * i + 3] - present.momenta[center + i])
    own[3] = turn[3]
    way[:] = arm
    _turn(own, way)
    for j in range(3):
        way[j] -= arm[j]
    for i in range(4):
        attitude[i] = q[at[3 + i]]
    _turn(attitude, way)
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        q[at[i]] += way[i]
        q[at[3 + i]] = attitude[3] * own[i] + attitude[i] * own[3] + attitude[a] * own[b] - attitude[b] * own[a]
    q[at[6]] = attitude[3] * own[3] - attitude[0] * own[0] - attitude[1] * own[1] - attitude[2] * own[2]
    for i in range(4):
        norm += q[at[3 + i]] * q[at[3 + i]]
    norm = 1.0 / np.sqrt(norm)
    for i in range(4):
        q[at[3 + i]] *= norm


@compiled
def _turn(turn: Floats, x: Floats) -> None:
    """Turn x (3,) by a unit quaternion (4,): x + 2 w u x x + 2 u x (u x x)."""
    a, b, c = turn[0], turn[1], turn[2]
    u, v, w = 2.0 * (b * x[2] - c * x[1]), 2.0 * (c * x[0] - a * x[2]), 2.0 * (a * x[1] - b * x[0])
    x[0] += turn[3] * u + b * w - c * v
    x[1] += turn[3] * v + c * u - a * w
    x[2] += turn[3] * w + a * v - b * u

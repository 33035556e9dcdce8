"""Momentum of what floats freely, carried from step to step, so that no integrator loses any of it.

A floating tree's momentum changes by gravity and contacts only. Reduced coordinates do not conserve it to rounding;
where a step ends a tree is turned, and the velocity of its base corrected, to what it is owed (``settling``). Where
force elements act on it from outside, what a flight made of them stands.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.forest_layout import tree_arrays
from recursive_dyn.contact.rows.lasting import BOUNCED, PUT
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import equal
from recursive_dyn.model.forest import blocks_of
from recursive_dyn.model.limits import rubbing
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.model.outer_forces import acted_on
from recursive_dyn.recursion.momenta import impulse
from recursive_dyn.simulation.edits.edit import Edit
from recursive_dyn.simulation.present import FrameArrays
from recursive_dyn.simulation.state import State

CENTER, LINEAR, SPIN, INERTIA = 1, 4, 7, 10  # where they start among the numbers of a floating tree
NUMBERS = impulse.FLOATING


class FloatingTrees(NamedTuple):
    """The floating trees (k of them) of a model.

    bodies (nb,): of every body the number of its floating tree, -1 for none; bases (k,): the body whose frame is the
    tree's first link's; slots (k, 6), places (k, 7): of that link; links (k,): how many the tree has; acted (k,): 1 for
    those that force elements act on from outside, or dry friction of the joint that they float on; gravity (3,), which
    steps write.
    """

    bodies: Integers
    bases: Integers
    slots: Annotated[np.ndarray, int, 6]
    places: Annotated[np.ndarray, int, 7]
    links: Integers
    acted: Integers
    gravity: Floats


class Momentum(NamedTuple):
    """Momentum (k, 3) and spin (k, 3) about the own centre of mass that floating trees have at the state q, v, with
    these parameters; known (1,): 0 where nothing is known. Where contacts are found: centers (k, 3) of mass, and what
    spin (k, 3) the flight led to, flown."""

    known: Integers
    q: Floats
    v: Floats
    parameters: Floats
    linear: Annotated[np.ndarray, float, 3]
    spin: Annotated[np.ndarray, float, 3]
    centers: Annotated[np.ndarray, float, 3]
    flown: Annotated[np.ndarray, float, 3]


def floating_trees(dynamics: Dynamics) -> FloatingTrees:
    """Those of a model."""
    model = dynamics.model
    if model.held:  # joints may push any of its bodies
        none = np.zeros(0, dtype=np.int64)
        of_links = none.reshape(0, 6), none.reshape(0, 7), none
        return FloatingTrees(np.full(model.nb, -1), none, *of_links, none, np.zeros(3))
    firsts, known = impulse.floating(model), tree_arrays(model)
    acted = np.zeros_like(firsts)
    if model.forces:
        acted[np.isin(firsts, list(acted_on(model, impulse.roots(model))))] = 1
    if known is not None:
        of_links = known.base_slots, known.base_places, known.links
        return _with_friction(model, FloatingTrees(known.floating, known.bases, *of_links, acted, np.zeros(3)))
    trees, (bases, links) = np.full(model.nb, -1), np.zeros((2, len(firsts)), dtype=np.int64)
    slots, places = (np.zeros((len(firsts), n), dtype=np.int64) for n in (6, 7))
    for kind in blocks_of(model):
        own, roots = kind.model, impulse.roots(kind.model)
        for first in impulse.floating(own):
            number = np.searchsorted(firsts, kind.links[:, first])
            on = [k for k, body in enumerate(own.bodies) if body.link != WORLD and roots[body.link] == first]
            base = next(k for k in on if own.bodies[k].link == first)
            trees[kind.bodies[:, on]], bases[number] = number[:, None], kind.bodies[:, base]
            slots[number] = kind.slots[:, own.links[first].slots]
            places[number] = kind.places[:, own.links[first].places[:7]]
            links[number] = roots.count(first)
    return _with_friction(model, FloatingTrees(trees, bases, slots, places, links, acted, np.zeros(3)))


def _with_friction(model: Model, trees: FloatingTrees) -> FloatingTrees:
    """The same, where dry friction acts on some of them: it is no part of equations, by which trees are told apart."""
    trees.acted[np.isin(trees.slots, rubbing(model).slots).any(axis=1)] = 1
    return trees


def is_of(kept: Momentum, q: np.ndarray, v: np.ndarray, parameters: np.ndarray) -> bool:
    """Whether momenta are known of this state with these parameters."""
    own = (kept.q, q), (kept.v, v), (kept.parameters, parameters)
    return bool(kept.known[0]) and all(a.tobytes() == b.tobytes() for a, b in own)


def carry(
    kept: Momentum, edit: Edit, was: State, state: State, measured: np.ndarray | None, target: Momentum
) -> None:  # fmt: skip
    """Into ``target`` what is carried of floating trees that stayed as they are; of the others what is measured at the
    new state: ``measured`` (k, FLOATING), see ``impulse.floating_momenta``, where there are others. Nothing if somebody
    wrote to the state that was, or to parameters."""
    if not is_of(kept, was.q, was.v, edit.old.parameters.values_array):
        return
    target.known[0], target.q[:], target.v[:] = 1, state.q, state.v
    target.parameters[:] = edit.new.parameters.values_array
    if measured is not None:
        target.linear[:], target.spin[:] = measured[:, LINEAR:SPIN], measured[:, SPIN:INERTIA]
    edit.of_trees(kept.linear, target.linear)
    edit.of_trees(kept.spin, target.spin)


def no_momentum(dynamics: Dynamics) -> Momentum:
    """Room for the momenta of a model's floating trees, of which nothing is known yet."""
    count = len(impulse.floating(dynamics.model))
    vectors = np.zeros((4, count, 3))
    at = np.zeros(dynamics.nq), np.zeros(dynamics.nv), np.zeros(len(dynamics.parameters.values_array))
    return Momentum(np.zeros(1, dtype=np.int64), *at, *vectors)


@compiled
def remembered(target: Momentum, source: Momentum) -> None:
    """Target becomes a copy."""
    target.known[:] = source.known
    target.q[:] = source.q
    target.v[:] = source.v
    target.parameters[:] = source.parameters
    target.linear[:] = source.linear
    target.spin[:] = source.spin


@compiled
def started(trees: FloatingTrees, kept: Momentum, owed: Momentum, asleep: Integers, present: FrameArrays) -> None:
    """Momenta at a step's start: what is kept, or what is measured if someone changed the state or parameters, by which
    masses may be others, and velocities not.

    asleep (k,): 1 for trees that sleep, which have none, or empty.
    """
    same = equal(kept.q, present.q) and equal(kept.v, present.v)
    if kept.known[0] and same and equal(kept.parameters, present.parameters):
        owed.linear[:] = kept.linear
        owed.spin[:] = kept.spin
        return
    for k in range(len(trees.bases)):
        at = NUMBERS * k
        owed.linear[k] = present.momenta[at + LINEAR : at + SPIN]
        owed.spin[k] = present.momenta[at + SPIN : at + INERTIA]
        if len(asleep) > 0 and asleep[k] != 0:
            owed.linear[k] = 0.0
            owed.spin[k] = 0.0


@compiled
def located(moving: Integers, owed: Momentum, present: FrameArrays) -> None:
    """Centres of mass and spins of the trees that move where contacts are found."""
    for k in moving:
        owed.centers[k] = present.momenta[NUMBERS * k + CENTER : NUMBERS * k + LINEAR]
        owed.flown[k] = present.momenta[NUMBERS * k + SPIN : NUMBERS * k + INERTIA]


@compiled
def is_pushed(trees: FloatingTrees, k: int, tau: Floats, drives: Integers, acting: Integers) -> bool:
    """Whether a force of the user's, an element's or a motor acts on a base: what the step made of it stands."""
    pushed = trees.acted[k] != 0
    for i in range(6):
        slot = trees.slots[k, i]
        pushed = pushed or tau[slot] != 0.0 or drives[slot] != 0 or acting[slot] != 0
    return pushed


@compiled
def settled_one(trees: FloatingTrees, k: int, pushed: bool, owed: Momentum, v: Floats, present: FrameArrays) -> None:
    """Give one tree the momentum that it is owed or, where it is pushed, the other way round."""
    measured, at = present.momenta, NUMBERS * k
    if pushed:
        owed.linear[k] = measured[at + LINEAR : at + SPIN]
        owed.spin[k] = measured[at + SPIN : at + INERTIA]
    else:
        corrected_base(trees, k, owed.linear[k], owed.spin[k], v, present)


@compiled
def touched_by(trees: FloatingTrees, contacts: ContactTable, count: int, touched: Integers) -> None:
    """touched (k,) becomes 1 for trees that the first ``count`` contacts did something to."""
    bodies = len(trees.bodies)
    for c in range(count):
        P = contacts.impulses[c]
        if P[0] == 0.0 and P[1] == 0.0 and P[2] == 0.0:
            continue
        for side in range(2):
            body = contacts.a[c] if side == 0 else contacts.b[c]
            k = trees.bodies[body] if 0 <= body < bodies else -1
            if k >= 0:
                touched[k] = 1


@compiled
def pushed_by(trees: FloatingTrees, owed: Momentum, contacts: ContactTable, count: int, bounced: bool) -> None:
    """Add what the first ``count`` contacts did to momenta; bounced: only those that are marked as such."""
    bodies = len(trees.bodies)
    for c in range(count):
        if bounced and contacts.levels[c] % PUT != BOUNCED:
            continue
        for side in range(2):
            body = contacts.a[c] if side == 0 else contacts.b[c]
            k = trees.bodies[body] if 0 <= body < bodies else -1
            if k < 0:
                continue
            sign = 1.0 - 2.0 * side
            for i in range(3):
                a, b = (i + 1) % 3, (i + 2) % 3
                arm_a = contacts.points[c, side, a] - owed.centers[k, a]
                arm_b = contacts.points[c, side, b] - owed.centers[k, b]
                moment = arm_a * contacts.impulses[c, b] - arm_b * contacts.impulses[c, a]
                owed.linear[k, i] += sign * contacts.impulses[c, i]
                owed.spin[k, i] += sign * (moment + contacts.moments[c, i])


@compiled
def corrected_base(trees: FloatingTrees, k: int, linear: Floats, spin: Floats, v: Floats, present: FrameArrays) -> None:
    """Move one tree as a whole so that it has this momentum: its base, in v."""
    measured, at = present.momenta[NUMBERS * k : NUMBERS * k + NUMBERS], 16 * trees.bases[k]
    pose, turn, push = present.poses[at : at + 16], np.empty(3), np.empty(3)
    spun(measured[INERTIA:NUMBERS], spin, measured[SPIN:INERTIA], turn)
    for i in range(3):
        push[i] = (linear[i] - measured[LINEAR + i]) / measured[0]
    for i in range(3):
        speed = _carried(push, turn, measured, pose, i)
        for j in range(3):
            v[trees.slots[k, j]] += pose[4 * i + j] * turn[i]
            v[trees.slots[k, 3 + j]] += pose[4 * i + j] * speed


@compiled
def _carried(push: Floats, turn: Floats, measured: Floats, pose: Floats, i: int) -> float:
    """Component of the velocity of a pose's origin, where the centre of mass moves with push."""
    a, b = (i + 1) % 3, (i + 2) % 3
    arm_a, arm_b = pose[4 * a + 3] - measured[CENTER + a], pose[4 * b + 3] - measured[CENTER + b]
    return push[i] + turn[a] * arm_b - turn[b] * arm_a


@compiled
def spun(inertia: Floats, spin: Floats, had: Floats, turn: Floats) -> None:
    """turn (3,) with I turn = spin - had; inertia (6,): the upper half of I, row by row."""
    xx, xy, xz, yy, yz, zz = inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]
    a, b, c = spin[0] - had[0], spin[1] - had[1], spin[2] - had[2]
    l, m = xy / xx, xz / xx  # I = L D L^T
    p, r = yy - l * xy, yz - l * xz
    n = r / p
    q = zz - m * xz - n * r
    b -= l * a
    c -= m * a + n * b
    turn[2] = c / q
    turn[1] = b / p - n * turn[2]
    turn[0] = a / xx - l * turn[1] - m * turn[2]

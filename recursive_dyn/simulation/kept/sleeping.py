"""Trees that sleep: an island that was at rest for a while stays where it is, to the bit, until something wakes it.

What hangs together by contacts falls asleep together, and wakes together: when anything else touches it, when forces
act on it, when its state, parameters or the timestep are changed. While it sleeps its contacts are kept as they were
solved last, so that it goes on from them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout, body_links
from recursive_dyn.model.forest import blocks_of
from recursive_dyn.model.model import WORLD, Model

NO_TREE = -1
WOKEN = -3  # of a stage of a step: something that slept is touched, and awake now; the step is to be taken anew
_SAME_STEP = 1e-9  # relative: rounding of parts of a timestep


class Slept(NamedTuple):
    """What memory keeps of it.

    rested (nv,), by number of a tree: s for which it has been at rest, or, asleep, -1 less the number of its island.
    q (nq,): where it began to rest, or sleeps; parameters, step (1,), s: those of the last step. contacts (1,): how
    many of the last step's, the first ones, are those of trees that sleep.
    """

    rested: Floats
    q: Floats
    parameters: Floats
    step: Floats
    contacts: Integers


class Sleepers(NamedTuple):
    """The trees of a model, of which any may sleep; empty where none is to.

    slots (nv,), places (nq,), bodies (nb,): the tree of each, NO_TREE for none; bases (k,): of the floating ones;
    restless (trees,): 1 for those that never sleep; rows: a slot of each row on coordinates by number, -1 for none.
    after (1,): s of rest; calm (1,): whether nothing that surrounds them moves; driven (1,): whether a flight may push
    them. all (1,): whether all of them sleep in this step; floating (k,), still (nv,): 1 for the floating ones, and for
    slots of those, that do.
    """

    slots: Integers
    places: Integers
    bodies: Integers
    bases: Integers
    restless: Integers
    rows: Integers
    after: Floats
    calm: Integers
    driven: Integers
    all: Integers
    floating: Integers
    still: Integers


def slept(nq: int, nv: int, parameters: int) -> Slept:
    """Nobody sleeps."""
    return Slept(np.zeros(nv), np.zeros(nq), np.zeros(parameters), np.zeros(1), np.zeros(1, dtype=np.int64))


def trees_of_bodies(model: Model, layout: Layout) -> np.ndarray:
    """The tree of each body of a model (nb,), NO_TREE for what does not move."""
    links = body_links(model)
    return np.where(links == WORLD, NO_TREE, np.append(layout.link_groups, NO_TREE)[links])


def sleepers(model: Model, layout: Layout, base_slots: np.ndarray, rows: np.ndarray) -> Sleepers:
    """The trees of a model whose floating ones have bases with these slots (k, 6); rows: as in Sleepers."""
    group, bodies = layout.group, trees_of_bodies(model, layout)
    places = np.full(model.nq, NO_TREE)
    for kind in blocks_of(model):
        for link in kind.model.links:
            if link.slots:
                places[kind.places[:, link.places]] = group[kind.slots[:, link.slots[:1]]]
    bases = group[base_slots[:, 0]]
    return Sleepers(
        group, places, bodies, bases, _restless(model, layout), rows, np.full(1, np.inf), _flag(), _flag(), _flag(),
        np.zeros(len(bases), dtype=np.int64), np.zeros(model.nv, dtype=np.int64),
    )  # fmt: skip


def no_sleepers() -> Sleepers:
    """Where nothing sleeps."""
    none = np.zeros(0, dtype=np.int64)
    return Sleepers(none, none, none, none, none, none, np.full(1, np.inf), _flag(), _flag(), _flag(), none, none)


def _flag() -> np.ndarray:
    return np.zeros(1, dtype=np.int64)


def _restless(model: Model, layout: Layout) -> np.ndarray:
    """Trees with several charts; all, where anything acts between trees or moves by the clock."""
    together = model.constraints or model.held or model.forces or model.prescribed
    found = np.full(layout.groups, 1 if together else 0)
    found[layout.group[[link.slots[0] for link in model.charted]]] = 1
    return found


@compiled
def is_asleep(it: Slept, tree: int) -> bool:
    """Whether a tree, or NO_TREE, sleeps."""
    return tree >= 0 and it.rested[tree] < 0.0


@compiled
def wake(it: Slept, tree: int) -> None:
    """Wake a tree that sleeps, and its island."""
    island = it.rested[tree]
    for k in range(len(it.rested)):
        if it.rested[k] == island:
            it.rested[k] = 0.0


@compiled
def wake_all(it: Slept) -> None:
    """Wake all of them."""
    for k in range(len(it.rested)):
        if it.rested[k] < 0.0:
            it.rested[k] = 0.0


@compiled
def rouse(
    it: Sleepers, known: Slept, q: Floats, v: Floats, tau: Floats, drives: Integers, acting: Integers,
    parameters: Floats, step: float,
) -> None:  # fmt: skip
    """Wake whom anything acts on that did not when it fell asleep, before a step; drives, acting (nv,): 1 for slots
    with motors, or that are pushed."""
    same = it.calm[0] != 0 and abs(step - known.step[0]) <= _SAME_STEP * step
    for k in range(len(parameters)):
        same = same and parameters[k] == known.parameters[k]
    if not same:
        wake_all(known)
    for k in range(len(v)):
        if is_asleep(known, it.slots[k]) and (v[k] != 0.0 or tau[k] != 0.0 or drives[k] != 0 or acting[k] != 0):
            wake(known, it.slots[k])
    for k in range(len(q)):
        if is_asleep(known, it.places[k]) and q[k] != known.q[k]:
            wake(known, it.places[k])


@compiled
def told_asleep(it: Sleepers, known: Slept, bodies: Integers) -> int:
    """Note which bodies (nb,), floating trees and slots sleep in this step, whether all trees do, and how many do."""
    count = 0
    for tree in range(len(it.restless)):
        count += 1 if known.rested[tree] < 0.0 else 0
    for k in range(len(it.bodies)):
        bodies[k] = 1 if is_asleep(known, it.bodies[k]) else 0
    for k in range(len(it.slots)):
        it.still[k] = 1 if is_asleep(known, it.slots[k]) else 0
    for k in range(len(it.bases)):
        it.floating[k] = 1 if known.rested[it.bases[k]] < 0.0 else 0
    it.all[0] = 1 if count > 0 and count == len(it.restless) and it.driven[0] == 0 else 0
    return count


@compiled
def put_back(it: Sleepers, known: Slept, q: Floats, v: Floats) -> None:
    """Whoever sleeps did not move."""
    for k in range(len(v)):
        if is_asleep(known, it.slots[k]):
            v[k] = 0.0
    for k in range(len(q)):
        if is_asleep(known, it.places[k]):
            q[k] = known.q[k]


@compiled
def tree_of(it: Sleepers, body: int) -> int:
    """The tree of a contact's body, NO_TREE for what does not move and for other worlds' bodies."""
    return it.bodies[body] if 0 <= body < len(it.bodies) else NO_TREE


@compiled
def sifted(it: Sleepers, known: Slept, contacts: ContactTable) -> bool:
    """Leave out contacts of what sleeps with itself and with what does not move, which are kept; False where anything
    else touches it: that is awake then."""
    row, still, bodies = 0, True, len(it.bodies)
    for c in range(contacts.size[0]):
        a, b = tree_of(it, contacts.a[c]), tree_of(it, contacts.b[c])
        first, second = is_asleep(known, a), is_asleep(known, b)
        if first or second:
            if not (first or (a < 0 and contacts.a[c] < bodies)):
                wake(known, b)
                still = False
            elif not (second or (b < 0 and contacts.b[c] < bodies)):
                wake(known, a)
                still = False
        else:
            if row != c:
                move_contact(contacts, c, contacts, row)
            row += 1
    if still:
        contacts.size[0] = row
    return still


@compiled
def move_contact(source: ContactTable, c: int, target: ContactTable, row: int) -> None:
    """Copy one contact."""
    target.a[row], target.b[row], target.keys[row] = source.a[c], source.b[c], source.keys[c]
    target.points[row] = source.points[c]
    target.normals[row] = source.normals[c]
    target.gaps[row] = source.gaps[c]
    target.frictions[row] = source.frictions[c]
    target.drift[row] = source.drift[c]
    target.impulses[row] = source.impulses[c]
    target.moments[row] = source.moments[c]
    target.felt[row] = source.felt[c]
    target.arms[row] = source.arms[c]
    target.levels[row], target.debts[row], target.ways[row] = source.levels[c], source.debts[c], source.ways[c]

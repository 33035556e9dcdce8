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
from recursive_dyn.dynamics.program_calls import equal_where, none_where, zero_where
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

    slots (nv,), places (nq,), bodies (nb,), links (nl,), lone (k + m,), as of LoneBodies: the tree of each, NO_TREE for
    none; bases (k,): of the floating ones;
    restless (trees,): 1 for those that never sleep; rows: a slot of each row on coordinates by number, -1 for none.
    after (1,): s of rest; calm (1,): whether nothing that surrounds them moves; driven (1,): whether a flight may push
    them. all (1,): whether all of them sleep in this step; told (trees,), dormant (nb,), floating (k,), still (nv,),
    still_places (1 + nq,): 1 for trees, bodies, floating trees, slots and, behind a 0, for places of those, that do.
    moving_links, moving_lone, moving_slots, moving_places: those of links, lone bodies, slots and places that do not,
    the first counts[0], counts[1], counts[3] and counts[4] of each; the first counts[2] lone ones are floating trees.
    Where no tree may sleep these are all there are.
    """

    slots: Integers
    places: Integers
    bodies: Integers
    links: Integers
    lone: Integers
    bases: Integers
    restless: Integers
    rows: Integers
    after: Floats
    calm: Integers
    driven: Integers
    all: Integers
    told: Integers
    dormant: Integers
    floating: Integers
    still: Integers
    still_places: Integers
    moving_links: Integers
    moving_lone: Integers
    moving_slots: Integers
    moving_places: Integers
    counts: Integers


def slept(nq: int, nv: int, parameters: int) -> Slept:
    """Nobody sleeps."""
    return Slept(np.zeros(nv), np.zeros(nq), np.zeros(parameters), np.zeros(1), np.zeros(1, dtype=np.int64))


def trees_of_bodies(model: Model, layout: Layout) -> np.ndarray:
    """The tree of each body of a model (nb,), NO_TREE for what does not move."""
    links = body_links(model)
    return np.where(links == WORLD, NO_TREE, np.append(layout.link_groups, NO_TREE)[links])


def sleepers(
    model: Model, layout: Layout, base_slots: np.ndarray, lone: np.ndarray, rows: np.ndarray, still: np.ndarray,
    still_places: np.ndarray,
) -> Sleepers:  # fmt: skip
    """The trees of a model whose floating ones have bases with these slots (k, 6), and whose lone bodies are on these
    links (k + m,); rows, and what is still: as in Sleepers."""
    group, bodies = layout.group, trees_of_bodies(model, layout)
    places = np.full(model.nq, NO_TREE)
    for kind in blocks_of(model):
        for link in kind.model.links:
            if link.slots:
                places[kind.places[:, link.places]] = group[kind.slots[:, link.slots[:1]]]
    bases, links, restless = group[base_slots[:, 0]], layout.link_groups, _restless(model, layout)
    return Sleepers(
        group, places, bodies, links, links[lone], bases, restless, rows, np.full(1, np.inf), _flag(), _flag(), _flag(),
        np.full_like(restless, -1), np.zeros_like(bodies), np.zeros_like(bases), still, still_places,
        *_all_of(links, lone, len(bases), group, places),
    )  # fmt: skip


def no_sleepers(links: np.ndarray, lone: np.ndarray, floating: int, slots: np.ndarray) -> Sleepers:
    """Where nothing sleeps, of as many links, lone bodies, of which so many are floating trees, and slots."""
    none = np.zeros(0, dtype=np.int64)
    return Sleepers(
        *(none,) * 8, np.full(1, np.inf), _flag(), _flag(), _flag(), *(none,) * 5,
        *_all_of(links, lone, floating, slots, none),
    )  # fmt: skip


def _all_of(
    links: np.ndarray, lone: np.ndarray, floating: int, slots: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Numbers of what moves where all of it does, and how many there are."""
    counts = np.array([len(links), len(lone), floating, len(slots), len(places)])
    return *(np.arange(len(own)) for own in (links, lone, slots, places)), counts


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
    """Wake whom anything acts on that did not when it fell asleep, before a step, of those of whom is told that they
    sleep; drives, acting (nv,): 1 for slots with motors, or that are pushed."""
    same = it.calm[0] != 0 and abs(step - known.step[0]) <= _SAME_STEP * step
    for k in range(len(parameters)):
        same = same and parameters[k] == known.parameters[k]
    if not same:
        wake_all(known)
    undriven = zero_where(it.still, tau) and none_where(it.still, drives) and none_where(it.still, acting)
    if not (undriven and zero_where(it.still, v)):
        for k in range(len(v)):
            if is_asleep(known, it.slots[k]) and (v[k] != 0.0 or tau[k] != 0.0 or drives[k] != 0 or acting[k] != 0):
                wake(known, it.slots[k])
    if not equal_where(it.still_places[1:], q, known.q):
        for k in range(len(q)):
            if is_asleep(known, it.places[k]) and q[k] != known.q[k]:
                wake(known, it.places[k])


@compiled
def told_asleep(it: Sleepers, known: Slept, bodies: Integers) -> int:
    """Note who sleeps in this step, which bodies (nb,), and whether all trees do; how many do."""
    count, others = 0, 0
    for tree in range(len(it.restless)):
        asleep = 1 if known.rested[tree] < 0.0 else 0
        others += 1 if asleep != it.told[tree] else 0
        count += asleep
        it.told[tree] = asleep
    if others > 0:
        _tell(it, known)
    bodies[:] = it.dormant
    it.all[0] = 1 if count > 0 and count == len(it.restless) and it.driven[0] == 0 else 0
    return count


@compiled
def _tell(it: Sleepers, known: Slept) -> None:
    """Note what belongs to trees that sleep, or do not."""
    for k in range(len(it.bodies)):
        it.dormant[k] = 1 if is_asleep(known, it.bodies[k]) else 0
    for k in range(len(it.slots)):
        it.still[k] = 1 if is_asleep(known, it.slots[k]) else 0
    for k in range(len(it.places)):
        it.still_places[1 + k] = 1 if is_asleep(known, it.places[k]) else 0
    for k in range(len(it.bases)):
        it.floating[k] = 1 if known.rested[it.bases[k]] < 0.0 else 0
    it.counts[0] = it.counts[1] = it.counts[2] = 0
    for link in range(len(it.links)):
        if not is_asleep(known, it.links[link]):
            it.moving_links[it.counts[0]] = link
            it.counts[0] += 1
    for k in range(len(it.lone)):
        if not is_asleep(known, it.lone[k]):
            it.moving_lone[it.counts[1]] = k
            it.counts[1] += 1
            it.counts[2] += 1 if k < len(it.bases) else 0
    it.counts[3] = it.counts[4] = 0
    for k in range(len(it.slots)):
        if it.still[k] == 0:
            it.moving_slots[it.counts[3]] = k
            it.counts[3] += 1
    for k in range(len(it.places)):
        if it.still_places[1 + k] == 0:
            it.moving_places[it.counts[4]] = k
            it.counts[4] += 1


@compiled
def put_back(it: Sleepers, known: Slept, q: Floats, v: Floats) -> None:
    """Whoever sleeps in this step did not move."""
    if it.counts[3] == len(it.slots):
        return
    slots, places = it.moving_slots[: it.counts[3]], it.moving_places[: it.counts[4]]
    own_v, own_q = np.empty(len(slots)), np.empty(len(places))
    for i in range(len(slots)):
        own_v[i] = v[slots[i]]
    for i in range(len(places)):
        own_q[i] = q[places[i]]
    v[:] = 0.0
    q[:] = known.q
    for i in range(len(slots)):
        v[slots[i]] = own_v[i]
    for i in range(len(places)):
        q[places[i]] = own_q[i]


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
    target.drift[row], target.gliding[row], target.balls[row] = source.drift[c], source.gliding[c], source.balls[c]
    target.impulses[row] = source.impulses[c]
    target.moments[row] = source.moments[c]
    target.felt[row] = source.felt[c]
    target.arms[row] = source.arms[c]
    target.levels[row], target.debts[row], target.ways[row] = source.levels[c], source.debts[c], source.ways[c]

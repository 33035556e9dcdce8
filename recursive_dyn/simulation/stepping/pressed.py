"""Trees with springs, dampers or a law's forces that something presses on: they fly by another rule than the others.

Impulses act at a step's end, and joints answer them as backward Euler does, by M + h D + h^2 K. What a step of higher
order made of springs and dampers before that is another answer: sin z for z / (1 + z^2), z = h sqrt(K / M), and feet on
such springs would never come to rest; 1 - exp(-z) for z / (1 + z), z = h D / M, and a joint would press on its stop
with up to 1.2 times the force it has. A law that is asked at stages would meet bodies that fall there, where at the
end they are held. So such a tree flies by the rule that answers as impulses are answered, ``held_rk4``, under what a
law gave at the step's start, while contacts, limits, motors or dry friction press on it, and by the integrator's own
while it is free. Both are watched for energy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import DRIVEN, ONLY_BOUNCES, Changes
from recursive_dyn.model.forest import blocks_of, once_alike
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.forces.element_slopes import slope_counts

_LASTS = 8.0  # steps after the last one in which something pressed: feet that chatter come to rest


class PressedTrees(NamedTuple):
    """The trees (g of them) that may count as pressed: first (g + 1,), slots in v, first_place (g + 1,), places in q;
    others (1,): how many trees there are besides. springs (g,): whether joints of theirs have springs or dampers; asked
    (nv,): 1 for slots that a law drives.

    left (nv,): steps for which each coordinate's tree counts as pressed, as this one leaves it; lasts: how many these
    are. q, v: room.
    """

    first: Integers
    slots: Integers
    first_place: Integers
    places: Integers
    others: Integers
    springs: Integers
    asked: Integers
    lasts: float
    left: Floats
    q: Floats
    v: Floats


def watched(model: Model, layout: Layout, lawful: bool) -> tuple[np.ndarray, np.ndarray]:
    """The groups (g,) of coordinates that may count as pressed, and those of them with springs or dampers."""
    slots = _resisted(model)
    springs = np.unique(layout.group[slots]) if len(slots) else slots
    return np.arange(layout.groups) if lawful else springs, springs


@once_alike
def _resisted(model: Model) -> np.ndarray:
    """The slots of coordinates with springs or dampers, all of them where force elements answer as such."""
    if any(slope_counts(model)):
        return np.arange(model.nv)
    slots = [np.zeros(0, dtype=np.int64)]
    for kind in blocks_of(model):
        own = [s for s, c in enumerate(kind.model.coordinates) if c.stiffness or c.torsion or c.damping]
        slots.append(kind.slots[:, own].ravel())
    return np.concatenate(slots)


def pressed_trees(
    model: Model,
    layout: Layout,
    groups: np.ndarray,
    sprung: np.ndarray,
    asked: np.ndarray,
) -> PressedTrees:
    """Of these groups of a model's coordinates, of which those in ``sprung`` have springs or dampers."""
    slots = [layout.group_slots[layout.group_first[k] : layout.group_first[k + 1]] for k in groups.tolist()]
    of_slots = _together(slots)
    of_places = _together(_places(model, layout, groups)) if slots else of_slots
    springs = np.isin(groups, sprung).astype(np.int64) if slots else of_slots[1]
    return PressedTrees(
        *of_slots, *of_places, np.array([layout.groups - len(groups)]), springs, asked,
        _LASTS, np.zeros(model.nv), np.empty(model.nq), np.empty(model.nv),
    )  # fmt: skip


def _together(each: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Where each begins, and the end (n + 1,); all one after the other."""
    if not each:
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.array([0, *map(len, each)]).cumsum(), np.concatenate(each)


def _places(model: Model, layout: Layout, groups: np.ndarray) -> list[np.ndarray]:
    """Places in q of every group's coordinates."""
    found, number = list[set[int]](set() for _ in groups), {int(group): i for i, group in enumerate(groups)}
    for kind in blocks_of(model) if number else ():
        for link in kind.model.links:
            own = layout.group[kind.slots[:, link.slots[:1]]].ravel()
            for group, places in zip(own.tolist(), kind.places[:, link.places].tolist(), strict=bool(len(own))):
                if group in number:
                    found[number[group]].update(places)
    return [np.array(sorted(places), dtype=np.int64) for places in found]


@compiled
def pressed_before(it: PressedTrees, before: Floats) -> int:
    """How many trees were pressed as ``before`` (nv,) tells."""
    count = 0
    for g in range(len(it.first) - 1):
        if before[it.slots[it.first[g]]] > 0.0:
            count += 1
    return count


@compiled
def press(it: PressedTrees, before: Floats, g: int) -> None:
    """Let tree g count as pressed in this step."""
    for i in range(it.first[g], it.first[g + 1]):
        before[it.slots[i]] = max(before[it.slots[i]], 1.0)


@compiled
def only_pressed(it: PressedTrees, count: int) -> bool:
    """Whether so many pressed trees are all there are."""
    return count > 0 and count == len(it.first) - 1 and it.others[0] == 0


@compiled
def put_in(it: PressedTrees, before: Floats, q: Floats, v: Floats) -> None:
    """Trees that were pressed go where they flew in ``it``, the others stay where q, v have them."""
    for g in range(len(it.first) - 1):
        if before[it.slots[it.first[g]]] > 0.0:
            for i in range(it.first[g], it.first[g + 1]):
                v[it.slots[i]] = it.v[it.slots[i]]
            for i in range(it.first_place[g], it.first_place[g + 1]):
                q[it.places[i]] = it.q[it.places[i]]


@compiled
def _only_bounces(changes: Changes, k: int) -> bool:
    """Whether all that touches in the island of a coordinate bounces: it flies on freely."""
    if changes.strikes[0] == 0 or changes.islands[k] < 0:
        return False
    return bool(changes.strikes[1 + changes.islands[k]] % DRIVEN == ONLY_BOUNCES)


@compiled
def note_pressed(it: PressedTrees, before: Floats, changes: Changes, led: Floats, solved: bool) -> None:
    """Which trees are pressed after a step in which impulses changed velocities and places so; solved: whether there
    were any.

    led (nv,): above 0 where motors lead in the flight, which leaves impulses nothing to do. What flew into something
    and out again within the step, by a stiff spring, is only put elsewhere: it is pressed too; what only bounced is
    not.
    """
    for g in range(len(it.first) - 1):
        moved, counts = False, it.springs[g] > 0
        for i in range(it.first[g], it.first[g + 1]):
            k = it.slots[i]
            moved = moved or (solved and (changes.v[k] != 0.0 or changes.q[k] != 0.0) and not _only_bounces(changes, k))
            moved, counts = moved or led[k] > 0.0, counts or it.asked[k] > 0
        moved = moved and counts
        for i in range(it.first[g], it.first[g + 1]):
            k = it.slots[i]
            it.left[k] = it.lasts if moved else max(before[k] - 1.0, 0.0)

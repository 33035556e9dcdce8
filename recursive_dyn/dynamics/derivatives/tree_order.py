"""A model's columns in the order of a walk through its trees, so that all that hangs on one follows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers
from recursive_dyn.codegen.emitting.drivers import padded
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.recursion.analytic_derivatives.motion_derivatives import LINK, LINK_TERMS

ROOM = padded(LINK_TERMS)  # for the terms of a link, in whole registers


class TreeOrder(NamedTuple):
    """What is where. Of every link, its numbers, its terms and its parent's (or -1); of every column, its numbers and
    its link's terms. Up to whole blocks of lanes the last one's are repeated, but for parents.

    Of every column: where what hangs on it ends, the nearest that it hangs on (or -1), its slot, its armature. own_...:
    of pairs of columns of one joint that change each other, row, column, and terms of the link.
    """

    link: Integers
    terms: Integers
    parent: Integers
    column: Integers
    column_terms: Integers
    end: Integers
    nearest: Integers
    slot: Integers
    armature: Floats
    own_row: Integers
    own_column: Integers
    own_link: Integers


def walk(model: Model) -> list[tuple[int, int]]:
    """(link, its own number of it) of every column: each link's columns, then those of all that hangs on it."""
    children: dict[int, list[int]] = {}
    for i, link in enumerate(model.links):
        children.setdefault(link.parent, []).append(i)
    order, waiting = [], children.get(WORLD, [])[::-1]
    while waiting:
        i = waiting.pop()
        order += [(i, c) for c in range(len(model.links[i].slots))]
        waiting += children.get(i, [])[::-1]
    return order


def tree_order(model: Model, width: int, size: int, own: Sequence[tuple[int, int, int]]) -> TreeOrder:
    """The order for registers of so many lanes; size: how many numbers a column has; own: (link, row, column) of
    columns of one joint.

    Where columns share coordinates, the slots are the columns' own numbers, and nothing has an armature.
    """
    columns = walk(model)
    place = {column: k for k, column in enumerate(columns)}
    links, slots = [i for i, _ in columns], column_slots(model)
    shared = len(set(slots)) < len(slots)
    parents = [ROOM * link.parent if link.parent != WORLD else -1 for link in model.links]
    return TreeOrder(
        _lanes([LINK * i for i in range(len(parents))], width), _lanes([ROOM * i for i in range(len(parents))], width),
        _integers(parents), _lanes([size * k for k in range(len(links))], width),
        _lanes([ROOM * i for i in links], width), _integers(_ends(model, columns)), _integers(_nearest(model, place)),
        _integers(range(len(slots)) if shared else slots),
        np.array([0.0 if shared else model.coordinates[s].armature for s in slots], dtype=float),
        _integers([place[i, r] for i, r, _ in own]), _integers([place[i, c] for i, _, c in own]),
        _integers([ROOM * i for i, *_ in own]),
    )  # fmt: skip


def column_slots(model: Model) -> list[int]:
    """The slot of every column."""
    return [model.links[i].slots[c] for i, c in walk(model)]


def _integers(numbers: Sequence[int]) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def _lanes(numbers: Sequence[int], width: int) -> np.ndarray:
    """Numbers, the last one repeated up to whole blocks."""
    return _integers([*numbers, *[numbers[-1]] * (-len(numbers) % width)])


def _ends(model: Model, columns: Sequence[tuple[int, int]]) -> list[int]:
    """Where what hangs on each column's link ends."""
    last = {i: k + 1 for k, (i, _) in enumerate(columns)}
    for i in reversed(range(len(model.links))):
        parent = model.links[i].parent
        if parent != WORLD and i in last:
            last[parent] = max(last.get(parent, 0), last[i])
    return [last[i] for i, _ in columns]


def _nearest(model: Model, place: dict[tuple[int, int], int]) -> list[int]:
    """The column that each one hangs on, -1 for none."""
    found = []
    for i, c in place:
        above = c - 1
        while i != WORLD and above < 0:
            i = model.links[i].parent
            above = len(model.links[i].slots) - 1 if i != WORLD else 0
        found.append(-1 if i == WORLD else place[i, above])
    return found

"""What of a model moves independently: trees that neither constraints nor force elements nor coordinates connect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from recursive_dyn.graph.expression import Scalar
from recursive_dyn.graph.traversal import reachable
from recursive_dyn.model.constraint import BIAS, COORDINATE, RATE
from recursive_dyn.model.force_element import OWN_RATE
from recursive_dyn.model.forest import numbers_of
from recursive_dyn.model.forest_numbers import SLOTS
from recursive_dyn.model.model import WORLD, Model, once
from recursive_dyn.model.tree_content import components

Array = np.ndarray


class IndependentPart(NamedTuple):
    """Numbers, rising, of the links, slots in v and force elements that belong together."""

    links: tuple[int, ...]
    slots: tuple[int, ...]
    elements: tuple[int, ...]


@once
def everything(model: Model) -> IndependentPart:
    """All of a model."""
    return IndependentPart(tuple(range(len(model.links))), tuple(range(model.nv)), tuple(range(len(model.forces))))


@once
def independent(model: Model) -> list[IndependentPart]:
    """Parts of a model, in the order of their first links, of which none knows of another; at least one.

    Elements between things that do not move belong to the first.
    """
    joined = _Joined(components(model.links), model)
    for row in model.constraints:
        joined.join(joined.touched([row.expression]))
    touched = [list(joined.touched(element.scalars)) for element in model.forces]
    for nodes in touched:
        joined.join(nodes)
    links = [joined.root(i) for i in range(len(model.links))]
    slots = [joined.root(joined.of_slot[s]) for s in range(model.nv)]
    roots = list(dict.fromkeys([*links, *slots]))
    if len(roots) < 2:
        return [everything(model)]
    elements = [joined.root(nodes[0]) if nodes else roots[0] for nodes in touched]
    found = [_places(own) for own in (links, slots, elements)]
    return [IndependentPart(*(tuple(own[root]) for own in found)) for root in roots]


@once
def independent_count(model: Model) -> int:
    """How many parts there are; of a large forest this is known at once."""
    numbers = None if model.constraints or model.forces or model.prescribed else numbers_of(model)
    if numbers is None or not model.nv:
        return len(independent(model))
    return int(np.count_nonzero(np.diff(numbers.firsts[SLOTS])))


@once
def trees_of_slots(model: Model) -> Array:
    """Of every slot in v (nv,), a number of the tree that it is of: M couples no others. Trees that share coordinates
    are one, and a slot that no link has is one of its own."""
    of_slots, roots = len(model.links) + np.arange(model.nv), components(model.links)
    for link, root in zip(model.links, roots, strict=True):
        of_slots[list(link.slots)] = root
    return np.unique(of_slots, return_inverse=True)[1].reshape(-1)


def _places(roots: list[int]) -> defaultdict[int, list[int]]:
    """Where each root stands."""
    found = defaultdict[int, list[int]](list)
    for k, root in enumerate(roots):
        found[root].append(k)
    return found


class _Joined:
    """Links, and behind them slots that no link has, as nodes that are joined one by one."""

    def __init__(self, owners: list[int], model: Model) -> None:
        self._model, self._next = model, [*owners, *range(len(owners), len(owners) + model.nv)]
        self.of_slot = list(range(len(owners), len(self._next)))
        for i, link in enumerate(model.links):
            for slot in link.slots:
                self.of_slot[slot] = i

    def root(self, node: int) -> int:
        while self._next[node] != node:
            self._next[node] = node = self._next[self._next[node]]
        return node

    def join(self, nodes: Iterator[int] | list[int]) -> None:
        """Have them belong together."""
        roots = {self.root(node) for node in nodes}
        for root in roots:
            self._next[root] = min(roots)

    def touched(self, scalars: list[Scalar]) -> Iterator[int]:
        """What moves of that which scalars of a row or an element are written in."""
        for node in (node for scalar in scalars for node in reachable([scalar])):  # each may be of its own graph
            if node.op != "input":
                continue
            kind, *where = node.args[0]
            if kind == BIAS:
                kind, *where = where
            if kind in (COORDINATE, RATE):
                yield self.of_slot[where[0][1]]
            elif kind not in ("parameter", OWN_RATE) and (link := self._model.bodies[where[0]].link) != WORLD:
                yield link

"""The trees of a model, and what each is by itself: structure and numbers, counted within the tree, without names."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recursive_dyn.model.lifting import Reader, exchanged_body, exchanged_link
from recursive_dyn.model.model import WORLD, Link, Model, once
from recursive_dyn.model.model_parts import ModelTree

Array = np.ndarray


@once
def trees_of(model: Model) -> list[ModelTree]:
    """A model's trees with their content."""
    content, found = TreeContent(model), list[ModelTree]()
    for tree in _trees(model):
        structure, numbers = content.of(tree)
        own = hashlib.sha256(repr(structure).encode()).hexdigest()
        found.append(replace(tree, structure=own, numbers=np.array(numbers, dtype=float)))
    return found


def _trees(model: Model) -> list[ModelTree]:
    owner = components(model.links)
    charts = {name: k for k, (name, _) in enumerate(model.parameters)}
    links: dict[int, list[int]] = defaultdict(list)
    bodies: dict[int, list[int]] = defaultdict(list)
    still: list[int] = []
    for i, component in enumerate(owner):
        links[component].append(i)
    for k, body in enumerate(model.bodies):
        if body.link == WORLD:
            still.append(k)
        else:
            bodies[owner[body.link]].append(k)
    found = []
    for component, own in links.items():
        parts = [model.links[i] for i in own]
        slots = sorted({slot for link in parts for slot in link.slots})
        places = sorted({place for link in parts for place in link.places})
        charted = tuple(charts[link.chart] for link in parts if link.chart is not None)
        found.append(ModelTree(tuple(own), tuple(bodies[component]), tuple(slots), tuple(places), charted))
    return found + [ModelTree((), (k,), (), (), ()) for k in still]


def components(links: Sequence[Link]) -> list[int]:
    """Of every link, the first link of what hangs together with it; all that share coordinates across roots are one."""
    roots: list[int] = []
    first_user: dict[int, int] = {}
    shared: set[int] = set()
    for i, link in enumerate(links):
        roots.append(i if link.parent == WORLD else roots[link.parent])
        for slot in link.slots:
            other = first_user.setdefault(slot, roots[i])
            if other != roots[i]:
                shared |= {other, roots[i]}
    first = min(shared, default=0)
    return [first if root in shared else root for root in roots]


class TreeContent:
    """What trees are by themselves: hashable, counted within the tree and without names."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.plain = dict(model.plain_slots)
        self.units = dict(model.units)

    def of(self, tree: ModelTree) -> tuple[Any, list[float]]:
        """(structure, numbers): of equal structure are trees of which one model, but for numbers, is that of both."""
        model, at = self.model, _Own(tree)
        read = Reader()
        links, bodies = [], []
        for i in tree.links:
            link = model.links[i]
            exchanged_link(link, read)
            drive = link.drive.key if link.drive else None
            own = (at.link[link.parent], link.joint.key, at.places(link.places), at.slots(link.slots))
            links.append((*own, drive, link.chart is not None))
        for i in tree.bodies:
            body = model.bodies[i]
            exchanged_body(body, read)
            bodies.append((at.body.get(body.parent, WORLD), at.link[body.link], body.jointed))
        coordinates = [model.coordinates[s] for s in tree.slots]
        forces = tuple(tuple(map(float, (c.damping, c.stiffness, c.rest, c.armature, c.torsion))) for c in coordinates)
        own_slots, units = self.plain_slots(tree), self.units_of(tree)
        return (tuple(links), tuple(bodies), forces, own_slots, units, tuple(read.structure)), read.numbers

    def plain_slots(self, tree: ModelTree) -> tuple[tuple[int, int], ...]:
        """(place, slot) of the tree's plain coordinates."""
        slot_at = {s: k for k, s in enumerate(tree.slots)}
        return tuple((k, slot_at[self.plain[p]]) for k, p in enumerate(tree.places) if p in self.plain)

    def units_of(self, tree: ModelTree) -> tuple[tuple[int, int], ...]:
        """(first, end) of what has length 1 in the tree's configuration."""
        return tuple((k, k + self.units[p] - p) for k, p in enumerate(tree.places) if p in self.units)

    def model_of(self, tree: ModelTree, whole: Model) -> Model:
        """The model of one tree alone, with names that are its own numbers, gravity and parameters of the whole."""
        model, at = self.model, _Own(tree)
        links, charts = [], []
        for k, i in enumerate(tree.links):
            link = model.links[i]
            chart = None if link.chart is None else f"{k}.chart"
            charts += [] if chart is None else [(chart, 0.0)]
            places, slots = at.places(link.places), at.slots(link.slots)
            links.append(
                replace(link, name=str(k), parent=at.link[link.parent], chart=chart, places=places, slots=slots)
            )
        bodies = [
            replace(b, name=str(k), parent=at.body.get(b.parent, WORLD), link=at.link[b.link])
            for k, b in enumerate(model.bodies[i] for i in tree.bodies)
        ]
        return Model(
            graph=model.graph,
            links=tuple(links),
            bodies=tuple(bodies),
            coordinates=tuple(replace(model.coordinates[s], name=str(k)) for k, s in enumerate(tree.slots)),
            coordinate_names=tuple(map(str, range(len(tree.places)))),
            gravity=whole.gravity,
            parameters=(*whole.common_parameters, *charts),
            nq=len(tree.places),
            nv=len(tree.slots),
            plain_slots=self.plain_slots(tree),
            units=self.units_of(tree),
        )


class _Own:
    """A tree's own numbers of its parts, by those in the whole."""

    def __init__(self, tree: ModelTree) -> None:
        self.link = {i: k for k, i in enumerate(tree.links)} | {WORLD: WORLD}
        self.body = {i: k for k, i in enumerate(tree.bodies)}
        self._slot = {s: k for k, s in enumerate(tree.slots)}
        self._place = {p: k for k, p in enumerate(tree.places)}

    def slots(self, slots: Sequence[int]) -> tuple[int, ...]:
        return tuple([self._slot[s] for s in slots])

    def places(self, places: Sequence[int]) -> tuple[int, ...]:
        return tuple([self._place[p] for p in places])

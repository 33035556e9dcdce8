"""A model as a forest: its trees, which know nothing of each other, and which of them are equal but for their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Expression
from recursive_dyn.model.model import WORLD, BodyFrame, Link, Model

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Kind:
    """T equal trees: the model of one, and what its parts are in the whole.

    links (T, ...), bodies, slots of v, places in q, parameters: numbers in the whole, in the tree's own order.
    """

    model: Model
    links: Array
    bodies: Array
    slots: Array
    places: Array
    parameters: Array

    def __len__(self) -> int:
        return len(self.links)


@dataclass(frozen=True, eq=False)
class _Tree:
    """What hangs together: links and bodies, parents first, and what moves them."""

    links: tuple[int, ...]
    bodies: tuple[int, ...]
    slots: tuple[int, ...]
    places: tuple[int, ...]
    charts: tuple[int, ...]


def kinds_of(model: Model) -> list[Kind]:
    """The kinds of a model's trees, in the order of their first ones; a body that does not move is a tree of its own.

    Trees that share coordinates are one. Constraints are not looked at.
    """
    trees = _trees(model)
    content = _Content(model)
    members: dict[Any, list[_Tree]] = defaultdict(list)
    for tree in trees:
        members[content.of(tree)].append(tree)
    return [_kind(model, content, same) for same in members.values()]


def _trees(model: Model) -> list[_Tree]:
    owner = _components(model.links)
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
        found.append(_Tree(tuple(own), tuple(bodies[component]), tuple(slots), tuple(places), charted))
    return found + [_Tree((), (k,), (), (), ()) for k in still]


def _components(links: Sequence[Link]) -> list[int]:
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


class _Content:
    """What trees are by themselves: hashable, with numbers counted within the tree and without names."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.plain = dict(model.plain_slots)
        self.units = dict(model.units)

    def of(self, tree: _Tree) -> Any:
        """Equal for trees of which one model is that of both."""
        model = self.model
        link_at = {i: k for k, i in enumerate(tree.links)} | {WORLD: WORLD}
        body_at = {i: k for k, i in enumerate(tree.bodies)}
        slot_at = {s: k for k, s in enumerate(tree.slots)}
        place_at = {p: k for k, p in enumerate(tree.places)}
        links = []
        for i in tree.links:
            link = model.links[i]
            assert link.moments is not None
            own = link.moments
            scalars = [link.placement, link.center, link.inertia, own.first, own.second]
            links.append(
                (
                    link_at[link.parent], link.joint.key, tuple(place_at[p] for p in link.places),
                    tuple(slot_at[s] for s in link.slots), link.offset, link.drive.key if link.drive else None,
                    link.chart is not None, _plain(link.mass), _plain(own.mass), *map(_scalars, scalars),
                )
            )  # fmt: skip
        bodies = []
        for i in tree.bodies:
            body = model.bodies[i]
            bodies.append(
                (body_at.get(body.parent, WORLD), link_at[body.link], body.jointed, _scalars(body.pose),
                 _scalars(body.center))
            )  # fmt: skip
        coordinates = [model.coordinates[s] for s in tree.slots]
        forces = tuple((c.damping, c.stiffness, c.rest, c.armature) for c in coordinates)
        return tuple(links), tuple(bodies), forces, self.plain_slots(tree), self.units_of(tree)

    def plain_slots(self, tree: _Tree) -> tuple[tuple[int, int], ...]:
        """(place, slot) of the tree's plain coordinates."""
        slot_at = {s: k for k, s in enumerate(tree.slots)}
        return tuple((k, slot_at[self.plain[p]]) for k, p in enumerate(tree.places) if p in self.plain)

    def units_of(self, tree: _Tree) -> tuple[tuple[int, int], ...]:
        """(first, end) of what has length 1 in the tree's configuration."""
        return tuple((k, k + self.units[p] - p) for k, p in enumerate(tree.places) if p in self.units)


def _plain(x: Any) -> Any:
    """A scalar by what it is in its graph."""
    return ("node", x.index) if type(x) is Expression else float(x)


def _scalars(values: Array) -> tuple[Any, ...]:
    return tuple([("node", x.index) if type(x) is Expression else x for x in values.ravel().tolist()])


def _kind(model: Model, content: _Content, trees: Sequence[_Tree]) -> Kind:
    shared = len(model.parameters) - len(model.charted)
    parameters = [(*range(shared), *tree.charts) for tree in trees]

    def table(rows: Sequence[Sequence[int]]) -> Array:
        return np.array(rows, dtype=np.int64).reshape(len(trees), -1)

    return Kind(
        _one(model, content, trees[0], shared),
        table([tree.links for tree in trees]),
        table([tree.bodies for tree in trees]),
        table([tree.slots for tree in trees]),
        table([tree.places for tree in trees]),
        table(parameters),
    )


def _one(model: Model, content: _Content, tree: _Tree, shared: int) -> Model:
    """The model of one tree alone, with names that are its own numbers."""
    link_at = {i: k for k, i in enumerate(tree.links)} | {WORLD: WORLD}
    body_at = {i: k for k, i in enumerate(tree.bodies)}
    slot_at = {s: k for k, s in enumerate(tree.slots)}
    place_at = {p: k for k, p in enumerate(tree.places)}
    links, charts = [], []
    for k, i in enumerate(tree.links):
        link = model.links[i]
        chart = None if link.chart is None else f"{k}.chart"
        charts += [] if chart is None else [(chart, 0.0)]
        links.append(
            replace(
                link, name=str(k), parent=link_at[link.parent], places=tuple(place_at[p] for p in link.places),
                slots=tuple(slot_at[s] for s in link.slots), chart=chart,
            )
        )  # fmt: skip
    bodies = [
        BodyFrame(str(k), body_at.get(b.parent, WORLD), link_at[b.link], b.pose, b.center, b.jointed)
        for k, b in enumerate(model.bodies[i] for i in tree.bodies)
    ]
    return Model(
        graph=model.graph,
        links=tuple(links),
        bodies=tuple(bodies),
        coordinates=tuple(replace(model.coordinates[s], name=str(k)) for k, s in enumerate(tree.slots)),
        coordinate_names=tuple(map(str, range(len(tree.places)))),
        gravity=model.gravity,
        parameters=(*model.parameters[:shared], *charts),
        nq=len(tree.places),
        nv=len(tree.slots),
        plain_slots=content.plain_slots(tree),
        units=content.units_of(tree),
    )

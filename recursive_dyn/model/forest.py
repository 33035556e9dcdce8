"""A model as a forest: its trees, which know nothing of each other, and which are equal but for names and numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from recursive_dyn.model.lifting import Reader, Writer, exchanged_body, exchanged_link, exchanged_pose
from recursive_dyn.model.model import WORLD, Link, Model, Part

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Kind:
    """T equal trees: the model of one, and what its parts are in the whole.

    links (T, ...), bodies, slots of v, places in q, parameters: numbers in the whole, in the tree's own order. The
    model's last parameters are the trees' own numbers, ``constants`` (T, n).
    """

    model: Model
    links: Array
    bodies: Array
    slots: Array
    places: Array
    parameters: Array
    constants: Array

    def __len__(self) -> int:
        return len(self.links)


@dataclass(frozen=True, eq=False)
class _Tree:
    """What hangs together, in a model: links and bodies, parents first, and what moves them; its content."""

    links: tuple[int, ...]
    bodies: tuple[int, ...]
    slots: tuple[int, ...]
    places: tuple[int, ...]
    charts: tuple[int, ...]
    structure: Any = None
    numbers: Sequence[float] = ()


@dataclass(frozen=True, eq=False)
class _Member:
    """A tree of a part of the whole."""

    part: Part
    tree: _Tree


def kinds_of(model: Model) -> list[Kind]:
    """The kinds of a model's trees, in the order of their first ones; a body that does not move is a tree of its own.

    Trees that share coordinates are one. Constraints are not looked at. Numbers in which trees of a kind differ are
    inputs of their model; of single bodies, and of where trees stand, all are, so that one more is of the same kind.
    """
    if model not in _KINDS:
        _KINDS[model] = _found(model)
    return _KINDS[model]


_KINDS: WeakKeyDictionary[Model, list[Kind]] = WeakKeyDictionary()


def _found(model: Model) -> list[Kind]:
    members: dict[Any, list[_Member]] = {}
    for part in model.parts or (_itself(model),):
        for tree in _contents(part.model):
            members.setdefault(tree.structure, []).append(_Member(part, tree))
    return [_kind(model, same) for same in members.values()]


def _itself(model: Model) -> Part:
    sizes = len(model.links), len(model.bodies), model.nv, model.nq
    return Part(model, *(list(range(size)) for size in sizes))


_CONTENTS: WeakKeyDictionary[Model, list[_Tree]] = WeakKeyDictionary()


def _contents(model: Model) -> list[_Tree]:
    """A model's trees with their content, read once."""
    if model not in _CONTENTS:
        content = _Content(model)
        found = [(tree, *content.of(tree)) for tree in _trees(model)]
        _CONTENTS[model] = [replace(tree, structure=structure, numbers=numbers) for tree, structure, numbers in found]
    return _CONTENTS[model]


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
    """What trees are by themselves: hashable, counted within the tree and without names."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.plain = dict(model.plain_slots)
        self.units = dict(model.units)

    def of(self, tree: _Tree) -> tuple[Any, list[float]]:
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
        forces = tuple((c.damping, c.stiffness, c.rest, c.armature) for c in coordinates)
        own_slots, units = self.plain_slots(tree), self.units_of(tree)
        return (tuple(links), tuple(bodies), forces, own_slots, units, tuple(read.structure)), read.numbers

    def plain_slots(self, tree: _Tree) -> tuple[tuple[int, int], ...]:
        """(place, slot) of the tree's plain coordinates."""
        slot_at = {s: k for k, s in enumerate(tree.slots)}
        return tuple((k, slot_at[self.plain[p]]) for k, p in enumerate(tree.places) if p in self.plain)

    def units_of(self, tree: _Tree) -> tuple[tuple[int, int], ...]:
        """(first, end) of what has length 1 in the tree's configuration."""
        return tuple((k, k + self.units[p] - p) for k, p in enumerate(tree.places) if p in self.units)

    def model_of(self, tree: _Tree, whole: Model) -> Model:
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
            parameters=(*_shared(whole), *charts),
            nq=len(tree.places),
            nv=len(tree.slots),
            plain_slots=self.plain_slots(tree),
            units=self.units_of(tree),
        )


class _Own:
    """A tree's own numbers of its parts, by those in the whole."""

    def __init__(self, tree: _Tree) -> None:
        self.link = {i: k for k, i in enumerate(tree.links)} | {WORLD: WORLD}
        self.body = {i: k for k, i in enumerate(tree.bodies)}
        self._slot = {s: k for k, s in enumerate(tree.slots)}
        self._place = {p: k for k, p in enumerate(tree.places)}

    def slots(self, slots: Sequence[int]) -> tuple[int, ...]:
        return tuple([self._slot[s] for s in slots])

    def places(self, places: Sequence[int]) -> tuple[int, ...]:
        return tuple([self._place[p] for p in places])


def _shared(model: Model) -> tuple[tuple[str, float], ...]:
    """The scene's parameters, which all trees have; charts come after them."""
    return model.parameters[: len(model.parameters) - len(model.charted)]


def _kind(model: Model, members: Sequence[_Member]) -> Kind:
    values = np.array([member.tree.numbers for member in members], dtype=float).reshape(len(members), -1)
    lifted = _lifted(members[0], values)
    return Kind(
        _tree_model(model, members[0], values[0], lifted),
        _table([[part.links[i] for i in tree.links] for part, tree in _pairs(members)]),
        _table([[part.bodies[i] for i in tree.bodies] for part, tree in _pairs(members)]),
        _table([[part.slots[i] for i in tree.slots] for part, tree in _pairs(members)]),
        _table([[part.places[i] for i in tree.places] for part, tree in _pairs(members)]),
        _table(_parameters(model, members)),
        values[:, lifted],
    )


def _pairs(members: Sequence[_Member]) -> list[tuple[Part, _Tree]]:
    return [(member.part, member.tree) for member in members]


def _table(rows: Sequence[Sequence[int]]) -> Array:
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1)


def _parameters(model: Model, members: Sequence[_Member]) -> list[list[int]]:
    """Numbers in the whole of the parameters of each tree."""
    shared = list(range(len(_shared(model))))
    if not members[0].tree.charts:
        return [shared] * len(members)
    number = {name: k for k, (name, _) in enumerate(model.parameters)}
    return [shared + [number[part.model.parameters[k][0]] for k in tree.charts] for part, tree in _pairs(members)]


_TREES: dict[Any, Model] = {}
_MOST_TREES = 256


def _tree_model(whole: Model, first: _Member, values: Array, lifted: Sequence[int]) -> Model:
    """The model of a kind's trees: the same one as long as nothing that is no input of it changes."""
    if not whole.parts:
        return _lift(_Content(first.part.model).model_of(first.tree, whole), lifted)
    rest = np.delete(values, lifted).tobytes()
    key = first.tree.structure, tuple(lifted), rest, whole.gravity, tuple(name for name, _ in _shared(whole))
    if key not in _TREES:
        while len(_TREES) >= _MOST_TREES:
            del _TREES[next(iter(_TREES))]
        _TREES[key] = _lift(_Content(first.part.model).model_of(first.tree, whole), lifted)
    return _TREES[key]


def _lifted(first: _Member, values: Array) -> list[int]:
    """Which of a tree's numbers are inputs."""
    always, links = values.shape[1], first.tree.links
    if len(links) > 1:
        where = Reader()
        exchanged_pose(first.part.model.links[links[0]].placement, where)
        always = len(where.numbers)
    differs = (values != values[0]).any(axis=0)
    return [k for k in range(values.shape[1]) if k < always or differs[k]]


def _lift(tree: Model, lifted: Sequence[int]) -> Model:
    """The tree with parameters, after its own, in place of some of its numbers."""
    names = [f"#{k}" for k in lifted]
    write = Writer({k: tree.graph.input(("parameter", name)) for k, name in zip(lifted, names, strict=True)})
    links = tuple(exchanged_link(link, write) for link in tree.links)
    bodies = tuple(exchanged_body(body, write) for body in tree.bodies)
    return replace(tree, links=links, bodies=bodies, parameters=(*tree.parameters, *((name, 0.0) for name in names)))

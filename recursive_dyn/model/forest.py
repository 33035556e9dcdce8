"""A model as a forest: its trees, which know nothing of each other, and which are equal but for names and numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, wraps
from typing import TypeVar

import numpy as np

from recursive_dyn.codegen.forests.runs import Runs
from recursive_dyn.graph.recent import Recent
from recursive_dyn.model.forest_numbers import BODIES, LINKS, PLACES, SLOTS, ForestNumbers
from recursive_dyn.model.lifting import Reader, Writer, exchanged_body, exchanged_link, exchanged_pose
from recursive_dyn.model.model import Model, once
from recursive_dyn.model.model_parts import ModelParts, ModelTree, Numbers
from recursive_dyn.model.tree_content import TreeContent, trees_of

Array = np.ndarray
Found = TypeVar("Found")


class Kind:
    """T equal trees: the model of one, and what its parts are in the whole.

    links (T, ...), bodies, slots of v, places in q, parameters: numbers in the whole, in the tree's own order. The
    model's last parameters are the trees' own numbers, ``constants`` (T, n).
    """

    def __init__(self, model: Model, numbers: Sequence[Array], parameters: Array, constants: Array) -> None:
        """numbers: links, bodies, slots, places."""
        self.model, self.parameters, self.constants, self._count = model, parameters, constants, len(constants)
        if numbers:
            self.links, self.bodies, self.slots, self.places = numbers

    def __len__(self) -> int:
        return self._count

    @cached_property
    def link_runs(self) -> Runs:
        """Numbers of the links."""
        return Runs.of(self.links)

    @cached_property
    def body_runs(self) -> Runs:
        """Numbers of the bodies."""
        return Runs.of(self.bodies)

    @cached_property
    def slot_runs(self) -> Runs:
        """Slots."""
        return Runs.of(self.slots)

    @cached_property
    def place_runs(self) -> Runs:
        """Places."""
        return Runs.of(self.places)

    @cached_property
    def parameter_runs(self) -> Runs:
        """Parameters."""
        return Runs.of(self.parameters)

    def nothing(self) -> Runs:
        """No numbers."""
        return Runs.nothing(self._count)

    def shared(self, first: int, length: int) -> Runs:
        """The same numbers for all."""
        return Runs.shared(self._count, first, length)


class _Alone(Kind):
    """One whose trees are parts of their own, one after the other; numbers are made when they are asked for."""

    def __init__(self, model: Model, at: int, numbers: ForestNumbers, parameters: Array, constants: Array) -> None:
        super().__init__(model, (), parameters, constants)
        self._at, self._numbers = at, numbers

    def _all(self, of: int, count: int) -> Array:
        return self._numbers.starts(self._at, of)[:, None] + np.arange(count)

    @cached_property
    def links(self) -> Array:  # type: ignore[override]
        return self._all(LINKS, self.model.nl)

    @cached_property
    def bodies(self) -> Array:  # type: ignore[override]
        return self._all(BODIES, self.model.nb)

    @cached_property
    def slots(self) -> Array:  # type: ignore[override]
        return self._all(SLOTS, self.model.nv)

    @cached_property
    def places(self) -> Array:  # type: ignore[override]
        return self._all(PLACES, self.model.nq)

    @cached_property
    def link_runs(self) -> Runs:
        return self._numbers.runs(self._at, LINKS, self.model.nl)

    @cached_property
    def body_runs(self) -> Runs:
        return self._numbers.runs(self._at, BODIES, self.model.nb)

    @cached_property
    def slot_runs(self) -> Runs:
        return self._numbers.runs(self._at, SLOTS, self.model.nv)

    @cached_property
    def place_runs(self) -> Runs:
        return self._numbers.runs(self._at, PLACES, self.model.nq)


_Members = list[tuple[int, ModelTree]]  # trees of a kind, each with the number of the part that it is of


@once
def kinds_of(model: Model) -> list[Kind]:
    """The kinds of a model's trees, in the order of their first ones; a body that does not move is a tree of its own.

    Trees that share coordinates are one. Constraints are not looked at. Numbers in which trees of a kind differ are
    inputs of their model; of single bodies, and of where trees stand, all are, so that one more is of the same kind.
    """
    parts, numbers = model.parts or _itself(model), numbers_of(model)
    if numbers is not None:
        return [_kind_alone(model, numbers, k) for k in range(len(numbers.counts))]
    members: defaultdict[str, _Members] = defaultdict(list)
    for k, trees in enumerate(parts.trees):
        for tree in trees:
            members[tree.structure].append((k, tree))
    return [_kind(model, parts, same) for same in members.values()]


@once
def numbers_of(model: Model) -> ForestNumbers | None:
    """The numbers of all trees where each is a part of its own and no joint has charts."""
    parts = model.parts
    if not parts.alone or model.charted:
        return None
    structures = parts.facts.structure
    number = {structure: k for k, structure in enumerate(dict.fromkeys(structures))}
    kinds = np.fromiter(map(number.__getitem__, structures), np.int64, len(structures))
    key = (*number, kinds.tobytes())
    return _NUMBERS.of(key, lambda: ForestNumbers(kinds, parts.firsts))


# Bodies come and go: after some edits there are as many as before. 20000 trees of all of them.
_NUMBERS = Recent[ForestNumbers](20000, lambda known: len(known.kinds))


def once_alike(function: Callable[[Model], Found]) -> Callable[[Model], Found]:
    """``once``, for what is the same of all forests whose trees are of the same kinds in the same order: where each
    tree is a part of its own it is asked once of all of them."""
    name, alone = f"{function.__module__}.{function.__qualname__}", once(function)

    @wraps(function)
    def known(model: Model) -> Found:
        numbers = numbers_of(model)
        if numbers is None:
            return alone(model)
        if name not in numbers.known:
            numbers.known[name] = function(model)
        found: Found = numbers.known[name]
        return found

    return known


@once
def blocks_of(model: Model) -> list[Kind]:
    """The kinds of a model that was put together from parts; any other model, as it stands, is the one tree of one."""
    if model.parts:
        return kinds_of(model)
    links, bodies, slots, places = (np.arange(n)[None] for n in (model.nl, model.nb, model.nv, model.nq))
    numbers = links, bodies, slots, places
    return [Kind(model, numbers, np.arange(len(model.parameters))[None], np.zeros((1, 0)))]


def _itself(model: Model) -> ModelParts[Model]:
    sizes = len(model.links), len(model.bodies), model.nv, model.nq
    links, bodies, slots, places = (Numbers(np.arange(size), np.array([0, size])) for size in sizes)
    return ModelParts((model,), (trees_of(model),), links, bodies, slots, places)


def _kind_alone(model: Model, numbers: ForestNumbers, k: int) -> Kind:
    parts, trees = model.parts, numbers.trees(k).tolist()
    owner, first = parts.models[trees[0]], parts.trees[trees[0]][0]
    packed = parts.facts.packed
    values = np.frombuffer(b"".join([packed[t] for t in trees])).reshape(len(trees), -1)
    lifted, shared = _lifted(owner, first, values), len(model.common_parameters)
    return _Alone(
        _tree_model(model, owner, first, values[0], lifted), k, numbers,
        np.zeros((len(trees), shared), dtype=np.int64) + np.arange(shared),
        values if len(lifted) == values.shape[1] else values[:, lifted],
    )  # fmt: skip


def _kind(model: Model, parts: ModelParts[Model], members: _Members) -> Kind:
    numbers, trees = zip(*members, strict=True)
    number, first = np.array(numbers), trees[0]
    values = np.frombuffer(b"".join([tree.packed for tree in trees])).reshape(len(members), -1)
    own = first.own
    if [tree for tree in trees if tree.own is not own and tree.own != own]:
        places = tuple([np.array(each, dtype=np.int64) for each in zip(*[tree.own for tree in trees], strict=True)])
    else:
        places = first.own_arrays  # as of all that are the whole of their parts
    owner = parts.models[numbers[0]]
    lifted = _lifted(owner, first, values)
    whole = parts.links, parts.bodies, parts.slots, parts.places
    mine = [known.all[known.first[number][:, None] + each] for known, each in zip(whole, places, strict=True)]
    all_are = len(lifted) == values.shape[1]
    return Kind(
        _tree_model(model, owner, first, values[0], lifted), mine,
        _parameters(model, parts, members), values if all_are else values[:, lifted],
    )  # fmt: skip


def _parameters(model: Model, parts: ModelParts[Model], members: _Members) -> Array:
    """Numbers in the whole of the parameters of each tree."""
    shared = list(range(len(model.common_parameters)))
    if not members[0][1].charts:
        return np.zeros((len(members), len(shared)), dtype=np.int64) + np.arange(len(shared))
    number = {name: k for k, (name, _) in enumerate(model.parameters)}
    rows = [shared + [number[parts.models[k].parameters[c][0]] for c in tree.charts] for k, tree in members]
    return np.array(rows, dtype=np.int64)


_TREES = Recent[Model](256)


def _tree_model(whole: Model, owner: Model, first: ModelTree, values: Array, lifted: Sequence[int]) -> Model:
    """The model of a kind's trees, of which ``first`` is one: the same one as long as nothing that is no input of it
    changes."""
    if not whole.parts:
        return _lift(TreeContent(owner).model_of(first, whole), lifted)
    rest = b"" if len(lifted) == len(values) else np.delete(values, lifted).tobytes()
    key = first.structure, tuple(lifted), rest, whole.gravity, tuple(name for name, _ in whole.common_parameters)
    return _TREES.of(key, lambda: _lift(TreeContent(owner).model_of(first, whole), lifted))


def _lifted(owner: Model, first: ModelTree, values: Array) -> list[int]:
    """Which of a tree's numbers are inputs."""
    count = values.shape[1]
    if len(first.links) < 2:
        return list(range(count))
    where = Reader()
    exchanged_pose(owner.links[first.links[0]].placement, where)
    differs = (values != values[0]).any(axis=0)
    return [k for k in range(count) if k < len(where.numbers) or differs[k]]


def _lift(tree: Model, lifted: Sequence[int]) -> Model:
    """The tree with parameters, after its own, in place of some of its numbers."""
    names = [f"#{k}" for k in lifted]
    write = Writer({k: tree.graph.input(("parameter", name)) for k, name in zip(lifted, names, strict=True)})
    links = tuple(exchanged_link(link, write) for link in tree.links)
    bodies = tuple(exchanged_body(body, write) for body in tree.bodies)
    return replace(tree, links=links, bodies=bodies, parameters=(*tree.parameters, *((name, 0.0) for name in names)))

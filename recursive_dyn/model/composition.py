"""A model put together from models that know nothing of each other, so that what did not change is not made again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import TypeVar

import numpy as np

from recursive_dyn.graph.expression import Graph
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.model.model import WORLD, BodyFrame, Link, Model
from recursive_dyn.model.model_parts import NO_FACTS, ModelParts, Numbers, PartFacts, altered, expanded
from recursive_dyn.model.splice import Splice

Array = np.ndarray
Entry = TypeVar("Entry")
_last: tuple[ComposedModel, Sequence[PartFacts], list[Array]] | None = None


def composed(
    facts: Sequence[PartFacts],
    order: tuple[Array, Array] | None,
    gravity: Sequence[float] | Array,
    parameters: Sequence[tuple[str, float]],
) -> ComposedModel:
    """The model of parts: the last one, with all that has been found of it, where it says the same of the same ones.

    An edit is checked, prepared in the background and followed: the same scene is compiled three times.
    """
    global _last
    numbers = [*(order or ()), np.array([*gravity, *(value for _, value in parameters)], dtype=float)]
    known: dict[str, tuple[str, ...]] = {}
    if _last is not None:
        last, others, before = _last
        names = [name for name, _ in last.parameters[: len(parameters)]] == [name for name, _ in parameters]
        alike = names and len(numbers) == len(before) and all(map(np.array_equal, numbers, before))
        splice = Splice.between(others, facts)
        if alike and not splice.gone and not splice.came:
            return last
        columns = _columns(facts, last.parts.facts, splice)
        known = _names(last, columns, splice) if order is None else known
    else:
        columns = PartFacts(*zip(*facts, strict=True)) if facts else NO_FACTS
    model = ComposedModel(columns, order, gravity, parameters)
    vars(model).update(known)
    _last = model, facts, numbers
    return model


def _columns(facts: Sequence[PartFacts], before: PartFacts, splice: Splice) -> PartFacts:
    """The facts of all parts, of which most are where they were."""
    first, end = splice.first, splice.end
    fresh = [*zip(*facts[first : first + splice.came], strict=True)] or NO_FACTS
    return PartFacts(*[own[:first] + new + own[end:] for own, new in zip(before, fresh, strict=True)])


def _names(last: ComposedModel, columns: PartFacts, splice: Splice) -> dict[str, tuple[str, ...]]:
    """The names of bodies, one a part, where somebody asked for them, one a part too, of the last model."""
    names: tuple[str, ...] | None = vars(last).get("body_names")
    if names is None or len(names) != len(last.parts):
        return {}
    fresh = chain.from_iterable(model.body_names for model in columns.model[splice.first : splice.first + splice.came])
    return {"body_names": (*names[: splice.first], *fresh, *names[splice.end :])}


class ComposedModel(Model):
    """The model of all bodies of some models without parameters, but for their joints' charts, and without constraints.

    What it says one by one, as its ``links``, ``coordinate_names`` and ``units``, it says when it is asked: whoever
    goes by ``parts`` never asks.
    """

    def __init__(
        self,
        facts: PartFacts,
        order: tuple[Array, Array] | None,
        gravity: Sequence[float] | Array,
        parameters: Sequence[tuple[str, float]],
    ) -> None:
        """facts: of all models; order: of each body, as they were attached, the number of its model, and in it, or
        None for models of one body each, one after the other."""
        parts = _numbered(facts, order)
        own = vars(self)
        own["graph"], own["constraints"], own["assembled"], own["parts"] = Graph(), (), None, parts
        own["gravity"] = (float(gravity[0]), float(gravity[1]), float(gravity[2]))
        own["nq"], own["nv"] = len(parts.places.all), len(parts.slots.all)
        own["parameters"] = (*parameters, *((link.chart, 0.0) for link in self.charted))

    @cached_property
    def nb(self) -> int:
        return len(self.parts.bodies.all)

    @cached_property
    def nl(self) -> int:
        return len(self.parts.links.all)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        parts, found = self.parts, dict[int, Link]()
        for k, model in enumerate(parts.models):
            numbers, places, slots = parts.links.of(k), parts.places.of(k), parts.slots.of(k)
            for number, link in zip(numbers, model.links, strict=True):
                found[number] = altered(
                    link,
                    parent=WORLD if link.parent == WORLD else numbers[link.parent],
                    places=tuple([places[p] for p in link.places]),
                    slots=tuple([slots[s] for s in link.slots]),
                )
        return tuple([found[i] for i in range(self.nl)])

    @cached_property
    def bodies(self) -> tuple[BodyFrame, ...]:
        parts, found = self.parts, dict[int, BodyFrame]()
        for k, model in enumerate(parts.models):
            numbers, links = parts.bodies.of(k), parts.links.of(k)
            for number, body in zip(numbers, model.bodies, strict=True):
                parent = WORLD if body.parent == WORLD else numbers[body.parent]
                found[number] = altered(body, parent=parent, link=WORLD if body.link == WORLD else links[body.link])
        return tuple([found[i] for i in range(self.nb)])

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        return _in_order(self.parts.bodies, [model.body_names for model in self.parts.models])

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        return _in_order(self.parts.slots, [model.velocity_names for model in self.parts.models])

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        return _in_order(self.parts.places, [model.coordinate_names for model in self.parts.models])

    @cached_property
    def coordinates(self) -> tuple[Coordinate, ...]:
        return _in_order(self.parts.slots, [model.coordinates for model in self.parts.models])

    @cached_property
    def charted(self) -> tuple[Link, ...]:
        if not any(self.parts.facts.charted):
            return ()
        return tuple([link for link in self.links if link.chart is not None])

    @cached_property
    def plain_slots(self) -> tuple[tuple[int, int], ...]:
        parts, found = self.parts, list[tuple[int, int]]()
        for k, model in enumerate(parts.models):
            places, slots = parts.places.of(k), parts.slots.of(k)
            found += [(places[p], slots[s]) for p, s in model.plain_slots]
        return tuple(sorted(found))

    @cached_property
    def units(self) -> tuple[tuple[int, int], ...]:
        found = list[tuple[int, int]]()
        for k, model in enumerate(self.parts.models):
            places = self.parts.places.of(k)
            found += [(places[first], places[end - 1] + 1) for first, end in model.units]
        return tuple(sorted(found))


def _in_order(numbers: Numbers, parts: Sequence[Sequence[Entry]]) -> tuple[Entry, ...]:
    """What each part has of its numbered things, in the order of the whole."""
    found = list(chain.from_iterable(parts))
    if (numbers.all[:-1] < numbers.all[1:]).all():
        return tuple(found)
    return tuple([found[k] for k in np.argsort(numbers.all).tolist()])


def _numbered(facts: PartFacts, order: tuple[Array, Array] | None) -> ModelParts[Model]:
    """What the models' parts are in the whole, body after body."""
    sizes = np.frombuffer(b"".join(facts.sizes), dtype=np.int64).reshape(-1, 4)
    firsts, one_by_one = _firsts(sizes), order is None
    if order is not None:
        first_body = _firsts(np.array(facts.count, dtype=np.int64))
        at, of_body, firsts = first_body[order[0]] + order[1], np.arange(len(sizes)), firsts[first_body]
        one_by_one = bool((at == of_body).all())
    firsts = firsts.T.copy()
    if one_by_one:  # as where nothing was attached to a part once there were others
        links, bodies, slots, places = (np.arange(end) for end in firsts[:, -1].tolist())
    else:
        starts, bodies = np.empty_like(sizes), np.empty_like(of_body)
        in_order = sizes[at]
        starts[at], bodies[at] = in_order.cumsum(axis=0) - in_order, of_body
        links, slots, places = (expanded(starts[:, k], sizes[:, k]) for k in (0, 2, 3))
    own = [Numbers(every, first) for every, first in zip((links, bodies, slots, places), firsts, strict=True)]
    alone = one_by_one and len(facts.model) > 0 and None not in facts.structure
    return ModelParts(facts.model, facts.trees, own[0], own[1], own[2], own[3], alone, firsts, facts)


def _firsts(counts: Array) -> Array:
    """Where things begin of which there are ``counts`` (n, ...) one after the other, and the end, (n + 1, ...)."""
    found = np.zeros((len(counts) + 1, *counts.shape[1:]), dtype=np.int64)
    counts.cumsum(axis=0, out=found[1:])
    return found

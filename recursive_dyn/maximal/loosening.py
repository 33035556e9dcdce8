"""Coordinates that joints share, or that drive others, as coordinates of one joint each, and rows that bind the others.

A coordinate is that of the first joint that has it as its own; one that only drives joints becomes the coordinate of
one of these, G(f(s)). All other joints get coordinates y of their own, after those that there are, and rows
y - f(q) = 0 beside the scene's constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, is_constant, substitute
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.maximal.timed_joints import driven_by_time, of_driving_coordinates
from recursive_dyn.model.constraint import COORDINATE, Constraint
from recursive_dyn.model.model import Link, Model, once


@dataclass(frozen=True, eq=False)
class Loosened:
    """A model of independent joints; values (x,): what each coordinate beyond those of the original one follows, over
    its inputs (COORDINATE, (place, slot)) and ("parameter", name)."""

    model: Model
    values: tuple[Scalar, ...]


@once
def loosened(model: Model) -> Loosened:
    """The model with its joints independent; the same one where they are. ModelError for coordinates of no joint."""
    owners = _owners(model)
    more, links = _Further(model), list[Link]()
    for i, link in enumerate(model.links):
        owned = all(owners.get(slot, i) == i for slot in link.slots)
        if link.drive is None or driven_by_time(model, link):
            links.append(link if owned else more.shared(i, link, owners))
        else:
            links.append(of_driving_coordinates(link) if owned else more.driven(link))
    return more.all_of(links)


def _owners(model: Model) -> dict[int, int]:
    """The link of each slot whose joint has it as its coordinate."""
    clock = {model.clock[1]} if model.clock is not None else set()
    owners = dict[int, int]()
    driven = list[int]()
    for i, link in enumerate(model.links):
        if link.drive is None:
            for slot in link.slots:
                owners.setdefault(slot, i)
        elif not driven_by_time(model, link):
            driven.append(i)
    for i in sorted(driven, key=lambda i: (not _linear(model.links[i]), i)):
        own = set(model.links[i].slots) - clock
        if own.isdisjoint(owners) and len(own) <= model.links[i].joint.nv:
            owners |= dict.fromkeys(own, i)
    for slot in {slot for link in model.links for slot in link.slots} - owners.keys() - clock:
        raise ModelError(
            f"coordinate '{model.coordinates[slot].name}' drives joints together with others, and is that of none, from"
            " which maximal coordinates could find it; use method='recursive' or 'lagrangian', or give it a joint"
        )
    return {slot: i for slot, i in owners.items() if slot not in clock}


def _linear(link: Link) -> bool:
    """Whether what a link follows is linear in what drives it, and so never stands still."""
    return link.drive is not None and all(map(is_constant, link.drive.derived.phi.flat))


class _Further:
    """Further coordinates, and what they follow, of a model."""

    def __init__(self, model: Model) -> None:
        self._model, self._graph = model, Graph()
        self._names, self._values, self._rows = list[str](), list[Scalar](), list[Constraint]()

    def shared(self, i: int, link: Link, owners: dict[int, int]) -> Link:
        """A link with coordinates in place of those that other joints own."""
        ends = list(zip(link.places, link.slots, strict=True))
        own = [end if owners.get(end[1], i) == i else self._add(link, self._input(end)) for end in ends]
        return replace(link, places=tuple(p for p, _ in own), slots=tuple(s for _, s in own))

    def driven(self, link: Link) -> Link:
        """A driven link with coordinates of its own."""
        assert link.drive is not None
        if not all(f.space.flat for f in link.joint.factors):
            raise ModelError(
                f"joint of '{link.name}' is driven and turns by a quaternion, which maximal coordinates do not have;"
                " use method='recursive' or 'lagrangian', or joints of plain coordinates"
            )
        own = [self._add(link, value) for value in self._carried(link)]
        return replace(link, drive=None, places=tuple(p for p, _ in own), slots=tuple(s for _, s in own))

    def all_of(self, links: list[Link]) -> Loosened:
        """The model of these links."""
        model, n = self._model, len(self._names)
        if not n and links == list(model.links):
            return Loosened(model, ())
        ends = [(model.nq + k, model.nv + k) for k in range(n)]
        return Loosened(
            model.changed(
                links=tuple(links),
                coordinates=(*model.coordinates, *map(Coordinate, self._names)),
                coordinate_names=(*model.coordinate_names, *self._names),
                nq=model.nq + n,
                nv=model.nv + n,
                plain_slots=(*model.plain_slots, *ends),
                constraints=(*model.constraints, *self._rows),
                assembled=None,
            ),
            tuple(self._values),
        )

    def _add(self, link: Link, value: Scalar) -> tuple[int, int]:
        """Place and slot of one more coordinate of a link, which follows a value."""
        k = len(self._names)
        end = self._model.nq + k, self._model.nv + k
        self._names.append(f"{link.name}.following{k}")
        self._values.append(value)
        self._rows.append(Constraint(f"drive of {link.name}, {k}", self._graph, self._input(end) - value, True))
        return end

    def _input(self, end: tuple[int, int]) -> Any:
        return self._graph.input((COORDINATE, end))

    def _carried(self, link: Link) -> Iterator[Scalar]:
        """What drives a link, over inputs of coordinates."""
        assert link.drive is not None
        ends = list(zip(link.places, link.slots, strict=True))
        inputs: dict[Any, Scalar] = {("q", j): self._input(end) for j, end in enumerate(ends)}
        inputs |= self._parameters(name for name, _ in self._model.parameters)
        return iter(substitute(list(link.drive.values), inputs))

    def _parameters(self, names: Iterable[str]) -> dict[Any, Scalar]:
        return {("parameter", name): self._graph.input(("parameter", name)) for name in names}

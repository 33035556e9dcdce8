"""Coordinates that joints share, or that drive others, as coordinates of one joint each, and rows that bind the others.

A coordinate is that of the first joint that has it as its own; one that only drives joints becomes the coordinate of
one of these, G(f(s)), that shows it everywhere, or stays one that several show together (``shown_together``). All other
joints get coordinates y of their own, after those that there are, and rows y - f(q) = 0 beside the scene's constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, Scalar
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.maximal.kinds.timed_joints import driven_by_time, of_driving_coordinates
from recursive_dyn.maximal.shared.owning import ownership
from recursive_dyn.maximal.shared.posed_joints import posed
from recursive_dyn.maximal.shared.shown_together import ShownTogether
from recursive_dyn.maximal.shared.told_rows import rows_of
from recursive_dyn.model.constraint import COORDINATE, RATE, Constraint
from recursive_dyn.model.model import Link, Model, once


@dataclass(frozen=True, eq=False)
class Loosened:
    """A model of independent joints; values (x,), speeds (y,): what each coordinate beyond those of the original one
    follows, and its rate, over its inputs (COORDINATE, (place, slot)), (RATE, (place, slot)), ("parameter", name)."""

    model: Model
    values: tuple[Scalar, ...]
    speeds: tuple[Scalar, ...]


@once
def loosened(model: Model) -> Loosened:
    """The model with its joints independent; the same one where they are. ModelError for coordinates of no joint."""
    owned = ownership(model)
    more, links = _Further(model), list[Link]()
    together = {i for members, _ in owned.together for i in members}
    for i, link in enumerate(model.links):
        own = all(owned.owners.get(slot, i) == i for slot in link.slots)
        if i in owned.posed:
            links.append(more.posed(link))
        elif link.drive is None or driven_by_time(model, link):
            links.append(link if own else more.shared(i, link, owned.owners))
        elif i in together:
            links.append(more.driven(link, bound=False))
        else:
            links.append(of_driving_coordinates(link) if own else more.driven(link))
    for members, slots in owned.together:
        more.show_together(members, slots)
    return more.all_of(links)


class _Further:
    """Further coordinates, and what they follow, of a model."""

    def __init__(self, model: Model) -> None:
        self._model, self._graph = model, Graph()
        self._names, self._labels, self._ends = list[str](), list[str](), list[tuple[int, int]]()
        self._values, self._speeds, self._rows = list[Scalar](), list[Scalar](), list[Constraint]()
        self._residuals, self._turning = dict[str, list[Scalar]](), list[tuple[Expression, Scalar]]()

    def shared(self, i: int, link: Link, owners: dict[int, int]) -> Link:
        """A link with coordinates in place of those that other joints own."""
        ends = list(zip(link.places, link.slots, strict=True))
        own = [end if owners.get(end[1], i) == i else self._add(link, self._input(end)) for end in ends]
        return replace(link, places=tuple(p for p, _ in own), slots=tuple(s for _, s in own))

    def driven(self, link: Link, bound: bool = True) -> Link:
        """A driven link with coordinates of its own, bound by rows of their own or by those of a group."""
        assert link.drive is not None
        if not all(f.space.flat for f in link.joint.factors):
            raise ModelError(
                f"joint of '{link.name}' is driven and turns by a quaternion, which maximal coordinates do not have;"
                " use method='recursive' or 'lagrangian', or joints of plain coordinates"
            )
        own = [self._add(link, value, bound) for value in self._carried(link)]
        return replace(link, drive=None, places=tuple(p for p, _ in own), slots=tuple(s for _, s in own))

    def posed(self, link: Link) -> Link:
        """A link with the pose of its joint measured, and bound by rows of a group."""
        place, slot = self._next
        made = posed(link, self._graph, place, slot, [name for name, _ in self._model.parameters])
        self._names += [f"{link.name}.following{slot - self._model.nv + k}" for k in range(len(made.speeds))]
        self._labels += [f"{link.name}.following{slot - self._model.nv}.{k}" for k in range(len(made.values))]
        self._values += made.values
        self._speeds += made.speeds
        self._residuals[link.name], self._turning = made.residuals, [*self._turning, *made.turning]
        return made.link

    def show_together(self, members: Sequence[int], slots: Sequence[int]) -> None:
        """Rows of coordinates that driven links, which have coordinates of their own by now, show together."""
        model, ends = self._model, {slot: place for place, slot in self._model.plain_slots}
        group = ShownTogether(
            self._graph,
            tuple((ends[slot], slot) for slot in slots),
            tuple(model.links[i].name for i in members),
            tuple(x for i in members for x in self._residuals[model.links[i].name]),
            tuple(model.coordinates[slot].limits for slot in slots),
            tuple(self._turning),
        )
        if (lost := group.unseen(dict(model.parameters))) is not None:
            raise ModelError(
                f"coordinate '{model.coordinates[slots[lost]].name}' drives joints together with others, and all of"
                " these together do not tell it from them, so that maximal coordinates could not find it; use"
                " method='recursive' or 'lagrangian', or give it a joint"
            )
        self._rows += rows_of(group)

    def all_of(self, links: list[Link]) -> Loosened:
        """The model of these links."""
        model, (nq, nv) = self._model, self._next
        if not self._names and links == list(model.links):
            return Loosened(model, (), ())
        return Loosened(
            model.changed(
                links=tuple(links),
                coordinates=(*model.coordinates, *map(Coordinate, self._names)),
                coordinate_names=(*model.coordinate_names, *self._labels),
                nq=nq,
                nv=nv,
                plain_slots=(*model.plain_slots, *self._ends),
                constraints=(*model.constraints, *self._rows),
                assembled=None,
            ),
            tuple(self._values),
            tuple(self._speeds),
        )

    @property
    def _next(self) -> tuple[int, int]:
        """Place and slot of the next coordinate."""
        return self._model.nq + len(self._labels), self._model.nv + len(self._names)

    def _add(self, link: Link, value: Scalar, bound: bool = True) -> tuple[int, int]:
        """Place and slot of one more coordinate of a link, which follows a value."""
        end, k = self._next, len(self._names)
        self._ends.append(end)
        self._names.append(f"{link.name}.following{k}")
        self._labels.append(self._names[-1])
        self._values.append(value)
        self._speeds += directional_derivative([value], self._moving([value]))
        missed = self._input(end) - value
        if bound:
            self._rows.append(Constraint(f"drive of {link.name}, {k}", self._graph, missed, True))
        else:
            self._residuals.setdefault(link.name, []).append(missed)
        return end

    def _input(self, end: tuple[int, int]) -> Any:
        return self._graph.input((COORDINATE, end))

    def _moving(self, scalars: list[Scalar]) -> dict[Expression, Scalar]:
        """The coordinates below scalars with their rates."""
        held = [node for node in reachable(scalars) if node.op == "input" and node.args[0][0] == COORDINATE]
        return {node: self._graph.input((RATE, node.args[0][1])) for node in held}

    def _carried(self, link: Link) -> Iterator[Scalar]:
        """What drives a link, over inputs of coordinates."""
        assert link.drive is not None
        ends = list(zip(link.places, link.slots, strict=True))
        inputs: dict[Any, Scalar] = {("q", j): self._input(end) for j, end in enumerate(ends)}
        inputs |= self._parameters(name for name, _ in self._model.parameters)
        return iter(substitute(list(link.drive.values), inputs))

    def _parameters(self, names: Iterable[str]) -> dict[Any, Scalar]:
        return {("parameter", name): self._graph.input(("parameter", name)) for name in names}

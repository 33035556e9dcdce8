"""Force elements of joint coordinates as machine code, over what bodies and coordinates do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.function_list import Signature
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.graph.program import Program, content_hash, schedule
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.maximal.kinds.measured import Clock, MeasuredInputs, Measures
from recursive_dyn.model.constraint import COORDINATE, RATE, Constraint
from recursive_dyn.model.force_element import OWN_RATE, ForceElement
from recursive_dyn.model.model import WORLD, Model

FORCES, ENERGY = "forces", "energy"


def of_joints(model: Model) -> tuple[ForceElement, ...]:
    """The force elements of a reduced model that coordinates of joints are in."""
    named = [{key[1] for key in _keys(e) if key[0] in (COORDINATE, RATE)} for e in model.forces]
    return tuple(e for e, own in zip(model.forces, named, strict=True) if own - {model.clock})


class ElementFunctions:
    """Functions of elements for an Evaluator, over what is ``measured``.

    "forces": on the twists of each of ``links``, 6 numbers in own axes, then on each of the coordinates at ``slots``;
    "energy" of all of them.
    """

    owner = "these force elements need"

    def __init__(
        self, elements: Sequence[ForceElement], parameters: Sequence[str], link_of: Sequence[int], clock: Clock = None
    ) -> None:
        """link_of: the link of each of the model's bodies, WORLD for none; clock: place and slot of time."""
        self.elements, self.parameters, self.link_of = tuple(elements), tuple(parameters), tuple(link_of)
        self.clock = clock
        self.measured = Measures([key for e in elements for key in _keys(e)], parameters, link_of)
        pushed = [key for e in elements for row in _rows(e) for key in row.rows.gradient if key[1] != clock]
        self.links = sorted({self.link_of[key[1]] for key in pushed if key[0] != RATE} - {WORLD})
        self.slots = sorted({key[1][1] for key in pushed if key[0] == RATE})

    def __reduce__(self) -> Any:
        return ElementFunctions, (self.elements, self.parameters, self.link_of, self.clock)

    def signature(self, function: str) -> Signature:
        """One vector of all forces, or the energy."""
        return Signature(
            tuple(self.measured.sizes), (6 * len(self.links) + len(self.slots) if function == FORCES else 1,)
        )

    def key(self, function: str) -> str:
        """Hash of all elements and of where their inputs are."""
        own = [e.key for e in self.elements]
        return content_hash(f"elements {function} {own} {self.parameters} {self.link_of} {self.clock}", [])

    def build(self, function: str) -> Program:
        """The function's program."""
        graph = Graph()
        known = MeasuredInputs(self.measured, graph)
        outputs = [self._energy(known)] if function == ENERGY else self._forces(known)
        sizes = [*self.measured.sizes, ("parameters", len(self.parameters))]
        return schedule(function, sizes, [("out", outputs)])

    def _forces(self, known: MeasuredInputs) -> list[Scalar]:
        sides = {link: array(np.zeros(6)) for link in self.links}
        along: dict[int, Scalar] = dict.fromkeys(self.slots, 0.0)
        for element in self.elements:
            for key, force in self._pushes(element, known):
                if key[0] == RATE and key[1] == self.clock:
                    continue  # no force moves time
                if key[0] == RATE:
                    along[key[1][1]] = along[key[1][1]] + force
                elif self.link_of[key[1]] != WORLD:
                    known.bodies[key[1]].push(sides[self.link_of[key[1]]], key[0], int(np.int64(key[2])), force)
        return [*(x for side in sides.values() for x in side), *along.values()]

    def _pushes(self, element: ForceElement, known: MeasuredInputs) -> Iterator[tuple[Any, Scalar]]:
        """(velocity input, force along it) of all terms, and against the gradient of the energy."""
        for term in element.terms:
            rows = term.measure.rows
            speed, *slopes = substitute([rows.psi, *rows.gradient.values()], known)
            known[OWN_RATE,] = speed
            (strength,) = substitute([term.strength], known)
            yield from ((key, strength * slope) for key, slope in zip(rows.gradient, slopes, strict=True))
        if element.energy is not None:
            rows = element.energy.rows
            slopes = substitute(list(rows.gradient.values()), known)
            yield from ((key, -slope) for key, slope in zip(rows.gradient, slopes, strict=True))

    def _energy(self, known: MeasuredInputs) -> Scalar:
        total: Scalar = 0.0
        for element in self.elements:
            if element.energy is not None:
                total = total + substitute([element.energy.expression], known)[0]
        return total

    def kernel(self, function: str, report: Callable[[float], None] | None) -> None:
        """None: every function has one program."""

    def driver(self, function: str) -> None:
        """None: there is no loop around any."""

    def label(self, segment: str, index: int) -> str:
        """Name of one number, for messages."""
        return f"number {index}"


def _rows(element: ForceElement) -> list[Constraint]:
    """All that an element is along."""
    return [*(term.measure for term in element.terms), *([] if element.energy is None else [element.energy])]


def _keys(element: ForceElement) -> set[Any]:
    """The inputs that an element holds, its own rate not among them."""
    rows = [node.args[0] for row in _rows(element) for node in row.inputs]
    nodes = reachable([term.strength for term in element.terms])
    return {*rows, *(node.args[0] for node in nodes if node.op == "input")} - {(OWN_RATE,)}

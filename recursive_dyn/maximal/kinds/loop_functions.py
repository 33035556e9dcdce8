"""The rows of a scene's constraints by themselves as machine code, over what bodies and coordinates do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.function_list import Signature
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.graph.program import Program, content_hash, schedule
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.maximal.kinds.measured import Clock, MeasuredInputs, Measures
from recursive_dyn.model.constraint import RATE, Constraint
from recursive_dyn.model.model import WORLD

ROWS = "rows"
TOLD = 3  # numbers of a row before its coefficients: phi, psi, psi's rate at no acceleration


class LoopFunctions:
    """The function "rows" of constraints, for an Evaluator. links: of every row, those that it has coefficients of
    without its ``shares``, and these: (row, slot) of joint coordinates whose rates it has shares of.

    Inputs: what is ``measured``. Outputs: of every row phi, psi, psi's rate where the twists' components stay, then
    derivatives of psi by the twist of each of its links; in the end the shares.
    """

    owner = "these constraints need"

    def __init__(
        self, constraints: Sequence[Constraint], parameters: Sequence[str], link_of: Sequence[int], clock: Clock = None
    ) -> None:
        """link_of: the link of each of the model's bodies, WORLD for none; clock: place and slot of time."""
        self.constraints, self.parameters, self.link_of = tuple(constraints), tuple(parameters), tuple(link_of)
        self.clock = clock
        keys = [node.args[0] for c in constraints for node in c.inputs]
        gradients = [sorted(c.rows.gradient.keys() - {(RATE, clock)}, key=str) for c in constraints]
        self.measured = Measures(keys, parameters, link_of)
        self.links = [sorted({self.link_of[key[1]] for key in own if key[0] != RATE} - {WORLD}) for own in gradients]
        self._gradients = gradients
        self.shares = [(k, key[1][1]) for k, own in enumerate(gradients) for key in own if key[0] == RATE]

    def __reduce__(self) -> Any:
        return LoopFunctions, (self.constraints, self.parameters, self.link_of, self.clock)

    @property
    def starts(self) -> list[int]:
        """Where each row's numbers begin, and where the shares do."""
        return [0, *np.cumsum([TOLD + 6 * len(own) for own in self.links]).tolist()]

    def signature(self, function: str) -> Signature:
        """One vector of all rows."""
        return Signature(tuple(self.measured.sizes), (self.starts[-1] + len(self.shares),))

    def key(self, function: str) -> str:
        """Hash of all rows and of where their inputs are."""
        return content_hash(
            f"loops {[c.key for c in self.constraints]} {self.parameters} {self.link_of} {self.clock}", []
        )

    def build(self, function: str) -> Program:
        """The function's program."""
        graph, outputs, shares = Graph(), list[Scalar](), list[Scalar]()
        known = MeasuredInputs(self.measured, graph)
        for constraint, keys, links in zip(self.constraints, self._gradients, self.links, strict=True):
            rows = constraint.rows
            flat = [0.0 if rows.phi is None else rows.phi, rows.psi, rows.bias, *(rows.gradient[key] for key in keys)]
            told = substitute(flat, known)
            sides = {link: array(np.zeros(6)) for link in links}
            for key, slope in zip(keys, told[TOLD:], strict=True):
                if key[0] == RATE:
                    shares.append(slope)
                elif self.link_of[key[1]] != WORLD:
                    known.bodies[key[1]].push(sides[self.link_of[key[1]]], key[0], int(np.int64(key[2])), slope)
            outputs += [*told[:TOLD], *(x for side in sides.values() for x in side)]
        sizes = [*self.measured.sizes, ("parameters", len(self.parameters))]
        return schedule(function, sizes, [("out", outputs + shares)])

    def kernel(self, function: str, report: Callable[[float], None] | None) -> None:
        """None: the function has one program."""

    def driver(self, function: str) -> None:
        """None: there is no loop around it."""

    def label(self, segment: str, index: int) -> str:
        """Name of one number, for messages."""
        return f"number {index}"

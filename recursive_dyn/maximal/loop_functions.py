"""The rows of a scene's constraints by themselves as machine code, over what bodies and coordinates do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.evaluator import Signature
from recursive_dyn.graph.expression import Graph, Scalar, substitute
from recursive_dyn.graph.program import Program, content_hash, schedule
from recursive_dyn.model.constraint import BIAS, COORDINATE, POSITION, RATE, ROTATION, SPIN, VELOCITY, Constraint

ROWS = "rows"
OF_BODY = 24  # numbers of a body: position, rotation row by row, velocity, spin, rates of these two at rest
_AT = {(POSITION,): 0, (ROTATION,): 3, (VELOCITY,): 12, (SPIN,): 15, (BIAS, VELOCITY): 18, (BIAS, SPIN): 21}


class LoopFunctions:
    """The function "rows" of constraints, for an Evaluator: of every row phi, psi, psi's rate at no acceleration, then
    the derivatives of psi by what moves in ``gradients``, one list a row.

    Inputs: 24 numbers of each of ``bodies``; positions and rates of each of ``coordinates``, (place, slot).
    """

    owner = "these constraints need"

    def __init__(self, constraints: Sequence[Constraint], parameters: Sequence[str]) -> None:
        self.constraints, self.parameters = tuple(constraints), tuple(parameters)
        keys = [node.args[0] for c in constraints for node in c.inputs]
        self.gradients = [sorted(c.rows.gradient, key=str) for c in constraints]
        named = [key for key in keys if key[0] in (COORDINATE, RATE)]
        self.coordinates = sorted({key[1] for key in named}, key=lambda where: where[1])
        self.bodies = sorted({key[1] for key in keys if (key[0],) in _AT})

    def __reduce__(self) -> Any:
        return LoopFunctions, (self.constraints, self.parameters)

    def signature(self, function: str) -> Signature:
        """Bodies, then coordinates."""
        size = sum(3 + len(own) for own in self.gradients)
        return Signature((("bodies", OF_BODY * len(self.bodies)), ("coordinates", 2 * len(self.coordinates))), (size,))

    def key(self, function: str) -> str:
        """Hash of all rows and of where their inputs are."""
        return content_hash(f"loops {[c.key for c in self.constraints]} {self.parameters}", [])

    def build(self, function: str) -> Program:
        """The function's program."""
        graph, outputs = Graph(), list[Scalar]()
        for constraint, own in zip(self.constraints, self.gradients, strict=True):
            rows = constraint.rows
            flat = [0.0 if rows.phi is None else rows.phi, rows.psi, rows.bias, *(rows.gradient[key] for key in own)]
            outputs += substitute(flat, _Inputs(self, graph))
        sizes = [*self.signature(function).inputs, ("parameters", len(self.parameters))]
        return schedule(function, sizes, [("out", outputs)])

    def input(self, graph: Graph, key: Any) -> Scalar:
        """The program's input for an input of a row."""
        kind = key[0]
        if kind == "parameter":
            return graph.input(("parameters", self.parameters.index(key[1])))
        if kind in (COORDINATE, RATE):
            return graph.input(("coordinates", 2 * self.coordinates.index(key[1]) + (kind == RATE)))
        head, rest = ((BIAS, key[1]), key[2:]) if kind == BIAS else ((kind,), key[1:])
        owner, *component = rest
        place = 3 * component[0] + component[1] if kind == ROTATION else component[0]
        return graph.input(("bodies", OF_BODY * self.bodies.index(owner) + _AT[head] + place))

    def kernel(self, function: str, report: Callable[[float], None] | None) -> None:
        """None: the function has one program."""

    def driver(self, function: str) -> None:
        """None: there is no loop around it."""

    def label(self, segment: str, index: int) -> str:
        """Name of one number, for messages."""
        return f"number {index}"


class _Inputs(dict[Any, Scalar]):
    """Inputs of rows as those of the program, made as they are met."""

    def __init__(self, functions: LoopFunctions, graph: Graph) -> None:
        super().__init__()
        self._made: Callable[[Any], Scalar] = lambda key: functions.input(graph, key)

    def __missing__(self, key: Any) -> Scalar:
        value = self[key] = self._made(key)
        return value


def moves(key: Any) -> tuple[str, Any, int]:
    """Kind, owner and component of an input by which a row has a derivative; a coordinate's owner is its slot."""
    return (RATE, key[1][1], 0) if key[0] == RATE else (key[0], key[1], int(np.int64(key[2])))

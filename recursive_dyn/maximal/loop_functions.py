"""The rows of a scene's constraints by themselves as machine code, over what bodies and coordinates do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.function_list import Signature
from recursive_dyn.graph.expression import Graph, Scalar, array, substitute
from recursive_dyn.graph.program import Program, content_hash, schedule
from recursive_dyn.model.constraint import BIAS, COORDINATE, POSITION, RATE, ROTATION, SPIN, VELOCITY, Constraint
from recursive_dyn.model.model import WORLD
from recursive_dyn.spatial.algebra import cross
from recursive_dyn.spatial.rotations import quaternion_to_matrix

ROWS = "rows"
_MEASURED = POSITION, ROTATION, VELOCITY, SPIN
TOLD = 3  # numbers of a row before its coefficients: phi, psi, psi's rate at no acceleration


class LoopFunctions:
    """The function "rows" of constraints, for an Evaluator. links: of every row, those that it has coefficients of
    without its ``shares``, and these: (row, slot) of joint coordinates whose rates it has shares of.

    Inputs: of each of ``bodies`` its link's position and quaternion, its link's twist in own axes, and the first three
    rows of its frame in its link; positions and rates of each of ``coordinates``, (place, slot). Outputs: of every row
    phi, psi, psi's rate where the twists' components stay, then derivatives of psi by the twist of each of its links;
    in the end the shares.
    """

    owner = "these constraints need"

    def __init__(self, constraints: Sequence[Constraint], parameters: Sequence[str], link_of: Sequence[int]) -> None:
        """link_of: the link of each of the model's bodies, WORLD for none."""
        self.constraints, self.parameters, self.link_of = tuple(constraints), tuple(parameters), tuple(link_of)
        keys = [node.args[0] for c in constraints for node in c.inputs]
        gradients = [sorted(c.rows.gradient, key=str) for c in constraints]
        named = [key for key in keys if key[0] in (COORDINATE, RATE)]
        self.coordinates = sorted({key[1] for key in named}, key=lambda where: where[1])
        self.bodies = sorted({key[1] for key in keys if key[0] in _MEASURED})
        self.links = [sorted({self.link_of[key[1]] for key in own if key[0] != RATE} - {WORLD}) for own in gradients]
        self.shares = [(k, key[1][1]) for k, own in enumerate(gradients) for key in own if key[0] == RATE]
        self._gradients = gradients

    def __reduce__(self) -> Any:
        return LoopFunctions, (self.constraints, self.parameters, self.link_of)

    @property
    def inputs(self) -> list[tuple[str, int]]:
        """Names and sizes of what it is a function of, without parameters."""
        n = len(self.bodies)
        return [("poses", 7 * n), ("twists", 6 * n), ("frames", 12 * n), ("coordinates", 2 * len(self.coordinates))]

    @property
    def starts(self) -> list[int]:
        """Where each row's numbers begin, and where the shares do."""
        return [0, *np.cumsum([TOLD + 6 * len(own) for own in self.links]).tolist()]

    def signature(self, function: str) -> Signature:
        """One vector of all rows."""
        return Signature(tuple(self.inputs), (self.starts[-1] + len(self.shares),))

    def key(self, function: str) -> str:
        """Hash of all rows and of where their inputs are."""
        return content_hash(f"loops {[c.key for c in self.constraints]} {self.parameters} {self.link_of}", [])

    def build(self, function: str) -> Program:
        """The function's program."""
        graph, outputs, shares = Graph(), list[Scalar](), list[Scalar]()
        known = _Inputs(self, graph)
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
        sizes = [*self.inputs, ("parameters", len(self.parameters))]
        return schedule(function, sizes, [("out", outputs + shares)])

    def kernel(self, function: str, report: Callable[[float], None] | None) -> None:
        """None: the function has one program."""

    def driver(self, function: str) -> None:
        """None: there is no loop around it."""

    def label(self, segment: str, index: int) -> str:
        """Name of one number, for messages."""
        return f"number {index}"


class _Body:
    """What rows measure of a body, of its link's pose (7,) and twist (6,) and its frame (12,) in the link."""

    def __init__(self, pose: np.ndarray, twist: np.ndarray, frame: np.ndarray) -> None:
        rows = frame.reshape(3, 4)
        self._turned, self._arm = quaternion_to_matrix(pose[3:]), rows[:, 3]
        at_origin = twist[3:] + cross(twist[:3], self._arm)
        self.values = {
            (POSITION,): pose[:3] + self._turned @ self._arm, (ROTATION,): self._turned @ rows[:, :3],
            (VELOCITY,): self._turned @ at_origin, (SPIN,): self._turned @ twist[:3],
            (BIAS, VELOCITY): self._turned @ cross(twist[:3], at_origin), (BIAS, SPIN): array(np.zeros(3)),
        }  # fmt: skip

    def push(self, side: np.ndarray, kind: str, component: int, slope: Scalar) -> None:
        """Add to the derivatives by its link's twist (6,) what one by its velocity or spin is."""
        way = self._turned[component] * slope
        if kind == VELOCITY:
            side[3:] += way
            side[:3] += cross(self._arm, way)
        else:
            side[:3] += way


class _Inputs(dict[Any, Scalar]):
    """Inputs of rows as scalars of the program, made as they are met."""

    def __init__(self, functions: LoopFunctions, graph: Graph) -> None:
        super().__init__()
        self._functions, self._graph = functions, graph
        given = [graph.inputs(name, n) for name, n in functions.inputs]
        rows = [x.reshape(len(functions.bodies), size) for x, size in zip(given, (7, 6, 12), strict=False)]
        self.bodies = {body: _Body(*(x[k] for x in rows)) for k, body in enumerate(functions.bodies)}
        self._coordinates = given[3]

    def __missing__(self, key: Any) -> Scalar:
        value = self[key] = self._made(key)
        return value

    def _made(self, key: Any) -> Scalar:
        kind = key[0]
        if kind == "parameter":
            return self._graph.input(("parameters", self._functions.parameters.index(key[1])))
        if kind in (COORDINATE, RATE):
            return self._coordinates[2 * self._functions.coordinates.index(key[1]) + (kind == RATE)]
        head, rest = ((BIAS, key[1]), key[2:]) if kind == BIAS else ((kind,), key[1:])
        owner, *component = rest
        return self.bodies[owner].values[head][tuple(component)]

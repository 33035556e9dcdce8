"""Coordinates that follow others, of joints between free bodies: where they are, and their rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.function_list import Signature
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.graph.expression import Graph, Scalar
from recursive_dyn.graph.program import Program, content_hash, schedule
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.maximal.kinds.joint_evaluator import evaluator_of
from recursive_dyn.maximal.shared.loosening import Loosened
from recursive_dyn.model.constraint import COORDINATE, RATE

Array = np.ndarray

FOLLOWING = "following"


class FollowingFunctions:
    """The function "following" of q (nq,) and v (nv,), for an Evaluator: values and speeds over inputs
    (COORDINATE, (place, slot)), (RATE, (place, slot)) and ("parameter", name)."""

    owner = "these joints need"

    def __init__(
        self, values: Sequence[Scalar], speeds: Sequence[Scalar], nq: int, nv: int, parameters: Sequence[str]
    ) -> None:
        self.scalars, self.values, self.speeds = [*values, *speeds], tuple(values), tuple(speeds)
        self.nq, self.nv, self.parameters = nq, nv, tuple(parameters)

    def __reduce__(self) -> Any:
        return FollowingFunctions, (self.values, self.speeds, self.nq, self.nv, self.parameters)

    def signature(self, function: str) -> Signature:
        """One vector."""
        return Signature((("q", self.nq), ("v", self.nv)), (len(self.scalars),))

    def key(self, function: str) -> str:
        """Hash of all values and of where their inputs are."""
        return content_hash(f"following {self.nq} {self.nv} {self.parameters}", self.scalars)

    def build(self, function: str) -> Program:
        """The function's program."""
        graph = Graph()
        q, v = graph.inputs("q", self.nq), graph.inputs("v", self.nv)
        inputs = dict[Any, Scalar]()
        for node in reachable(self.scalars):
            if node.op == "input":
                kind, where = node.args[0]
                if kind in (COORDINATE, RATE):
                    inputs[node.args[0]] = q[where[0]] if kind == COORDINATE else v[where[1]]
                else:
                    inputs[node.args[0]] = graph.input(("parameters", self.parameters.index(where)))
        found = substitute(self.scalars, inputs)
        given = [("q", self.nq), ("v", self.nv), ("parameters", len(self.parameters))]
        return schedule(function, given, [("out", found)])

    def kernel(self, function: str, report: Callable[[float], None] | None) -> None:
        """None: the function has one program."""

    def driver(self, function: str) -> None:
        """None: there is no loop around it."""

    def label(self, segment: str, index: int) -> str:
        """Name of one number, for messages."""
        return f"coordinate {index}"


class FollowedCoordinates:
    """What all coordinates of joints are, of those that a scene has."""

    def __init__(self, loose: Loosened, nq: int, nv: int) -> None:
        self._count, names = len(loose.values), [name for name, _ in loose.model.parameters]
        self._functions = FollowingFunctions(loose.values, loose.speeds, nq, nv, names)
        self._parameters = Parameters(loose.model.parameters)

    def extended(self, q: Array, v: Array, parameters: Array) -> tuple[Array, Array]:
        """q (..., nq) and v (..., nv) with those that follow after them."""
        if not self._count:
            return q, v
        evaluator = evaluator_of(self._functions, self._parameters)
        evaluator.parameters.values_array[:] = parameters
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        q, v = (np.broadcast_to(x, (*lead, x.shape[-1])) for x in (q, v))
        places, rates = np.split(evaluator.call(FOLLOWING, q, v), [self._count], axis=-1)
        return np.concatenate([q, places], axis=-1), np.concatenate([v, rates], axis=-1)

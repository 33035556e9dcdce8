"""One kind of joint by itself as machine code: its pose, S and S-dot q-dot, and its way along velocities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.function_list import Signature
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.graph.program import Program, schedule
from recursive_dyn.joint.charted_program import CHART
from recursive_dyn.joint.joint_program import JointProgram

MOTION, MOVED = "motion", "moved"


class JointFunctions:
    """Functions of one joint G(q), for an Evaluator; ``parameters``: names of all of the scene's; ``chart``: that which
    says which chart is in force, None for a joint of one.

    "motion" of q, v: the first three rows of G, S (6, nv) row by row, S-dot v; "moved" of q, v: q after moving along v
    for a unit of time.
    """

    owner = "this joint needs"

    def __init__(self, joint: JointProgram, parameters: Sequence[str], chart: str | None = None) -> None:
        self.joint, self.parameters, self.chart = joint, tuple(parameters), chart

    def __reduce__(self) -> Any:
        return JointFunctions, (self.joint, self.parameters, self.chart)

    def signature(self, function: str) -> Signature:
        """Both take q and v."""
        if function not in (MOTION, MOVED):
            raise ModelError(f"unknown function '{function}' of a joint; there are {MOTION}, {MOVED}")
        nq, nv = self.joint.nq, self.joint.nv
        return Signature((("q", nq), ("v", nv)), (18 + 6 * nv if function == MOTION else nq,))

    def key(self, function: str) -> str:
        """The joint's content hash, and where its parameters are found."""
        own = [
            (k, name) for k, name in enumerate(self.parameters) if name in self.joint.parameters or name == self.chart
        ]
        return f"joint {self.joint.key} {function} {len(self.parameters)} {own}"

    def build(self, function: str) -> Program:
        """The function's program."""
        graph, joint = Graph(), self.joint
        q, v = graph.inputs("q", joint.nq), graph.inputs("v", joint.nv)
        outputs = self._moved(q, v) if function == MOVED else self._motion(graph, q, v)
        inputs = [("q", joint.nq), ("v", joint.nv), ("parameters", len(self.parameters))]
        return schedule(function, inputs, [("out", outputs)])

    def _motion(self, graph: Graph, q: np.ndarray, v: np.ndarray) -> list[Scalar]:
        inputs: dict[Any, Scalar] = {("q", i): x for i, x in enumerate(q)} | {("v", i): x for i, x in enumerate(v)}
        inputs |= {("parameter", name): graph.input(("parameters", k)) for k, name in enumerate(self.parameters)}
        if self.chart is not None:
            inputs[CHART] = graph.input(("parameters", self.parameters.index(self.chart)))
        known = self.joint.kinematics().instantiate(inputs)
        return [*known.pose[:3].flat, *known.subspace.flat, *known.bias]

    def _moved(self, q: np.ndarray, v: np.ndarray) -> list[Scalar]:
        result: list[Scalar] = []
        for f in self.joint.factors:
            point, way = q[f.first_q : f.first_q + f.nq], v[f.first_v : f.first_v + f.nv]
            result += list(array(f.space.exp(point, way))) if f.nv else []
        return result

    def kernel(self, function: str, report: Callable[[float], None] | None) -> None:
        """None: every function has one program."""

    def driver(self, function: str) -> None:
        """None: there is no loop around any."""

    def label(self, segment: str, index: int) -> str:
        """Name of one number, for messages."""
        return f"coordinate {index}"

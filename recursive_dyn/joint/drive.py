"""Joint coordinates as functions of shared ones, q_i = q_i(q): mimics, gears, cams, closed loops with a closed form.

The shared coordinates are embedded: with Phi = dq_i/dq a link moves by S Phi and its bias gains S Phi-dot q-dot, so
that M = Phi^T M_tree Phi without the tree's own coordinates ever appearing (Guenter & Lee 2009, section 5, figure 5d).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Graph, Scalar, array
from recursive_dyn.graph.program import content_hash
from recursive_dyn.graph.simplify import merge_identical
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.spatial.algebra import dot


@dataclass(frozen=True, eq=False)
class DrivenCoordinates:
    """A joint's own coordinates (n,), Phi = dq_i/dq (n, k) and Phi-dot q-dot (n,)."""

    values: np.ndarray
    phi: np.ndarray
    bias: np.ndarray


@dataclass(frozen=True, eq=False)
class Drive:
    """``values`` (n,): a joint's coordinates over the inputs ("q", j) of ``count`` shared coordinates and
    ("parameter", name) of ``graph``."""

    graph: Graph
    values: np.ndarray
    count: int

    @cached_property
    def key(self) -> str:
        """Content hash."""
        return content_hash(f"drive {self.count}", list(self.values))

    @cached_property
    def derived(self) -> DrivenCoordinates:
        """Values and derivatives in the drive's own graph; velocities are the inputs ("v", j)."""
        columns = [
            directional_derivative(list(self.values), {self.graph.input(("q", j)): 1.0}) for j in range(self.count)
        ]
        merged = array(merge_identical([*self.values, *(x for column in columns for x in column)]))
        n = len(self.values)
        values, phi = merged[:n], merged[n:].reshape(self.count, n).T
        v = self.graph.inputs("v", self.count)
        along = {self.graph.input(("q", j)): v[j] for j in range(self.count)}
        bias = merge_identical(directional_derivative([dot(row, v) for row in phi], along))
        return DrivenCoordinates(values, phi, array(bias))

    def instantiate(self, inputs: Mapping[Any, Scalar]) -> DrivenCoordinates:
        """The derived expressions with this drive's inputs replaced by scalars of another graph."""
        derived = self.derived
        n = len(derived.values)
        flat = array(substitute([*derived.values, *derived.phi.flat, *derived.bias], inputs))
        return DrivenCoordinates(flat[:n], flat[n : n + n * self.count].reshape(n, self.count), flat[-n:])


def drive(expressions: Sequence[Scalar], places: Mapping[str, int]) -> Drive:
    """A drive of expressions over inputs ("parameter", name); ``places`` numbers the names that are coordinates."""
    graph = Graph()
    inputs: dict[Any, Scalar] = {}
    for node in reachable(expressions):
        if node.op == "input":
            name = node.args[0][1]
            inputs[node.args[0]] = graph.input(("q", places[name]) if name in places else node.args[0])
    return Drive(graph, array(substitute(list(expressions), inputs)), len(places))


def names_in(scalars: Sequence[Scalar]) -> list[str]:
    """Names of the inputs ("parameter", name) below the scalars, in order of creation."""
    nodes = reachable(scalars)
    return [n.args[0][1] for n in nodes if n.op == "input" and n.args[0][0] == "parameter"]

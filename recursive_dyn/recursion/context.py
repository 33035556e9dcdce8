"""What a function of a model is built with: its inputs by name, the shape of its outputs, and the tree it works on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Expression, Graph, Scalar, array
from recursive_dyn.model.model import Model, once
from recursive_dyn.recursion import multipliers as constraints
from recursive_dyn.recursion.equations import forward_dynamics, lagrangian, trace_form
from recursive_dyn.recursion.equations.common_solve import CommonSolve
from recursive_dyn.recursion.equations.dense_operations import Solve
from recursive_dyn.recursion.equations.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.equations.mass_matrix import mass_matrix
from recursive_dyn.recursion.forces.pushed_bodies import PUSH
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.tree_rows import Rows

Outputs = list[tuple[str, list[Scalar]]]
OF_BODIES = {
    "wrenches": 6,
    "velocities": 6,
    "poses": 16,
    "points": 3,
    "weights": 2,
    "pushes": PUSH,
}  # numbers a body of a segment
RECURSIVE, LAGRANGIAN, TRACE, METHOD_TWO, AUTO = "recursive", "lagrangian", "trace", "method_two", "auto"
ALONG = "along "  # before the name of a segment: rates of its numbers


@dataclass(frozen=True)
class Function:
    """One function of a model: what it means, input segments by name, shape of all outputs together, how it is built.

    meaning: for headers and tables, first line a sentence; SI units, angular parts first. solves: for accelerations, by
    the method chosen. exported: written as C; constrained: only where the model has constraints.

    rows: where the outputs of a forest's trees go in those of the whole; None for a function that is not of trees.
    sums: how many of the last outputs that are built are sums over trees, of which ``total`` makes the last outputs.
    configuration: whether the first outputs are a configuration, the numbers of a point and not of a vector.
    common: whether it is built on the solve that timesteps of a model have in common (``equations.common_solve``).
    """

    meaning: str
    inputs: tuple[str, ...]
    shape: Callable[[Model], tuple[int, ...]]
    build: Callable[[Context], Outputs]
    solves: bool = False
    exported: bool = False
    constrained: bool = False
    rows: Rows | None = None
    sums: int = 0
    total: Callable[[list[Scalar]], list[Scalar]] | None = None
    configuration: bool = False
    common: bool = False

    def outputs(self, c: Context) -> Outputs:
        """What the whole function gives."""
        built = self.build(c)
        if self.total is None:
            return built
        *others, (label, values) = built
        return [*others, (label, self.total(values))]


@dataclass(frozen=True, eq=False)
class Context:
    """What a builder works with: the tree over q (and v), the graph's other inputs, the chosen method.

    solves: for accelerations, as far as they were asked for. common: what stands for one of them, if there is such a
    thing; bound: its inputs, once it does.
    """

    tree: Tree
    model: Model
    graph: Graph
    method: str
    solves: list[Solve] = field(default_factory=list)
    common: CommonSolve | None = None
    bound: dict[Expression, Scalar] = field(default_factory=dict)

    def input(self, name: str) -> np.ndarray:
        """The input segment of that name, (nb, n) where it has n numbers a body."""
        segment = self.graph.inputs(name, segment_size(self.model, name))
        return segment.reshape(-1, OF_BODIES[name]) if name in OF_BODIES else segment

    def still(self) -> Tree:
        """The same tree at rest."""
        return Tree(self.model, self.graph, v=array(np.zeros(self.model.nv)))

    def accelerations(
        self,
        tree: Tree,
        tau: Sequence[Scalar],
        diagonal: list[Scalar] | None = None,
        bias: constraints.Bias | None = None,
    ) -> list[Scalar]:
        """Forward dynamics by the chosen method; ``bias``: what a step asks of the constraints instead of C-dot v."""
        return self.solved(tree, tau, diagonal, bias).a

    def motion(
        self,
        tree: Tree,
        tau: Sequence[Scalar],
        diagonal: list[Scalar] | None = None,
        yielding: Sequence[constraints.YieldingRow] = (),
    ) -> constraints.HeldMotion:
        """Forward dynamics, with the forces of the constraints and of rows that yield."""
        return self.solved(tree, tau, diagonal, None, yielding)

    def answering(
        self, tree: Tree, yielding: Sequence[constraints.YieldingRow], diagonal: Sequence[Scalar] | None = None
    ) -> list[constraints.AnsweringRow]:
        """What rows do, where nothing but ``diagonal`` adds to M."""
        return constraints.answering(self._solver.factors(tree, diagonal), yielding)

    def solved(
        self,
        tree: Tree,
        tau: Sequence[Scalar],
        diagonal: list[Scalar] | None = None,
        bias: constraints.Bias | None = None,
        yielding: Sequence[constraints.YieldingRow] = (),
    ) -> constraints.HeldMotion:
        """What ``accelerations`` and ``motion`` are made of."""
        first, common = len(self.graph), self._bound(tree, tau, diagonal)
        if common is None:
            # a tree of other masses, of weights, is no motion's: no trace form is asked of it
            solver = lagrangian if self.method == TRACE and tree.model is not self.model else self._solver
            factors, c = solver.free_motion(tree, tau, diagonal)
        else:
            factors, c = common.factors, common.c
        if tree.model.constraints or yielding:
            found = constraints.forward_dynamics(tree, factors, c, bias, yielding)
        else:
            a = common.a if common else tree.accelerated(factors.expand(c))
            found = constraints.HeldMotion(a, [], [0.0] * tree.model.nv, [])
        own = (first, len(self.graph))
        self.solves.append(Solve(tree, (own,) if common is None else (common.nodes, own)))
        return found

    def _bound(self, tree: Tree, tau: Sequence[Scalar], diagonal: Sequence[Scalar] | None) -> CommonSolve | None:
        """The common solve where it may stand for this one."""
        common = self.common
        fits = common is not None and tree.links is common.tree.links and common.bind(self.bound, tau, diagonal)
        return common if fits else None

    def inverse_dynamics(self, tree: Tree, acceleration: np.ndarray | None) -> list[Scalar]:
        """Generalized forces for accelerations, None for zero, by the chosen method."""
        by = trace_form.inverse_dynamics if self.method == TRACE else inverse_dynamics
        return by(tree, acceleration)

    def mass_matrix(self) -> np.ndarray:
        """M (nv, nv) by the chosen method."""
        return trace_form.mass_matrix(self.tree) if self.method == TRACE else mass_matrix(self.tree)

    @property
    def _solver(self) -> Any:
        by = {RECURSIVE: forward_dynamics, METHOD_TWO: forward_dynamics, TRACE: trace_form}
        return by.get(self.method, lagrangian)

    def constrained_motion(self) -> Outputs:
        """Accelerations, and Lagrange multipliers of the constraints, at the state."""
        found = constraints.forward_dynamics(self.tree, *self._solver.free_motion(self.tree, list(self.input("tau"))))
        return [("a", found.a), ("lambda", found.multipliers)]

    def multipliers(self) -> list[Scalar]:
        """Lagrange multipliers of the constraints at the state."""
        return self.constrained_motion()[1][1]

    def projected(self) -> Outputs:
        """A step onto the constraints, and how far the state was from them."""
        q, v, error = constraints.projected(self.tree, self._solver.factors(self.tree))
        return [("q", q), ("v", v), ("error", error)]

    @cached_property
    def rows(self) -> constraints.ConstraintRows:
        """The constraints' rows at the state."""
        return constraints.constraint_rows(self.tree)


def segment_size(model: Model, name: str) -> int:
    """Length of an input segment, or of one of rates."""
    return segment_sizes(model)[name.removeprefix(ALONG)]


@once
def segment_sizes(model: Model) -> dict[str, int]:
    """Lengths of all input segments by name."""
    return {
        "q": model.nq, "q_end": model.nq, "v": model.nv, "a": model.nv, "tau": model.nv, "v_middle": model.nv,
        "v_end": model.nv, "a_end": model.nv, "diagonal": model.nv, "bouncing": model.nv,
        "ahead": 1, "whole": 1, "a_before": model.nv, "v_before": model.nv,
        "dt": 1, "parameters": len(model.parameters),
        **{segment: columns * model.nb for segment, columns in OF_BODIES.items()},
    }  # fmt: skip

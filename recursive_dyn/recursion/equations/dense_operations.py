"""How many operations a function takes at least by M and its factors (``equations.lagrangian``), not all written down.

What is outside of the solve for accelerations is the same by both methods: its operations are counted in the graph of
the recursion. Of the solve itself, bias and M are the same in all functions of a model, and where M has zeros says what
its factors take. Products that two of these parts have in common are counted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.graph.columns import INPUT, OPCODES, columns_of
from recursive_dyn.graph.expression import Expression, Graph, Scalar
from recursive_dyn.graph.traversal import reachable
from recursive_dyn.model.model import Model, once
from recursive_dyn.recursion.equations.lagrangian import free_motion
from recursive_dyn.recursion.kinematics import Tree

_FREE = ("input", "neg")  # as ``OperationCount.total`` has it
_FREE_CODES = (INPUT, OPCODES["neg"])
_OF_STATES = ("q", "v", "parameters")


class Solve(NamedTuple):
    """A solve for accelerations of a tree; nodes: ranges of their indices, from each first one on, below its end."""

    tree: Tree
    nodes: tuple[tuple[int, int], ...]


@once
def solve_operations(model: Model) -> int:
    """The operations of a solve at a state q, v under no forces, of which others have no fewer."""
    graph = Graph()
    factors, c = free_motion(Tree(model, graph), [0.0] * model.nv)
    result = _count(reachable(factors.expand(c)))
    graph.forget()
    return result


def operations_around(tree: Tree, solves: Sequence[Solve], outputs: Iterable[Scalar]) -> int:
    """The operations of a graph besides its one solve of this tree that need more than the state, so that they are not
    among those of ``solve_operations``. 0 where several are solved, or other trees."""
    if len(solves) != 1 or solves[0].tree.links is not tree.links:
        return 0
    columns = columns_of(tree.graph)
    rows = columns.rows(tree.graph)
    nodes = columns.needed([x.index for x in outputs if type(x) is Expression])
    inputs = nodes[rows[nodes, 0] == INPUT].tolist()
    around = ~columns.without({k for k in inputs if tree.graph.node(k).args[0][0] not in _OF_STATES}, nodes)
    for first, end in solves[0].nodes:
        around &= (nodes < first) | (nodes >= end)
    return int((around & ~np.isin(rows[nodes, 0], _FREE_CODES)).sum())


def _count(nodes: Iterable[Expression]) -> int:
    return sum(node.op not in _FREE for node in nodes)

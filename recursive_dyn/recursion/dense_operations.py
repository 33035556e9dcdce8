"""How many operations a function takes at least by M and its factors (``recursion.lagrangian``), not all written down.

What is outside of the solve for accelerations is the same by both methods: its operations are counted in the graph of
the recursion. Of the solve itself, bias and M are the same in all functions of a model, and where M has zeros says what
its factors take. Products that two of these parts have in common are counted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recursive_dyn.graph.expression import Expression, Graph, Scalar, reachable
from recursive_dyn.model.model import Model, once
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.lagrangian import free_motion

_FREE = ("input", "neg")  # as ``OperationCount.total`` has it
_OF_STATES = ("q", "v", "parameters")


class Solve(NamedTuple):
    """A solve for accelerations of a tree; its nodes have indices from ``first`` on, and below ``end``."""

    tree: Tree
    first: int
    end: int


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
    _, first, end = solves[0]
    known, around = set[int](), list[Expression]()  # by index, what is of the state alone
    for node in reachable(outputs):
        if node.op == "input":
            own = node.args[0][0] in _OF_STATES
        else:
            own = all(type(a) is not Expression or a.index in known for a in node.args)
        if own:
            known.add(node.index)
        elif not first <= node.index < end:
            around.append(node)
    return _count(around)


def _count(nodes: Iterable[Expression]) -> int:
    return sum(node.op not in _FREE for node in nodes)

"""What expressions depend on, and what they become: of graphs, from arguments to their users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Expression, Scalar, combine


def reachable(outputs: Iterable[Scalar]) -> list[Expression]:
    """Every node that the outputs depend on, in creation order (arguments before their users), graph by graph."""
    listed = list(outputs)
    groups = by_graph(listed)
    if len(groups) > 1:
        return [node for places in groups for node in reachable(listed[k] for k in places)]
    stack = [o for o in listed if type(o) is Expression]
    found: dict[int, Expression] = {o.index: o for o in stack}
    while stack:
        for a in stack.pop().args:
            if type(a) is Expression and a.index not in found:
                found[a.index] = a
                stack.append(a)
    return [found[i] for i in sorted(found)]


def by_graph(outputs: Sequence[Scalar]) -> list[list[int]]:
    """Places of the outputs that are of one graph, for each graph in the order of its first: nodes of several have the
    same places in theirs."""
    groups: dict[int, list[int]] = {}
    for k, output in enumerate(outputs):
        if type(output) is Expression:
            groups.setdefault(id(output.graph), []).append(k)
    return list(groups.values())


def substitute(outputs: Sequence[Scalar], inputs: Mapping[Any, Scalar]) -> list[Scalar]:
    """The outputs with every input replaced, by name, with a scalar (of another graph, or a number)."""
    return _made_of(outputs, inputs, combine)


def _made_of(outputs: Sequence[Scalar], inputs: Mapping[Any, Any], make: Callable[[str, list[Any]], Any]) -> list[Any]:
    result: list[Any] = list(outputs)
    for places in by_graph(outputs):
        value: dict[int, Any] = {}
        for node in reachable(outputs[k] for k in places):
            args = [value[a.index] if type(a) is Expression else a for a in node.args]
            value[node.index] = inputs[args[0]] if node.op == "input" else make(node.op, args)
        for k in places:
            result[k] = value[result[k].index]
    return result


def evaluate(outputs: Sequence[Scalar], inputs: Mapping[Any, Any]) -> list[Any]:
    """Numerical values of the outputs, node by node; inputs may be floats or equally shaped NumPy arrays."""
    with np.errstate(all="ignore"):
        return _made_of(outputs, inputs, lambda op, args: FUNCTIONS[op](*args))

"""Nodes in the order in which a program computes them, where inputs of a part of it may stand for other scalars.

Nodes come as they were created, but what bound inputs stand for comes first: it may be younger than what needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.columns import NONE, columns_of
from recursive_dyn.graph.expression import Expression, Graph, Scalar


@dataclass(frozen=True, eq=False)
class Listing:
    """Of nodes, inputs among them: indices in the graph, codes and arguments (n, 3); and results.

    Arguments and results are positions in this list, or numbers as ``Columns`` has them.
    """

    nodes: np.ndarray
    codes: np.ndarray
    arguments: np.ndarray
    results: np.ndarray


def listing(graph: Graph, outputs: Sequence[Scalar], bound: Mapping[Expression, Scalar]) -> Listing:
    """What outputs need; bound: inputs that stand for scalars, which do not depend on such inputs themselves."""
    columns = columns_of(graph)
    rows = columns.rows(graph)
    results = np.array([columns.argument(x) for x in outputs], dtype=np.int64)
    nodes = columns.needed(results[results >= 0].tolist())
    place = np.full(len(rows), NONE)
    there = set(nodes.tolist()) if bound else set()
    stands = {x.index: columns.argument(value) for x, value in bound.items() if x.index in there}
    if stands:
        first = columns.needed([k for k in stands.values() if k >= 0])
        rest = np.setdiff1d(nodes, np.concatenate([first, np.array([*stands], dtype=np.int64)]))
        nodes = np.concatenate([first, rest])
    place[nodes] = np.arange(len(nodes))
    for k, other in stands.items():
        place[k] = place[other] if other >= 0 else other
    return Listing(nodes, rows[nodes, 0], _followed(place, rows[nodes, 1:]), _followed(place, results))


def _followed(place: np.ndarray, arguments: np.ndarray) -> np.ndarray:
    """Arguments that are positions as the positions at these places."""
    if not len(place):
        return arguments
    return np.where(arguments >= 0, place[np.maximum(arguments, 0)], arguments)

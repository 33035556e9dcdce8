"""A graph's nodes as columns of numbers, for passes over many of them: which ones are needed, how they are numbered."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any

import numpy as np

from recursive_dyn.graph.definitions import FUNCTIONS
from recursive_dyn.graph.expression import Expression, Graph

OPCODES = {op: code for code, op in enumerate(FUNCTIONS)}
INPUT = -1  # the code of inputs
NONE, FIRST = -1, -2  # no argument; the first one of numbers and tables, others below
_CODES = {**OPCODES, "input": INPUT}
_COLUMNS = 4


class Columns:
    """Of every node, in creation order: its code, and three arguments.

    An argument is the index of a node, NONE, or FIRST - k for the k-th of ``given``, numbers and tables by value.
    """

    def __init__(self) -> None:
        self.given: dict[Any, int] = {}
        self._lists: tuple[list[int], ...] = tuple([] for _ in range(_COLUMNS))
        self._rows = np.empty((0, _COLUMNS), dtype=np.int64)

    def rows(self, graph: Graph) -> np.ndarray:
        """All of it (n, 4), of one graph."""
        codes, *columns = self._lists
        begin, (first, second, third), argument = len(codes), columns, self.argument
        for node in islice(graph, begin, None):
            op, args = node.op, node.args
            codes.append(_CODES[op])
            if len(args) == 2:  # as of sums and products, which nearly all are
                a, b = args
                first.append(a.index if type(a) is Expression else argument(a))
                second.append(b.index if type(b) is Expression else argument(b))
                third.append(NONE)
            else:
                own = [] if op == "input" else [argument(a) for a in args]
                for k, column in enumerate(columns):
                    column.append(own[k] if k < len(own) else NONE)
        if len(codes) > begin:
            self._rows = np.concatenate([self._rows, np.array([own[begin:] for own in self._lists]).T])
        return self._rows

    def cut(self, count: int) -> None:
        """Keep so many nodes, and what is given among their arguments."""
        for own in self._lists:
            del own[count:]
        self._rows = self._rows[:count]
        given = 1 + FIRST - int(self._rows[:, 1:].min(initial=NONE))
        for _ in range(len(self.given) - given):
            self.given.popitem()

    def needed(self, outputs: Sequence[int]) -> np.ndarray:
        """Indices, rising, of what nodes depend on, of those that ``rows`` has been asked for."""
        codes, first, second, third = self._lists
        used = bytearray(len(codes) + 2 + len(self.given))  # arguments that are no nodes mark what is behind
        for k in outputs:
            used[k] = 1
        for k in range(max(outputs, default=-1), -1, -1):
            if used[k]:
                used[first[k]] = used[second[k]] = used[third[k]] = 1
        return np.flatnonzero(np.frombuffer(used, dtype=np.uint8)[: len(codes)])

    def without(self, inputs: Collection[int], nodes: np.ndarray) -> np.ndarray:
        """Which of these nodes (n,), rising, with all that they need, depend on none of some inputs."""
        codes, first, second, third = self._lists
        free = bytearray(len(codes)) + b"\1" * (2 + len(self.given))  # as are arguments that are no nodes
        for k in nodes.tolist():
            if k not in inputs:
                free[k] = free[first[k]] & free[second[k]] & free[third[k]]
        return np.frombuffer(free, dtype=np.uint8)[nodes] > 0

    def argument(self, a: Any) -> int:
        """What stands for a scalar, or a table, among arguments."""
        if type(a) is Expression:
            return a.index
        return FIRST - self.given.setdefault(a if type(a) is tuple else float(a), len(self.given))


def columns_of(graph: Graph) -> Columns:
    """Those of a graph, which keeps them."""
    if graph.columns is None:
        graph.columns = Columns()
    result: Columns = graph.columns
    return result

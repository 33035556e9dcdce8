"""Hash-consed expression graph: every distinct value is one immutable node.

A scalar is a Python ``float`` (a constant) or an :class:`Expression`. Construction folds constants, 0, 1 and signs,
orders the operands of + and *, and returns the existing node when there is one, so common subexpressions cost nothing.
Recursions are written once over scalars: given floats they compute, given expressions they record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import add, mul, neg, sub
from typing import Any

import numpy as np

from recursive_dyn.graph.definitions import EVEN, ODD, elementwise, evaluate_number, table_values

Scalar = Any  # float | Expression: object arrays of either go through the same NumPy code


class Expression:
    """One node of a graph: an operation on earlier nodes or numbers. ``index`` is its place in creation order.

    Arithmetic with an array is the array's: element by element.
    """

    __slots__ = ("args", "graph", "index", "op")

    def __init__(self, graph: Graph, op: str, args: tuple[Any, ...], index: int) -> None:
        self.graph, self.op, self.args, self.index = graph, op, args, index

    def __add__(self, other: Scalar) -> Scalar:
        if type(other) is not Expression:
            return NotImplemented if type(other) is np.ndarray else self._plus(float(other))
        if other.op == "neg":
            return self - other.args[0]
        if self.op == "neg":
            return other - self.args[0]
        if self is other:
            return self * 2.0
        if self.op == "sub" and self.args[1] is other:
            return self.args[0]
        if other.op == "sub" and other.args[1] is self:
            return other.args[0]
        return self.graph.pair("add", self, other) if self.index < other.index else self.graph.pair("add", other, self)

    def __sub__(self, other: Scalar) -> Scalar:
        if type(other) is not Expression:
            return NotImplemented if type(other) is np.ndarray else self._plus(-float(other))
        if self is other:
            return 0.0
        if other.op == "neg":
            return self + other.args[0]
        if self.op == "neg":
            return -(self.args[0] + other)
        if self.op == "add":
            for x, y in (self.args, self.args[::-1]):
                if x is other:
                    return y
                if other.op == "add" and (x is other.args[0] or x is other.args[1]):  # (x + y) - (x + z), or numbers
                    return y - other.args[x is other.args[0]]
        if self.index > other.index:
            return -self.graph.pair("sub", other, self)
        return self.graph.pair("sub", self, other)

    def __mul__(self, other: Scalar) -> Scalar:
        if type(other) is not Expression:
            return NotImplemented if type(other) is np.ndarray else self._times(float(other))
        op, its = self.op, other.op
        if op == "neg":
            return -(self.args[0] * other)
        if its == "neg":
            return -(self * other.args[0])
        if (op == "reciprocal" and self.args[0] is other) or (its == "reciprocal" and other.args[0] is self):
            return 1.0
        if self is other and op == "sqrt":
            return self.args[0]
        return self.graph.pair("mul", self, other) if self.index <= other.index else self.graph.pair("mul", other, self)

    def __neg__(self) -> Scalar:
        if self.op == "neg":
            return self.args[0]
        if self.op == "add" and type(self.args[1]) is float and self.args[0].op == "neg":
            return self.args[0].args[0]._plus(-self.args[1])
        return self.graph.made("neg", self)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self._plus(-float(other))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        return NotImplemented if type(other) is np.ndarray else self * reciprocal(other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return reciprocal(self) * other

    def _plus(self, number: float) -> Scalar:
        if number == 0.0:
            return self
        if self.op == "add" and type(self.args[1]) is float:
            return self.args[0]._plus(self.args[1] + number)
        return self.graph.pair("add", self, number)

    def _times(self, number: float) -> Scalar:
        if number == 0.0:
            return 0.0
        if number < 0.0:
            return -self._times(-number)
        if number == 1.0:
            return self
        if self.op == "neg":
            return -self.args[0]._times(number)
        if self.op == "mul" and type(self.args[1]) is float:
            return self.args[0]._times(self.args[1] * number)
        return self.graph.pair("mul", self, number)

    def __reduce__(self) -> Any:
        return Graph.node, (self.graph, self.index)

    def __repr__(self) -> str:
        return f"%{self.index}" if self.op != "input" else str(self.args[0])


class Graph:
    """Owner and factory of expressions; nodes of one graph may be combined with each other only.

    Operators fold, and call ``pair`` and ``made`` for what is left. Copies list its nodes, however deep.
    """

    def __init__(self) -> None:
        self._nodes: dict[tuple[Any, ...], Expression] = {}
        self._listed: list[Expression] = []
        self.columns: Any = None  # of ``graph.columns``

    def __len__(self) -> int:
        return len(self._nodes)

    def forget(self) -> None:
        """Let go of all nodes, which hold the graph too, so that they need no collector of garbage."""
        self._nodes, self._listed, self.columns = {}, [], None

    def cut(self, count: int) -> None:
        """Keep so many nodes, those that were created first."""
        for _ in range(len(self._nodes) - count):
            self._nodes.popitem()
        self._listed = []
        if self.columns is not None:
            self.columns.cut(count)

    def __iter__(self) -> Iterator[Expression]:
        return iter(self._nodes.values())

    def __reduce__(self) -> Any:
        return _restored, ([(n.op, *_places(n)) for n in self._nodes.values()],)

    def node(self, index: int) -> Expression:
        """The expression of that index."""
        if len(self._listed) != len(self._nodes):
            self._listed = list(self._nodes.values())
        return self._listed[index]

    def input(self, name: Any) -> Expression:
        """The graph's input of that (hashable) name."""
        return self.made("input", name)

    def inputs(self, name: str, size: int) -> np.ndarray:
        """Vector of inputs ``(name, 0) ... (name, size - 1)``, an object array (size,)."""
        return array([self.input((name, i)) for i in range(size)])

    def pair(self, op: str, a: Expression, b: Scalar) -> Expression:
        """That operation on two arguments, as it is written; what folds has been."""
        key = op, a, b
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = Expression(self, op, (a, b), len(self._nodes))
        return node

    def made(self, op: str, *args: Any) -> Expression:
        """That operation on any arguments, as it is written."""
        node = self._nodes.get((op, *args))
        if node is None:
            node = self._nodes[op, *args] = Expression(self, op, args, len(self._nodes))
        return node

    def apply(self, op: str, *args: Scalar) -> Scalar:
        """The function ``op`` of :data:`FUNCTIONS` on scalars, folded when every one is a number."""
        if not any(type(a) is Expression for a in args):
            return evaluate_number(op, *args)
        if op == "table":
            values = table_values(args[1])
            return values[0] if len(set(values)) == 1 else self.made(op, args[0], values)
        if op == "floor" and args[0].op == "floor":
            return args[0]
        if (op in ODD or op in EVEN) and args[0].op == "neg":
            value = self.apply(op, args[0].args[0])
            return -value if op in ODD else value
        return self.made(op, *(a if type(a) is Expression else float(a) for a in args))


def _places(node: Expression) -> tuple[Any, ...]:
    """A node's arguments, with the index, an int, in place of each expression."""
    return node.args if node.op == "input" else tuple(a.index if type(a) is Expression else a for a in node.args)


def _restored(nodes: Sequence[tuple[Any, ...]]) -> Graph:
    graph, made = Graph(), list[Expression]()
    for op, *args in nodes:
        given = args if op == "input" else (made[a] if type(a) is int else a for a in args)
        made.append(graph.made(op, *given))
    return graph


def _function(op: str) -> Callable[..., Scalar]:
    def apply(*args: Scalar) -> Scalar:
        for a in args:
            if type(a) is np.ndarray:
                return elementwise(op, apply, args)
        return combine(op, args)

    apply.__name__, apply.__doc__ = op, f"``{op}`` of scalars, or of arrays of them, element by element."
    return apply


sin, cos, sqrt, floor, atan2, exp, log = map(_function, ("sin", "cos", "sqrt", "floor", "atan2", "exp", "log"))
minimum, maximum, less, select = map(_function, ("min", "max", "less", "select"))


def table(index: Scalar, values: Iterable[float]) -> Scalar:
    """Element ``index`` (an integer-valued scalar) of constant numbers, the first or last one beyond the ends."""
    return combine("table", [index, tuple(float(x) for x in values)])


def reciprocal(a: Scalar) -> Scalar:
    """1 / a of a scalar, or of every element of an array."""
    if type(a) is np.ndarray:
        return elementwise("reciprocal", reciprocal, [a])
    if type(a) is not Expression:
        return evaluate_number("reciprocal", a)
    if a.op == "reciprocal":
        return a.args[0]
    return -reciprocal(a.args[0]) if a.op == "neg" else a.graph.made("reciprocal", a)


def array(values: Any) -> np.ndarray:
    """Object array of scalars: expressions are kept, every number becomes a Python float."""
    if type(values) is np.ndarray and values.dtype == np.float64:
        return values.astype(object)
    result = np.array(values, dtype=object, order="C")
    result.reshape(-1)[:] = [v if type(v) is Expression else float(v) for v in result.flat]
    return result


def is_constant(value: Scalar) -> bool:
    """True for a number, False for an expression."""
    return type(value) is not Expression


_ARITHMETIC: dict[str, Any] = {"add": add, "sub": sub, "mul": mul, "neg": neg, "reciprocal": reciprocal}


def combine(op: str, args: Sequence[Scalar]) -> Scalar:
    """Build ``op`` of scalars with all folding rules."""
    if op in _ARITHMETIC:
        return _ARITHMETIC[op](*args)
    for a in args:
        if type(a) is Expression:
            return a.graph.apply(op, *args)
    return evaluate_number(op, *args)

"""Hash-consed expression graph: every distinct value is one immutable node.

A scalar is a Python ``float`` (a constant) or an :class:`Expression`. Construction folds constants, 0, 1 and signs,
orders the operands of + and *, and returns the existing node when there is one, so common subexpressions cost nothing.
Recursions are written once over scalars: given floats they compute, given expressions they record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import add, mul, neg, sub
from typing import Any

import numpy as np

from recursive_dyn.graph.definitions import EVEN, FUNCTIONS, ODD, elementwise, evaluate_number, table_values

Scalar = Any  # float | Expression: object arrays of either go through the same NumPy code


class Expression:
    """One node of a graph: an operation on earlier nodes or numbers. ``index`` is its place in creation order.

    Arithmetic with an array is the array's: element by element.
    """

    __slots__ = ("args", "graph", "index", "op")

    def __init__(self, graph: Graph, op: str, args: tuple[Any, ...], index: int) -> None:
        self.graph, self.op, self.args, self.index = graph, op, args, index

    def __add__(self, other: Scalar) -> Scalar:
        return NotImplemented if type(other) is np.ndarray else self.graph.add(self, other)

    def __radd__(self, other: Scalar) -> Scalar:
        return self.graph.add(self, other)

    def __sub__(self, other: Scalar) -> Scalar:
        return NotImplemented if type(other) is np.ndarray else self.graph.sub(self, other)

    def __rsub__(self, other: Scalar) -> Scalar:
        return self.graph.sub(other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        return NotImplemented if type(other) is np.ndarray else self.graph.mul(self, other)

    def __rmul__(self, other: Scalar) -> Scalar:
        return self.graph.mul(self, other)

    def __truediv__(self, other: Scalar) -> Scalar:
        return NotImplemented if type(other) is np.ndarray else self.graph.mul(self, reciprocal(other))

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return self.graph.mul(self.graph.reciprocal(self), other)

    def __neg__(self) -> Scalar:
        return self.graph.neg(self)

    def __reduce__(self) -> Any:
        return Graph.node, (self.graph, self.index)

    def __repr__(self) -> str:
        return f"%{self.index}" if self.op != "input" else str(self.args[0])


class Graph:
    """Owner and factory of expressions; nodes of one graph may be combined with each other only.

    ``add``, ``sub``, ``neg``, ``mul`` and ``reciprocal`` are what operators call. Copies list its nodes, however deep.
    """

    def __init__(self) -> None:
        self._nodes: dict[tuple[Any, ...], Expression] = {}
        self._listed: list[Expression] = []

    def __len__(self) -> int:
        return len(self._nodes)

    def forget(self) -> None:
        """Let go of all nodes, which hold the graph too, so that they need no collector of garbage."""
        self._nodes, self._listed = {}, []

    def __reduce__(self) -> Any:
        return _restored, ([(n.op, *_places(n)) for n in self._nodes.values()],)

    def node(self, index: int) -> Expression:
        """The expression of that index."""
        if len(self._listed) != len(self._nodes):
            self._listed = list(self._nodes.values())
        return self._listed[index]

    def input(self, name: Any) -> Expression:
        """The graph's input of that (hashable) name."""
        return self._intern("input", name)

    def inputs(self, name: str, size: int) -> np.ndarray:
        """Vector of inputs ``(name, 0) ... (name, size - 1)``, an object array (size,)."""
        return array([self.input((name, i)) for i in range(size)])

    def _intern(self, op: str, *args: Any) -> Expression:
        key = (op, *args)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = Expression(self, op, args, len(self._nodes))
        return node

    def add(self, a: Scalar, b: Scalar) -> Scalar:
        if type(b) is not Expression:
            b = float(b)
            if b == 0.0:
                return a
            if a.op == "add" and type(a.args[1]) is float:
                return self.add(a.args[0], a.args[1] + b)
            return self._intern("add", a, b)
        if b.op == "neg":
            return self.sub(a, b.args[0])
        if a.op == "neg":
            return self.sub(b, a.args[0])
        if a is b:
            return self.mul(a, 2.0)
        if a.op == "sub" and a.args[1] is b:
            return a.args[0]
        if b.op == "sub" and b.args[1] is a:
            return b.args[0]
        return self._intern("add", a, b) if a.index < b.index else self._intern("add", b, a)

    def sub(self, a: Scalar, b: Scalar) -> Scalar:
        if type(b) is not Expression:
            return self.add(a, -float(b))
        if type(a) is not Expression:
            return self.neg(self.add(b, -float(a)))
        if a is b:
            return 0.0
        if b.op == "neg":
            return self.add(a, b.args[0])
        if a.op == "neg":
            return self.neg(self.add(a.args[0], b))
        if a.op == "add":
            for x, y in (a.args, a.args[::-1]):
                if x is b:
                    return y
                if b.op == "add" and (x is b.args[0] or x is b.args[1]):  # (x + y) - (x + z), numbers among them
                    return y - b.args[x is b.args[0]]
        return self.neg(self._intern("sub", b, a)) if a.index > b.index else self._intern("sub", a, b)

    def neg(self, a: Scalar) -> Scalar:
        if type(a) is not Expression:
            return -a
        if a.op == "neg":
            return a.args[0]
        if a.op == "add" and type(a.args[1]) is float and a.args[0].op == "neg":
            return self.add(a.args[0].args[0], -a.args[1])
        return self._intern("neg", a)

    def mul(self, a: Scalar, b: Scalar) -> Scalar:
        if type(b) is not Expression:
            b = float(b)
            if b == 0.0:
                return 0.0
            if b < 0.0:
                return self.neg(self.mul(a, -b))
            if b == 1.0:
                return a
            if a.op == "neg":
                return self.neg(self.mul(a.args[0], b))
            if a.op == "mul" and type(a.args[1]) is float:
                return self.mul(a.args[0], a.args[1] * b)
            return self._intern("mul", a, b)
        if a.op == "neg":
            return self.neg(self.mul(a.args[0], b))
        if b.op == "neg":
            return self.neg(self.mul(a, b.args[0]))
        if (a.op == "reciprocal" and a.args[0] is b) or (b.op == "reciprocal" and b.args[0] is a):
            return 1.0
        if a is b and a.op == "sqrt":
            return a.args[0]
        return self._intern("mul", a, b) if a.index <= b.index else self._intern("mul", b, a)

    def reciprocal(self, a: Expression) -> Scalar:
        if a.op == "reciprocal":
            return a.args[0]
        if a.op == "neg":
            return self.neg(self.reciprocal(a.args[0]))
        return self._intern("reciprocal", a)

    def apply(self, op: str, *args: Scalar) -> Scalar:
        """The function ``op`` of :data:`FUNCTIONS` on scalars, folded when every one is a number."""
        if not any(type(a) is Expression for a in args):
            return evaluate_number(op, *args)
        if op == "table":
            return self._table(*args)
        if op == "floor" and args[0].op == "floor":
            return args[0]
        if (op in ODD or op in EVEN) and args[0].op == "neg":
            value = self.apply(op, args[0].args[0])
            return self.neg(value) if op in ODD else value
        return self._intern(op, *(a if type(a) is Expression else float(a) for a in args))

    def _table(self, index: Expression, values: tuple[float, ...]) -> Scalar:
        values = table_values(values)
        return values[0] if len(set(values)) == 1 else self._intern("table", index, values)


def _places(node: Expression) -> tuple[Any, ...]:
    """A node's arguments, with the index, an int, in place of each expression."""
    return node.args if node.op == "input" else tuple(a.index if type(a) is Expression else a for a in node.args)


def _restored(nodes: Sequence[tuple[Any, ...]]) -> Graph:
    graph, made = Graph(), list[Expression]()
    for op, *args in nodes:
        given = args if op == "input" else (made[a] if type(a) is int else a for a in args)
        made.append(graph._intern(op, *given))
    return graph


def _function(op: str) -> Callable[..., Scalar]:
    def apply(*args: Scalar) -> Scalar:
        for a in args:
            if type(a) is np.ndarray:
                return elementwise(op, apply, args)
        return combine(op, args)

    apply.__name__ = op
    apply.__doc__ = f"``{op}`` of scalars, numbers or expressions, or of arrays of either, element by element."
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
    return a.graph.reciprocal(a) if type(a) is Expression else evaluate_number("reciprocal", a)


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


def reachable(outputs: Iterable[Scalar]) -> list[Expression]:
    """Every node that the outputs depend on, in creation order (arguments before their users)."""
    stack = [o for o in outputs if type(o) is Expression]
    found: dict[int, Expression] = {o.index: o for o in stack}
    while stack:
        for a in stack.pop().args:
            if type(a) is Expression and a.index not in found:
                found[a.index] = a
                stack.append(a)
    return [found[i] for i in sorted(found)]


def substitute(outputs: Sequence[Scalar], inputs: Mapping[Any, Scalar]) -> list[Scalar]:
    """The outputs with every input replaced, by name, with a scalar (of another graph, or a number)."""
    value: dict[int, Scalar] = {}
    for node in reachable(outputs):
        args = [value[a.index] if type(a) is Expression else a for a in node.args]
        value[node.index] = inputs[args[0]] if node.op == "input" else combine(node.op, args)
    return [value[o.index] if type(o) is Expression else o for o in outputs]


_ARITHMETIC: dict[str, Any] = {"add": add, "sub": sub, "mul": mul, "neg": neg, "reciprocal": reciprocal}


def combine(op: str, args: Sequence[Scalar]) -> Scalar:
    """Build ``op`` of scalars with all folding rules."""
    if op in _ARITHMETIC:
        return _ARITHMETIC[op](*args)
    for a in args:
        if type(a) is Expression:
            return a.graph.apply(op, *args)
    return evaluate_number(op, *args)


def evaluate(outputs: Sequence[Scalar], inputs: Mapping[Any, Any]) -> list[Any]:
    """Numerical values of the outputs, node by node; inputs may be floats or equally shaped NumPy arrays."""
    value: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        for node in reachable(outputs):
            args = [value[a.index] if type(a) is Expression else a for a in node.args]
            value[node.index] = inputs[args[0]] if node.op == "input" else FUNCTIONS[node.op](*args)
    return [value[o.index] if type(o) is Expression else o for o in outputs]

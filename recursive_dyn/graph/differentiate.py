"""Differentiation on the graph: one forward directional derivative, memoised per node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Expression, Scalar, combine, cos, reciprocal, select, sin, sqrt
from recursive_dyn.graph.traversal import reachable


def directional_derivative(outputs: Sequence[Scalar], direction: Mapping[Expression, Scalar]) -> list[Scalar]:
    """d/de outputs(inputs + e * direction) at e = 0; inputs that ``direction`` does not name stand still.

    One sweep over the nodes below the outputs; the cost is a small multiple of theirs.
    """
    tangent: dict[int, Scalar] = {node.index: value for node, value in direction.items()}
    for node in reachable(outputs):
        if node.index in tangent or node.op == "input":
            continue
        rates = [tangent.get(a.index, 0.0) if type(a) is Expression else 0.0 for a in node.args]
        if node.op in _CHOICES:
            tangent[node.index] = _choice(node, rates)
            continue
        total: Scalar = 0.0
        for position, rate in enumerate(rates):
            if type(rate) is Expression or rate != 0.0:
                total = total + rate * _partial(node, position)
        tangent[node.index] = total
    return [tangent.get(o.index, 0.0) if type(o) is Expression else 0.0 for o in outputs]


def _partial(node: Expression, position: int) -> Scalar:
    rule = _RULES.get(node.op)
    if rule is None:
        raise ModelError(f"'{node.op}' has no derivative here: write the joint with differentiable functions")
    return rule(node, position)


def _choice(node: Expression, rates: list[Scalar]) -> Scalar:
    """The rate of the argument that is chosen. The other one's need not be finite, so it is not multiplied by 0."""
    chosen, first, second = _CHOICES[node.op](node.args, rates)
    same = type(first) is float and type(second) is float and first == second
    return first if same else select(chosen, first, second)


_CHOICES: dict[str, Callable[[Sequence[Scalar], list[Scalar]], tuple[Scalar, Scalar, Scalar]]] = {
    "select": lambda args, rates: (args[0], rates[1], rates[2]),
    "min": lambda args, rates: (combine("less", [args[0], args[1]]), rates[0], rates[1]),
    "max": lambda args, rates: (combine("less", [args[1], args[0]]), rates[0], rates[1]),
}


def _sign(a: Scalar) -> Scalar:
    return select(combine("less", [a, 0.0]), -1.0, 1.0)


def _atan2(node: Expression, position: int) -> Scalar:
    y, x = node.args
    scale = reciprocal(x * x + y * y)
    return x * scale if position == 0 else -y * scale


def _power(node: Expression, position: int) -> Scalar:
    base, exponent = node.args
    if position == 0:
        return exponent * combine("pow", [base, exponent - 1.0])
    return node * combine("log", [base])


_RULES: dict[str, Callable[[Expression, int], Scalar]] = {
    "add": lambda n, i: 1.0,
    "sub": lambda n, i: 1.0 if i == 0 else -1.0,
    "mul": lambda n, i: n.args[1 - i],
    "neg": lambda n, i: -1.0,
    "reciprocal": lambda n, i: -(n * n),
    "sqrt": lambda n, i: reciprocal(n) * 0.5,
    "sin": lambda n, i: cos(n.args[0]),
    "cos": lambda n, i: -sin(n.args[0]),
    "tan": lambda n, i: n * n + 1.0,
    "asin": lambda n, i: reciprocal(sqrt(1.0 - n.args[0] * n.args[0])),
    "acos": lambda n, i: -reciprocal(sqrt(1.0 - n.args[0] * n.args[0])),
    "atan": lambda n, i: reciprocal(n.args[0] * n.args[0] + 1.0),
    "atan2": _atan2,
    "sinh": lambda n, i: combine("cosh", [n.args[0]]),
    "cosh": lambda n, i: combine("sinh", [n.args[0]]),
    "tanh": lambda n, i: 1.0 - n * n,
    "exp": lambda n, i: n,
    "log": lambda n, i: reciprocal(n.args[0]),
    "pow": _power,
    "abs": lambda n, i: _sign(n.args[0]),
    "less": lambda n, i: 0.0,
    "floor": lambda n, i: 0.0,
    "table": lambda n, i: 0.0,
}

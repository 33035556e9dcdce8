"""SymPy expressions become graph nodes, node by node, and graph nodes SymPy expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Expression, Scalar, combine, cos, reciprocal, sin, sqrt
from recursive_dyn.graph.traversal import reachable

_UNARY = {
    sp.tan: "tan",
    sp.asin: "asin",
    sp.acos: "acos",
    sp.atan: "atan",
    sp.sinh: "sinh",
    sp.cosh: "cosh",
    sp.tanh: "tanh",
    sp.exp: "exp",
    sp.log: "log",
    sp.Abs: "abs",
    sp.floor: "floor",
}


def from_sympy(expression: Any, symbols: Callable[[sp.Symbol], Scalar], where: str) -> Scalar:
    """Graph scalar of a SymPy expression; ``symbols`` maps each symbol. ModelError names ``where`` and the function."""
    try:
        expression = sp.sympify(expression, strict=True)  # strict: a string would be executed
    except sp.SympifyError:
        raise ModelError(f"{where}: {expression!r} is neither a number nor a SymPy expression") from None
    return _Reader(symbols, where).read(expression)


class _Reader:
    def __init__(self, symbols: Callable[[sp.Symbol], Scalar], where: str) -> None:
        self.symbols = symbols
        self.where = where
        self.memory: dict[Any, Scalar] = {}

    def read(self, e: Any) -> Scalar:
        if e not in self.memory:
            self.memory[e] = self._read(e)
        return self.memory[e]

    def _read(self, e: Any) -> Scalar:
        if isinstance(e, sp.Symbol):
            return self.symbols(e)
        if e.is_number:
            return self._number(e)
        if isinstance(e, sp.Add):
            return self._fold(e.args, lambda a, b: a + b)
        if isinstance(e, sp.Mul):
            return self._fold(e.args, lambda a, b: a * b)
        if isinstance(e, sp.Pow):
            return self._power(e)
        if isinstance(e, sp.sin):
            return sin(self.read(e.args[0]))
        if isinstance(e, sp.cos):
            return cos(self.read(e.args[0]))
        if type(e) in _UNARY:
            return combine(_UNARY[type(e)], [self.read(e.args[0])])
        if isinstance(e, (sp.sec, sp.csc, sp.cot)):
            return self.read(e.rewrite(sp.cos if isinstance(e, sp.sec) else sp.sin))
        if isinstance(e, (sp.asinh, sp.acosh, sp.atanh)):
            return self.read(e.rewrite(sp.log))
        if isinstance(e, sp.atan2):
            return combine("atan2", [self.read(a) for a in e.args])
        if isinstance(e, (sp.Min, sp.Max)):
            op = "min" if isinstance(e, sp.Min) else "max"
            return self._fold(e.args, lambda a, b: combine(op, [a, b]))
        if isinstance(e, sp.sign):
            x = self.read(e.args[0])
            return combine("less", [0.0, x]) - combine("less", [x, 0.0])
        if isinstance(e, sp.Piecewise):
            return self._piecewise(e)
        raise ModelError(
            f"{self.where}: the function {type(e).__name__} in {e} is not supported; write it with "
            "elementary functions (powers, sin, cos, tan, exp, log, inverse and hyperbolic functions, "
            "Abs, Min, Max, floor, Piecewise)"
        )

    def _number(self, e: Any) -> float:
        value = complex(e.evalf(17))
        if value.imag != 0.0 or not abs(value.real) < float("inf"):
            raise ModelError(f"{self.where}: the constant {e} is not a finite real number")
        return value.real

    def _fold(self, args: Sequence[Any], op: Callable[[Scalar, Scalar], Scalar]) -> Scalar:
        total = self.read(args[0])
        for a in args[1:]:
            total = op(total, self.read(a))
        return total

    def _power(self, e: Any) -> Scalar:
        base, exponent = self.read(e.base), e.exp
        if exponent.is_Integer:
            return _integer_power(base, int(exponent))
        if exponent.is_Rational and exponent.q == 2:
            return _integer_power(sqrt(base), int(exponent.p))
        return combine("pow", [base, self.read(exponent)])

    def _piecewise(self, e: Any) -> Scalar:
        *pieces, (last, condition) = e.args
        if condition not in (True, sp.true):
            raise ModelError(
                f"{self.where}: the last piece of {e} needs the condition True, so that it has a value everywhere"
            )
        result = self.read(last)
        for value, condition in reversed(pieces):
            result = combine("select", [self._condition(condition), self.read(value), result])
        return result

    def _condition(self, c: Any) -> Scalar:
        if isinstance(c, (sp.Lt, sp.Gt)):
            return combine("less", [self.read(c.lts), self.read(c.gts)])
        if isinstance(c, (sp.Le, sp.Ge)):
            return 1.0 - combine("less", [self.read(c.gts), self.read(c.lts)])
        if isinstance(c, sp.And):
            return self._fold_conditions(c.args)
        raise ModelError(f"{self.where}: the condition {c} is not supported; use <, <=, >, >= and And")

    def _fold_conditions(self, args: Sequence[Any]) -> Scalar:
        total: Scalar = 1.0
        for a in args:
            total = total * self._condition(a)
        return total


def _integer_power(base: Scalar, exponent: int) -> Scalar:
    if exponent < 0:
        return reciprocal(_integer_power(base, -exponent))
    result: Scalar = 1.0
    while exponent:
        if exponent & 1:
            result = result * base
        base, exponent = base * base, exponent >> 1
    return result


def to_sympy(scalars: Sequence[Scalar], symbol: Callable[[Any], Any]) -> list[Any]:
    """SymPy expressions of graph scalars, operation by operation; ``symbol`` gives that of an input's name."""
    made: dict[int, Any] = {}

    def value(x: Any) -> Any:
        if type(x) is Expression:
            return made[x.index]
        return _number(x) if isinstance(x, float) else x

    for node in reachable(scalars):
        made[node.index] = symbol(node.args[0]) if node.op == "input" else OPERATIONS[node.op](*map(value, node.args))
    return [value(x) for x in scalars]


def _number(x: float) -> Any:
    return sp.Integer(int(x)) if x.is_integer() and abs(x) <= 2**53 else sp.Float(x)


def _less(a: Any, b: Any) -> Any:
    return sp.Piecewise((1, a < b), (0, True))


def _select(condition: Any, a: Any, b: Any) -> Any:
    return sp.Piecewise((a, _truth(condition)), (b, True))


def _truth(value: Any) -> Any:
    """The condition behind a value that is 1 or 0: a comparison, 1 less that, or a product of those."""
    if isinstance(value, sp.Mul):
        return sp.And(*map(_truth, value.args))
    if isinstance(value, sp.Add) and isinstance(1 - value, sp.Piecewise):
        return sp.Not(_truth(1 - value))
    if isinstance(value, sp.Piecewise) and value.args[0][0] == 1 and value.args[1:] == ((0, True),):
        return value.args[0][1]
    return sp.Ne(value, 0)


def _table(index: Any, values: Sequence[float]) -> Any:
    pieces = [(_number(x), index < k + 1) for k, x in enumerate(values[:-1])]
    return sp.Piecewise(*pieces, (_number(values[-1]), True))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "reciprocal": lambda a: 1 / a,
    "sqrt": sp.sqrt,
    "sin": sp.sin,
    "cos": sp.cos,
    "tan": sp.tan,
    "asin": sp.asin,
    "acos": sp.acos,
    "atan": sp.atan,
    "atan2": sp.atan2,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "exp": sp.exp,
    "log": sp.log,
    "pow": lambda a, b: a**b,
    "abs": sp.Abs,
    "min": sp.Min,
    "max": sp.Max,
    "less": _less,
    "select": _select,
    "floor": sp.floor,
    "table": _table,
}

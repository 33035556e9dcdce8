"""Values of formulas: on floats, exact fractions or nodes of the expression graph, from the same lines."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula import nodes
from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.symbol import Symbol

_ZERO = Fraction(0)
Value = Any  # a scalar, or an array of scalars of the formula's shape


class Evaluation:
    """Values of formulas at one point, each computed once; ``number`` makes a scalar of an exact number.

    values: by symbol (orders of derivative are symbols of their own); abbreviations are computed from their
    definitions. ModelError names a symbol that has no value.
    """

    def __init__(self, values: Mapping[Symbol, Value], number: Callable[[Fraction], Any] = float) -> None:
        self._values: dict[Any, Value] = dict(values)
        self._number = number

    def __call__(self, f: Formula) -> Value:
        """The value of a formula: a scalar, or an object array of its shape."""
        if f not in self._values:
            self._values[f] = self._compute(f)
        return self._values[f]

    def _compute(self, f: Formula) -> Value:
        match f:
            case Symbol():
                if f.base.definition is None or f.is_variation:
                    raise ModelError(f"'{f}' has no value: give one, or put it in the configuration")
                return self(dt(f.base.definition, f.order))
            case nodes.Number(value):
                return self._number(value)
            case nodes.Sum(terms, shape):
                return reduce(operator.add, map(self, terms)) if terms else np.full(shape, self._number(_ZERO))[()]
            case nodes.Product(factors):
                return reduce(operator.mul, map(self, factors))
            case nodes.Power(scalar, exponent):
                result = reduce(operator.mul, [self(scalar)] * abs(exponent))
                return result if exponent > 0 else 1 / result
            case nodes.Hat(a):
                x, y, z = self(a)
                zero = self._number(_ZERO)
                return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]], dtype=object)
        return _VALUES[type(f)](*map(self, f.children))


def dot_values(a: Value, b: Value) -> Any:
    """a . b of arrays of any scalars."""
    return reduce(operator.add, (x * y for x, y in zip(a, b, strict=True)))


def cross_values(a: Value, b: Value) -> Value:
    """a x b of arrays (3,) of any scalars."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], dtype=object)


_VALUES: dict[type[Formula], Callable[..., Value]] = {
    nodes.Dot: dot_values, nodes.Cross: cross_values, nodes.Apply: operator.matmul, nodes.Transpose: np.transpose,
}  # fmt: skip

"""What makes formulas of formulas: every operation checks the types of its operands, and refuses with both printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial, reduce
from numbers import Rational
from typing import Any

import numpy as np

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula import nodes
from recursive_dyn.manifold.formula.nodes import ONE, ZERO, Formula, Number, Product, Shape, Sum
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.spatial.spaces import UnitSphere


def kind(f: Formula) -> str:
    """ "scalar", "vector of R^3", "3 x 3 matrix": the type, for messages."""
    if not f.shape:
        return "scalar"
    if len(f.shape) == 2:
        return f"{f.shape[0]} x {f.shape[1]} matrix"
    unit = isinstance(f, Symbol) and isinstance(f.space, UnitSphere)
    return "unit vector" if unit else f"vector of R^{f.shape[0]}"


def described(a: Any) -> str:
    """What was given, with its type where it is a formula."""
    return f"the {kind(a)} {a}" if isinstance(a, Formula) else repr(a)


def _refuse(operation: str, a: Formula, b: Formula, hint: str) -> OperandError:
    return OperandError(f"{operation} of {described(a)} and {described(b)} is not defined: {hint}")


def number(value: Any) -> Number | None:
    """An exact number of an int, Fraction or float (its shortest decimal: 0.1 is 1/10); None for anything else."""
    if isinstance(value, (bool, np.bool_)):
        return None
    if isinstance(value, Rational):
        return Number(Fraction(int(value.numerator), int(value.denominator)))
    if isinstance(value, (float, np.floating)):
        try:
            return Number(Fraction(repr(float(value))))
        except ValueError:
            raise OperandError(f"{value!r} is not a finite number") from None
    return None


def _operands(operation: str, a: Any, b: Any) -> tuple[Formula, Formula]:
    if isinstance(a, Formula):
        return a, b if isinstance(b, Formula) else _as_formula(b, operation, a)
    if isinstance(b, Formula):
        return _as_formula(a, operation, b), b
    raise OperandError(f"{operation} of {a!r} and {b!r} is not defined: it takes formulas")


def _as_formula(value: Any, operation: str, other: Formula) -> Formula:
    result = number(value)
    if result is None:
        raise OperandError(
            f"{operation} of {described(other)} and {value!r} ({type(value).__name__}) is not defined: declare"
            " arrays as constant vectors or matrices and give their numbers when the equations run"
        )
    return result


def zero(shape: Shape) -> Formula:
    """Zero of a shape."""
    return Sum((), shape) if shape else ZERO


def is_zero(f: Formula) -> bool:
    """Whether a formula is written as zero."""
    return f == ZERO or (isinstance(f, Sum) and not f.terms)


def add(a: Any, b: Any, operation: str = "+") -> Formula:
    """a + b, or a - b, of equal shapes."""
    a, b = _operands(operation, a, b)
    if a.shape != b.shape:
        raise _refuse(operation, a, b, "both must be scalars, or vectors or matrices of one size")
    return total([a, -b if operation == "-" else b], a.shape)


def total(terms: Iterable[Formula], shape: Shape = ()) -> Formula:
    """Sum of formulas of one shape."""
    flat: list[Formula] = []
    for f in terms:
        shape = f.shape
        flat.extend(f.terms if isinstance(f, Sum) else () if is_zero(f) else (f,))
    if not flat:
        return zero(shape)
    if all(isinstance(t, Number) for t in flat):
        return Number(sum((t.value for t in flat if isinstance(t, Number)), Fraction(0)))
    return flat[0] if len(flat) == 1 else Sum(tuple(flat), shape)


def multiply(a: Any, b: Any, operation: str = "*") -> Formula:
    """Scalar times anything, matrix times vector or matrix."""
    a, b = _operands(operation, a, b)
    if a.shape and b.shape:
        if len(a.shape) == 2 and a.shape[1] == b.shape[0]:
            return _applied(a, b)
        if len(a.shape) == len(b.shape) == 1:
            raise _refuse(operation, a, b, "write a.dot(b) or a.cross(b)")
        raise _refuse(operation, a, b, "a matrix takes a vector or matrix of as many rows as it has columns, after it")
    if operation == "@":
        raise _refuse(operation, a, b, "write * for products with scalars")
    if a.shape:
        a, b = b, a
    if is_zero(a) or is_zero(b):
        return zero(b.shape)
    (x, front), (y, behind) = parted(a), parted(b)
    factors = (*front, *behind)
    if x * y != 1 or not factors:
        factors = (Number(Fraction(x * y)), *factors)
    return factors[0] if len(factors) == 1 else Product(factors)


def parted(f: Formula) -> tuple[Fraction | int, tuple[Formula, ...]]:
    """(the number in front of a formula, 1 where none is written, and its other factors)."""
    if isinstance(f, Number):
        return f.value, ()
    factors = f.factors if isinstance(f, Product) else (f,)
    head = factors[0]
    return (head.value, factors[1:]) if isinstance(head, Number) else (1, factors)


def _applied(a: Formula, b: Formula) -> Formula:
    """a b with scalars moved to the front."""
    (*front, a), (*behind, b) = (f.factors if isinstance(f, Product) else (f,) for f in (a, b))
    return product([*front, *behind, _made(nodes.Apply, a, b)])


def _made(node: Callable[..., Formula], *operands: Formula) -> Formula:
    """An operation that is linear in each operand: zero where one is."""
    result = node(*operands)
    return zero(result.shape) if any(map(is_zero, operands)) else result


def product(factors: Sequence[Formula]) -> Formula:
    """Scalars times the last factor, of any shape."""
    return reduce(lambda result, f: multiply(f, result), reversed(factors))


def divide(a: Any, b: Any) -> Formula:
    """a / b by a number or a constant symbol."""
    a, b = _operands("/", a, b)
    return multiply(power(b, -1), a)


def power(a: Any, exponent: Any) -> Formula:
    """An integer power of a scalar."""
    if isinstance(exponent, bool) or not isinstance(exponent, int) or not isinstance(a, Formula):
        raise OperandError(f"{a!r} ** {exponent!r} is not defined: formulas are polynomials, with integer exponents")
    if a.shape:
        raise OperandError(f"a power or quotient by {described(a)} is not defined: only scalars have them")
    if isinstance(a, Number):
        if a.value == 0 and exponent < 0:
            raise OperandError("division by zero in a formula")
        return Number(a.value**exponent)
    if isinstance(a, Product):
        return product([power(f, exponent) for f in a.factors])
    if isinstance(a, nodes.Power):
        return power(a.scalar, a.exponent * exponent)
    if exponent < 0 and not (isinstance(a, Symbol) and a.constant):
        raise OperandError(f"division by {a} is not defined: only constant symbols and numbers divide")
    return ONE if exponent == 0 else a if exponent == 1 else nodes.Power(a, exponent)


def dot(a: Any, b: Any) -> Formula:
    """a . b of two vectors of one size."""
    a, b = _operands("dot", a, b)
    if len(a.shape) != 1 or a.shape != b.shape:
        raise _refuse("dot", a, b, "both must be vectors of one size")
    return _made(nodes.Dot, a, b)


def cross(a: Any, b: Any) -> Formula:
    """a x b of two vectors of R^3."""
    a, b = _operands("cross", a, b)
    if a.shape != (3,) or b.shape != (3,):
        raise _refuse("cross", a, b, "both must be vectors of R^3")
    return _made(nodes.Cross, a, b)


def hat(a: Formula) -> Formula:
    """The matrix with hat(a) b = a x b."""
    if not isinstance(a, Formula) or a.shape != (3,):
        raise OperandError(f"hat of {described(a)} is not defined: it takes a vector of R^3")
    return _made(nodes.Hat, a)


def transpose(a: Formula) -> Formula:
    """The transpose of a matrix."""
    if not isinstance(a, Formula) or len(a.shape) != 2:
        raise OperandError(f"the transpose of {described(a)} is not defined: it takes a matrix")
    if isinstance(a, nodes.Transpose):
        return a.of
    return a if isinstance(a, Symbol) and a.base.symmetric else _made(nodes.Transpose, a)


def remade(f: Formula, children: Sequence[Formula]) -> Formula:
    """The operation that made a formula, on other children: its types are checked, zeros and numbers are merged."""
    match f:
        case Sum():
            return total(children, f.shape)
        case Product():
            return product(children)
        case nodes.Power():
            return power(children[0], f.exponent)
        case Symbol() | Number():
            return f
    return _MAKERS[type(f)](*children)


_MAKERS: dict[type[Formula], Callable[..., Formula]] = {
    nodes.Dot: dot, nodes.Cross: cross, nodes.Apply: multiply, nodes.Hat: hat, nodes.Transpose: transpose,
}  # fmt: skip
nodes.PROVIDED.update({
    "+": add, "-": partial(add, operation="-"), "*": multiply, "@": partial(multiply, operation="@"), "/": divide,
    "**": power, "dot": dot, "cross": cross, "transpose": transpose,
})  # fmt: skip

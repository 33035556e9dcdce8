"""What makes formulas of formulas: every operation checks the types of its operands, and refuses with both printed."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula.formula import (
    ONE,
    SPHERE,
    ZERO,
    Apply,
    Cross,
    Dot,
    Formula,
    Hat,
    Number,
    Power,
    Product,
    Shape,
    Sum,
    Symbol,
    Transpose,
)


def kind(f: Formula) -> str:
    """ "scalar", "vector of R^3", "3 x 3 matrix": the type, for messages."""
    if not f.shape:
        return "scalar"
    if len(f.shape) == 2:
        return f"{f.shape[0]} x {f.shape[1]} matrix"
    unit = isinstance(f, Symbol) and f.base.space == SPHERE and f.order == 0 and not f.is_variation
    return "unit vector" if unit else f"vector of R^{f.shape[0]}"


def _refuse(operation: str, a: Formula, b: Formula, hint: str) -> OperandError:
    return OperandError(f"{operation} of the {kind(a)} {a} and the {kind(b)} {b} is not defined: {hint}")


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


def as_formula(value: Any, operation: str, other: Formula) -> Formula:
    if isinstance(value, Formula):
        return value
    result = number(value)
    if result is None:
        raise OperandError(
            f"{operation} of the {kind(other)} {other} and {value!r} ({type(value).__name__}) is not defined: declare"
            " arrays as constant vectors or matrices and give their numbers when the equations run"
        )
    return result


def zero(shape: Shape) -> Formula:
    """Zero of a shape."""
    return Sum((), shape) if shape else ZERO


def is_zero(f: Formula) -> bool:
    """Whether a formula is written as zero."""
    return f == ZERO or (isinstance(f, Sum) and not f.terms)


def add(a: Formula, b: Formula, operation: str = "+") -> Formula:
    """a + b of equal shapes."""
    if a.shape != b.shape:
        if operation == "-":
            b = -b
        raise _refuse(operation, a, b, "both must be scalars, or vectors or matrices of one size")
    terms: list[Formula] = []
    for f in (a, b):
        terms.extend(f.terms if isinstance(f, Sum) else () if is_zero(f) else (f,))
    if all(isinstance(t, Number) for t in terms):
        return Number(sum((t.value for t in terms if isinstance(t, Number)), Fraction(0))) if terms else zero(a.shape)
    return terms[0] if len(terms) == 1 else Sum(tuple(terms), a.shape)


def total(terms: list[Formula], shape: Shape = ()) -> Formula:
    """Sum of formulas of one shape."""
    flat: list[Formula] = []
    for f in terms:
        flat.extend(f.terms if isinstance(f, Sum) else () if is_zero(f) else (f,))
    return flat[0] if len(flat) == 1 else Sum(tuple(flat), shape) if flat else zero(shape)


def multiply(a: Formula, b: Formula, operation: str = "*") -> Formula:
    """Scalar times anything, matrix times vector or matrix."""
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
    factors: list[Formula] = []
    value = Fraction(1)
    for f in (a, b):
        for part in f.factors if isinstance(f, Product) else (f,):
            if isinstance(part, Number):
                value *= part.value
            else:
                factors.append(part)
    if not factors:
        return Number(value)
    if value != 1:
        factors.insert(0, Number(value))
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _applied(a: Formula, b: Formula) -> Formula:
    """a b with scalars moved to the front."""
    if is_zero(a) or is_zero(b):
        return zero((a.shape[0], *b.shape[1:]))
    front: list[Formula] = []
    bodies = []
    for f in (a, b):
        if isinstance(f, Product):
            front.extend(f.factors[:-1])
            f = f.factors[-1]
        bodies.append(f)
    result: Formula = Apply(*bodies)
    for f in reversed(front):
        result = multiply(f, result)
    return result


def power(a: Formula, exponent: Any) -> Formula:
    """An integer power of a scalar."""
    if a.shape:
        raise OperandError(f"a power or quotient by the {kind(a)} {a} is not defined: only scalars have them")
    if isinstance(exponent, bool) or not isinstance(exponent, int):
        raise OperandError(f"{a} ** {exponent!r} is not defined: formulas are polynomials, with integer exponents")
    if isinstance(a, Number):
        if a.value == 0 and exponent < 0:
            raise OperandError("division by zero in a formula")
        return Number(a.value**exponent)
    if isinstance(a, Product):
        result: Formula = ONE
        for f in a.factors:
            result = multiply(result, power(f, exponent))
        return result
    if isinstance(a, Power):
        return power(a.scalar, a.exponent * exponent)
    if exponent < 0 and not (isinstance(a, Symbol) and a.constant):
        raise OperandError(f"division by {a} is not defined: only constant symbols and numbers divide")
    return ONE if exponent == 0 else a if exponent == 1 else Power(a, exponent)


def dot(a: Any, b: Any) -> Formula:
    """a . b of two vectors of one size."""
    a, b = _operands("dot", a, b)
    if len(a.shape) != 1 or a.shape != b.shape:
        raise _refuse("dot", a, b, "both must be vectors of one size")
    return ZERO if is_zero(a) or is_zero(b) else Dot(a, b)


def cross(a: Any, b: Any) -> Formula:
    """a x b of two vectors of R^3."""
    a, b = _operands("cross", a, b)
    if a.shape != (3,) or b.shape != (3,):
        raise _refuse("cross", a, b, "both must be vectors of R^3")
    return zero((3,)) if is_zero(a) or is_zero(b) else Cross(a, b)


def hat(a: Formula) -> Formula:
    """The matrix with hat(a) b = a x b."""
    if not isinstance(a, Formula) or a.shape != (3,):
        raise OperandError(f"hat of {_described(a)} is not defined: it takes a vector of R^3")
    return zero((3, 3)) if is_zero(a) else Hat(a)


def transpose(a: Formula) -> Formula:
    """The transpose of a matrix."""
    if not isinstance(a, Formula) or len(a.shape) != 2:
        raise OperandError(f"the transpose of {_described(a)} is not defined: it takes a matrix")
    if isinstance(a, Transpose):
        return a.of
    if is_zero(a):
        return zero(a.shape[::-1])
    return a if isinstance(a, Symbol) and a.base.symmetric else Transpose(a)


def _described(a: Any) -> str:
    return f"the {kind(a)} {a}" if isinstance(a, Formula) else repr(a)


def _operands(operation: str, a: Any, b: Any) -> tuple[Formula, Formula]:
    if isinstance(a, Formula):
        return a, as_formula(b, operation, a)
    if isinstance(b, Formula):
        return as_formula(a, operation, b), b
    raise OperandError(f"{operation} of {a!r} and {b!r} is not defined: it takes formulas")

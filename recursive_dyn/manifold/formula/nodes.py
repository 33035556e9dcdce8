"""Formulas of scalars, vectors and matrices as whole objects, not components (Bittner & Sreenath 2016, section 3.1).

A formula is a frozen tree; its type is its ``shape``: () a scalar, (n,) a vector, (m, n) a matrix. Operators check
types when they are applied: what is ill-typed raises OperandError with both operands printed. Equality of formulas is
of how they are written; whether they mean the same is decided by ``equality``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

Shape = tuple[int, ...]
PROVIDED: dict[str, Callable[..., Any]] = {}  # the operators of ``operations``, which make formulas of formulas
STYLES: dict[str, Any] = {}  # the styles of ``writing``, by name


def _operator(name: str) -> tuple[Callable[[Any, Any], Formula], Callable[[Any, Any], Formula]]:
    """An operator of formulas, provided under a name, and the same with its operands the other way round."""
    return lambda a, b: PROVIDED[name](a, b), lambda a, b: PROVIDED[name](b, a)


class Printed:
    """What prints as text, and in a notebook as LaTeX."""

    def write(self, style: Any) -> str:
        """It in a style of printing, see ``writing.style``."""
        return style.write(self)

    def __str__(self) -> str:
        return self.write(STYLES["text"])

    def __repr__(self) -> str:
        return self.write(STYLES["text"])

    def latex(self) -> str:
        """It in LaTeX."""
        return self.write(STYLES["latex"])

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


class Formula(Printed):
    """A scalar, vector or matrix: ``+ - * / **``, ``dot``, ``cross``, ``.T``; ``@`` is ``*`` for matrices.

    ``children`` are the formulas it is made of; ``varied`` tells whether a variation occurs in it. In a notebook a
    formula shows as LaTeX.
    """

    __array_ufunc__ = None  # arrays leave operators to us, which refuse them
    shape: Shape
    children: tuple[Formula, ...]
    varied: bool
    _parts: tuple[Any, ...]
    _hash: int

    def __post_init__(self) -> None:
        parts = tuple(self.__dict__.values())  # the fields; __dict__ takes what a frozen dataclass may not be given
        self.__dict__["_parts"] = parts
        if isinstance(parts[0], tuple):
            children = parts[0]
        else:
            children = tuple([p for p in parts if isinstance(p, Formula)]) if isinstance(parts[0], Formula) else ()
        self.__dict__["children"] = children
        self.__dict__["_hash"] = hash((type(self).__name__, parts))
        self.__dict__["varied"] = self._is_varied()

    def __reduce__(self) -> Any:
        return type(self), self._parts

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self._hash == other._hash and self._parts == other._parts

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Place in normal forms, simple ones first: by number of symbols, operation, order of derivative and name."""
        keys = [c.key for c in self.children]
        return (sum(k[0] for k in keys), type(self).__name__, *keys)

    def _is_varied(self) -> bool:
        return True in [c.varied for c in self.children]

    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __matmul__, __rmatmul__ = _operator("@")
    __truediv__, __rtruediv__ = _operator("/")
    __pow__, __rpow__ = _operator("**")

    def __neg__(self) -> Formula:
        return PROVIDED["*"](-1, self)

    def dot(self, other: Any) -> Formula:
        """Scalar product of two vectors."""
        return PROVIDED["dot"](self, other)

    def cross(self, other: Any) -> Formula:
        """Vector product of two vectors of R^3."""
        return PROVIDED["cross"](self, other)

    @property
    def T(self) -> Formula:
        """The transpose of a matrix."""
        return PROVIDED["transpose"](self)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


@dataclass(frozen=True, eq=False, repr=False)
class Number(Formula):
    """An exact number."""

    value: Fraction
    shape = ()


@dataclass(frozen=True, eq=False, repr=False)
class Sum(Formula):
    """A sum of formulas of one shape; without terms it is zero."""

    terms: tuple[Formula, ...]
    shape: Shape = ()


@dataclass(frozen=True, eq=False, repr=False)
class Product(Formula):
    """Scalars times a formula of any shape, which stands last."""

    factors: tuple[Formula, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["shape"] = self.factors[-1].shape


@dataclass(frozen=True, eq=False, repr=False)
class Power(Formula):
    """An integer power of a scalar; negative ones of constant symbols only."""

    scalar: Formula
    exponent: int
    shape = ()


@dataclass(frozen=True, eq=False, repr=False)
class _Pair(Formula):
    left: Formula
    right: Formula


class Dot(_Pair):
    """left . right."""

    shape = ()


class Cross(_Pair):
    """left x right."""

    shape = (3,)


class Apply(_Pair):
    """A matrix times a vector or a matrix."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["shape"] = (self.left.shape[0], *self.right.shape[1:])


@dataclass(frozen=True, eq=False, repr=False)
class Hat(Formula):
    """The matrix with hat(a) b = a x b."""

    of: Formula
    shape = (3, 3)


@dataclass(frozen=True, eq=False, repr=False)
class Transpose(Formula):
    """The transpose of a matrix."""

    of: Formula

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["shape"] = self.of.shape[::-1]


ZERO, ONE = Number(Fraction(0)), Number(Fraction(1))

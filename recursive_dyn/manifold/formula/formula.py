"""Formulas of scalars, vectors and matrices as whole objects, not components (Bittner & Sreenath 2016, section 3.1).

A formula is a frozen tree; its type is its ``shape``: () a scalar, (n,) a vector, (m, n) a matrix. Operators check
types when they are applied: what is ill-typed raises OperandError with both operands printed. Equality of formulas is
of how they are written; whether they mean the same is decided by ``equality``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

from recursive_dyn.errors import OperandError

Shape = tuple[int, ...]
FLAT, SPHERE, ROTATION = "flat", "sphere", "rotation"


class Formula:
    """A scalar, vector or matrix: ``+ - * / **``, ``dot``, ``cross``, ``.T``; ``@`` is ``*`` for matrices.

    ``varied`` tells whether a variation occurs in it. In a notebook a formula shows as LaTeX.
    """

    __array_ufunc__ = None  # arrays leave operators to us, which refuse them
    shape: Shape
    varied: bool
    _parts: tuple[Any, ...]
    _hash: int

    def __post_init__(self) -> None:
        parts = tuple(self.__dict__.values())  # the fields; __dict__ takes what a frozen dataclass may not be given
        self.__dict__["_parts"] = parts
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

    @property
    def children(self) -> tuple[Formula, ...]:
        """The formulas it is made of."""
        return ()

    def _is_varied(self) -> bool:
        return any(c.varied for c in self.children)

    def __add__(self, other: Any) -> Formula:
        return operations.add(self, operations.as_formula(other, "+", self))

    def __radd__(self, other: Any) -> Formula:
        return operations.add(operations.as_formula(other, "+", self), self)

    def __sub__(self, other: Any) -> Formula:
        return operations.add(self, -operations.as_formula(other, "-", self), "-")

    def __rsub__(self, other: Any) -> Formula:
        return operations.add(operations.as_formula(other, "-", self), -self, "-")

    def __neg__(self) -> Formula:
        return operations.multiply(Number(Fraction(-1)), self)

    def __mul__(self, other: Any) -> Formula:
        return operations.multiply(self, operations.as_formula(other, "*", self))

    def __rmul__(self, other: Any) -> Formula:
        return operations.multiply(operations.as_formula(other, "*", self), self)

    def __matmul__(self, other: Any) -> Formula:
        return operations.multiply(self, operations.as_formula(other, "@", self), "@")

    def __truediv__(self, other: Any) -> Formula:
        return operations.multiply(operations.power(operations.as_formula(other, "/", self), -1), self, "/")

    def __rtruediv__(self, other: Any) -> Formula:
        return operations.multiply(operations.as_formula(other, "/", self), operations.power(self, -1), "/")

    def __pow__(self, exponent: Any) -> Formula:
        return operations.power(self, exponent)

    def __rpow__(self, other: Any) -> Formula:
        raise OperandError(f"{other!r} ** {self} is not defined: formulas are polynomials, with integer exponents")

    def __rmatmul__(self, other: Any) -> Formula:
        return operations.multiply(operations.as_formula(other, "@", self), self, "@")

    def dot(self, other: Any) -> Formula:
        """Scalar product of two vectors."""
        return operations.dot(self, other)

    def cross(self, other: Any) -> Formula:
        """Vector product of two vectors of R^3."""
        return operations.cross(self, other)

    @property
    def T(self) -> Formula:
        """The transpose of a matrix."""
        return operations.transpose(self)

    def __str__(self) -> str:
        from recursive_dyn.manifold.writing.text_style import text

        return text(self)

    __repr__ = __str__

    def latex(self) -> str:
        """The formula in LaTeX."""
        from recursive_dyn.manifold.writing.latex_style import latex

        return latex(self)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


@dataclass(frozen=True, eq=False, repr=False)
class Base:
    """What was declared under a name; ``Symbol`` adds the order of time derivative and whether it is varied.

    space: "flat", "sphere" (unit vectors) or "rotation"; rate, virtual: Omega and eta of a rotation, None and xi of a
    unit vector; definition: the formula that the name abbreviates; rank: order of declaration, for printing.
    """

    name: str
    shape: Shape
    constant: bool = False
    space: str = FLAT
    symmetric: bool = False
    is_virtual: bool = False
    rate: Symbol | None = None
    virtual: Symbol | None = None
    definition: Formula | None = None
    rank: int = 0

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Base) and self.identity == other.identity)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return Base, tuple(getattr(self, f.name) for f in fields(self))

    @cached_property
    def identity(self) -> tuple[Any, ...]:
        """All that makes two declarations the same."""
        names = tuple(s and s.base.name for s in (self.rate, self.virtual))
        return (
            self.name, self.shape, self.constant, self.space, self.symmetric, self.is_virtual, names, self.definition
        )  # fmt: skip

    @cached_property
    def _hash(self) -> int:
        return hash(self.identity)


@dataclass(frozen=True, eq=False, repr=False)
class Symbol(Formula):
    """A declared symbol, its time derivative of some order, or its variation."""

    base: Base
    order: int = 0
    is_variation: bool = False

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        return self.base.shape

    def _is_varied(self) -> bool:
        return self.is_variation or self.base.is_virtual

    @property
    def constant(self) -> bool:
        """Whether it does not depend on time."""
        return self.base.constant

    @property
    def rate(self) -> Symbol:
        """Omega, in body axes, of a rotation: dR/dt = R hat(Omega)."""
        if self.base.rate is None:
            raise OperandError(f"{self} is no rotation and has no angular velocity; its derivative is dt({self})")
        return self.base.rate

    @property
    def virtual(self) -> Symbol:
        """xi of a unit vector, delta q = xi x q; eta of a rotation, delta R = R hat(eta); else its variation."""
        return self.base.virtual or Symbol(self.base, 0, True)

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Place in the order in which normal forms are sorted."""
        b = self.base  # the name almost always decides; the rest tells symbols of one name and different kinds apart
        return (self.order, self.is_variation, b.name, b.shape, b.space, b.constant, b.symmetric, b.is_virtual)


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

    @property
    def children(self) -> tuple[Formula, ...]:
        return self.terms


@dataclass(frozen=True, eq=False, repr=False)
class Product(Formula):
    """Scalars times a formula of any shape, which stands last."""

    factors: tuple[Formula, ...]

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        return self.factors[-1].shape

    @property
    def children(self) -> tuple[Formula, ...]:
        return self.factors


@dataclass(frozen=True, eq=False, repr=False)
class Power(Formula):
    """An integer power of a scalar; negative ones of constant symbols only."""

    scalar: Formula
    exponent: int
    shape = ()

    @property
    def children(self) -> tuple[Formula, ...]:
        return (self.scalar,)


@dataclass(frozen=True, eq=False, repr=False)
class _Pair(Formula):
    left: Formula
    right: Formula

    @property
    def children(self) -> tuple[Formula, ...]:
        return (self.left, self.right)


class Dot(_Pair):
    """left . right."""

    shape = ()


class Cross(_Pair):
    """left x right."""

    shape = (3,)


class Apply(_Pair):
    """A matrix times a vector or a matrix."""

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        return (self.left.shape[0], *self.right.shape[1:])


@dataclass(frozen=True, eq=False, repr=False)
class _Single(Formula):
    of: Formula

    @property
    def children(self) -> tuple[Formula, ...]:
        return (self.of,)


class Hat(_Single):
    """The matrix with hat(a) b = a x b."""

    shape = (3, 3)


class Transpose(_Single):
    """The transpose of a matrix."""

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        return self.of.shape[::-1]


ZERO, ONE = Number(Fraction(0)), Number(Fraction(1))


# The operations make the nodes above: the circle closes here, once both modules know each other.
from recursive_dyn.manifold.formula import operations  # noqa: E402

"""How formulas are written down: brackets and signs, once for every style of printing."""

from __future__ import annotations

from fractions import Fraction

from recursive_dyn.manifold.formula.formula import (
    Apply,
    Cross,
    Dot,
    Formula,
    Hat,
    Number,
    Power,
    Product,
    Sum,
    Transpose,
)
from recursive_dyn.manifold.formula.symbol import Symbol

MOST_MARKS = 3  # derivatives of higher order carry a superscript instead of primes or dots
# How tightly a formula holds together: what binds less than its surroundings goes in brackets.
SUM, PRODUCT, PAIR, APPLIED, SCRIPTED, ATOM = range(6)


class Style:
    """Writes formulas; subclasses give the marks: text, LaTeX."""

    space = " "
    plus, minus, negative = " + ", " - ", "-"
    dot, cross = ".", " x "

    def symbol(self, s: Symbol) -> str:
        """A symbol with its marks of derivative and variation."""
        raise NotImplementedError

    def number(self, value: Fraction) -> str:
        """A positive number."""
        raise NotImplementedError

    def bracket(self, inside: str) -> str:
        raise NotImplementedError

    def power(self, base: str, exponent: int) -> str:
        raise NotImplementedError

    def transposed(self, matrix: str) -> str:
        raise NotImplementedError

    def hat(self, vector: str) -> str:
        raise NotImplementedError

    def norm(self, vector: str, exponent: int) -> str:
        """|v| to a power."""
        raise NotImplementedError

    def integral(self, integrand: str) -> str:
        """Its integral over time."""
        raise NotImplementedError

    @property
    def variation(self) -> str:
        """The mark of a variation."""
        raise NotImplementedError

    def write(self, f: Formula) -> str:
        """A formula."""
        return self._write(f)[0]

    def _write(self, f: Formula) -> tuple[str, int]:
        match f:
            case Symbol():
                return self.symbol(f), ATOM if f.order <= MOST_MARKS else SCRIPTED
            case Number(value):
                text = self.number(abs(value))
                return (text, ATOM) if value >= 0 else (self.negative + text, SUM)
            case Sum(terms):
                return self._sum(terms), SUM if len(terms) > 1 else PRODUCT
            case Product():
                sign, text = self._signed(f)
                return (text, PRODUCT) if sign > 0 else (self.negative + text, SUM)
            case Power(Dot(a, b), exponent) if a == b:
                return self.norm(self.inside(a, SUM), 2 * exponent), SCRIPTED
            case Power(scalar, exponent):
                return self.power(self.inside(scalar, ATOM), exponent), SCRIPTED
            case Dot(a, b) if a == b:
                return self.norm(self.inside(a, SUM), 2), SCRIPTED
            case Dot(a, b):
                return self.inside(a, SCRIPTED) + self.dot + self.inside(b, APPLIED), PAIR
            case Cross(a, b):
                return self.inside(a, APPLIED) + self.cross + self.inside(b, APPLIED), PAIR
            case Apply(a, b):
                return self.inside(a, APPLIED) + self.space + self.inside(b, APPLIED), APPLIED
            case Hat(a):
                return self.hat(self.write(a)), ATOM
            case Transpose(a):
                return self.transposed(self.inside(a, ATOM)), SCRIPTED
        raise TypeError(f"{type(f).__name__} is no formula")

    def inside(self, f: Formula, least: int) -> str:
        """A formula in a place where it must bind at least so tightly."""
        text, binding = self._write(f)
        return text if binding >= least else self.bracket(text)

    def _sum(self, terms: tuple[Formula, ...]) -> str:
        if not terms:
            return "0"
        text = ""
        for i, t in enumerate(terms):
            sign, body = self._signed(t)
            text += (self.plus if sign > 0 else self.minus) if i else ("" if sign > 0 else self.negative)
            text += body
        return text

    def _signed(self, f: Formula) -> tuple[int, str]:
        """(sign, the formula without it)."""
        if isinstance(f, Number) and f.value < 0:
            return -1, self.number(-f.value)
        if not isinstance(f, Product):
            return 1, self.inside(f, PRODUCT)
        factors = list(f.factors)
        sign = 1
        if isinstance(factors[0], Number) and factors[0].value < 0:
            sign = -1
            factors[0] = Number(-factors[0].value)
        if isinstance(factors[0], Number) and factors[0].value == 1 and len(factors) > 1:
            factors = factors[1:]
        parts = [self.inside(x, APPLIED if i < len(factors) - 1 else PAIR) for i, x in enumerate(factors)]
        return sign, self.space.join(parts)

    def action(self, lagrangian: Formula, works: bool) -> str:
        """S as an integral."""
        text = f"S = {self.integral(self.inside(lagrangian, PRODUCT))}"
        return text + f"{self.plus}{self.integral('W')}" if works else text

    def varied(self, integrand: Formula) -> str:
        """The variation of S as an integral that is zero."""
        return f"{self.variation}S = {self.integral(self.inside(integrand, PRODUCT))} = 0"

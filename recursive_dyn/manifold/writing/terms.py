"""Terms of a normal form: what their symbols stand for in a row, the order that follows, and how factors are written.

Own accelerations come first, then those of the other variables in the configuration's order, what holds velocities,
what holds neither, accelerations of abbreviated points, and applied forces last. What all terms of a coefficient share
stands outside its sum, (m1 + m2) l^2. Of a dot product the variation stands first, (xi x q) . tau, or else what moves,
q . e3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

from recursive_dyn.manifold.formula.calculus import rates, symbols_of
from recursive_dyn.manifold.formula.nodes import ONE, Apply, Cross, Dot, Formula, Number, Power, Product, Sum, Transpose
from recursive_dyn.manifold.formula.operations import transpose
from recursive_dyn.manifold.formula.symbol import Base, Symbol
from recursive_dyn.manifold.normal.forms import Coefficient, Exact, Factors, common, divided


@dataclass(frozen=True)
class Term:
    """coefficient * factors * atom: constants, what moves (scalars, dot products), and a vector or matrix."""

    coefficient: Coefficient
    factors: Factors
    atom: Formula | None

    @cached_property
    def symbols(self) -> list[Symbol]:
        """Every symbol outside the constant coefficient, for ordering."""
        parts = [f for f, exponent in self.factors for _ in range(1 if isinstance(f, Symbol) else exponent)]
        return [s for f in (*parts, self.atom) if f is not None for s in symbols_of(f)]

    def over(self, factors: Factors, number: Fraction = Fraction(1)) -> Term:
        """The term divided by constants."""
        return replace(self, coefficient=divided(self.coefficient, factors, number))


@dataclass(frozen=True)
class Roles:
    """own: the row's variable; configuration: all of them; inputs: applied forces.

    ranks: order of declaration. Equal symbols may have been declared before, in other systems, in another order, and
    forms may hold those, so that what a symbol itself says of its rank counts only where nothing is known.
    """

    own: Symbol | None = None
    configuration: tuple[Symbol, ...] = ()
    inputs: frozenset[Base] = frozenset()
    ranks: Mapping[Base, int] = field(default_factory=dict)

    @property
    def first(self) -> Symbol | None:
        """What leads cross products: the row's variable if it is a unit vector."""
        return self.own if self.own is not None and self.own.base.is_unit else None

    def rank(self, s: Any) -> int:
        """Order of declaration of a symbol."""
        return self.ranks.get(s.base, s.base.rank)

    def key(self, term: Term) -> tuple[Any, ...]:
        """Place of a term in a sum."""
        highest, leading = self._leading(term.symbols)
        place = min((self._places.get(s.base, len(self.configuration)) for s in leading), default=0)
        if self._forced(term):
            group = 5
        elif any(s.base.definition is not None and s.order >= 2 for s in term.symbols):
            group = 4
        else:
            group = int(place >= 0) if highest >= 2 else 3 - highest
        ranks = [(self.rank(s), s.order) for s in term.symbols]
        return (
            group,
            -highest,
            place,
            len(ranks),
            ranks,
            sorted(self.rank(s) for m in term.coefficient for s, _ in m),
        )

    def owner(self, variation: Formula) -> Symbol | None:
        """The variable whose virtual displacement a formula is."""
        base = variation.base if isinstance(variation, Symbol) else None
        return next((q for q in self.configuration if q.virtual.base == base), None)

    def kind(self, term: Term) -> str:
        """What terms must have in common to share an operation: forces, accelerations, velocities, or fields.

        Accelerations of points and fields count as one, R^T (x'' + g e3).
        """
        highest, leading = self._leading(term.symbols)
        if self._forced(term) or highest == 1:
            return "force" if self._forced(term) else "velocity"
        point = all(s.base.space.flat and s.base not in self._rates for s in leading)
        return "field" if highest == 0 or point else "acceleration"

    def coefficient(self, p: Coefficient) -> list[Formula]:
        """Number, sum of what differs, and the symbols that all share, as factors."""
        shared = common(p)
        if len(p) == 1:
            return [Number(Fraction(*p.values())), *self.powers(shared)]
        inside = sorted(divided(p, shared).items(), key=lambda term: sorted(self.rank(s) for s, _ in term[0]))
        number = common_number(x for _, x in inside)
        if number < 1 and len({abs(x) for _, x in inside}) > 1:
            number = Fraction(1)  # 5/4 m + M, not 1/4 (5 m + 4 M)
        if inside[0][1] < 0:
            number = -number
        terms = [joined([Number(Fraction(x) / number), *self.powers(factors)]) for factors, x in inside]
        return [Number(number), Sum(tuple(terms)), *self.powers(shared)]

    def powers(self, factors: Factors) -> list[Formula]:
        """Symbols with their exponents, in the order of their declaration."""
        known = [(f, exponent) for f, exponent in factors if isinstance(f, Symbol)]
        ordered = sorted(known, key=lambda pair: (self.rank(pair[0]), pair[0].order))
        return [s if e == 1 else Power(s, e) for s, e in ordered]

    def facing(self, dot: Dot) -> tuple[int, Formula]:
        """(sign, the dot product written otherwise)."""
        a, b = dot.left, dot.right
        if b.varied:
            a, b = b, a
        if not a.varied:
            return 1, _resting(a, b)
        while isinstance(a, Apply) and a.right.varied:
            b = Apply(transpose(a.left), b)
            a = a.right
        return _triple(a, b, self) if isinstance(a, Cross) else (1, Dot(a, b))

    def _forced(self, term: Term) -> bool:
        return any(s.base in self.inputs for s in term.symbols)

    def _leading(self, symbols: Sequence[Symbol]) -> tuple[int, list[Symbol]]:
        """(highest order of derivative, an angular velocity counting as one of a rotation, what has it)."""
        orders = [s.order + (s.base in self._rates) for s in symbols]
        highest = max(orders, default=0)
        return highest, [s for s, order in zip(symbols, orders, strict=True) if order == highest]

    @cached_property
    def _places(self) -> dict[Base, int]:
        """By variable, or angular velocity: its number in the configuration, -1 of the row's own."""
        places = {q.base: -1 if q == self.own else i for i, q in enumerate(self.configuration)}
        return places | {base: places[q.base] for base, q in self._rates.items()}

    @cached_property
    def _rates(self) -> dict[Base, Symbol]:
        return rates(self.configuration)


NO_ROLES = Roles()


def common_number(values: Iterable[Exact]) -> Fraction:
    """The largest positive number of which all are integer multiples."""
    values = list(values)
    bottom = lcm(*[x.denominator for x in values])
    return Fraction(gcd(*(int(x * bottom) for x in values)), bottom)


def joined(factors: list[Formula]) -> Formula:
    """The product of factors as they stand, without a leading 1."""
    if factors and factors[0] == ONE:
        factors = factors[1:]
    return Product(tuple(factors)) if len(factors) > 1 else factors[0] if factors else ONE


def _resting(a: Formula, b: Formula) -> Dot:
    if isinstance(b, Apply) and isinstance(b.left, Transpose) and not isinstance(b.right, Apply):
        return Dot(b.right, Apply(b.left.of, a))
    return Dot(b, a) if _is_constant(a) and not _is_constant(b) else Dot(a, b)


def _is_constant(f: Formula) -> bool:
    return f.constant if isinstance(f, Symbol) else all(_is_constant(c) for c in f.children)


def _triple(a: Cross, b: Formula, roles: Roles) -> tuple[int, Formula]:
    """(xi x q) . b and (Omega x eta) . b where the variation's own variable occurs, else what is simple first."""
    sign = 1
    u, v = a.left, a.right
    if v.varied:
        u, v, sign = v, u, -1
    owner = roles.owner(u)
    partner = None if owner is None else owner.base.rate or owner
    if v != partner and (b == partner or (isinstance(b, Symbol) and not isinstance(v, Symbol))):
        v, b, sign = b, v, -sign
    if partner is not None and partner != owner and v == partner:
        return -sign, Dot(Cross(v, u), b)
    return sign, Dot(Cross(u, v), b)

"""Terms of a normal form, what their symbols stand for in a row, and the order that follows.

Own accelerations come first, then those of the other variables in the configuration's order, what holds velocities,
what holds neither, accelerations of abbreviated points, and applied forces last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from recursive_dyn.manifold.formula.calculus import rates, symbols_of
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.symbol import Base, Symbol
from recursive_dyn.manifold.normal.forms import Coefficient, Factors, divided


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

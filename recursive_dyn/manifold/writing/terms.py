"""Terms of a normal form, what their symbols stand for in a row, and the order that follows.

Own accelerations come first, then those of the other variables in the configuration's order, what holds velocities,
what holds neither, accelerations of abbreviated points, and applied forces last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from recursive_dyn.manifold.formula.calculus import symbols_of
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.symbol import Base, Symbol
from recursive_dyn.manifold.formula.variations import rates
from recursive_dyn.manifold.normal.polynomial import Monomial, Polynomial


@dataclass(frozen=True)
class Term:
    """coefficient * moving * dots * atom: constants, time-dependent scalars, dot products, a vector or matrix."""

    coefficient: Polynomial
    moving: Monomial
    dots: tuple[Formula, ...]
    atom: Formula | None

    def symbols(self) -> list[Symbol]:
        """Every symbol outside the constant coefficient, for ordering."""
        result = [s for s, _ in self.moving]
        for f in (*self.dots, *(() if self.atom is None else (self.atom,))):
            result += symbols_of(f)
        return result


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

    def rank(self, s: Symbol) -> int:
        """Order of declaration."""
        return self.ranks.get(s.base, s.base.rank)

    def key(self, term: Term) -> tuple[Any, ...]:
        """Place of a term in a sum."""
        symbols = term.symbols()
        highest, leading = self._leading(symbols)
        place = min((self._place(s) for s in leading), default=0)
        ranks = sorted(self.rank(s) for m in term.coefficient for s, _ in m)
        group = self._group(symbols, highest, place)
        return group, -highest, place, len(symbols), [(self.rank(s), s.order) for s in symbols], ranks

    def owner(self, variation: Formula) -> Symbol | None:
        """The variable whose virtual displacement a formula is."""
        if not isinstance(variation, Symbol):
            return None
        return next((q for q in self.configuration if q.virtual.base == variation.base), None)

    def kind(self, term: Term) -> str:
        """What terms must have in common to share an operation: forces, accelerations, velocities, or fields.

        Accelerations of points and fields count as one, R^T (x'' + g e3).
        """
        symbols = term.symbols()
        if any(s.base in self.inputs for s in symbols):
            return "force"
        highest, leading = self._leading(symbols)
        if highest == 1:
            return "velocity"
        point = all(s.base.space.flat and self._order(s) == s.order for s in leading)
        return "field" if highest == 0 or point else "acceleration"

    def _group(self, symbols: list[Symbol], highest: int, place: int) -> int:
        if any(s.base in self.inputs for s in symbols):
            return 5
        if highest >= 2:
            if any(s.base.definition is not None and s.order >= 2 for s in symbols):
                return 4
            return 0 if place < 0 else 1
        return 2 if highest == 1 else 3

    def _leading(self, symbols: list[Symbol]) -> tuple[int, list[Symbol]]:
        """(highest order of derivative, what has it)."""
        orders = [self._order(s) for s in symbols]
        highest = max(orders, default=0)
        return highest, [s for s, order in zip(symbols, orders, strict=True) if order == highest]

    def _order(self, s: Symbol) -> int:
        """Order of derivative, counting an angular velocity as one of a rotation."""
        return s.order + (s.base in self._rates)

    def _place(self, s: Symbol) -> int:
        base = self._rates[s.base].base if s.base in self._rates else s.base
        for i, q in enumerate(self.configuration):
            if base == q.base:
                return -1 if q == self.own else i
        return len(self.configuration)

    @cached_property
    def _rates(self) -> dict[Base, Symbol]:
        return rates(self.configuration)


NO_ROLES = Roles()

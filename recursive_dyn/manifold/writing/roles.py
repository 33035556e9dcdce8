"""What symbols stand for in a row, and the order that follows for its terms.

Own accelerations come first, then those of the other variables in the configuration's order, what holds velocities,
what holds neither, accelerations of abbreviated points, and applied forces last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recursive_dyn.manifold.formula.formula import FLAT, ROTATION, Base, Formula, Symbol

if TYPE_CHECKING:
    from recursive_dyn.manifold.writing.terms import Term


@dataclass(frozen=True)
class Roles:
    """own: the row's variable; configuration: all of them; inputs: applied forces; first: what leads cross products.

    ranks: order of declaration. Equal symbols may have been declared before, in other systems, in another order, and
    forms may hold those, so that what a symbol itself says of its rank counts only where nothing is known.
    """

    own: Symbol | None = None
    configuration: tuple[Symbol, ...] = ()
    inputs: frozenset[Base] = frozenset()
    first: Symbol | None = None
    ranks: Mapping[Base, int] = field(default_factory=dict)

    def rank(self, s: Symbol) -> int:
        """Order of declaration."""
        return self.ranks.get(s.base, s.base.rank)

    def key(self, term: Term) -> tuple[Any, ...]:
        """Place of a term in a sum."""
        symbols = term.symbols()
        orders = [(self._order(s), s) for s in symbols]
        highest = max((o for o, _ in orders), default=0)
        leading = [s for o, s in orders if o == highest]
        place = min((self._place(s) for s in leading), default=0)
        ranks = sorted(self.rank(s) for m in term.coefficient for s, _ in m)
        return (
            self._group(symbols, highest, place),
            -highest,
            place,
            len(symbols),
            [(self.rank(s), s.order) for s in symbols],
            ranks,
        )

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
        highest = max(map(self._order, symbols), default=0)
        if highest == 1:
            return "velocity"
        leading = [s for s in symbols if self._order(s) == highest]
        point = all(s.base.space == FLAT and self._order(s) == s.order for s in leading)
        return "field" if highest == 0 or point else "acceleration"

    def _group(self, symbols: list[Symbol], highest: int, place: int) -> int:
        if any(s.base in self.inputs for s in symbols):
            return 5
        if highest >= 2:
            if any(s.base.definition is not None and s.order >= 2 for s in symbols):
                return 4
            return 0 if place < 0 else 1
        return 2 if highest == 1 else 3

    def _order(self, s: Symbol) -> int:
        """Order of derivative, counting an angular velocity as one of a rotation."""
        return s.order + any(s.base == R.base.rate.base for R in self.configuration if R.base.rate is not None)

    def _place(self, s: Symbol) -> int:
        for i, q in enumerate(self.configuration):
            if s.base == q.base or (q.base.space == ROTATION and s.base == q.rate.base):
                return -1 if q == self.own else i
        return len(self.configuration)


NO_ROLES = Roles()

"""Terms of a normal form, one by one, as they are grouped and ordered for printing."""

from __future__ import annotations

from dataclasses import dataclass

from recursive_dyn.manifold.formula.calculus import symbols_of
from recursive_dyn.manifold.formula.formula import Formula, Symbol
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

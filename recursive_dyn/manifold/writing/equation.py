"""Equations of motion, of whatever derivation, as they are printed and made into numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.calculus import derivation, dt, symbols_of
from recursive_dyn.manifold.formula.nodes import Formula, Printed
from recursive_dyn.manifold.formula.operations import zero
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import Form, formula
from recursive_dyn.manifold.writing.compact import compact_row
from recursive_dyn.manifold.writing.style import Style
from recursive_dyn.manifold.writing.terms import NO_ROLES, Roles


@dataclass(frozen=True, eq=False, repr=False)
class Equation(Printed):
    """The row of one configuration variable: ``residual`` = 0.

    symbol: the variable; form: the residual in normal form, exactly what its virtual displacement is multiplied with
    in - delta S; roles: how it is to be written.
    """

    symbol: Symbol
    form: Form
    roles: Roles = NO_ROLES

    @property
    def residual(self) -> Formula:
        """The residual term by term, in normal form."""
        return formula(self.form, self.symbol.virtual.shape)

    @cached_property
    def row(self) -> Formula:
        """The residual as a person would write it; a constant that all terms share is dropped where forces have it."""
        return compact_row(self.form, self.symbol.virtual.shape, self.roles)

    def write(self, style: Style) -> str:
        return f"{style.write(self.row)} = 0"


@dataclass(frozen=True, eq=False, repr=False)
class EquationSystem(Printed):
    """Equations of motion: a row for each variable of the configuration, in its order; ``equations[q]`` is that of q.

    inputs: applied forces; lagrangian, virtual_work: what the rows come from; constraints: formulas linear in velocity
    that are zero, with a multiplier each.
    """

    rows: tuple[Equation, ...]
    configuration: tuple[Symbol, ...]
    inputs: tuple[Symbol, ...]
    lagrangian: Formula
    virtual_work: Formula
    constraints: tuple[Formula, ...] = ()
    multipliers: tuple[Symbol, ...] = ()

    def __getitem__(self, symbol: Symbol | str) -> Equation:
        for row in self.rows:
            if symbol in (row.symbol, row.symbol.base.name):
                return row
        known = ", ".join(map(str, self.configuration))
        raise ModelError(f"there is no row of '{symbol}'; the configuration is {known}")

    def __iter__(self) -> Iterator[Equation]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def definitions(self) -> tuple[Symbol, ...]:
        """Abbreviations that the rows and constraints use."""
        used = (s for f in (*(row.row for row in self.rows), *self.constraints) for s in symbols_of(f, True))
        return tuple(dict.fromkeys(Symbol(s.base) for s in used if s.base.definition is not None))

    @cached_property
    def energy(self) -> Formula:
        """E = sum of dL/drate . rate - L over q' of unit vectors, Omega of rotations and x' of flat variables.

        The total energy T + U for L = T - U with T quadratic in the rates. Where L depends on prescribed motions it is
        Jacobi's integral, which those motions change. ModelError for a Lagrangian with second derivatives.
        """
        rates = {q.velocity.base: q.velocity.order for q in self.configuration}

        def along_rates(s: Symbol) -> Formula:
            if s.base.definition is not None:
                return derivation(dt(s.base.definition, s.order), along_rates)
            if s.base not in rates or s.order < rates[s.base]:
                return zero(s.shape)
            if s.order > rates[s.base]:
                raise ModelError(f"the Lagrangian holds {s}: it may depend on positions and velocities only")
            return s

        return derivation(self.lagrangian, along_rates) - self.lagrangian

    def write(self, style: Style) -> str:
        """All rows, constraints and definitions, a line each."""
        lines = [*(row.write(style) for row in self.rows), *(f"{style.write(c)} = 0" for c in self.constraints)]
        lines += [f"{style.write(s)} = {style.write(s.base.definition)}" for s in self.definitions if s.base.definition]
        return "\n".join(lines)

    def latex(self) -> str:
        """In LaTeX, aligned at the equal signs."""
        body = super().latex().replace(" = ", " &= ").replace("\n", " \\\\\n")
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"

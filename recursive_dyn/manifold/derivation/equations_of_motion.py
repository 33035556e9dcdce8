"""Equations of motion: one row for each configuration variable, and how they were found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.calculus import symbols_of
from recursive_dyn.manifold.formula.nodes import Formula, Printed
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.motion.motion_rows import MotionRow, MotionRows
from recursive_dyn.manifold.writing.compact import compact_row
from recursive_dyn.manifold.writing.style import Style
from recursive_dyn.manifold.writing.terms import NO_ROLES, Roles


@dataclass(frozen=True, eq=False, repr=False)
class Equation(MotionRow, Printed):
    """A row as it is printed; roles: how it is to be written."""

    roles: Roles = NO_ROLES

    @cached_property
    def row(self) -> Formula:
        """The residual as a person would write it; a constant that all terms share is dropped where forces have it."""
        return compact_row(self.form, self.symbol.virtual.shape, self.roles)

    def write(self, style: Style) -> str:
        return f"{style.write(self.row)} = 0"


@dataclass(frozen=True, eq=False, repr=False)
class Equations(MotionRows, Printed):
    """Equations of motion of a system; ``equations[q]`` is the row of q. steps: what each step returned."""

    rows: tuple[Equation, ...]
    steps: tuple[Any, ...] = ()

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

    def write(self, style: Style) -> str:
        """All rows, constraints and definitions, a line each."""
        lines = [*(row.write(style) for row in self.rows), *(f"{style.write(c)} = 0" for c in self.constraints)]
        lines += [f"{style.write(s)} = {style.write(s.base.definition)}" for s in self.definitions if s.base.definition]
        return "\n".join(lines)

    def latex(self) -> str:
        """In LaTeX, aligned at the equal signs."""
        body = super().latex().replace(" = ", " &= ").replace("\n", " \\\\\n")
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"

    def compile(self) -> ManifoldDynamics:
        """Mass matrix, right-hand side, accelerations and steps as machine code."""
        return ManifoldDynamics(self)

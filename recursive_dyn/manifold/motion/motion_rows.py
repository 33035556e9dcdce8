"""Equations of motion as they are made into numbers, whatever they were derived by."""

from __future__ import annotations

from dataclasses import dataclass

from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import Form, formula


@dataclass(frozen=True, eq=False, repr=False)
class MotionRow:
    """The row of one configuration variable: ``residual`` = 0.

    symbol: the variable; form: the residual in normal form, exactly what its virtual displacement is multiplied with
    in - delta S.
    """

    symbol: Symbol
    form: Form

    @property
    def residual(self) -> Formula:
        """The residual term by term, in normal form."""
        return formula(self.form, self.symbol.virtual.shape)


@dataclass(frozen=True, eq=False, repr=False)
class MotionRows:
    """Equations of motion, of whatever derivation: a row for each variable of the configuration, in its order.

    inputs: applied forces; lagrangian, virtual_work: what the rows come from; constraints: formulas linear in velocity
    that are zero, with a multiplier each.
    """

    rows: tuple[MotionRow, ...]
    configuration: tuple[Symbol, ...]
    inputs: tuple[Symbol, ...]
    lagrangian: Formula
    virtual_work: Formula
    constraints: tuple[Formula, ...] = ()
    multipliers: tuple[Symbol, ...] = ()

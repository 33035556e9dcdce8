"""Equations of motion as they are made into numbers, whatever they were derived by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.calculus import derivation, dt
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.operations import zero
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

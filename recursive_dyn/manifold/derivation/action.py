"""What the steps of a derivation return: the action and its variation, which print as text and LaTeX."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from recursive_dyn.manifold.derivation.derivation_check import inputs_of
from recursive_dyn.manifold.formula.calculus import symbols_of
from recursive_dyn.manifold.formula.nodes import ZERO, Formula, Printed
from recursive_dyn.manifold.formula.symbol import Base, Symbol
from recursive_dyn.manifold.normal.forms import Form
from recursive_dyn.manifold.normal.normal_form import normal
from recursive_dyn.manifold.writing.compact import compact, paired
from recursive_dyn.manifold.writing.style import Style
from recursive_dyn.manifold.writing.terms import Roles


@dataclass(frozen=True)
class VariationalProblem:
    """What is given: L, the virtual work, the configuration, and constraints linear in velocity."""

    lagrangian: Formula
    virtual_work: Formula
    configuration: tuple[Symbol, ...]
    prescribed: tuple[Symbol, ...] = ()
    constraints: tuple[Formula, ...] = ()
    multipliers: tuple[Symbol, ...] = ()
    reaction: Formula = ZERO

    @property
    def inputs(self) -> tuple[Symbol, ...]:
        """Applied forces."""
        return inputs_of(self.virtual_work, self.configuration)

    @cached_property
    def ranks(self) -> dict[Base, int]:
        """Order of declaration of every symbol that is given."""
        given = (self.lagrangian, self.virtual_work, self.reaction, *self.configuration, *self.constraints)
        bases = {s.base: s.base.rank for f in given for s in symbols_of(f, True)}
        return bases | {s.base: s.base.rank for q in self.configuration for s in q.base.companions}

    def roles(self, variation: Symbol | None = None) -> Roles:
        """How the cofactor of a variation is to be written."""
        own = next((q for q in self.configuration if variation and q.virtual.base == variation.base), None)
        inputs = frozenset(s.base for s in (*self.inputs, *self.multipliers))
        return Roles(own, self.configuration, inputs, self.ranks)


@dataclass(frozen=True, eq=False, repr=False)
class Step(Printed):
    """What a step returns: the action or its variation; ``title`` names the step, ``integrand`` is the formula."""

    problem: VariationalProblem
    title: str

    @property
    def integrand(self) -> Formula:
        """What is integrated over time."""
        raise NotImplementedError

    def write(self, style: Style) -> str:
        return style.varied(self.integrand)


@dataclass(frozen=True, eq=False, repr=False)
class Integral(Step):
    """A step whose ``formula`` is integrated as it stands."""

    formula: Formula

    @property
    def integrand(self) -> Formula:
        return compact(normal(self.formula), (), self.problem.roles())


class Action(Integral):
    """Step 1: S; virtual work has a variation only, and is written as W."""

    def write(self, style: Style) -> str:
        return style.action(self.integrand, bool(normal(self.problem.virtual_work + self.problem.reaction)))


class Variation(Integral):
    """Steps 2 and 3: delta S; ``formula`` is linear in variations."""


@dataclass(frozen=True, eq=False, repr=False)
class Collection(Step):
    """Steps 4 to 6: delta S, of a sum of variation . cofactor; cofactors are normal forms."""

    terms: tuple[tuple[Symbol, Form], ...] = ()

    @property
    def integrand(self) -> Formula:
        return paired([(s, compact(form, s.shape, self.problem.roles(s))) for s, form in self.terms])

    @property
    def has_derivatives(self) -> bool:
        """Whether a derivative is left on a variation."""
        return any(symbol.order for symbol, _ in self.terms)

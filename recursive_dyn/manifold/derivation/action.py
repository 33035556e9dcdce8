"""What the steps of a derivation return: the action and its variation, which print as text and LaTeX."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from recursive_dyn.manifold.derivation.variational_problem import VariationalProblem
from recursive_dyn.manifold.formula.nodes import Formula, Printed
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import Form
from recursive_dyn.manifold.normal.normal_form import normal
from recursive_dyn.manifold.writing.compact import compact, paired
from recursive_dyn.manifold.writing.style import Style


@dataclass(frozen=True, eq=False, repr=False)
class Step(Printed, ABC):
    """What a step returns: the action or its variation; ``title`` names the step, ``integrand`` is the formula."""

    problem: VariationalProblem
    title: str

    @property
    @abstractmethod
    def integrand(self) -> Formula:
        """What is integrated over time."""

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

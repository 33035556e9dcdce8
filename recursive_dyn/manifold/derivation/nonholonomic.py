"""Constraints linear in velocity, by multipliers (Lagrange-d'Alembert).

The reaction does no virtual work on displacements that the constraint admits, so that lambda . (the constraint, of
virtual displacements) is added to the virtual work.
"""

from __future__ import annotations

from collections.abc import Collection

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.derivation.variational_problem import VariationalProblem
from recursive_dyn.manifold.formula.calculus import derivation, dt, leaves, virtual_rate
from recursive_dyn.manifold.formula.declare import declare
from recursive_dyn.manifold.formula.nodes import ZERO, Formula
from recursive_dyn.manifold.formula.operations import dot, is_zero, kind, zero
from recursive_dyn.manifold.formula.symbol import Symbol


def multiplier_work(problem: VariationalProblem, taken: Collection[str]) -> tuple[tuple[Symbol, ...], Formula]:
    """(multipliers lambda, the virtual work of the constraints' reactions); ModelError for what is not linear.

    taken: names that multipliers may not have.
    """
    work: Formula = ZERO
    multipliers: list[Symbol] = []
    for i, c in enumerate(problem.constraints):
        if not isinstance(c, Formula) or len(c.shape) > 1:
            raise ModelError(f"constraint {i} must be a scalar or vector formula that is zero, not {c!r}")
        number = "" if len(problem.constraints) == 1 else str(i + 1)
        free = (stem + number for stem in ("lambda", "mu", "nu") if stem + number not in taken)
        multiplier = declare(next(free, f"multiplier{number}"), c.shape)
        virtual = virtual_form(c, problem)
        work = work + (dot(multiplier, virtual) if c.shape else multiplier * virtual)
        multipliers.append(multiplier)
    return tuple(multipliers), work


def virtual_form(c: Formula, problem: VariationalProblem) -> Formula:
    """A constraint linear in velocity, of virtual displacements in place of velocities; terms without any drop out."""
    spins = problem.spinning
    owners = {q.base: q for q in problem.configuration} | spins

    def is_velocity(s: Symbol) -> bool:
        return not s.varied and s.base not in problem.given and s.order + (s.base in spins) > 0

    for s in leaves(c):
        if not s.constant and s.base not in problem.known:
            raise ModelError(f"'{Symbol(s.base)}' in the constraint {c} is neither constant nor in the configuration")
        if s.varied or (is_velocity(s) and s.order + (s.base in spins) > 1):
            raise ModelError(f"the constraint {c} holds {s}: constraints are linear in velocity")

    def rule(s: Symbol) -> Formula:
        definition = s.base.definition
        if definition is not None:
            if s.order == 1 and not any(map(is_velocity, leaves(definition))):
                return Symbol(s.base, 0, True)  # of a point: its name stays in the rows
            return derivation(dt(definition, s.order), rule)
        return virtual_rate(owners[s.base]) if is_velocity(s) else zero(s.shape)

    virtual = derivation(c, rule)
    if is_zero(virtual):
        raise ModelError(f"the {kind(c)} {c} holds no velocity: constraints are linear in velocity")
    for s in filter(is_velocity, leaves(virtual)):
        raise ModelError(f"the constraint {c} is not linear in velocity: {s} is multiplied with another one")
    return virtual

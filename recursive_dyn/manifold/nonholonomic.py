"""Constraints linear in velocity, by multipliers (Lagrange-d'Alembert).

The reaction does no virtual work on displacements that the constraint admits, so that lambda . (the constraint, of
virtual displacements) is added to the virtual work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.calculus import derivation, symbols_of
from recursive_dyn.manifold.check import known_bases, within
from recursive_dyn.manifold.formula import ROTATION, SPHERE, ZERO, Formula, Symbol
from recursive_dyn.manifold.operations import cross, dot, is_zero, kind, zero
from recursive_dyn.manifold.symbols import declare


def multiplier_work(
    constraints: Sequence[Any], variables: Sequence[Symbol], prescribed: Sequence[Symbol] = ()
) -> tuple[tuple[Symbol, ...], Formula]:
    """(multipliers lambda, the virtual work of the constraints' reactions); ModelError for what is not linear."""
    work: Formula = ZERO
    multipliers: list[Symbol] = []
    for i, c in enumerate(constraints):
        if not isinstance(c, Formula) or len(c.shape) > 1:
            raise ModelError(f"constraint {i} must be a scalar or vector formula that is zero, not {c!r}")
        name = "lambda" if len(constraints) == 1 else f"lambda{i + 1}"
        multiplier = declare(name, c.shape)
        virtual = virtual_form(c, variables, prescribed)
        work = work + (dot(multiplier, virtual) if c.shape else multiplier * virtual)
        multipliers.append(multiplier)
    return tuple(multipliers), work


def virtual_form(c: Formula, variables: Sequence[Symbol], prescribed: Sequence[Symbol] = ()) -> Formula:
    """A constraint linear in velocity, of virtual displacements in place of velocities; terms without any drop out."""
    rates = {q.rate.base: q for q in variables if q.base.space == ROTATION}
    given = {s.base for s in prescribed}
    known = known_bases(variables) | given
    for s in within(c):
        if not s.constant and s.base.definition is None and s.base not in known:
            raise ModelError(f"'{Symbol(s.base)}' in the constraint {c} is neither constant nor in the configuration")
        if s.varied or (s.base not in given and s.order + (s.base in rates) > 1):
            raise ModelError(f"the constraint {c} holds {s}: constraints are linear in velocity")

    def rule(s: Symbol) -> Formula:
        if s.base in given:
            return zero(s.shape)
        if s.base in rates and not s.order:
            return rates[s.base].virtual
        if s.order == 1 and s.base.space == SPHERE:
            owner = next(q for q in variables if q.base == s.base)
            return cross(owner.virtual, owner)
        return Symbol(s.base, 0, True) if s.order == 1 and s.base not in rates else zero(s.shape)

    virtual = derivation(c, rule)
    if is_zero(virtual):
        raise ModelError(f"the {kind(c)} {c} holds no velocity: constraints are linear in velocity")
    for s in symbols_of(virtual):
        if not s.varied and (s.order or s.base in rates):
            raise ModelError(f"the constraint {c} is not linear in velocity: {s} is multiplied with another one")
    return virtual

"""Variations that are not free, in the virtual displacements that are: delta q = xi x q, delta R = R hat(eta).

delta Omega = eta' + Omega x eta follows from R' = R hat(Omega) (Bittner & Sreenath 2016, section 4.1); derivatives of
all of them by Leibniz's rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.formula import ROTATION, SPHERE, Base, Formula, Symbol
from recursive_dyn.manifold.formula.operations import cross, hat, multiply


def spins(symbols: Iterable[Symbol]) -> dict[Base, Symbol]:
    """eta by the Omega of each rotation among the symbols."""
    return {s.base.rate.base: s.base.virtual for s in symbols if s.base.rate and s.base.virtual}


def in_displacements(s: Symbol, spinning: Mapping[Base, Symbol]) -> Formula:
    """A symbol, in xi and eta if it is the variation of a unit vector, a rotation or an Omega of ``spinning``."""
    if not s.is_variation:
        return s
    base = s.base
    if base in spinning:
        eta = spinning[base]
        return dt(dt(eta) + cross(Symbol(base), eta), s.order)
    if base.space == SPHERE:
        return dt(cross(s.virtual, Symbol(base)), s.order)
    if base.space == ROTATION:
        return multiply(Symbol(base), hat(s.virtual))
    return s

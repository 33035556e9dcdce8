"""How the symbols of each space move: rates, variations, virtual displacements (Bittner & Sreenath 2016, section 4.1).

A flat variable has the rate x' and the variation delta x; a unit vector q' and delta q = xi x q; a rotation the rate
Omega, R' = R hat(Omega), and delta R = R hat(eta), from which delta Omega = eta' + Omega x eta follows. What a space
does to symbols stands here, what it does to numbers in ``motion.variable``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.operations import cross, dot, hat, multiply
from recursive_dyn.manifold.formula.symbol import Base, Symbol


def velocity(q: Symbol) -> Symbol:
    """The symbol of a variable's rate: Omega of a rotation, else its time derivative."""
    return Symbol(q.base, 1) if q.base.rate is None else q.rate


def acceleration(q: Symbol) -> Symbol:
    """The symbol of a variable's acceleration: q'', Omega', x''."""
    rate = velocity(q)
    return Symbol(rate.base, rate.order + 1)


def rates(symbols: Iterable[Symbol]) -> dict[Base, Symbol]:
    """Each rotation among the symbols by its Omega."""
    return {q.base.rate.base: q for q in symbols if q.base.rate is not None}


def in_displacements(s: Symbol, spinning: Mapping[Base, Symbol]) -> Formula:
    """A symbol, in xi and eta if it is the variation of a unit vector, a rotation or an Omega of ``spinning``."""
    base = s.base
    if not s.is_variation:
        return s
    if base in spinning:
        eta = spinning[base].virtual
        return dt(dt(eta) + cross(Symbol(base), eta), s.order)
    return s if base.virtual is None else dt(displacement(Symbol(base)), s.order)


def displacement(q: Symbol) -> Formula:
    """The variation of a variable in its virtual displacement: delta x, xi x q, R hat(eta)."""
    return virtual_rate(q) if q.base.rate is None else multiply(q, hat(q.virtual))


def virtual_rate(q: Symbol) -> Formula:
    """What stands for a variable's rate in virtual displacements: delta x, xi x q, eta."""
    return cross(q.virtual, q) if q.base.is_unit else q.virtual


def companions(q: Symbol) -> list[Symbol]:
    """What was declared with a variable, and has names of its own: Omega and eta, or xi."""
    return [s for s in (q.base.rate, q.base.virtual) if s is not None]


def effective(q: Symbol) -> Formula:
    """A virtual displacement without what displaces nothing: xi without its part along q, as q x (xi x q)."""
    return cross(q, cross(q.virtual, q)) if q.base.is_unit else q.virtual


def conserved(q: Symbol) -> list[Formula]:
    """What the space keeps zero of a variable and its rate: q . q' of a unit vector."""
    return [dot(q, dt(q))] if q.base.is_unit else []

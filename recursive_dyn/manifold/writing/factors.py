"""Factors of a term as a person would write them.

What all terms of a coefficient share stands outside its sum, (m1 + m2) l^2. Of a dot product the variation stands
first, (xi x q) . tau, or else what moves, q . e3.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from recursive_dyn.manifold.formula import nodes
from recursive_dyn.manifold.formula.nodes import ONE, Formula
from recursive_dyn.manifold.formula.operations import transpose
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.polynomial import (
    Monomial,
    Polynomial,
    common_monomial,
    common_number,
    exact,
    monomial_power,
    monomial_product,
    product,
)
from recursive_dyn.manifold.writing.terms import Roles, Term


def shared_factors(terms: list[Term], roles: Roles) -> list[Formula]:
    """Number, sign and symbols that all terms share, as factors; taken out of the list's terms."""
    constant = common_monomial([m for t in terms for m in t.coefficient])
    moving = common_monomial([t.moving for t in terms])
    values = [x for t in terms for x in t.coefficient.values()]
    number = common_number(values) * (-1 if all(x < 0 for x in values) else 1)
    inverse = monomial_power(constant, -1)
    for i, t in enumerate(terms):
        rest = product(t.coefficient, {inverse: exact(1 / number)})
        terms[i] = replace(t, coefficient=rest, moving=monomial_product(t.moving, monomial_power(moving, -1)))
    return [nodes.Number(number), *powers(constant, roles), *powers(moving, roles)]


def coefficient(p: Polynomial, roles: Roles) -> list[Formula]:
    """Number, sum of what differs, and the symbols that all share, as factors."""
    shared = common_monomial(list(p))
    inside = product(p, {monomial_power(shared, -1): 1})
    rest = sorted(inside.items(), key=lambda pair: sorted(roles.rank(s) for s, _ in pair[0]))
    values = [x for _, x in rest]
    number = common_number(values)
    if number < 1 and len({abs(x) for x in values}) > 1:
        number = Fraction(1)  # 5/4 m + M, not 1/4 (5 m + 4 M)
    if values[0] < 0:
        number = -number
    if len(rest) == 1:
        return [nodes.Number(Fraction(values[0])), *powers(shared, roles)]
    terms = [joined([nodes.Number(Fraction(x) / number), *powers(m, roles)]) for m, x in rest]
    return [nodes.Number(number), nodes.Sum(tuple(terms)), *powers(shared, roles)]


def powers(monomial: Monomial, roles: Roles) -> list[Formula]:
    """A monomial's symbols as factors, in the order of their declaration."""
    ordered = sorted(monomial, key=lambda pair: (roles.rank(pair[0]), pair[0].order))
    return [s if e == 1 else nodes.Power(s, e) for s, e in ordered]


def joined(factors: list[Formula]) -> Formula:
    """The product of factors as they stand, without a leading 1."""
    if not factors:
        return ONE
    if isinstance(factors[0], nodes.Number) and factors[0].value == 1 and len(factors) > 1:
        factors = factors[1:]
    return factors[0] if len(factors) == 1 else nodes.Product(tuple(factors))


def facing(dot: Formula, roles: Roles) -> tuple[int, Formula]:
    """(sign, the dot product written otherwise)."""
    if not isinstance(dot, nodes.Dot):
        return 1, dot
    a, b = dot.left, dot.right
    if b.varied:
        a, b = b, a
    if not a.varied:
        return 1, _resting(a, b)
    while isinstance(a, nodes.Apply) and a.right.varied:
        b = nodes.Apply(transpose(a.left), b)
        a = a.right
    if not isinstance(a, nodes.Cross):
        return 1, nodes.Dot(a, b)
    return _triple(a, b, roles)


def _resting(a: Formula, b: Formula) -> nodes.Dot:
    if isinstance(b, nodes.Apply) and isinstance(b.left, nodes.Transpose) and not isinstance(b.right, nodes.Apply):
        a, b = b.right, nodes.Apply(b.left.of, a)
    elif _is_constant(a) and not _is_constant(b):
        a, b = b, a
    return nodes.Dot(a, b)


def _is_constant(f: Formula) -> bool:
    return f.constant if isinstance(f, Symbol) else all(_is_constant(c) for c in f.children)


def _triple(a: nodes.Cross, b: Formula, roles: Roles) -> tuple[int, Formula]:
    """(xi x q) . b and (Omega x eta) . b where the variation's own variable occurs, else what is simple first."""
    sign = 1
    u, v = a.left, a.right
    if v.varied:
        u, v, sign = v, u, -1
    owner = roles.owner(u)
    partner = None if owner is None else owner.base.rate or owner
    if v != partner and (b == partner or (isinstance(b, Symbol) and not isinstance(v, Symbol))):
        v, b, sign = b, v, -sign
    if partner is not None and partner != owner and v == partner:
        return -sign, nodes.Dot(nodes.Cross(v, u), b)
    return sign, nodes.Dot(nodes.Cross(u, v), b)

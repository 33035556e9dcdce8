"""Factors of a term as a person would write them.

What all terms of a coefficient share stands outside its sum, (m1 + m2) l^2. Of a dot product the variation stands
first, (xi x q) . tau, or else what moves, q . e3.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm

from recursive_dyn.manifold.formula import nodes
from recursive_dyn.manifold.formula.nodes import ONE, Formula
from recursive_dyn.manifold.formula.operations import transpose
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import Coefficient, Exact, Factors, common, divided
from recursive_dyn.manifold.writing.terms import Roles


def coefficient(p: Coefficient, roles: Roles) -> list[Formula]:
    """Number, sum of what differs, and the symbols that all share, as factors."""
    shared = common(p)
    if len(p) == 1:
        return [nodes.Number(Fraction(*p.values())), *powers(shared, roles)]
    inside = sorted(divided(p, shared).items(), key=lambda term: sorted(roles.rank(s) for s, _ in term[0]))
    number = common_number(x for _, x in inside)
    if number < 1 and len({abs(x) for _, x in inside}) > 1:
        number = Fraction(1)  # 5/4 m + M, not 1/4 (5 m + 4 M)
    if inside[0][1] < 0:
        number = -number
    terms = [joined([nodes.Number(Fraction(x) / number), *powers(factors, roles)]) for factors, x in inside]
    return [nodes.Number(number), nodes.Sum(tuple(terms)), *powers(shared, roles)]


def common_number(values: Iterable[Exact]) -> Fraction:
    """The largest positive number of which all are integer multiples."""
    values = list(values)
    bottom = lcm(*[x.denominator for x in values])
    return Fraction(gcd(*(int(x * bottom) for x in values)), bottom)


def powers(factors: Factors, roles: Roles) -> list[Formula]:
    """Symbols with their exponents, in the order of their declaration."""
    known = [(f, exponent) for f, exponent in factors if isinstance(f, Symbol)]
    ordered = sorted(known, key=lambda pair: (roles.rank(pair[0]), pair[0].order))
    return [s if e == 1 else nodes.Power(s, e) for s, e in ordered]


def joined(factors: list[Formula]) -> Formula:
    """The product of factors as they stand, without a leading 1."""
    if factors[:1] == [ONE]:
        factors = factors[1:]
    return nodes.Product(tuple(factors)) if len(factors) > 1 else factors[0] if factors else ONE


def facing(dot: nodes.Dot, roles: Roles) -> tuple[int, Formula]:
    """(sign, the dot product written otherwise)."""
    a, b = dot.left, dot.right
    if b.varied:
        a, b = b, a
    if not a.varied:
        return 1, _resting(a, b)
    while isinstance(a, nodes.Apply) and a.right.varied:
        b = nodes.Apply(transpose(a.left), b)
        a = a.right
    return _triple(a, b, roles) if isinstance(a, nodes.Cross) else (1, nodes.Dot(a, b))


def _resting(a: Formula, b: Formula) -> nodes.Dot:
    if isinstance(b, nodes.Apply) and isinstance(b.left, nodes.Transpose) and not isinstance(b.right, nodes.Apply):
        return nodes.Dot(b.right, nodes.Apply(b.left.of, a))
    return nodes.Dot(b, a) if _is_constant(a) and not _is_constant(b) else nodes.Dot(a, b)


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

"""Coefficients as factors: what all terms of a polynomial share stands outside its sum, (m1 + m2) l^2."""

from __future__ import annotations

from fractions import Fraction

from recursive_dyn.manifold.formula.formula import ONE, Formula, Number, Power, Product, Sum
from recursive_dyn.manifold.normal.polynomial import (
    Monomial,
    Polynomial,
    common_monomial,
    common_number,
    exact,
    monomial_power,
    monomial_product,
)
from recursive_dyn.manifold.writing.roles import Roles
from recursive_dyn.manifold.writing.terms import Term


def shared_factors(terms: list[Term], roles: Roles) -> list[Formula]:
    """Number, sign and symbols that all terms share, as factors; taken out of the list's terms."""
    constant = common_monomial([m for t in terms for m in t.coefficient])
    moving = common_monomial([t.moving for t in terms])
    values = [x for t in terms for x in t.coefficient.values()]
    number = common_number(values) * (-1 if all(x < 0 for x in values) else 1)
    inverse = monomial_power(constant, -1)
    for i, t in enumerate(terms):
        rest = {monomial_product(m, inverse): exact(Fraction(x) / number) for m, x in t.coefficient.items()}
        terms[i] = Term(rest, monomial_product(t.moving, monomial_power(moving, -1)), t.dots, t.atom)
    return [Number(number), *powers(constant, roles), *powers(moving, roles)]


def coefficient(p: Polynomial, roles: Roles) -> list[Formula]:
    """Number, sum of what differs, and the symbols that all share, as factors."""
    shared = common_monomial(list(p))
    inverse = monomial_power(shared, -1)
    rest = sorted(((monomial_product(m, inverse), x) for m, x in p.items()), key=lambda pair: _ranks(pair[0], roles))
    values = [x for _, x in rest]
    number = common_number(values)
    if number < 1 and len({abs(x) for x in values}) > 1:
        number = Fraction(1)  # 5/4 m + M, not 1/4 (5 m + 4 M)
    if values[0] < 0:
        number = -number
    if len(rest) == 1:
        return [Number(Fraction(values[0])), *powers(shared, roles)]
    terms = [joined([Number(Fraction(x) / number), *powers(m, roles)]) for m, x in rest]
    return [Number(number), Sum(tuple(terms)), *powers(shared, roles)]


def powers(monomial: Monomial, roles: Roles) -> list[Formula]:
    """A monomial's symbols as factors, in the order of their declaration."""
    ordered = sorted(monomial, key=lambda pair: (roles.rank(pair[0]), pair[0].order))
    return [s if e == 1 else Power(s, e) for s, e in ordered]


def joined(factors: list[Formula]) -> Formula:
    """The product of factors as they stand, without a leading 1."""
    if not factors:
        return ONE
    if isinstance(factors[0], Number) and factors[0].value == 1 and len(factors) > 1:
        factors = factors[1:]
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _ranks(monomial: Monomial, roles: Roles) -> tuple[int, ...]:
    return tuple(sorted(roles.rank(s) for s, _ in monomial))

"""Coefficients of normal forms: polynomials in scalar symbols with exact numbers; exponents may be negative."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import Any

from recursive_dyn.manifold.formula.symbol import Symbol

Exact = int | Fraction
Monomial = tuple[tuple[Symbol, int], ...]  # sorted by the symbols' keys
Polynomial = dict[Monomial, Exact]  # without zeros; whole numbers are ints, which are ten times faster

UNIT: Polynomial = {(): 1}


def exact(value: Exact) -> Exact:
    """The same number, an int where it is whole."""
    return value.numerator if value.denominator == 1 else value


def monomial_product(a: Monomial, b: Monomial) -> Monomial:
    """a b."""
    if not a or not b:
        return a or b
    if a[-1][0].key < b[0][0].key:
        return a + b
    exponents = dict(a)
    for symbol, exponent in b:
        exponents[symbol] = exponents.get(symbol, 0) + exponent
    return tuple(sorted(((s, e) for s, e in exponents.items() if e), key=_key))


def _key(pair: tuple[Symbol, int]) -> tuple[Any, ...]:
    return pair[0].key


def monomial_power(a: Monomial, exponent: int) -> Monomial:
    """a ** exponent."""
    return tuple((s, e * exponent) for s, e in a) if exponent else ()


def accumulate(a: Polynomial, b: Polynomial, factor: Exact = 1) -> None:
    """a += factor b, in place."""
    for monomial, value in b.items():
        result = exact(a.get(monomial, 0) + value * factor)
        if result:
            a[monomial] = result
        else:
            del a[monomial]


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """a b."""
    if a == UNIT:
        return b
    if b == UNIT:
        return a
    if len(a) > 1 and len(b) == 1:
        a, b = b, a
    if len(a) == 1:
        ((m, x),) = a.items()
        return {monomial_product(m, n) if m else n: exact(x * y) for n, y in b.items()}
    result: Polynomial = {}
    for m, x in a.items():
        accumulate(result, {monomial_product(m, n): y for n, y in b.items()}, x)
    return result


def scaled(a: Polynomial, factor: Exact) -> Polynomial:
    """factor a."""
    return a if factor == 1 else {m: exact(x * factor) for m, x in a.items()} if factor else {}


def common_monomial(monomials: list[Monomial]) -> Monomial:
    """The largest monomial that divides all."""
    if not monomials:
        return ()
    common = dict(monomials[0])
    for monomial in monomials[1:]:
        other = dict(monomial)
        common = {s: min(e, other.get(s, 0)) for s, e in common.items()}
        for s, e in other.items():
            if e < 0 and s not in common:
                common[s] = e
    return tuple(sorted(((s, e) for s, e in common.items() if e), key=_key))


def common_number(values: list[Exact]) -> Fraction:
    """The largest positive number of which all are integer multiples."""
    top = gcd(*(v.numerator for v in values))
    bottom = 1
    for v in values:
        bottom = bottom * v.denominator // gcd(bottom, v.denominator)
    return Fraction(gcd(*(int(v * bottom) for v in values)), bottom) if top else Fraction(1)

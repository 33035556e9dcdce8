"""Sums of coefficient times scalar factors times one atom, as dictionaries, and what is linear or bilinear in them.

A form maps terms (factors, atom) to coefficients, and a coefficient maps constant factors to numbers. Factors are
scalar symbols and dot products with exponents, negative ones of constant symbols only. An atom is a vector or matrix
without sums or scalars in it: a symbol, a cross product of atoms, a matrix applied to one; None for a scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from recursive_dyn.manifold.formula.nodes import Formula, Number
from recursive_dyn.manifold.formula.operations import total
from recursive_dyn.manifold.formula.symbol import Symbol

Exact = int | Fraction
Factors = tuple[tuple[Formula, int], ...]  # sorted by the formulas' keys
Coefficient = dict[Factors, Exact]  # without zeros; whole numbers are ints, which are ten times faster
Term = tuple[Factors, Formula | None]
Form = dict[Term, Coefficient]

UNIT: Coefficient = {(): 1}


def exact(value: Exact) -> Exact:
    """The same number, an int where it is whole."""
    return value.numerator if value.denominator == 1 else value


def joint(a: Factors, b: Factors) -> Factors:
    """a b."""
    if not a or not b:
        return a or b
    if a[-1][0].key < b[0][0].key:
        return a + b
    exponents = dict(a)
    for f, exponent in b:
        exponents[f] = exponents.get(f, 0) + exponent
    return _sorted(exponents)


def _sorted(exponents: dict[Formula, int]) -> Factors:
    return tuple(sorted([pair for pair in exponents.items() if pair[1]], key=lambda pair: pair[0].key))


def raised(a: Factors, exponent: int) -> Factors:
    """a ** exponent."""
    return tuple((f, e * exponent) for f, e in a) if exponent else ()


def common(several: Iterable[Factors]) -> Factors:
    """The largest factors that divide all."""
    first, *others = [dict(factors) for factors in several] or [{}]
    for other in others:
        first = {f: least for f in first | other if (least := min(first.get(f, 0), other.get(f, 0)))}
    return _sorted(first)


def product(a: Coefficient, b: Coefficient) -> Coefficient:
    """a b."""
    if a == UNIT:
        return b
    if b == UNIT:
        return a
    if len(b) == 1:
        a, b = b, a
    result: Coefficient = {}
    for m, x in a.items():
        made = {joint(m, n): exact(x * y) for n, y in b.items()}
        if len(a) == 1:
            return made
        _accumulate(result, made)
    return result


def divided(a: Coefficient, factors: Factors, number: Fraction = Fraction(1)) -> Coefficient:
    """a by a number and factors."""
    return a if not factors and number == 1 else product(a, {raised(factors, -1): exact(1 / number)})


def _accumulate(a: Coefficient, b: Coefficient, factor: Exact = 1) -> None:
    for factors, value in b.items():
        result = exact(a.get(factors, 0) + value * factor)
        if result:
            a[factors] = result
        else:
            del a[factors]


def add_to(a: Form, b: Form, factor: Exact = 1) -> None:
    """a += factor b, in place."""
    for term, coefficient in b.items():
        if term not in a:
            a[term] = coefficient if factor == 1 else product(coefficient, {(): factor})
            continue
        mine = dict(a[term])
        _accumulate(mine, coefficient, factor)
        if mine:
            a[term] = mine
        else:
            del a[term]


def negative(a: Form) -> Form:
    """- a."""
    return {term: product(coefficient, {(): -1}) for term, coefficient in a.items()}


def gathered(terms: Iterable[tuple[Symbol, Form]]) -> dict[Symbol, Form]:
    """The sum of the forms of each symbol."""
    result: dict[Symbol, Form] = {}
    for symbol, form in terms:
        add_to(result.setdefault(symbol, {}), form)
    return result


def times(a: Form, b: Form) -> Form:
    """a b of a scalar form with any other, in either order."""
    result: Form = {}
    for (fa, xa), ca in a.items():
        for (fb, xb), cb in b.items():
            add_to(result, {(joint(fa, fb), xb if xa is None else xa): product(ca, cb)})
    return result


def combine(a: Form, b: Form, operation: Any) -> Form:
    """A bilinear operation on atoms, over all pairs of terms."""
    result: Form = {}
    for (fa, xa), ca in a.items():
        for (fb, xb), cb in b.items():
            outer, coefficient = joint(fa, fb), product(ca, cb)
            for (factors, atom), c in operation(xa, xb).items():
                add_to(result, {(joint(outer, factors), atom): product(coefficient, c)})
    return result


def mapped(a: Form, operation: Callable[[Any], Form]) -> Form:
    """A linear operation on atoms, over all terms."""
    return combine(a, {((), None): UNIT}, lambda atom, _: operation(atom))


def single(atom: Formula | None, number: Exact = 1) -> Form:
    """The form of one atom, or of a number."""
    return {((), atom): {(): exact(number)}}


def scalar(factor: Formula, number: Exact = 1) -> Form:
    """The form of one scalar symbol or dot product."""
    own = ((factor, 1),)
    constant = isinstance(factor, Symbol) and factor.constant
    return {((), None): {own: number}} if constant else {(own, None): {(): number}}


def formula(form: Form, shape: tuple[int, ...]) -> Formula:
    """The form as a formula, term by term."""
    terms = []
    for (factors, atom), coefficient in form.items():
        term = total([_multiplied(Number(Fraction(x)), constants) for constants, x in coefficient.items()])
        term = _multiplied(term, factors)
        terms.append(term if atom is None else term * atom)
    return total(terms, shape)


def _multiplied(f: Formula, factors: Factors) -> Formula:
    for factor, exponent in factors:
        f = f * factor**exponent
    return f

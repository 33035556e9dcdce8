"""Sums of coefficient times dot products times one atom, as dictionaries, and what is linear or bilinear in them.

A form maps (dots, atom) to a polynomial in scalars. An atom is a vector or matrix without sums or scalars in it: a
symbol, a cross product of atoms, a matrix applied to one; None for a scalar.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from recursive_dyn.manifold.formula.nodes import ONE, Formula, Number
from recursive_dyn.manifold.formula.operations import total
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.polynomial import Exact, Polynomial, accumulate, product, scaled

Key = tuple[tuple[Formula, ...], Formula | None]  # (dot products, atom)
Form = dict[Key, Polynomial]
REMEMBERED = 2**15  # results of operations on atoms


def add_to(a: Form, b: Form, factor: Exact = 1) -> None:
    """a += factor b, in place."""
    for key, p in b.items():
        mine = a.get(key)
        if mine is None:
            if p and factor:
                a[key] = scaled(p, factor)
            continue
        mine = dict(mine)
        accumulate(mine, p, factor)
        if mine:
            a[key] = mine
        else:
            del a[key]


def negative(a: Form) -> Form:
    """- a."""
    return {key: scaled(p, -1) for key, p in a.items()}


def gathered(terms: Iterable[tuple[Symbol, Form]]) -> dict[Symbol, Form]:
    """The sum of the forms of each symbol."""
    result: dict[Symbol, Form] = {}
    for symbol, form in terms:
        add_to(result.setdefault(symbol, {}), form)
    return result


def times(a: Form, b: Form) -> Form:
    """a b of a scalar form with any other, in either order."""
    if len(a) == len(b) == 1:  # most often; nothing can cancel
        (((da, xa), pa),), (((db, xb), pb),) = a.items(), b.items()
        return {(_sorted(da + db), xb if xa is None else xa): product(pa, pb)}
    result: Form = {}
    for (da, xa), pa in a.items():
        for (db, xb), pb in b.items():
            add_to(result, {(_sorted(da + db), xb if xa is None else xa): product(pa, pb)})
    return result


def combine(a: Form, b: Form, operation: Any) -> Form:
    """A bilinear operation on atoms, over all pairs of terms."""
    result: Form = {}
    for (da, xa), pa in a.items():
        for (db, xb), pb in b.items():
            outer = da + db
            for (dots, atom), p in operation(xa, xb).items():
                coefficient = product(product(pa, pb), p)
                add_to(result, {(_sorted(outer + dots) if outer else dots, atom): coefficient})
    return result


def _sorted(dots: tuple[Formula, ...]) -> tuple[Formula, ...]:
    return tuple(sorted(dots, key=sort_key)) if len(dots) > 1 else dots


@lru_cache(maxsize=REMEMBERED)
def sort_key(f: Formula) -> tuple[Any, ...]:
    """Simple atoms first: by number of symbols, kind, order of derivative and name."""
    if isinstance(f, Symbol):
        return (1, "", f.key)
    keys = [sort_key(c) for c in f.children]
    return (sum(k[0] for k in keys), type(f).__name__, *keys)


def single(atom: Formula, sign: int = 1) -> Form:
    """The form of one atom."""
    return {((), atom): {(): sign}}


def scalar(dot: Formula, factor: Exact = 1) -> Form:
    """The form of one dot product."""
    return {((dot,), None): {(): factor}}


def formula(form: Form, shape: tuple[int, ...]) -> Formula:
    """The form as a formula, term by term."""
    terms = []
    for (dots, atom), p in form.items():
        coefficient = total([_monomial_formula(m, value) for m, value in p.items()])
        for d in dots:
            coefficient = coefficient * d
        terms.append(coefficient if atom is None else coefficient * atom)
    return total(terms, shape)


def _monomial_formula(monomial: Any, value: Exact) -> Formula:
    result: Formula = Number(Fraction(value))
    for symbol, exponent in monomial:
        result = result * (symbol**exponent)
    return result if monomial or value != 1 else ONE

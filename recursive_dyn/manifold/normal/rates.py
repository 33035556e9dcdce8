"""The time derivative of a normal form, key by key: coefficients of constants are not touched."""

from __future__ import annotations

from functools import lru_cache

from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import Form, Key, add_to, times
from recursive_dyn.manifold.normal.normal_form import normal
from recursive_dyn.manifold.normal.polynomial import Polynomial, accumulate, monomial_product


def form_rate(form: Form) -> Form:
    """d/dt of a form."""
    result: Form = {}
    for (dots, atom), p in form.items():
        changing = _polynomial_rate(p)
        if changing:
            add_to(result, {(dots, atom): changing})
        for key, factor in _outer(dots, atom):
            add_to(result, times({key: p}, factor))
    return result


def _outer(dots: tuple[Formula, ...], atom: Formula | None) -> list[tuple[Key, Form]]:
    """Leibniz's rule for dots and atom: (what stands still, the rate of what moves)."""
    parts: list[tuple[Key, Form]] = []
    if atom is not None:
        parts.append(((dots, None), _rate(atom)))
    for i, d in enumerate(dots):
        parts.append(((dots[:i] + dots[i + 1 :], atom), _rate(d)))
    return parts


@lru_cache(maxsize=2**12)
def _rate(f: Formula) -> Form:
    return normal(dt(f))


def _polynomial_rate(p: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for monomial, value in p.items():
        for i, (symbol, exponent) in enumerate(monomial):
            if symbol.constant:
                continue
            lowered = ((symbol, exponent - 1),) if exponent != 1 else ()
            rest = monomial[:i] + lowered + monomial[i + 1 :]
            rate = Symbol(symbol.base, symbol.order + 1, symbol.is_variation)
            accumulate(result, {monomial_product(rest, ((rate, 1),)): value * exponent})
    return result

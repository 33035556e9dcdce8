"""Normal form of a formula, and its time derivative: everything multiplied out, by the rules of ``atoms``.

Identities of three or more products (Jacobi's) are not reached by rewriting: ``equality`` decides them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula import nodes
from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.atoms import apply_atoms, cross_atoms, dot_atoms, transposed_atom
from recursive_dyn.manifold.normal.forms import REMEMBERED, Form, Key, add_to, combine, single, times
from recursive_dyn.manifold.normal.polynomial import (
    UNIT,
    Polynomial,
    accumulate,
    exact,
    monomial_power,
    monomial_product,
    product,
)

_BILINEAR: dict[type[Formula], Any] = {nodes.Dot: dot_atoms, nodes.Cross: cross_atoms, nodes.Apply: apply_atoms}


def normal(f: Formula) -> Form:
    """The normal form of a formula."""
    match f:
        case Symbol():
            return {((), None): {((f, 1),): 1}} if not f.shape else {((), f): UNIT}
        case nodes.Number(value):
            return {((), None): {(): exact(value)}} if value else {}
        case nodes.Sum(terms):
            result: Form = {}
            for t in terms:
                add_to(result, normal(t))
            return result
        case nodes.Product(factors):
            return times(_scalars(factors[:-1]), normal(factors[-1]))
        case nodes.Power(scalar, exponent):
            return _power(normal(scalar), exponent, f)
        case nodes.Dot(a, b) | nodes.Cross(a, b) | nodes.Apply(a, b):
            return combine(normal(a), normal(b), _BILINEAR[type(f)])
        case nodes.Hat(a):
            return _mapped(normal(a), lambda atom: single(nodes.Hat(atom)))
        case nodes.Transpose(a):
            return _mapped(normal(a), transposed_atom)
    raise OperandError(f"{f!r} has no normal form")


@lru_cache(maxsize=REMEMBERED)
def _scalars(factors: tuple[Formula, ...]) -> Form:
    """The product of scalars that stand in front; terms that a sum was differentiated into share theirs."""
    result = normal(factors[0])
    for factor in factors[1:]:
        result = times(result, normal(factor))
    return result


def _power(a: Form, exponent: int, f: Formula) -> Form:
    if len(a) == 1:
        (((dots, _), p),) = a.items()
        if not dots and len(p) == 1:
            ((monomial, value),) = p.items()
            return {((), None): {monomial_power(monomial, exponent): exact(Fraction(value) ** exponent)}}
    if exponent < 0:
        raise OperandError(f"{f} has no normal form: only constant symbols and numbers divide")
    result: Form = {((), None): UNIT}
    for _ in range(exponent):
        result = times(result, a)
    return result


def _mapped(a: Form, operation: Callable[[Formula], Form]) -> Form:
    """A linear operation on atoms, over all terms."""
    result: Form = {}
    for (dots, atom), p in a.items():
        if atom is not None:
            for (inner, x), sign in operation(atom).items():
                add_to(result, {(dots + inner, x): product(p, sign)})
    return result


def form_rate(form: Form) -> Form:
    """d/dt of a form, key by key: coefficients of constants are not touched."""
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
        parts.append(((dots, None), _atom_rate(atom)))
    for i, d in enumerate(dots):
        parts.append(((dots[:i] + dots[i + 1 :], atom), _atom_rate(d)))
    return parts


@lru_cache(maxsize=2**12)
def _atom_rate(f: Formula) -> Form:
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

"""Normal form of a formula, and its time derivative: everything multiplied out, by the rules of ``atoms``.

Identities of three or more products (Jacobi's) are not reached by rewriting: ``equality`` decides them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula import nodes
from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.atoms import apply_atoms, cross_atoms, dot_atoms, transposed_atom
from recursive_dyn.manifold.normal.forms import (
    REMEMBERED,
    Form,
    add_to,
    combine,
    exact,
    mapped,
    product,
    raised,
    scalar,
    single,
    times,
)

_BILINEAR: dict[type[Formula], Any] = {nodes.Dot: dot_atoms, nodes.Cross: cross_atoms, nodes.Apply: apply_atoms}


def normal(f: Formula) -> Form:
    """The normal form of a formula."""
    match f:
        case Symbol():
            return single(f) if f.shape else scalar(f)
        case nodes.Number(value):
            return single(None, exact(value)) if value else {}
        case nodes.Sum(terms):
            result: Form = {}
            for t in terms:
                add_to(result, normal(t))
            return result
        case nodes.Product(factors):
            return times(_scalars(factors[:-1]), normal(factors[-1]))
        case nodes.Power(base, exponent):
            return _power(normal(base), exponent)
        case nodes.Dot(a, b) | nodes.Cross(a, b) | nodes.Apply(a, b):
            return combine(normal(a), normal(b), _BILINEAR[type(f)])
        case nodes.Hat(a):
            return mapped(normal(a), lambda atom: single(nodes.Hat(atom)))
        case nodes.Transpose(a):
            return mapped(normal(a), transposed_atom)
    raise OperandError(f"{f!r} has no normal form")


@lru_cache(maxsize=REMEMBERED)
def _scalars(factors: tuple[Formula, ...]) -> Form:
    """The product of scalars that stand in front; terms that a sum was differentiated into share theirs."""
    return reduce(times, map(normal, factors))


def _power(a: Form, exponent: int) -> Form:
    if [len(coefficient) for coefficient in a.values()] != [1]:
        return reduce(times, [a] * exponent)
    (((factors, _), coefficient),) = a.items()
    ((constants, value),) = coefficient.items()
    return {(raised(factors, exponent), None): {raised(constants, exponent): exact(Fraction(value) ** exponent)}}


def form_rate(form: Form) -> Form:
    """d/dt of a form, by Leibniz's rule; coefficients of constants are not touched."""
    result: Form = {}
    for (factors, atom), coefficient in form.items():
        for i, (f, exponent) in enumerate(factors):
            rest = (*factors[:i], *raised(((f, 1),), exponent - 1), *factors[i + 1 :])
            add_to(result, times({(rest, atom): product(coefficient, {(): exponent})}, _rate(f)))
        if atom is not None:
            add_to(result, times({(factors, None): coefficient}, _rate(atom)))
    return result


@lru_cache(maxsize=2**12)
def _rate(f: Formula) -> Form:
    return normal(dt(f))

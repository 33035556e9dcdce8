"""Normal form of a formula, and its time derivative: everything multiplied out, by the rules of S^2 and SO(3).

Matrices move right across a dot product, symmetric ones do not care; triple products are sorted with their sign;
R^T R = 1; R a x R b = R (a x b); q . q = 1 and its derivatives. Identities of three or more products (Jacobi's) are
not reached by rewriting: ``equality`` decides them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, reduce
from math import comb
from typing import Any

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula import nodes
from recursive_dyn.manifold.formula.calculus import dt
from recursive_dyn.manifold.formula.nodes import Apply, Cross, Dot, Formula, Hat, Transpose
from recursive_dyn.manifold.formula.operations import transpose
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import Form, add_to, combine, mapped, product, raised, scalar, single, times

_REMEMBERED = 2**15  # results of operations on atoms


def normal(f: Formula) -> Form:
    """The normal form of a formula."""
    match f:
        case Symbol():
            return single(f) if f.shape else scalar(f)
        case nodes.Number(value):
            return single(None, value) if value else {}
        case nodes.Sum(terms):
            result: Form = {}
            for t in terms:
                add_to(result, normal(t))
            return result
        case nodes.Product(factors):
            return times(_scalars(factors[:-1]), normal(factors[-1]))
        case nodes.Power(base, exponent):
            return _power(normal(base), exponent)
        case Dot(a, b) | Cross(a, b) | Apply(a, b):
            return combine(normal(a), normal(b), _BILINEAR[type(f)])
        case Hat(a):
            return mapped(normal(a), lambda atom: single(Hat(atom)))
        case Transpose(a):
            return mapped(normal(a), transposed_atom)
    raise OperandError(f"{f!r} has no normal form")


@lru_cache(maxsize=_REMEMBERED)
def _scalars(factors: tuple[Formula, ...]) -> Form:
    """The product of scalars that stand in front; terms that a sum was differentiated into share theirs."""
    return reduce(times, map(normal, factors))


def _power(a: Form, exponent: int) -> Form:
    if [len(coefficient) for coefficient in a.values()] != [1]:
        return reduce(times, [a] * exponent)
    (((factors, _), coefficient),) = a.items()
    ((constants, value),) = coefficient.items()
    number = single(None, Fraction(value) ** exponent)
    return times(number, {(raised(factors, exponent), None): {raised(constants, exponent): 1}})


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


@lru_cache(maxsize=_REMEMBERED)
def cross_atoms(a: Formula, b: Formula) -> Form:
    """a x b."""
    if a == b:
        return {}
    if isinstance(a, Apply) and isinstance(b, Apply) and a.left == b.left and is_rotation(a.left):
        return combine(single(a.left), cross_atoms(a.right, b.right), apply_atoms)
    return single(Cross(a, b)) if a.key < b.key else single(Cross(b, a), -1)


@lru_cache(maxsize=_REMEMBERED)
def apply_atoms(m: Formula, v: Formula) -> Form:
    """m v of a matrix atom and a vector or matrix atom."""
    match m, v:
        case Hat(), _ if len(v.shape) == 1:
            return cross_atoms(m.of, v)
        case Apply(), _:
            return combine(single(m.left), apply_atoms(m.right, v), apply_atoms)
        case _, Apply() if _undoes(m, v):
            return single(v.right)
        case _, Cross(x, y) if _undoes(m, x) or _undoes(m, y):
            return combine(apply_atoms(m, x), apply_atoms(m, y), cross_atoms)
    return single(Apply(m, v))


def _undoes(m: Formula, v: Formula) -> bool:
    return isinstance(v, Apply) and is_rotation(m) and v.left == transpose(m)


def is_rotation(m: Formula) -> bool:
    """Whether a matrix atom is a rotation or the transpose of one."""
    base = m.of if isinstance(m, Transpose) else m
    return isinstance(base, Symbol) and base.base.is_rotation and not base.is_variation


def transposed_atom(m: Formula) -> Form:
    """m^T of a matrix atom."""
    if isinstance(m, Hat):
        return single(m, -1)
    if isinstance(m, Apply):
        return combine(transposed_atom(m.right), transposed_atom(m.left), apply_atoms)
    return single(transpose(m))


@lru_cache(maxsize=_REMEMBERED)
def dot_atoms(a: Formula, b: Formula) -> Form:
    """a . b: a triple product where one is a cross product, else all matrices on the side that sorts first."""
    core_a, core_b = _core(a), _core(b)
    if isinstance(core_b, Cross) and not isinstance(core_a, Cross):
        return combine(_moved(b, a), single(core_b), _triple)
    if isinstance(core_a, Cross) and not isinstance(core_b, Cross):
        return combine(_moved(a, b), single(core_a), _triple)
    sides = [_moved(a, b), *([_moved(b, a)] if core_a == core_b else [])]
    first = min(sides, key=lambda side: [f.key for _, f in side if f is not None])
    return mapped(first, lambda right: _pair(core_a, right))


def _core(f: Formula) -> Formula:
    """The vector under the matrices."""
    while isinstance(f, Apply):
        f = f.right
    return f


def _moved(f: Formula, other: Formula) -> Form:
    """The matrices of f, transposed, on the other side of the dot product: f . other = core . result."""
    result = single(other)
    while isinstance(f, Apply):
        result = combine(transposed_atom(f.left), result, apply_atoms)
        f = f.right
    return result


def _pair(a: Formula, b: Formula) -> Form:
    """a . b of a vector without matrices and any other."""
    core = _core(b)
    if isinstance(a, Symbol) and isinstance(b, Symbol) and a.base == b.base and a.base.is_unit:
        return _unit(a, b) if a.key <= b.key else _unit(b, a)
    if core.key < a.key:
        return combine(_moved(b, a), single(core), lambda turned, c: scalar(Dot(c, turned)))
    return scalar(Dot(a, b))


def _triple(a: Formula, b: Cross) -> Form:
    """a . (u x v), sorted; where the last is a cross product itself, (a x u) . v."""
    entries = _unturned([a, b.left, b.right])
    if len(set(entries)) < 3:
        return {}
    sign = 1
    for i, j in ((0, 1), (1, 2), (0, 1)):
        if entries[j].key < entries[i].key:
            entries[i], entries[j] = entries[j], entries[i]
            sign = -sign
    first, second, third = entries
    if isinstance(third, Cross):
        pair = sorted((Cross(first, second), third), key=lambda f: f.key)
        return scalar(Dot(*pair), sign)
    return scalar(Dot(first, Cross(second, third)), sign)


def _unturned(entries: list[Formula]) -> list[Formula]:
    """The entries of a triple product without a rotation that two of them share: it turns the third back instead."""
    leads = [x.left for x in entries if isinstance(x, Apply) and is_rotation(x.left)]
    shared = next((m for m in leads if leads.count(m) > 1), None)
    if shared is None:
        return entries
    turned = [x.right if isinstance(x, Apply) and x.left == shared else Apply(transpose(shared), x) for x in entries]
    return _unturned(turned)


def _unit(a: Symbol, b: Symbol) -> Form:
    """q . q = 1, and from its n-th derivative q . q^(n) = -1/2 sum over 0 < k < n of C(n, k) q^(k) . q^(n-k)."""
    if a.order or a.is_variation or (b.is_variation and b.order):
        return scalar(Dot(a, b))
    if b.order == 0:
        return {} if b.is_variation else single(None)
    result: Form = {}
    n = b.order
    for k in range(1, n):
        one, other = Symbol(a.base, k), Symbol(a.base, n - k)
        add_to(result, dot_atoms(one, other), Fraction(-comb(n, k), 2))
    return result


_BILINEAR: dict[type[Formula], Any] = {Dot: dot_atoms, Cross: cross_atoms, Apply: apply_atoms}

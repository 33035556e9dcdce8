"""Normal form: sums of coefficient times dot products times one atom, with the rules of S^2 and SO(3) built in.

A form maps (dots, atom) to a polynomial in scalars. An atom is a vector or matrix without sums or scalars in it: a
symbol, a cross product of atoms, a matrix applied to one; None for a scalar. Rules: matrices move right across a dot
product, symmetric ones do not care; triple products are sorted with their sign; R^T R = 1; R a x R b = R (a x b);
q . q = 1 and its derivatives. Identities of three or more products (Jacobi's) are not reached by rewriting.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula import (
    ONE,
    ROTATION,
    SPHERE,
    Apply,
    Cross,
    Dot,
    Formula,
    Hat,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Transpose,
)
from recursive_dyn.manifold.operations import transpose
from recursive_dyn.manifold.polynomial import (
    UNIT,
    Exact,
    Polynomial,
    accumulate,
    exact,
    monomial_power,
    product,
    scaled,
)

Key = tuple[tuple[Formula, ...], Formula | None]  # (dot products, atom)
Form = dict[Key, Polynomial]
_REMEMBERED = 2**15  # results of operations on atoms


def normal(f: Formula) -> Form:
    """The normal form of a formula."""
    match f:
        case Symbol():
            return {((), None): {((f, 1),): 1}} if not f.shape else {((), f): UNIT}
        case Number(value):
            return {((), None): {(): exact(value)}} if value else {}
        case Sum(terms):
            result: Form = {}
            for t in terms:
                add_to(result, normal(t))
            return result
        case Product(factors):
            return times(_scalars(factors[:-1]), normal(factors[-1]))
        case Power(scalar, exponent):
            return _power(normal(scalar), exponent, f)
        case Dot(a, b):
            return combine(normal(a), normal(b), dot_atoms)
        case Cross(a, b):
            return combine(normal(a), normal(b), cross_atoms)
        case Apply(a, b):
            return combine(normal(a), normal(b), apply_atoms)
        case Hat(a):
            return {(dots, Hat(atom)): p for (dots, atom), p in normal(a).items() if atom is not None}
        case Transpose(a):
            return _transposed(normal(a))
    raise OperandError(f"{f!r} has no normal form")


@lru_cache(maxsize=_REMEMBERED)
def _scalars(factors: tuple[Formula, ...]) -> Form:
    """The product of scalars that stand in front; terms that a sum was differentiated into share theirs."""
    result = normal(factors[0])
    for factor in factors[1:]:
        result = times(result, normal(factor))
    return result


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


@lru_cache(maxsize=_REMEMBERED)
def sort_key(f: Formula) -> tuple[Any, ...]:
    """Simple atoms first: by number of symbols, kind, order of derivative and name."""
    if isinstance(f, Symbol):
        return (1, "", f.key)
    keys = [sort_key(c) for c in f.children]
    return (sum(k[0] for k in keys), type(f).__name__, *keys)


def single(atom: Formula, sign: int = 1) -> Form:
    return {((), atom): {(): sign}}


def _scalar(dot: Formula, factor: Exact = 1) -> Form:
    return {((dot,), None): {(): factor}}


@lru_cache(maxsize=_REMEMBERED)
def cross_atoms(a: Formula, b: Formula) -> Form:
    """a x b."""
    if a == b:
        return {}
    if isinstance(a, Apply) and isinstance(b, Apply) and a.left == b.left and is_rotation(a.left):
        return combine(single(a.left), cross_atoms(a.right, b.right), apply_atoms)
    return single(Cross(a, b)) if sort_key(a) < sort_key(b) else single(Cross(b, a), -1)


@lru_cache(maxsize=_REMEMBERED)
def apply_atoms(m: Formula, v: Formula) -> Form:
    """m v of a matrix atom and a vector or matrix atom."""
    if isinstance(m, Hat):
        if len(v.shape) == 1:
            return cross_atoms(m.of, v)
        return single(Apply(m, v))
    if isinstance(m, Apply):
        return combine(single(m.left), apply_atoms(m.right, v), apply_atoms)
    if isinstance(v, Apply) and v.left == transpose(m) and is_rotation(m):
        return single(v.right)
    if is_rotation(m) and isinstance(v, Cross) and _undone_by(m, v):
        return combine(apply_atoms(m, v.left), apply_atoms(m, v.right), cross_atoms)
    return single(Apply(m, v))


def _undone_by(m: Formula, v: Cross) -> bool:
    inverse = transpose(m)
    return any(isinstance(x, Apply) and x.left == inverse for x in (v.left, v.right))


def is_rotation(m: Formula) -> bool:
    """Whether a matrix atom is a rotation or the transpose of one."""
    base = m.of if isinstance(m, Transpose) else m
    return isinstance(base, Symbol) and base.base.space == ROTATION and not base.is_variation


def _transposed(a: Form) -> Form:
    result: Form = {}
    for (dots, atom), p in a.items():
        if atom is not None:
            for (inner, x), sign in transposed_atom(atom).items():
                add_to(result, {(dots + inner, x): product(p, sign)})
    return result


def transposed_atom(m: Formula) -> Form:
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
    result: Form = {}
    for (_, right), p in _moved(a, b).items():
        for (_, left), s in _moved(b, a).items() if core_a == core_b else ():
            if right is not None and left is not None and sort_key(left) < sort_key(right):
                right, p = left, s
        if right is not None:
            add_to(result, times({((), None): p}, _pair(core_a, right)))
    return result


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
    if isinstance(a, Symbol) and isinstance(b, Symbol) and a.base == b.base and a.base.space == SPHERE:
        return _unit(a, b) if a.key <= b.key else _unit(b, a)
    if sort_key(core) < sort_key(a):
        result: Form = {}
        for (_, turned), p in _moved(b, a).items():
            if turned is not None:
                add_to(result, times({((), None): p}, _scalar(Dot(core, turned))))
        return result
    return _scalar(Dot(a, b))


def _triple(a: Formula, b: Cross) -> Form:
    """a . (u x v), sorted; where the last is a cross product itself, (a x u) . v."""
    entries = _unturned([a, b.left, b.right])
    if len(set(entries)) < 3:
        return {}
    sign = 1
    for i, j in ((0, 1), (1, 2), (0, 1)):
        if sort_key(entries[j]) < sort_key(entries[i]):
            entries[i], entries[j] = entries[j], entries[i]
            sign = -sign
    first, second, third = entries
    if isinstance(third, Cross):
        pair = sorted((Cross(first, second), third), key=sort_key)
        return _scalar(Dot(*pair), sign)
    return _scalar(Dot(first, Cross(second, third)), sign)


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
        return _scalar(Dot(a, b))
    if b.order == 0:
        return {} if b.is_variation else {((), None): UNIT}
    result: Form = {}
    n = b.order
    for k in range(1, n):
        one, other = Symbol(a.base, k), Symbol(a.base, n - k)
        add_to(result, dot_atoms(one, other), Fraction(-comb(n, k), 2))
    return result


def formula(form: Form, shape: tuple[int, ...]) -> Formula:
    """The form as a formula, term by term."""
    from recursive_dyn.manifold.operations import total

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

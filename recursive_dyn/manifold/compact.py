"""Normal forms as a person would write them: what terms share stands once, in front of a bracket.

Three rules: terms with the same outermost operation (q x, R^T) share it; a coefficient's common symbols stand outside
its sum, (m1 + m2) l^2; a free acceleration takes the uniform field beside it along, m (x'' + g e3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from recursive_dyn.manifold.facing import facing
from recursive_dyn.manifold.formula import (
    ONE,
    SPHERE,
    Apply,
    Cross,
    Dot,
    Formula,
    Number,
    Power,
    Product,
    Shape,
    Sum,
    Symbol,
)
from recursive_dyn.manifold.normal import Form
from recursive_dyn.manifold.operations import total
from recursive_dyn.manifold.polynomial import (
    Monomial,
    Polynomial,
    common_monomial,
    common_number,
    exact,
    monomial_power,
    monomial_product,
)
from recursive_dyn.manifold.roles import NO_ROLES, Roles

Head = tuple[type, Formula]  # an outermost operation: Cross or Apply, and its first operand


@dataclass(frozen=True)
class Term:
    """coefficient * moving * dots * atom: constants, time-dependent scalars, dot products, a vector or matrix."""

    coefficient: Polynomial
    moving: Monomial
    dots: tuple[Formula, ...]
    atom: Formula | None

    def symbols(self) -> list[Symbol]:
        """Every symbol that depends on time or direction, for ordering."""
        result = [s for s, _ in self.moving]
        for f in (*self.dots, *(() if self.atom is None else (self.atom,))):
            result += _symbols(f)
        return result


def _symbols(f: Formula) -> list[Symbol]:
    return [f] if isinstance(f, Symbol) else [s for c in f.children for s in _symbols(c)]


def compact(form: Form, shape: Shape, roles: Roles = NO_ROLES) -> Formula:
    """The form as a compact formula of the given shape."""
    return _sum(_terms(form), shape, roles)


def compact_row(form: Form, shape: Shape, roles: Roles) -> Formula:
    """A row that is zero; a constant that all its terms share is divided out where applied forces carry it."""
    terms = _terms(form)
    if any(s.base in roles.inputs for t in terms for s in t.symbols()):
        shared = common_monomial([m for t in terms for m in t.coefficient])
        inverse = monomial_power(shared, -1)
        terms = [
            Term({monomial_product(m, inverse): x for m, x in t.coefficient.items()}, t.moving, t.dots, t.atom)
            for t in terms
        ]
    return _sum(terms, shape, roles)


def _terms(form: Form) -> list[Term]:
    terms = []
    for (dots, atom), p in form.items():
        parts: dict[Monomial, Polynomial] = {}
        for monomial, value in p.items():
            moving = tuple(pair for pair in monomial if not pair[0].constant)
            constant = tuple(pair for pair in monomial if pair[0].constant)
            parts.setdefault(moving, {})[constant] = value
        terms += [Term(c, moving, dots, atom) for moving, c in parts.items()]
    return terms


def _sum(terms: Sequence[Term], shape: Shape, roles: Roles) -> Formula:
    """A sum of terms: grouped by their outermost operations, then fields by accelerations, then sorted."""
    groups: dict[tuple[Head | None, str], list[Term]] = {}
    for head, t in _oriented(terms, roles):
        leads = head is None or head[1] == roles.first
        groups.setdefault((head, "" if leads else roles.kind(t)), []).append(t)
    items: list[tuple[Any, Formula]] = []
    for (head, kind), members in groups.items():
        if head is not None and len(members) > 1:
            inner = [Term(t.coefficient, t.moving, t.dots, _operand(t.atom)) for t in members]
            shared = _shared(inner) if kind else []
            items.append((min(map(roles.key, members)), _behind(head, shared, _sum(inner, _shape(inner), roles))))
        elif head is not None:
            items += [(roles.key(t), _product(t, roles)) for t in members]
        else:
            items += _with_fields(members, roles)
    items.sort(key=lambda item: item[0])
    return total([f for _, f in items], shape)


def _shape(terms: Sequence[Term]) -> Shape:
    atom = terms[0].atom
    return () if atom is None else atom.shape


def _operand(atom: Formula | None) -> Formula:
    assert isinstance(atom, (Cross, Apply))
    return atom.right


def _oriented(terms: Sequence[Term], roles: Roles) -> list[tuple[Head | None, Term]]:
    """Terms with their outermost operation; cross products are turned so that most terms share theirs."""
    counts: Counter[Head] = Counter()
    for t in terms:
        counts.update(_heads(t.atom))
    result: list[tuple[Head | None, Term]] = []
    for t in terms:
        heads = _heads(t.atom)
        if not heads:
            result.append((None, t))
            continue
        best = max(heads, key=lambda h: (h[1] == roles.first, isinstance(h[1], Symbol), counts[h], h == heads[0]))
        if isinstance(t.atom, Cross) and best[1] != t.atom.left:
            negative = {m: -x for m, x in t.coefficient.items()}
            t = Term(negative, t.moving, t.dots, Cross(t.atom.right, t.atom.left))
        result.append((best, t))
    return result


def _heads(atom: Formula | None) -> list[Head]:
    if isinstance(atom, Cross):
        return [(Cross, atom.left), (Cross, atom.right)]
    return [(Apply, atom.left)] if isinstance(atom, Apply) else []


def _shared(terms: list[Term]) -> list[Formula]:
    """Number, sign and symbols that all terms share, as factors; taken out of the list's terms."""
    constant = common_monomial([m for t in terms for m in t.coefficient])
    moving = common_monomial([t.moving for t in terms])
    values = [x for t in terms for x in t.coefficient.values()]
    number = common_number(values) * (-1 if all(x < 0 for x in values) else 1)
    for i, t in enumerate(terms):
        rest = {monomial_product(m, monomial_power(constant, -1)): exact(Fraction(x) / number) for m, x in
                t.coefficient.items()}  # fmt: skip
        terms[i] = Term(rest, monomial_product(t.moving, monomial_power(moving, -1)), t.dots, t.atom)
    return [Number(number), *_powers(constant), *_powers(moving)]


def _behind(head: Head, shared: list[Formula], inner: Formula) -> Formula:
    """The operation on what is behind it; scalars come to the front."""
    operation, left = head
    front = [f for f in shared if f != ONE]
    if isinstance(inner, Product):
        front, inner = front + list(inner.factors[:-1]), inner.factors[-1]
    return _turned([*front, operation(left, inner)])


def _with_fields(terms: list[Term], roles: Roles) -> list[tuple[Any, Formula]]:
    """Bare vectors: an acceleration x'' draws c e to it where its coefficient times a symbol is the field's."""
    items = []
    left = list(terms)
    for t in terms:
        if not _is_free_acceleration(t) or t not in left:
            continue
        fields = [(r, f) for f in left if _is_field(f) and (r := _ratio(f.coefficient, t.coefficient)) is not None]
        if not fields:
            continue
        left = [other for other in left if other is not t and all(other is not f for _, f in fields)]
        parts = [t.atom, *(_product(Term({r[0]: exact(r[1])}, (), (), f.atom), roles) for r, f in fields)]
        inside = total([p for p in parts if p is not None], _shape([t]))
        items.append((roles.key(t), _joined([*_coefficient(t.coefficient), inside])))
    return items + [(roles.key(t), _product(t, roles)) for t in left]


def _is_free_acceleration(t: Term) -> bool:
    atom = t.atom
    plain = isinstance(atom, Symbol) and atom.order == 2 and not atom.varied and atom.base.space != SPHERE
    return plain and not t.moving and not t.dots


def _is_field(t: Term) -> bool:
    return isinstance(t.atom, Symbol) and t.atom.constant and not t.moving and not t.dots


def _ratio(a: Polynomial, b: Polynomial) -> tuple[Monomial, Fraction] | None:
    """The monomial with number 1 or -1 that b is to be multiplied with to give a, if there is one."""
    if len(a) != len(b):
        return None
    first, value = next(iter(b.items()))
    for monomial, other in a.items():
        number = Fraction(other) / value
        ratio = monomial_product(monomial, monomial_power(first, -1))
        if abs(number) == 1 and all(e > 0 for _, e in ratio):
            image = {monomial_product(m, ratio): x * number for m, x in b.items()}
            if image == a:
                return ratio, number
    return None


def _product(t: Term, roles: Roles) -> Formula:
    number, *factors = [*_coefficient(t.coefficient), *_powers(t.moving)]
    assert isinstance(number, Number)
    for dot in t.dots:
        sign, written = facing(dot, roles)
        number = Number(number.value * sign)
        factors.append(written)
    factors = [number, *factors]
    return _turned(factors if t.atom is None else [*factors, t.atom])


def _turned(factors: list[Formula]) -> Formula:
    """The product; - a x (b x c) is written a x (c x b)."""
    *front, body = factors
    if front and isinstance(front[0], Number) and front[0].value < 0 and isinstance(body, Cross):
        inner = body.right
        if isinstance(inner, Cross):
            front[0] = Number(-front[0].value)
            body = Cross(body.left, Cross(inner.right, inner.left))
    return _joined([*front, body])


def _joined(factors: list[Formula]) -> Formula:
    if not factors:
        return ONE
    if isinstance(factors[0], Number) and factors[0].value == 1 and len(factors) > 1:
        factors = factors[1:]
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _coefficient(p: Polynomial) -> list[Formula]:
    """Number, sum of what differs, and the symbols that all share, as factors."""
    shared = common_monomial(list(p))
    inverse = monomial_power(shared, -1)
    rest = sorted(((monomial_product(m, inverse), x) for m, x in p.items()), key=lambda pair: _rank(pair[0]))
    values = [x for _, x in rest]
    number = common_number(values)
    if number < 1 and len({abs(x) for x in values}) > 1:
        number = Fraction(1)  # 5/4 m + M, not 1/4 (5 m + 4 M)
    if values[0] < 0:
        number = -number
    factors: list[Formula] = [Number(number)]
    if len(rest) > 1:
        factors.append(Sum(tuple(_joined([Number(Fraction(x) / number), *_powers(m)]) for m, x in rest)))
    else:
        factors = [Number(Fraction(values[0])), *_powers(rest[0][0])]
    return [*factors, *_powers(shared)]


def _powers(monomial: Monomial) -> list[Formula]:
    ordered = sorted(monomial, key=lambda pair: (pair[0].base.rank, pair[0].order))
    return [s if e == 1 else Power(s, e) for s, e in ordered]


def _rank(monomial: Monomial) -> tuple[int, ...]:
    return tuple(sorted(s.base.rank for s, _ in monomial))


def paired(terms: Sequence[tuple[Symbol, Formula]]) -> Formula:
    """Sum of variation . cofactor (variation times it, for scalars), signs in front."""
    result: list[Formula] = []
    for symbol, cofactor in terms:
        sign = 1
        if isinstance(cofactor, Product) and isinstance(cofactor.factors[0], Number) and cofactor.factors[0].value < 0:
            sign = -1
            cofactor = _joined([Number(-cofactor.factors[0].value), *cofactor.factors[1:]])
        if symbol.shape:
            factors: list[Formula] = [Dot(symbol, cofactor)]
        else:
            factors = [*(cofactor.factors if isinstance(cofactor, Product) else (cofactor,)), symbol]
        result.append(_joined(factors if sign > 0 else [Number(Fraction(-1)), *factors]))
    return total(result)

"""Normal forms as a person would write them: what terms share stands once, in front of a bracket.

Three rules: terms with the same outermost operation (q x, R^T) share it; a coefficient's common symbols stand outside
its sum, (m1 + m2) l^2; a free acceleration takes the uniform field beside it along, m (x'' + g e3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula.calculus import symbols_of
from recursive_dyn.manifold.formula.nodes import ONE, Apply, Cross, Dot, Formula, Number, Power, Product, Shape
from recursive_dyn.manifold.formula.operations import parted, total
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import Coefficient, Factors, Form, common, exact, joint, product, raised
from recursive_dyn.manifold.normal.normal_form import normal
from recursive_dyn.manifold.writing.terms import NO_ROLES, Roles, Term, common_number, joined

Head = tuple[type, Formula]  # an outermost operation: Cross or Apply, and its first operand


def simplify(f: Formula) -> Formula:
    """The same formula in normal form, written compactly; OperandError for what is no formula."""
    if not isinstance(f, Formula):
        raise OperandError(f"{f!r} ({type(f).__name__}) is no formula to simplify")
    ranks = {s.base: s.base.rank for s in symbols_of(f)}
    return compact(normal(f), f.shape, Roles(ranks=ranks))


def compact(form: Form, shape: Shape, roles: Roles = NO_ROLES) -> Formula:
    """The form as a compact formula of the given shape."""
    return _sum(_terms(form), shape, roles)


def compact_row(form: Form, shape: Shape, roles: Roles) -> Formula:
    """A row that is zero; a constant that all its terms share is divided out where applied forces carry it."""
    terms = _terms(form)
    if any(s.base in roles.inputs for t in terms for s in t.symbols):
        shared = _common_constants(terms)
        terms = [t.over(shared) for t in terms]
    return _sum(terms, shape, roles)


def _terms(form: Form) -> list[Term]:
    return [Term(coefficient, factors, atom) for (factors, atom), coefficient in form.items()]


def _common_constants(terms: Sequence[Term]) -> Factors:
    return common(constants for t in terms for constants in t.coefficient)


def _sum(terms: Sequence[Term], shape: Shape, roles: Roles) -> Formula:
    """A sum of terms: grouped by their outermost operations, then fields by accelerations, then sorted."""
    groups: dict[tuple[Head | None, str], list[Term]] = {}
    for head, t in _oriented(terms, roles):
        leads = head is None or head[1] == roles.first
        groups.setdefault((head, "" if leads else roles.kind(t)), []).append(t)
    items: list[tuple[Any, Formula]] = []
    for (head, kind), members in groups.items():
        if head is not None and len(members) > 1:
            items.append((min(map(roles.key, members)), _behind(head, members, bool(kind), roles)))
        elif head is not None:
            items += [(roles.key(t), _product(t, roles)) for t in members]
        else:
            items += _with_fields(members, roles)
    items.sort(key=lambda item: item[0])
    return total([f for _, f in items], shape)


def _shape(terms: Sequence[Term]) -> Shape:
    atom = terms[0].atom
    return () if atom is None else atom.shape


def _oriented(terms: Sequence[Term], roles: Roles) -> list[tuple[Head | None, Term]]:
    """Terms with their outermost operation; cross products are turned so that most terms share theirs."""
    heads = [_heads(t.atom) for t in terms]
    counts = Counter(h for own in heads for h in own)
    result: list[tuple[Head | None, Term]] = []
    for t, own in zip(terms, heads, strict=True):
        places = {h: (h[1] == roles.first, isinstance(h[1], Symbol), counts[h], h == own[0]) for h in own}
        best = max(own, key=places.__getitem__, default=None)
        if best and isinstance(t.atom, Cross) and best[1] != t.atom.left:
            t = replace(t, coefficient=product(t.coefficient, {(): -1}), atom=Cross(t.atom.right, t.atom.left))
        result.append((best, t))
    return result


def _heads(atom: Formula | None) -> list[Head]:
    """Operations that may stand outermost: of a cross product, either operand may be the first."""
    if not isinstance(atom, (Cross, Apply)):
        return []
    return [(type(atom), x) for x in (atom.children if isinstance(atom, Cross) else atom.children[:1])]


def _behind(head: Head, terms: Sequence[Term], sharing: bool, roles: Roles) -> Formula:
    """The operation that terms share on what is behind it; scalars, and if ``sharing`` what all have, in front."""
    inner = [replace(t, atom=t.atom.children[1]) for t in terms if t.atom is not None]
    front: list[Formula] = []
    if sharing:
        constant = _common_constants(inner)
        moving = tuple(pair for pair in common(t.factors for t in inner) if isinstance(pair[0], Symbol))
        values = [x for t in inner for x in t.coefficient.values()]
        number = common_number(values) * (-1 if all(x < 0 for x in values) else 1)
        inner = [replace(t.over(constant, number), factors=joint(t.factors, raised(moving, -1))) for t in inner]
        front = [f for f in (Number(number), *roles.powers(constant), *roles.powers(moving)) if f != ONE]
    body = _sum(inner, _shape(inner), roles)
    if isinstance(body, Product):
        front, body = [*front, *body.factors[:-1]], body.factors[-1]
    return _turned([*front, head[0](head[1], body)])


def _with_fields(terms: list[Term], roles: Roles) -> list[tuple[Any, Formula]]:
    """Bare vectors: an acceleration x'' draws c e to it where its coefficient times a symbol is the field's."""
    items, left = [], list(terms)
    for t in filter(_is_free_acceleration, terms):
        fields = [(r, f) for f in left if _is_field(f) and (r := _ratio(f.coefficient, t.coefficient))]
        if not fields or t not in left:
            continue
        left = [other for other in left if other is not t and all(other is not f for _, f in fields)]
        parts = [t.atom, *(_product(replace(f, coefficient=r), roles) for r, f in fields)]
        inside = total([p for p in parts if p is not None], _shape([t]))
        items.append((roles.key(t), joined([*roles.coefficient(t.coefficient), inside])))
    return items + [(roles.key(t), _product(t, roles)) for t in left]


def _is_free_acceleration(t: Term) -> bool:
    a = t.atom
    return isinstance(a, Symbol) and a.order == 2 and not (a.varied or a.base.is_unit or t.factors)


def _is_field(t: Term) -> bool:
    return isinstance(t.atom, Symbol) and t.atom.constant and not t.factors


def _ratio(a: Coefficient, b: Coefficient) -> Coefficient | None:
    """The product of symbols, or minus one, that b is to be multiplied with to give a, if there is one."""
    first, value = next(iter(b.items()))
    for constants, other in a.items():
        number, ratio = Fraction(other) / value, joint(constants, raised(first, -1))
        found = {ratio: exact(number)}
        if abs(number) == 1 and all(e > 0 for _, e in ratio) and product(b, found) == a:
            return found
    return None


def _product(t: Term, roles: Roles) -> Formula:
    number, *factors = [*roles.coefficient(t.coefficient), *roles.powers(t.factors)]
    sign = 1
    for f, exponent in t.factors:
        if isinstance(f, Dot):
            turned, written = roles.facing(f)
            sign *= turned**exponent
            factors.append(written if exponent == 1 else Power(written, exponent))
    factors = [-number if sign < 0 else number, *factors]
    return _turned(factors if t.atom is None else [*factors, t.atom])


def _turned(factors: list[Formula]) -> Formula:
    """The product; - a x (b x c) is written a x (c x b), and - R (b x c) as R (c x b)."""
    *front, body = factors
    if front and isinstance(front[0], Number) and front[0].value < 0:
        inside = _reversed_inside(body)
        if inside is not None:
            front, body = [Number(-front[0].value), *front[1:]], inside
    return joined([*front, body])


def _reversed_inside(f: Formula) -> Formula | None:
    """- f, with the outermost cross product within f turned round; None without one."""
    if not isinstance(f, (Cross, Apply)):
        return None
    inner = f.right
    turned = Cross(inner.right, inner.left) if isinstance(inner, Cross) else _reversed_inside(inner)
    return None if turned is None else type(f)(f.left, turned)


def paired(terms: Sequence[tuple[Symbol, Formula]]) -> Formula:
    """Sum of variation . cofactor (variation times it, for scalars), signs in front."""
    result: list[Formula] = []
    for symbol, cofactor in terms:
        value, factors = parted(cofactor)
        if symbol.shape:
            sign = Number(Fraction(-1 if value < 0 else 1))
            result.append(joined([sign, Dot(symbol, joined([Number(abs(Fraction(value))), *factors]))]))
        else:
            result.append(joined([Number(Fraction(value)), *factors, symbol]))
    return total(result)

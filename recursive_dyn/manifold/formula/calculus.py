"""One Leibniz map over formulas: time derivative, variation and replacement of symbols are three uses of it.

The variation of the n-th derivative is the n-th derivative of the variation: both are a symbol with two marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula.formula import (
    ROTATION,
    ZERO,
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
from recursive_dyn.manifold.formula.operations import cross, dot, hat, is_zero, multiply, power, total, transpose, zero

Rule = Callable[[Symbol], Formula]


def dt(f: Formula, order: int = 1) -> Formula:
    """Time derivative of a formula; dR/dt = R hat(Omega) of a rotation."""
    if isinstance(order, bool) or not isinstance(order, int) or order < 0:
        raise OperandError(f"the order of a derivative of {f} is a whole number that is not negative, not {order!r}")
    for _ in range(order):
        f = derivation(f, _rate)
    return f


def delta(f: Formula, prescribed: Sequence[Symbol] = ()) -> Formula:
    """Variation of a formula, in the variations of its symbols; constants, and what is prescribed, have none."""
    given = {s.base for s in prescribed}
    return derivation(f, lambda s: zero(s.shape) if s.base in given else _variation(s))


def _rate(s: Symbol) -> Formula:
    if s.constant:
        return zero(s.shape)
    if s.base.space == ROTATION and not s.is_variation:
        return multiply(s, hat(s.rate))
    if s.base.space == ROTATION:
        raise OperandError(f"the derivative of {s} is not defined: replace it with its rotation times hat(eta) first")
    return Symbol(s.base, s.order + 1, s.is_variation)


def _variation(s: Symbol) -> Formula:
    if s.constant:
        return zero(s.shape)
    if s.varied:
        raise OperandError(f"{s} is a variation already and has none of its own")
    return Symbol(s.base, s.order, True)


def derivation(f: Formula, rule: Rule) -> Formula:
    """The derivation that ``rule`` gives for symbols: sums term by term, products by Leibniz's rule."""
    match f:
        case Symbol():
            return rule(f)
        case Number():
            return ZERO
        case Sum(terms, shape):
            return total([derivation(t, rule) for t in terms], shape)
        case Product(factors):
            return _of_product(factors, f, rule)
        case Power(scalar, exponent):
            rate = derivation(scalar, rule)
            return ZERO if is_zero(rate) else exponent * power(scalar, exponent - 1) * rate
        case Dot(a, b):
            return dot(derivation(a, rule), b) + dot(a, derivation(b, rule))
        case Cross(a, b):
            return cross(derivation(a, rule), b) + cross(a, derivation(b, rule))
        case Apply(a, b):
            return multiply(derivation(a, rule), b) + multiply(a, derivation(b, rule))
        case Hat(a):
            return hat(derivation(a, rule))
        case Transpose(a):
            return transpose(derivation(a, rule))
    raise OperandError(f"{f!r} has no derivative")


def _of_product(factors: tuple[Formula, ...], f: Formula, rule: Rule) -> Formula:
    terms = []
    for i, factor in enumerate(factors):
        rate = derivation(factor, rule)
        if not is_zero(rate):
            product = rate
            for other in (*reversed(factors[:i]), *factors[i + 1 :]):
                product = multiply(other, product) if not other.shape else multiply(product, other)
            terms.append(product)
    return total(terms, f.shape)


def replace(f: Formula, rule: Rule) -> Formula:
    """The formula with every symbol replaced as ``rule`` says (itself where nothing is to be done)."""
    match f:
        case Symbol():
            return rule(f)
        case Sum(terms, shape):
            return total([replace(t, rule) for t in terms], shape)
        case Product(factors):
            result = replace(factors[-1], rule)
            for factor in reversed(factors[:-1]):
                result = multiply(replace(factor, rule), result)
            return result
        case Power(scalar, exponent):
            return power(replace(scalar, rule), exponent)
        case Dot(a, b):
            return dot(replace(a, rule), replace(b, rule))
        case Cross(a, b):
            return cross(replace(a, rule), replace(b, rule))
        case Apply(a, b):
            return multiply(replace(a, rule), replace(b, rule))
        case Hat(a):
            return hat(replace(a, rule))
        case Transpose(a):
            return transpose(replace(a, rule))
    return f


def leaves(f: Formula) -> Iterator[Symbol]:
    """Every symbol that a formula depends on, once; what abbreviations stand for in their place, differentiated."""
    seen: set[Formula] = set()
    stack = [f]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if not isinstance(node, Symbol):
            stack.extend(reversed(node.children))
        elif node.base.definition is not None and not node.is_variation:
            stack.append(dt(node.base.definition, node.order))
        else:
            yield node


def symbols_of(f: Formula) -> Iterator[Symbol]:
    """Every occurrence of a symbol, from left to right; definitions are not looked into."""
    if isinstance(f, Symbol):
        yield f
    for child in f.children:
        yield from symbols_of(child)

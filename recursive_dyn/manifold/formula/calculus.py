"""One Leibniz map over formulas: time derivative, variation and replacement of symbols are three uses of it.

The variation of the n-th derivative is the n-th derivative of the variation: both are a symbol with two marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula.nodes import ZERO, Formula, Number, Power, Sum
from recursive_dyn.manifold.formula.operations import hat, is_zero, multiply, power, remade, total, zero
from recursive_dyn.manifold.formula.symbol import Symbol

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
    if s.base.is_rotation and not s.is_variation:
        return multiply(s, hat(s.rate))
    if s.base.is_rotation:
        raise OperandError(f"the derivative of {s} is not defined: replace it with its rotation times hat(eta) first")
    return Symbol(s.base, s.order + 1, s.is_variation)


def _variation(s: Symbol) -> Formula:
    if s.constant:
        return zero(s.shape)
    if s.varied:
        raise OperandError(f"{s} is a variation already and has none of its own")
    return Symbol(s.base, s.order, True)


def derivation(f: Formula, rule: Rule) -> Formula:
    """The derivation that ``rule`` gives for symbols, by Leibniz's rule: all but powers are linear in each operand."""
    match f:
        case Symbol():
            return rule(f)
        case Number():
            return ZERO
        case Power(scalar, exponent):
            rate = derivation(scalar, rule)
            return ZERO if is_zero(rate) else exponent * power(scalar, exponent - 1) * rate
        case Sum(terms, shape):
            return total([derivation(t, rule) for t in terms], shape)
    if not isinstance(f, Formula):
        raise OperandError(f"{f!r} has no derivative")
    rates = []
    for i, operand in enumerate(f.children):
        rate = derivation(operand, rule)
        if not is_zero(rate):
            rates.append(remade(f, (*f.children[:i], rate, *f.children[i + 1 :])))
    return total(rates, f.shape)


def replace(f: Formula, rule: Rule) -> Formula:
    """The formula with every symbol replaced as ``rule`` says (itself where nothing is to be done)."""
    return rule(f) if isinstance(f, Symbol) else remade(f, [replace(c, rule) for c in f.children])


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


def symbols_of(f: Formula, definitions: bool = False) -> Iterator[Symbol]:
    """Every occurrence of a symbol, from left to right, and maybe those in what abbreviations stand for."""
    if isinstance(f, Symbol):
        yield f
        if definitions and f.base.definition is not None:
            yield from symbols_of(f.base.definition, True)
    for child in f.children:
        yield from symbols_of(child, definitions)

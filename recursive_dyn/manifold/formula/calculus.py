"""One Leibniz map over formulas, time derivative and variation as uses of it, and how the symbols of each space move.

The variation of the n-th derivative is the n-th derivative of the variation: both are a symbol with two marks. A flat
variable has the rate x' and the variation delta x; a unit vector q' and delta q = xi x q; a rotation the rate Omega,
R' = R hat(Omega), and delta R = R hat(eta), from which delta Omega = eta' + Omega x eta follows (Bittner & Sreenath
2016, section 4.1). What a space does to symbols stands here, what it does to numbers in ``motion.variable``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula.nodes import ZERO, Formula, Number, Power, Sum
from recursive_dyn.manifold.formula.operations import cross, dot, hat, is_zero, multiply, power, remade, total, zero
from recursive_dyn.manifold.formula.symbol import Base, Symbol

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

    def variation(s: Symbol) -> Formula:
        if s.constant or s.base in given:
            return zero(s.shape)
        if s.varied:
            raise OperandError(f"{s} is a variation already and has none of its own")
        return Symbol(s.base, s.order, True)

    return derivation(f, variation)


def _rate(s: Symbol) -> Formula:
    if s.constant:
        return zero(s.shape)
    if s.base.is_rotation and not s.is_variation:
        return multiply(s, hat(s.rate))
    if s.base.is_rotation:
        raise OperandError(f"the derivative of {s} is not defined: replace it with its rotation times hat(eta) first")
    return Symbol(s.base, s.order + 1, s.is_variation)


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


def rates(symbols: Iterable[Symbol]) -> dict[Base, Symbol]:
    """Each rotation among the symbols by its Omega."""
    return {q.base.rate.base: q for q in symbols if q.base.rate is not None}


def in_displacements(s: Symbol, spinning: Mapping[Base, Symbol]) -> Formula:
    """A symbol, in xi and eta if it is the variation of a unit vector, a rotation or an Omega of ``spinning``."""
    base = s.base
    if not s.is_variation:
        return s
    if base in spinning:
        eta = spinning[base].virtual
        return dt(dt(eta) + cross(Symbol(base), eta), s.order)
    q = Symbol(base)
    if base.rate is not None:
        return dt(multiply(q, hat(q.virtual)), s.order)
    return s if base.virtual is None else dt(virtual_rate(q), s.order)


def virtual_rate(q: Symbol) -> Formula:
    """What stands for a variable's rate in virtual displacements: delta x, xi x q, eta."""
    return cross(q.virtual, q) if q.base.is_unit else q.virtual


def effective(q: Symbol) -> Formula:
    """A virtual displacement without what displaces nothing: xi without its part along q, as q x (xi x q)."""
    return cross(q, cross(q.virtual, q)) if q.base.is_unit else q.virtual


def conserved(q: Symbol) -> list[Formula]:
    """What the space keeps zero of a variable and its rate: q . q' of a unit vector."""
    return [dot(q, dt(q))] if q.base.is_unit else []

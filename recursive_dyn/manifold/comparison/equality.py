"""Whether formulas are the same function on R^n, S^2, SO(3) and products, by values at exact random points.

Normal forms do not decide it: identities such as Jacobi's are not reached by rewriting. Values are compared in exact
arithmetic: what differs there does differ; what agrees is equal, but for a tiny probability. Every independent integer
is drawn from SAMPLES nonzero ones. A unit vector follows from three of them by stereographic projection, a rotation
from four as a quaternion, so all values are rational and all of S^2 and SO(3) is met. The n-th derivative of a unit
vector follows from q' = omega x q by Leibniz's rule with random derivatives of omega, so that q . q = 1 holds with all
its derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import comb
from random import Random
from typing import Any

import numpy as np

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.formula.calculus import delta, dt, in_displacements, rates, replace, symbols_of
from recursive_dyn.manifold.formula.evaluation import Evaluation, Value, cross_values, dot_values
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.operations import described, total
from recursive_dyn.manifold.formula.symbol import Base, Symbol
from recursive_dyn.spatial.spaces import Rotation

SAMPLES = 2**20


def equal(a: Formula, b: Formula, points: int = 3, configuration: Sequence[Symbol] = ()) -> bool:
    """Whether two formulas are one function on the manifold; abbreviations and variations are looked through.

    False is certain. True is wrong with a probability of at most (d / 2^20)^points for random draws (Schwartz, Zippel),
    d the degree of the difference, over a common denominator, in the integers drawn: a rotation counts 2, the n-th
    derivative of a unit vector n + 2. That is below 1e-9 for d < 1000; rows of double pendulums have d < 30. Draws are
    the same in every run. configuration: rotations, where delta Omega occurs without its rotation in the formula.
    OperandError if the shapes differ, or for what is no formula.
    """
    for f in (a, b):
        if not isinstance(f, Formula):
            raise OperandError(f"{f!r} ({type(f).__name__}) is no formula and cannot be compared with one")
    if a.shape != b.shape:
        raise OperandError(f"{described(a)} and {described(b)} cannot be compared: their shapes differ")
    apart = independent(total([a, -b], a.shape), configuration)
    symbols = tuple(symbols_of(apart))
    return all(not np.any(Evaluation(point(symbols, seed), Fraction)(apart)) for seed in range(points))


def point(symbols: Iterable[Symbol], seed: int = 0) -> dict[Symbol, Value]:
    """A value of Fractions for each symbol, with all rules of S^2 and SO(3) true at once.

    Derivatives and virtual displacements are symbols too. ``Evaluation(values, Fraction)`` takes what comes out. A
    symbol's value depends on its name, kind and the seed, not on the other symbols. What is abbreviated or varied is to
    be written in independent symbols first, by ``independent``.
    """
    return {s: _value(s, seed) for s in dict.fromkeys(symbols)}


def independent(f: Formula, configuration: Sequence[Symbol] = ()) -> Formula:
    """The formula without abbreviations and variations of dependent symbols, whose values ``point`` draws.

    delta q = xi x q, delta R = R hat(eta), delta Omega = eta' + Omega x eta, with their derivatives. The rotation of an
    Omega is looked for in the formula and in the configuration; otherwise delta Omega is a symbol of its own.
    """
    spinning = rates((*configuration, *symbols_of(f, True)))

    def rule(s: Symbol) -> Formula:
        base = s.base
        if base.definition is not None:
            return dt(replace(delta(base.definition) if s.is_variation else base.definition, rule), s.order)
        return in_displacements(s, spinning)

    return replace(f, rule)


def _value(s: Symbol, seed: int) -> Value:
    if s.base.is_unit and not s.is_variation:
        return _sphere_derivatives(s.base, s.order, seed)[s.order]
    source = _source(s.base, s.order, seed, "delta" if s.is_variation else "")
    if isinstance(s.space, Rotation):
        return _random_rotation(source)
    if not s.shape:
        return random_number(source)
    result = random_array(s.shape, source)
    if s.base.symmetric:
        lower = np.tril_indices(s.shape[0], -1)
        result[lower] = result.T[lower]
    return result


def _sphere_derivatives(base: Base, order: int, seed: int) -> list[Value]:
    """q, q', ... up to an order: q^(n+1) = sum over k of C(n, k) omega^(k) x q^(n-k)."""
    result = [_random_unit_vector(_source(base, 0, seed))]
    omega = [random_array((3,), _source(base, n, seed, "omega")) for n in range(order)]
    for n in range(order):
        result.append(sum(comb(n, k) * cross_values(omega[k], result[n - k]) for k in range(n + 1)))
    return result


def _source(base: Base, order: int, seed: int, mark: str = "") -> Random:
    kind = (base.name, base.shape, base.space.name, base.constant, base.symmetric, base.is_virtual)
    return Random(f"{seed} {kind} {order} {mark}")


def random_number(source: Random) -> Fraction:
    """An integer, never zero, so that it may divide."""
    value = source.randrange(-SAMPLES // 2, SAMPLES // 2)
    return Fraction(value if value < 0 else value + 1)


def random_array(shape: tuple[int, ...], source: Random) -> Any:
    """An object array of integers, none zero."""
    result = np.empty(shape, dtype=object)
    for index in np.ndindex(*shape):
        result[index] = random_number(source)
    return result


def _random_unit_vector(source: Random) -> Any:
    """A rational point of S^2: (2ac, 2bc, a^2 + b^2 - c^2) / (a^2 + b^2 + c^2)."""
    a, b, c = x = random_array((3,), source)
    return np.array([2 * a * c, 2 * b * c, a * a + b * b - c * c], dtype=object) / dot_values(x, x)


def _random_rotation(source: Random) -> Any:
    """A rational rotation: 1 + 2 (w hat(u) + hat(u)^2) / (w^2 + u . u) of the quaternion (w, u)."""
    w, u = random_number(source), random_array((3,), source)
    x, y, z = u
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=object)
    return np.vectorize(Fraction, otypes=[object])(np.eye(3)) + (2 * w * skew + 2 * (skew @ skew)) / (w * w + u @ u)

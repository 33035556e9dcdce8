"""Comparing formulas: what is one function on the manifold is equal, however it is written; nothing else is."""

from fractions import Fraction

import numpy as np
import pytest
from by_hand import R1, R2, J, Omega, Omega1, Omega2, R, e3, l, lam, m, q, rho, rho2, x, x2

from recursive_dyn.manifold.comparison.equality import SAMPLES, equal, point
from recursive_dyn.manifold.formula.calculus import delta, dt, symbols_of
from recursive_dyn.manifold.formula.declare import define, matrices, rotations, scalars, symmetric_matrices, vectors
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.nodes import ZERO
from recursive_dyn.manifold.formula.operations import cross, dot, hat, zero
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.normal_form import normal

a, b, c, d = vectors("a b c d")
s, u = scalars("s u")
A = matrices("A")
C = rotations("C", constant=True)
K = symmetric_matrices("K")
y = vectors("y", 2)


def jacobi(a, b, c):
    """Zero, by Jacobi's identity."""
    return cross(a, cross(b, c)) + cross(b, cross(c, a)) + cross(c, cross(a, b))


@pytest.mark.parametrize(
    "one, other",
    [
        (jacobi(a, b, c), zero((3,))),
        (cross(a, cross(b, c)), b * dot(a, c) - c * dot(a, b)),
        (cross(cross(a, b), c), b * dot(a, c) - a * dot(b, c)),
        (dot(cross(a, b), cross(c, d)), dot(a, c) * dot(b, d) - dot(a, d) * dot(b, c)),
        (cross(cross(a, b), cross(c, d)), dot(a, cross(b, d)) * c - dot(a, cross(b, c)) * d),
        (a * dot(b, cross(c, d)), dot(a, d) * cross(b, c) + dot(a, b) * cross(c, d) + dot(a, c) * cross(d, b)),
        (cross(q, cross(q, dt(q))), -dt(q)),
        (cross(q, cross(q, dt(q, 2))), -dt(q, 2) - dot(dt(q), dt(q)) * q),
        (hat(q) * hat(q) * hat(q), -hat(q)),
        (hat(cross(a, b)), hat(a) * hat(b) - hat(b) * hat(a)),
        (R * hat(a) * R.T, hat(R * a)),
        (dot(R * a, cross(R * b, R * c)), dot(a, cross(b, c))),
        (C * cross(a, b), cross(C * a, C * b)),
        (R * rho + x, dt(define("h", R * rho + x), 0)),
        (dt(x2, 2), dt(R1 * lam + R2 * rho2, 2)),
        (dt(R * rho, 2), R * cross(Omega, cross(Omega, rho)) + R * cross(dt(Omega), rho)),
        (dot(a, K * b), dot(K * a, b)),
        (delta(x2), R1 * cross(R1.virtual, lam) + R2 * cross(R2.virtual, rho2)),
        (delta(dt(q)), cross(dt(q.virtual), q) + cross(q.virtual, dt(q))),
        ((m + l) ** 3 / m, m**2 + 3 * m * l + 3 * l**2 + l**3 / m),
        (dot(y, y) * s, s * y.dot(y)),
    ],
    ids=lambda f: str(f)[:40],
)
def test_identities_are_equal(one, other):
    assert equal(one, other) and equal(other, one)
    little = {(): s, (3,): a, (3, 3): hat(a)}[one.shape] / 10**30
    assert not equal(one, other + little)


@pytest.mark.parametrize(
    "one, other",
    [
        (cross(a, cross(b, c)), cross(cross(a, b), c)),
        (cross(a, b), cross(b, a)),
        (dot(a, a), s**0 * dot(a, b)),
        (dot(a, a), ZERO + 1),
        (cross(a, cross(a, dt(a))), -dt(a)),
        (A * cross(a, b), cross(A * a, A * b)),
        (dot(a, A * b), dot(A * a, b)),
        (A.T * (A * a), a),
        (R * (R * a), a),
        (hat(a) * hat(a) * hat(a), -hat(a)),
        (cross(q, dt(q, 2)), -dot(dt(q), dt(q)) * q),
        (dot(q, dt(q, 2)), dot(dt(q), dt(q))),
        (R * hat(a), hat(a) * R),
        (dt(R * rho), R * cross(rho, Omega)),
        (dt(x2, 2), R1 * cross(dt(Omega1), lam) + R2 * cross(dt(Omega2), rho2)),
        (delta(x2), R1 * cross(R1.virtual, lam)),
        (delta(q), q.virtual),
        (m * s, l * s),
        (m / l, l / m),
        (m, m + Fraction(1, 10**60)),
        (s * (s - u) * (s + u), s**3),
        (y, 2 * y),
        (K * a, A * a),
        (dt(K) * a, K * dt(a)),
    ],
    ids=lambda f: str(f)[:40],
)
def test_what_differs_is_told_apart_at_one_point(one, other):
    assert not equal(one, other, points=1)


def test_zeros_at_single_values_are_not_mistaken():
    product = ZERO + 1
    for i in range(-8, 9):
        product = product * (m - i)
    assert not equal(product, ZERO)


def test_more_points_are_other_points():
    assert len({point([m, x], seed)[m] for seed in range(3)}) == 3


def on_point(f, seed=0):
    return Evaluation(point(symbols_of(f), seed), Fraction)(f)


@pytest.mark.parametrize("seed", range(3))
def test_points_lie_on_the_manifold_with_all_derivatives(seed):
    for v in (q, e3):
        assert on_point(dot(v, v), seed) == 1
    for order in range(1, 6):
        assert on_point(dt(dot(q, q), order), seed) == 0
        assert on_point(dot(Symbol(q.base, order), Symbol(q.base, order)), seed) != 0
    for turn in (R, C):
        value = on_point(turn, seed)
        assert (value.T @ value == np.eye(3)).all()
        assert value[0] @ np.cross(value[1], value[2]) == 1
        assert (value != np.eye(3)).any()
    for matrix in (K, J, dt(K)):
        value = on_point(matrix, seed)
        assert (value == value.T).all() and len({abs(v) for v in value.ravel()}) == 6
    assert np.shape(on_point(y, seed)) == (2,)


def test_points_are_exact_integers_of_a_large_set_and_never_zero():
    names = scalars(" ".join(f"s{i}" for i in range(400)))
    drawn = list(point(names).values())
    assert all(isinstance(v, Fraction) and v.denominator == 1 and 0 < abs(v) <= SAMPLES // 2 for v in drawn)
    assert len(set(drawn)) > 395 and SAMPLES >= 2**20
    assert 120 < sum(v > 0 for v in drawn) < 280


def test_points_depend_on_the_seed_and_the_symbol_only():
    alone, together = point([q], 1), point([x, s, q, dt(q), R], 1)
    assert (alone[q] == together[q]).all()
    assert (point([q], 2)[q] != alone[q]).any()
    assert len({tuple(point([v])[v]) for v in (a, b, dt(a), dt(a, 2), delta(a), vectors("a", constant=True))}) == 6


def test_normal_forms_alone_would_not_do():
    assert normal(jacobi(a, b, c)) and equal(jacobi(a, b, c), zero((3,)))

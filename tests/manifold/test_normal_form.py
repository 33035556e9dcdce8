"""Normal forms mean what the formula means; the Leibniz map is the derivative; collecting loses nothing."""

from fractions import Fraction

import numpy as np
import pytest
from formulas import (
    A,
    C,
    J,
    K,
    R,
    S,
    a,
    e,
    formulas,
    l,
    m,
    p,
    q,
    rho,
    s,
    scalar_formulas,
    simple_matrices,
    simple_vectors,
    u,
    varied_scalars,
    x,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from series import coefficients, motion, series

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.comparison.equality import equal, independent, point
from recursive_dyn.manifold.derivation.adjoint import isolate
from recursive_dyn.manifold.formula.calculus import delta, dt, symbols_of
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.operations import cross, dot, hat, total, transpose
from recursive_dyn.manifold.normal.forms import formula
from recursive_dyn.manifold.normal.normal_form import normal

examples = settings(max_examples=100)
FACTORIAL = (1, 1, 2, 6)
Omega = R.rate
xi, eta = q.virtual, R.virtual


@examples
@given(formulas())
def test_a_normal_form_is_the_same_function(f):
    assert equal(f, formula(normal(f), f.shape))


@examples
@given(formulas())
def test_a_normal_form_is_its_own(f):
    assert normal(formula(normal(f), f.shape)) == normal(f)


@examples
@given(formulas())
def test_what_is_subtracted_from_itself_vanishes(f):
    assert normal(f - f) == {}
    assert normal(f + f) == normal(2 * f)


@examples
@given(simple_vectors(), simple_vectors(), simple_vectors(), simple_matrices(), scalar_formulas(2))
def test_order_and_brackets_do_not_matter(v, w, n, M, c):
    assert normal(dot(v, w)) == normal(dot(w, v))
    assert normal(cross(v, w) + cross(w, v)) == {}
    assert normal(cross(v + n, w)) == normal(cross(v, w) + cross(n, w))
    assert normal(c * (v + w)) == normal(w * c + c * v)
    assert normal(dot(v, M * w)) == normal(dot(M.T * v, w))
    assert normal((M * R) * v) == normal(M * (R * v))
    assert normal(transpose(M * A)) == normal(A.T * transpose(M))
    assert normal(hat(v) * w) == normal(cross(v, w))
    assert normal(R.T * (R * v)) == normal(v) == normal(S * (S.T * v))
    assert normal(dot(R * v, R * w)) == normal(dot(v, w))
    assert normal(cross(R * v, R * w)) == normal(R * cross(v, w))
    assert normal(dot(v, cross(w, n))) == normal(dot(n, cross(v, w))) == normal(dot(w, cross(n, v)))


@pytest.mark.parametrize(
    "zero",
    [
        dot(q, q) - 1,
        dot(e, e) - 1,
        dot(q, dt(q)),
        dot(q, dt(q, 2)) + dot(dt(q), dt(q)),
        dot(dt(q, 3), q) + 3 * dot(dt(q), dt(q, 2)),
        dot(q, dt(q, 4)) + 4 * dot(dt(q), dt(q, 3)) + 3 * dot(dt(q, 2), dt(q, 2)),
        dot(q, delta(q)),
        R.T * (R * x) - x,
        R * (R.T * x) - x,
        C.T * (C * x) - x,
        cross(R * x, R * rho) - R * cross(x, rho),
        cross(R.T * x, R.T * rho) - R.T * cross(x, rho),
        R * cross(R.T * x, rho) - cross(x, R * rho),
        dot(R * x, R * rho) - dot(x, rho),
        dot(R * x, rho) - dot(x, R.T * rho),
        dot(J * x, rho) - dot(x, J * rho),
        dot(K * x, rho) - dot(x, K * rho),
        cross(x, x),
        hat(x) * x,
        hat(x).T + hat(x),
        dot(x, cross(x, rho)),
        dot(x, cross(rho, q)) - dot(rho, cross(q, x)),
        dot(x, cross(rho, q)) - dot(q, cross(x, rho)),
        dot(x, cross(rho, q)) + dot(rho, cross(x, q)),
        dot(R * x, cross(R * rho, R * a)) - dot(x, cross(rho, a)),
        dot(R * x, cross(rho, q)) + dot(q, cross(rho, R * x)),
        dot(J * x, cross(rho, J * x)),
        dot(R * cross(Omega, rho), S * cross(S.rate, x)) - dot(S * cross(S.rate, x), R * cross(Omega, rho)),
        dot(delta(R) * cross(Omega, e), R * cross(Omega, e)) - dot(R * cross(Omega, e), delta(R) * cross(Omega, e)),
        dot(rho, R * rho) - dot(R * rho, rho),
        (R * J).T * x - J * (R.T * x),
        (x + rho) * (m + l) - l * rho - m * x - rho * m - x * l,
        (m + l) ** 2 - m**2 - 2 * m * l - l**2,
        l * (x / l) - x,
        (2 * l) ** -1 * 2 * l - 1,
        dt(dot(q, q)),
        dt(R.T * (R * rho)),
        dt(cross(q, dt(q))) - cross(q, dt(q, 2)),
    ],
    ids=str,
)
def test_rules_of_the_manifolds_are_built_in(zero):
    assert normal(zero) == {}


@pytest.mark.parametrize(
    "f",
    [
        dot(q, q) + 1,
        dot(q, p) - 1,
        dot(x, x) - 1,
        dot(delta(q), delta(q)),
        dot(q, dt(p)),
        dot(x, dt(x)),
        R * (R * x) - x,
        R.T * (S * x) - x,
        A.T * (A * x) - x,
        cross(A * x, A * rho) - A * cross(x, rho),
        dot(A * x, rho) - dot(x, A * rho),
        dot(x, cross(rho, q)) - dot(rho, cross(x, q)),
        delta(R).T * (R * x),
        delta(R).T * (delta(R) * x) - x,
        cross(delta(R) * x, delta(R) * rho) - delta(R) * cross(x, rho),
        dot(dt(q), dt(q)),
        J * cross(x, rho) - cross(J * x, J * rho),
    ],
    ids=str,
)
def test_what_is_not_zero_is_not_rewritten_to_zero(f):
    assert normal(f)


@examples
@given(varied_scalars())
def test_collecting_loses_nothing(f):
    parts = isolate(normal(f))
    cofactors = {symbol: formula(form, symbol.shape) for symbol, form in parts.items()}
    assert equal(f, total([dot(v, w) if v.shape else v * w for v, w in cofactors.items()]))
    assert all(v.varied and not w.varied for v, w in cofactors.items())


@pytest.mark.parametrize(
    "f",
    [
        dot(xi, xi),
        dot(xi, eta) + dot(xi, x),
        dot(xi, x) + 1,
        dot(x, rho) * s,
        s.virtual * dot(xi, x),
        s.virtual**2,
        s.virtual * u.virtual,
        dot(xi, x) ** 2,
        dot(x, cross(xi, cross(eta, rho))),
        dot(x, hat(xi) * (R * (hat(xi) * rho))),
    ],
    ids=str,
)
def test_collecting_refuses_what_is_not_linear(f):
    with pytest.raises(ModelError, match="is not linear in variations"):
        isolate(normal(f))


@settings(max_examples=60)
@given(formulas(2), st.integers(1, 3))
def test_time_derivatives_are_those_of_the_power_series(f, n):
    along, derivatives = motion(symbols_of(f), n + 1)
    expected = FACTORIAL[n] * coefficients(Evaluation(along, Fraction)(f), n)
    assert not np.any(_value(dt(f, n), derivatives) - expected)


def _value(f, known):
    return Evaluation(point(symbols_of(f)) | known, Fraction)(f)


@examples
@given(formulas(2))
def test_variations_are_derivatives_along_the_virtual_displacement(f):
    values = point(symbols_of(f))
    along = {v: series(values[v], _value(independent(delta(v), (R, S)), {})) for v in values}
    expected = coefficients(Evaluation(along, Fraction)(f), 1)
    assert not np.any(_value(independent(delta(f), (R, S)), {}) - expected)

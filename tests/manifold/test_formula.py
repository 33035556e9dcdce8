"""Formulas: what is ill-typed is refused at once, in words; derivatives and variations of all that is well typed."""

from fractions import Fraction

import numpy as np
import pytest
from formulas import A, G, J, K, R, d, dot, e, f, formulas, hat, l, m, p, q, rho, s, transpose, u, x, y
from hypothesis import given, settings
from series import coefficients, motion

from recursive_dyn.errors import ModelError, OperandError
from recursive_dyn.manifold.comparison.equality import equal, independent, point
from recursive_dyn.manifold.formula.calculus import delta, dt, symbols_of
from recursive_dyn.manifold.formula.declare import (
    define,
    matrices,
    rotations,
    scalars,
    symmetric_matrices,
    unit_vectors,
    vectors,
)
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.nodes import ONE, ZERO
from recursive_dyn.manifold.formula.operations import cross, number, zero
from recursive_dyn.manifold.formula.symbol import Symbol

Omega = R.rate
examples = settings(max_examples=80)

ILL_TYPED = {
    "dot of a matrix and a scalar": (lambda: dot(J, m), ["3 x 3 matrix J", "scalar m"]),
    "dot of a vector and a scalar": (lambda: x.dot(m), ["vector of R^3 x", "scalar m"]),
    "dot of sizes": (lambda: dot(x, y), ["vector of R^3 x", "vector of R^2 y"]),
    "dot with a number": (lambda: dot(x, 2), ["vector of R^3 x", "scalar 2"]),
    "dot with a string": (lambda: dot(x, "y"), ["vector of R^3 x", "'y'"]),
    "number dot vector": (lambda: dot(2.5, x), ["scalar 5/2", "vector of R^3 x"]),
    "dot of numbers": (lambda: dot(2, 3), ["2", "3"]),
    "unit vector + scalar": (lambda: q + m, ["unit vector q", "scalar m"]),
    "scalar + unit vector": (lambda: 1 + q, ["scalar 1", "unit vector q"]),
    "vector + matrix": (lambda: x + R, ["vector of R^3 x", "3 x 3 matrix R"]),
    "matrix - vector": (lambda: R - x, ["3 x 3 matrix R", "vector of R^3 x"]),
    "vector - scalar": (lambda: x - s, ["vector of R^3 x", "scalar s"]),
    "vectors of two sizes": (lambda: x + y, ["vector of R^3 x", "vector of R^2 y"]),
    "matrices of two sizes": (lambda: G + R, ["2 x 3 matrix G", "3 x 3 matrix R"]),
    "vector * vector": (lambda: x * q, ["vector of R^3 x", "unit vector q", "dot", "cross"]),
    "vector * matrix": (lambda: x * R, ["vector of R^3 x", "3 x 3 matrix R"]),
    "matrix * vector of another size": (lambda: R * y, ["3 x 3 matrix R", "vector of R^2 y"]),
    "matrix * matrix of another size": (lambda: G * G, ["2 x 3 matrix G"]),
    "matrix @ scalar": (lambda: R @ m, ["3 x 3 matrix R", "scalar m"]),
    "scalar @ number": (lambda: m @ 2, ["scalar m", "scalar 2"]),
    "vector @ vector": (lambda: x @ q, ["vector of R^3 x", "unit vector q"]),
    "cross of R^2": (lambda: cross(y, d), ["vector of R^2 y", "vector of R^2 d"]),
    "cross with a scalar": (lambda: q.cross(m), ["unit vector q", "scalar m"]),
    "cross with a matrix": (lambda: cross(R, q), ["3 x 3 matrix R", "unit vector q"]),
    "cross with None": (lambda: cross(q, None), ["unit vector q", "None"]),
    "hat of a scalar": (lambda: hat(m), ["scalar m", "vector of R^3"]),
    "hat of R^2": (lambda: hat(y), ["vector of R^2 y"]),
    "hat of a matrix": (lambda: hat(R), ["3 x 3 matrix R"]),
    "hat of an array": (lambda: hat(np.ones(3)), ["1., 1., 1."]),
    "transpose of a vector": (lambda: x.T, ["vector of R^3 x", "matrix"]),
    "transpose of a scalar": (lambda: transpose(s), ["scalar s"]),
    "transpose of a number": (lambda: transpose(2), ["2"]),
    "array operand": (lambda: x + np.ones(3), ["vector of R^3 x", "ndarray", "declare"]),
    "matrix * array": (lambda: R * np.ones(3), ["3 x 3 matrix R", "ndarray"]),
    "array * matrix": (lambda: np.ones(3) * R, ["3 x 3 matrix R"]),
    "array + vector": (lambda: np.ones(3) + x, ["vector of R^3 x"]),
    "array @ vector": (lambda: np.eye(3) @ x, ["vector of R^3 x"]),
    "array - scalar": (lambda: np.ones(2) - s, ["scalar s"]),
    "list operand": (lambda: x - [1, 2, 3], ["vector of R^3 x", "list"]),
    "string operand": (lambda: m * "l", ["scalar m", "'l'", "str"]),
    "string + formula": (lambda: "l" + m, ["scalar m", "'l'"]),
    "boolean operand": (lambda: m * True, ["scalar m", "True"]),
    "complex operand": (lambda: m * 1j, ["scalar m", "1j"]),
    "nan": (lambda: m * float("nan"), ["nan", "finite"]),
    "infinity": (lambda: x * float("inf"), ["inf", "finite"]),
    "vector + nan": (lambda: s + np.nan, ["nan", "finite"]),
    "division by a sum": (lambda: x / (m + l), ["m + l", "constant"]),
    "division by a dot product": (lambda: m / x.dot(x), ["|x|^2"]),
    "division by what moves": (lambda: m / s, ["division by s", "constant"]),
    "division by a rate": (lambda: 1 / dt(s), ["division by s'"]),
    "division by a vector": (lambda: m / x, ["vector of R^3 x", "scalars"]),
    "division by a matrix": (lambda: x / R, ["3 x 3 matrix R"]),
    "division by zero": (lambda: m / 0, ["zero"]),
    "division by a zero formula": (lambda: m / (m * 0), ["zero"]),
    "power of a vector": (lambda: x**2, ["vector of R^3 x"]),
    "power of a matrix": (lambda: R**2, ["3 x 3 matrix R"]),
    "half power": (lambda: m**0.5, ["m", "0.5", "integer"]),
    "symbolic power": (lambda: m**l, ["m", "l", "integer"]),
    "boolean power": (lambda: m**True, ["m", "True"]),
    "negative power of a sum": (lambda: (m + l) ** -1, ["m + l"]),
    "number ** symbol": (lambda: 2**m, ["m"]),
    "scalar's rate": (lambda: s.rate, ["s", "dt"]),
    "unit vector's rate": (lambda: q.rate, ["q", "dt"]),
    "variation of a variation": (lambda: delta(delta(x)), ["δx", "variation"]),
    "variation of a virtual displacement": (lambda: delta(q.virtual), ["xi"]),
    "derivative of a rotation's variation": (lambda: dt(delta(R)), ["δR", "eta"]),
    "dt of a number of Python": (lambda: dt(2), ["2"]),
    "delta of an array": (lambda: delta(np.ones(3)), ["1., 1., 1."]),
    "derivative of negative order": (lambda: dt(x, -1), ["-1"]),
    "derivative of half order": (lambda: dt(x, 0.5), ["0.5"]),
    "comparison of shapes": (lambda: equal(x, m), ["vector of R^3 x", "scalar m"]),
    "comparison with a number": (lambda: equal(m, 2), ["2", "int"]),
    "no name": (lambda: scalars(""), ["names", "''"]),
    "blank name": (lambda: vectors("  "), ["names"]),
    "no name of a unit vector": (lambda: unit_vectors(""), ["names"]),
    "name not a string": (lambda: scalars(3), ["3"]),
    "names in a list": (lambda: rotations(["R"]), ["['R']"]),
    "name of signs": (lambda: scalars("m+l"), ["'m+l'", "letters"]),
    "name with a comma": (lambda: scalars("m, l"), ["'m,'"]),
    "name of digits": (lambda: unit_vectors("1q"), ["'1q'"]),
    "name with a prime": (lambda: rotations("R'"), ["R'"]),
    "size zero": (lambda: vectors("v", 0), ["0", "positive"]),
    "size 2.5": (lambda: vectors("v", 2.5), ["2.5"]),
    "size of three": (lambda: matrices("M", (3, 3, 3)), ["(3, 3, 3)"]),
    "shape of one": (lambda: matrices("M", (3,)), ["(3,)"]),
    "shape an int": (lambda: matrices("M", 3), ["3"]),
    "negative size": (lambda: symmetric_matrices("M", -1), ["-1"]),
    "one rate for two rotations": (lambda: rotations("A B", rate="w"), ["one by one"]),
    "definition of a number": (lambda: define("h", 2.0), ["'h'", "2.0"]),
    "definition of a matrix": (lambda: define("h", R * J), ["'h'", "R J"]),
    "definition of a variation": (lambda: define("h", delta(x)), ["'h'", "δx"]),
    "definition's name": (lambda: define("h g", x), ["h g"]),
}


@pytest.mark.parametrize("operation, words", ILL_TYPED.values(), ids=ILL_TYPED.keys())
def test_what_is_ill_typed_is_refused_at_once(operation, words):
    with pytest.raises(OperandError) as refusal:
        operation()
    assert not [word for word in words if word not in str(refusal.value)], str(refusal.value)
    assert isinstance(refusal.value, (TypeError, ModelError))


@examples
@given(formulas())
def test_shapes_are_those_of_the_values(f):
    value = Evaluation(point(symbols_of(f)), Fraction)(f)
    assert np.shape(value) == f.shape


def test_operators_are_those_of_linear_algebra():
    values = point([m, x, rho, y, R, A, J, G])
    at = Evaluation(values, Fraction)
    v, w = values[x], values[rho]

    def same(f, expected):
        return np.array_equal(at(f), expected)

    assert same(dot(x, rho), v @ w) and same(cross(x, rho), np.cross(v, w)) and same(hat(x) * rho, np.cross(v, w))
    assert same(A * x, values[A] @ v) and same(A @ R, values[A] @ values[R]) and same(G * x, values[G] @ v)
    assert same(A.T, values[A].T) and same(G.T * y, values[G].T @ values[y])
    assert same(x - 2 * rho / m, v - 2 * w / values[m]) and same(m**3 - m**-2, values[m] ** 3 - 1 / values[m] ** 2)
    assert same(1 - m, 1 - values[m]) and same(2 / m, 2 / values[m]) and same(-x, -v) and same(0.1 * m, values[m] / 10)
    assert (
        same(x - x, 0 * v) and same(0 * A, 0 * values[A]) and same((m * A) * (2 * x), 2 * values[m] * (values[A] @ v))
    )


def test_the_same_declaration_is_the_same_symbol():
    assert vectors("x") == x and hash(vectors("x")) == hash(x) and rotations("R") == R
    assert vectors("x", constant=True) != x != vectors("x", 2) and unit_vectors("x") != x
    assert x + rho == vectors("x") + rho and x + rho != rho + x


def test_numbers_are_exact():
    assert number(0.1).value * 10 == 1 and m * 0.5 == m / 2
    assert number(True) is None and number("1") is None


def test_derivatives_of_any_order_are_symbols():
    assert dt(x, 5) == Symbol(x.base, 5) == dt(dt(x, 2), 3) and dt(x, 0) == x
    assert dt(q, 4) == Symbol(q.base, 4) and dt(R.rate, 3) == Symbol(R.rate.base, 3)
    assert dt(delta(x), 2) == delta(dt(x, 2)) == Symbol(x.base, 2, True)


@pytest.mark.parametrize("constant", [m, rho, unit_vectors("e", constant=True), J, A, rotations("C", constant=True)])
def test_constants_do_not_change(constant):
    assert dt(constant) == delta(constant) == zero(constant.shape)
    assert dt(constant, 3) == zero(constant.shape)


def test_derivatives_of_constants_and_numbers_are_zero():
    assert dt(number(3)) == ZERO == delta(number(3)) == dt(m**2 / l) and dt(ONE * m) == ZERO
    assert dt(m * rho) == zero((3,)) and dt(J * A) == zero((3, 3)) and dt(dot(rho, e)) == ZERO


def test_rotations_turn_with_their_angular_velocity():
    assert dt(R) == R * hat(Omega)
    assert equal(dt(R.T), -(hat(Omega) * R.T))
    assert equal(dt(R * rho, 2), R * (cross(dt(Omega), rho) + cross(Omega, cross(Omega, rho))))
    assert equal(dt(R.T * R), zero((3, 3)))
    assert not equal(dt(R), hat(Omega) * R)


@pytest.mark.parametrize(
    "f, derivative",
    [
        (m * s * x, m * dt(s) * x + m * s * dt(x)),
        (s**3, 3 * s**2 * dt(s)),
        (s * u * s, 2 * s * u * dt(s) + s**2 * dt(u)),
        (dot(x, q), dot(dt(x), q) + dot(x, dt(q))),
        (cross(x, q), cross(dt(x), q) + cross(x, dt(q))),
        (K * x, dt(K) * x + K * dt(x)),
        (dot(x, K * x), dot(x, dt(K) * x) + 2 * dot(dt(x), K * x)),
        (hat(x) * q, cross(dt(x), q) + cross(x, dt(q))),
        (K * R, dt(K) * R + K * R * hat(Omega)),
        (m * dot(q, e) ** 2, 2 * m * dot(q, e) * dot(dt(q), e)),
        (G * f, G * dt(f)),
        (x + rho, dt(x)),
    ],
    ids=lambda f: str(f),
)
def test_products_follow_leibniz_rule(f, derivative):
    assert equal(dt(f), derivative)
    assert not equal(dt(f), 2 * derivative)


def test_variations_are_virtual_displacements():
    xi, eta = q.virtual, R.virtual
    assert equal(delta(q), cross(xi, q)) and equal(delta(R), R * hat(eta))
    assert equal(delta(dt(q)), cross(dt(xi), q) + cross(xi, dt(q)))
    assert equal(delta(Omega), dt(eta) + cross(Omega, eta), configuration=[R])
    assert not equal(delta(Omega), dt(eta) - cross(Omega, eta), configuration=[R])
    assert not equal(delta(q), cross(q, xi)) and not equal(delta(R), hat(eta) * R)
    assert equal(dot(delta(x), J * x) * 2, delta(dot(x, J * x)))


def test_variations_keep_what_is_constant_on_the_manifold():
    assert equal(delta(dot(q, q)), ZERO) and equal(delta(R.T * R), zero((3, 3)))
    assert equal(delta(dot(q, dt(q))), ZERO) and equal(delta(dot(R * x, R * rho)), delta(dot(x, rho)))


@pytest.mark.parametrize(
    "f",
    [s * dot(x, dt(q)), cross(q, dt(q)), dot(q, e) ** 2 * dt(x), J * cross(p, dt(x)), s**2 * u, dot(K * x, q)],
    ids=str,
)
def test_variation_and_time_derivative_commute(f):
    assert equal(dt(delta(f)), delta(dt(f)))
    assert equal(dt(delta(f), 2), delta(dt(f, 2)))


@pytest.mark.parametrize("f", [R * rho, dot(R * rho, x), R.T * cross(x, R * rho), R * (J * (R.T * q))], ids=str)
def test_they_commute_on_rotations_by_the_variation_of_omega(f):
    assert equal(dt(independent(delta(f), [R])), delta(dt(f)), configuration=[R])


def test_abbreviations_are_differentiated_through():
    h = define("h", R * rho + x)
    assert dt(h, 2) == Symbol(h.base, 2) and delta(h) == Symbol(h.base, 0, True)
    assert equal(h, R * rho + x) and equal(dt(h, 2), dt(R * rho + x, 2))
    assert equal(delta(dt(h)), delta(dt(R * rho + x)))
    assert not equal(dt(h), dt(R * rho)) and not equal(delta(h), delta(x))


@settings(max_examples=60)
@given(formulas(2))
def test_fourth_derivatives_are_those_of_the_power_series(f):
    along, derivatives = motion(symbols_of(f), 5)
    expected = 24 * coefficients(Evaluation(along, Fraction)(f), 4)
    fourth = dt(f, 4)
    assert not np.any(Evaluation(point(symbols_of(fourth)) | derivatives, Fraction)(fourth) - expected)

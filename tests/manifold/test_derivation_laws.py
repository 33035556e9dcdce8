"""What holds of any Lagrangian: linearity, null Lagrangians, changes of names and coordinates, momentum and energy."""

import re

import pytest
from formulas import B, K, R, S, f, p, q, s, scalar_formulas, u, varied_scalars, x, y
from hypothesis import given, settings
from hypothesis import strategies as st

from demos.manifolds import pendulums, walker
from demos.manifolds.gallery import SYSTEMS
from recursive_dyn.errors import ModelError
from recursive_dyn.manifold import cross, delta, derive, dot, dt, rotations, scalars, unit_vectors, vectors
from recursive_dyn.manifold.comparison.equality import equal
from recursive_dyn.manifold.comparison.same_equations import difference, same_equations
from recursive_dyn.manifold.derivation.steps import collect, substitute_constraints, variation
from recursive_dyn.manifold.formula.calculus import replace, symbols_of
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.normal.forms import formula

EVERYTHING = (s, u, x, f, y, q, p, R, S)
PRESCRIBED = (K, B)
examples = settings(max_examples=80)


def rows(lagrangian):
    return derive(lagrangian, None, EVERYTHING, prescribed=PRESCRIBED)


def virtual_work_of_rows(equations):
    """Sum of virtual displacement . row."""
    total = 0 * u
    for row in equations.rows:
        xi = row.symbol.virtual
        total = total + (dot(xi, row.residual) if xi.shape else xi * row.residual)
    return total


def test_variations_stay_on_the_manifold_and_commute_with_the_time_derivative():
    """What delta Omega is follows from R' = R hat(Omega): the variation of R' is the derivative of R hat(eta)."""
    n = vectors("n", constant=True)
    assert equal(delta(dt(R * n)), dt(R * cross(R.virtual, n)), configuration=(R,))
    assert equal(delta(dt(R * n, 2)), dt(R * cross(R.virtual, n), 2), configuration=(R,))
    assert equal(delta(dt(q, 2)), dt(cross(q.virtual, q), 2))
    assert equal(delta(dot(q, q)), 0 * u) and equal(delta(dot(R * n, R * n)), 0 * u)
    assert equal(dot(q, delta(dt(q))) + dot(dt(q), delta(q)), 0 * u)


@examples
@given(scalar_formulas(3))
def test_the_variation_is_that_of_the_rows_up_to_a_time_derivative(lagrangian):
    """delta L = - sum of u . row + dB/dt, B linear in variations: Hamilton's principle, for any order of derivative."""
    found = rows(lagrangian)
    varied = substitute_constraints(variation(found.steps[0]))
    boundary = 0 * u
    for symbol, form in collect(varied).terms:  # u^(n) . A = (-1)^n u . A^(n) + d/dt sum of (-1)^k u^(n-1-k) . A^(k)
        for k in range(symbol.order):
            before = Symbol(symbol.base, symbol.order - 1 - k, symbol.is_variation)
            after = dt(formula(form, symbol.shape), k)
            boundary = boundary + (-1) ** k * (dot(before, after) if symbol.shape else before * after)
    claim = delta(lagrangian, PRESCRIBED) + virtual_work_of_rows(found)
    assert equal(claim, dt(boundary), 2, EVERYTHING)


@examples
@given(scalar_formulas(3))
def test_a_time_derivative_has_no_equations_of_motion(function):
    assert all(equal(row.residual, 0 * row.residual, 2) for row in rows(dt(function)).rows)


@examples
@given(scalar_formulas(1), scalar_formulas(2), st.integers(-3, 3))
def test_rows_are_linear_in_the_lagrangian(one, other, factor):
    both, first, second = rows(one + factor * other), rows(one), rows(other)
    for a, b, c in zip(both.rows, first.rows, second.rows, strict=True):
        assert equal(a.residual, b.residual + factor * c.residual, 2)


@examples
@given(varied_scalars())
def test_virtual_work_adds_its_cofactors(work):
    """- W = sum of u . row, where no derivatives of displacements occur in it; xi counts at right angles to q only."""
    still = replace(work, lambda s: Symbol(s.base, 0, s.is_variation) if s.varied else s)
    turning = {v.virtual: cross(v, cross(v.virtual, v)) for v in EVERYTHING if v.base.is_unit}
    felt = replace(still, lambda s: turning.get(s, s))
    assert equal(-felt, virtual_work_of_rows(derive(0, still, EVERYTHING)), 2, EVERYTHING)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_gauge_changes_nothing(name):
    """L + dF/dt for a function F of all of the configuration."""
    system = SYSTEMS[name]()
    axis = vectors("axis", constant=True)
    function = scalars("weight", constant=True) * 1
    for v in system.configuration:
        part = dot(v * axis, axis) if len(v.shape) == 2 else dot(axis, v) if v.shape else v
        function = function * (part + part**2)
    plain = system.derive()
    gauged = derive(
        system.lagrangian + dt(function), system.virtual_work, system.configuration, system.constraints
    )  # fmt: skip
    assert not equal(dt(function), 0 * function)
    for a, b in zip(plain.rows, gauged.rows, strict=True):
        alike = replace(b.residual, lambda s: plain.multipliers[0] if s in gauged.multipliers else s)
        assert equal(a.residual, alike, 1), a.symbol


@pytest.mark.parametrize("name", SYSTEMS)
def test_energy_changes_by_the_power_of_applied_forces(name):
    """dE/dt = sum of rate . row + power, in any motion whatever: E = sum of dL/drate . rate - L."""
    system = SYSTEMS[name]()
    found = system.derive()
    rates = {R.virtual.base: R.rate for R in found.configuration if R.base.is_rotation}
    rates |= {q.virtual.base: cross(q, dt(q)) for q in found.configuration if q.base.is_unit}

    def moving(s):
        if s.is_variation:
            return dt(Symbol(s.base))
        return rates.get(s.base, s)

    working = replace(virtual_work_of_rows(found), moving)
    power = replace(found.virtual_work, moving)
    for multiplier, c in zip(found.multipliers, found.constraints, strict=True):
        still = replace(c, lambda s: 0 * s if s.order or s in rates.values() else s)
        power = power + dot(multiplier, c - still)  # zero where the constraint holds and nothing drives it
    change = dt(found.energy)
    assert equal(change, working + power, 2)
    assert not equal(change, working, 2) or not found.virtual_work.varied


def test_spherical_pendulums_momentum_about_the_vertical():
    system = pendulums.spherical()
    c = system.symbols
    momentum = dot(c.e3, c.m * c.l**2 * cross(c.q, dt(c.q)))
    assert equal(dt(momentum), dot(c.e3, system.derive()[c.q].residual) + dot(c.e3, cross(c.q, c.tau)))


def test_double_spherical_pendulums_momentum_about_the_vertical():
    """Of both rows together; neither alone."""
    system = pendulums.double_spherical()
    c, found = system.symbols, system.derive()
    x1, x2 = c.l1 * c.q1, c.l1 * c.q1 + c.l2 * c.q2
    momentum = dot(c.e3, c.m1 * cross(x1, dt(x1)) + c.m2 * cross(x2, dt(x2)))
    moments = dot(c.e3, cross(c.q1, c.tau1) + cross(c.q2, c.tau2))
    both = dot(c.e3, found[c.q1].residual + found[c.q2].residual)
    assert equal(dt(momentum), both + moments)
    assert not equal(dt(momentum), dot(c.e3, found[c.q1].residual) + moments)


def test_momentum_of_a_3d_pendulum_without_moment():
    """Angular momentum about the vertical, e3 . R J Om."""
    system = pendulums.three_dimensional()
    c, Om = system.symbols, system.symbols.R.rate
    change = dt(dot(c.e3, c.R * (c.J * Om)))
    assert equal(change, dot(c.R.T * c.e3, system.derive()[c.R].residual + c.M))


def test_momentum_of_a_flying_walker():
    system = walker.flight()
    c = system.symbols
    hip = c.x + c.l * c.q1
    momentum = c.m * dt(c.x + c.l * c.q1 / 2 + hip + c.l * c.q2 / 2) + c.mH * dt(hip) + c.mT * dt(hip + c.L * c.q3)
    weight = (2 * c.m + c.mH + c.mT) * c.g * c.e3
    assert equal(system.derive()[c.x].residual, dt(momentum) + weight)


def test_a_cyclic_coordinates_row_is_the_rate_of_its_momentum():
    m, x, y, theta = scalars("m", constant=True), *scalars("x y theta")
    L = m * (dt(x) ** 2 + x**2 * dt(theta) ** 2 + x**4 * dt(theta) * dt(y)) / 2 - x**4
    found = derive(L, None, (x, y, theta))
    assert equal(found[theta].residual, dt(m * x**2 * dt(theta) + m * x**4 * dt(y) / 2))
    assert equal(found[y].residual, dt(m * x**4 * dt(theta) / 2))
    assert not equal(found[x].residual, dt(m * dt(x)))


def test_twice_the_lagrangian_and_work():
    system = pendulums.double_three_dimensional()
    once = system.derive()
    twice = derive(2 * system.lagrangian, 2 * system.virtual_work, system.configuration)
    assert same_equations(once, twice)
    assert all(equal(2 * a.residual, b.residual) for a, b in zip(once.rows, twice.rows, strict=True))
    assert difference(once, derive(2 * system.lagrangian, system.virtual_work, system.configuration)) is not None


def test_other_names_are_other_names_only():
    def pendulum(names):
        m, g, l = scalars(names[0], constant=True)
        e, rho = vectors(names[1], constant=True)
        q, R = unit_vectors(names[2]), rotations(names[3])
        tip = l * q + R * rho
        return derive(m * dot(dt(tip), dt(tip)) / 2 - m * g * dot(tip, e), None, (q, R))

    plain = str(pendulum(("m g l", "e3 rho", "q", "R")))
    other = str(pendulum(("zeta alpha y", "n a", "b", "Q")))
    words = {"zeta": "m", "alpha": "g", "y": "l", "n": "e3", "a": "rho", "b": "q", "Q": "R", "Omega_Q": "Omega"}
    assert "".join(words.get(w, w) for w in _words(other)) == plain


def _words(text):
    return re.findall(r"\w+|\W+", text)


def test_two_masses_by_their_middle_and_distance():
    m, k = scalars("m k", constant=True)
    a, b = vectors("a b")
    c, d = vectors("c d")
    force = vectors("force")

    def lagrangian(a, b):
        return m * (dot(dt(a), dt(a)) + 3 * dot(dt(b), dt(b))) / 2 - k * dot(a - b, a - b) ** 2

    plain = derive(lagrangian(a, b), dot(delta(a), force), (a, b))
    first, second = c - d / 2, c + d / 2
    other = derive(lagrangian(first, second), dot(delta(first), force), (c, d))
    back = {c.base: (a + b) / 2, d.base: b - a}
    turned = [replace(row.residual, lambda s: dt(back[s.base], s.order) if s.base in back else s) for row in other.rows]
    assert same_equations(plain, {a: turned[0], b: turned[1]})
    assert not same_equations(plain, {a: turned[0], b: turned[0]})


def test_a_change_of_axes():
    """y = Q x for a constant rotation Q: the same motions."""
    Q = rotations("Q", constant=True)
    m = scalars("m", constant=True)
    x, y, n = *vectors("x y"), vectors("n", constant=True)

    def lagrangian(x):
        return m * dot(dt(x), dt(x)) / 2 - dot(n, x) ** 3 + dot(dt(x), cross(n, x))

    plain = derive(lagrangian(x), None, x)
    other = derive(lagrangian(Q.T * y), None, y)
    back = replace(other[y].residual, lambda s: dt(Q * x, s.order) if s.base == y.base else s)
    assert same_equations(plain, {x: back})
    assert equal(Q.T * back, plain[x].residual)


def test_equations_of_other_variables_are_not_compared():
    m, x, y = scalars("m", constant=True), *scalars("x y")
    ours, theirs = derive(m * dt(x) ** 2, None, x), derive(m * dt(y) ** 2, None, y)
    with pytest.raises(ModelError, match=r"x \(only in the first\).*y \(only in the second\)"):
        same_equations(ours, theirs)


@pytest.mark.parametrize("name", SYSTEMS)
def test_rows_hold_no_variation_and_rates_of_second_order_at_most(name):
    found = SYSTEMS[name]().derive()
    order = {q.rate.base if q.base.is_rotation else q.base: 1 if q.base.is_rotation else 2 for q in
             found.configuration}  # fmt: skip
    for row in found.rows:
        assert not row.residual.varied
        assert all(s.order <= order[s.base] for s in symbols_of(row.residual) if s.base in order)
        assert all(not s.base.space.flat or s.base in order or not s.order for s in symbols_of(row.residual)
                   if s.base.definition is None)  # fmt: skip

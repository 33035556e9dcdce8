"""The seven steps one by one, as Bittner & Sreenath (2016) print them in section 2.2."""

import pytest

from demos.manifolds import pendulums
from demos.manifolds.gallery import SYSTEMS
from recursive_dyn.errors import ModelError
from recursive_dyn.manifold import (
    action,
    collect,
    cross,
    delta,
    derive,
    dot,
    dt,
    extract,
    integrate_by_parts,
    substitute_constraints,
    variation,
)
from recursive_dyn.manifold.comparison.equality import equal
from recursive_dyn.manifold.derivation.steps import Collection

spherical = pendulums.spherical()
s = spherical.symbols
q, xi = s.q, s.q.virtual
v, a = dt(q), dt(q, 2)
ml2, mgl = s.m * s.l**2, s.m * s.g * s.l


def stages(system):
    """What each of the steps 1 to 6 returns."""
    first = action(system.lagrangian, system.virtual_work, system.configuration)
    second = variation(first)
    third = substitute_constraints(second)
    fourth = collect(third)
    fifth = integrate_by_parts(fourth)
    return first, second, third, fourth, fifth, collect(fifth)


def test_step_1_action():
    step = stages(spherical)[0]
    assert equal(step.integrand, ml2 * dot(v, v) / 2 - mgl * dot(q, s.e3))
    assert str(step) == "S = ∫ (1/2 m l^2 |q'|^2 - m g l q.e3) dt + ∫ W dt"


def test_step_2_variation():
    step = stages(spherical)[1]
    assert equal(step.integrand, ml2 * dot(dt(delta(q)), v) - mgl * dot(delta(q), s.e3) + dot(delta(q), s.tau))
    assert str(step) == "δS = ∫ (m l^2 δq'.q' - m g l δq.e3 + δq.tau) dt = 0"


def test_step_3_constraint_substitution():
    """xi x q' drops out of (xi' x q + xi x q') . q' at once."""
    step = stages(spherical)[2]
    printed = ml2 * dot(cross(dt(xi), q) + cross(xi, v), v) - mgl * dot(cross(xi, q), s.e3) + dot(cross(xi, q), s.tau)
    assert equal(step.integrand, printed)
    assert str(step) == "δS = ∫ (m l^2 (xi' x q).q' - m g l (xi x q).e3 + (xi x q).tau) dt = 0"


def test_step_4_collection():
    step = stages(spherical)[3]
    printed = dot(dt(xi), ml2 * cross(q, v)) + dot(xi, -mgl * cross(q, s.e3) + cross(q, s.tau))
    assert equal(step.integrand, printed)
    assert [symbol for symbol, _ in step.terms] == [dt(xi), xi]
    assert str(step) == "δS = ∫ (xi'.(m l^2 q x q') + xi.(q x (-m g l e3 + tau))) dt = 0"


def test_step_5_integration_by_parts():
    step = stages(spherical)[4]
    printed = -dot(xi, ml2 * (cross(v, v) + cross(q, a))) + dot(xi, -mgl * cross(q, s.e3) + cross(q, s.tau))
    assert equal(step.integrand, printed)
    assert [symbol for symbol, _ in step.terms] == [xi, xi] and not step.has_derivatives
    assert str(step) == "δS = ∫ (-xi.(m l^2 q x q'') + xi.(q x (-m g l e3 + tau))) dt = 0"


def test_step_6_collection():
    step = stages(spherical)[5]
    printed = dot(xi, -ml2 * cross(q, a) - mgl * cross(q, s.e3) + cross(q, s.tau))
    assert equal(step.integrand, printed)
    assert [symbol for symbol, _ in step.terms] == [xi]
    assert str(step) == "δS = ∫ xi.(q x (-m l^2 q'' - m g l e3 + tau)) dt = 0"


def test_step_7_extraction():
    found = extract(stages(spherical)[5])
    assert equal(found[q].residual, cross(q, ml2 * a + mgl * s.e3) - cross(q, s.tau))
    assert str(found) == "q x (m l^2 q'' + m g l e3 - tau) = 0"


def test_steps_of_the_3d_pendulum():
    system = pendulums.three_dimensional()
    c = system.symbols
    Om, eta = c.R.rate, c.R.virtual
    weight = c.m * c.g * cross(c.rho, c.R.T * c.e3)
    expected = (
        dot(Om, c.J * Om) / 2 - c.m * c.g * dot(c.R * c.rho, c.e3),
        dot(delta(Om), c.J * Om) - c.m * c.g * dot(delta(c.R) * c.rho, c.e3) + dot(eta, c.M),
        dot(dt(eta) + cross(Om, eta), c.J * Om) - c.m * c.g * dot(cross(eta, c.rho), c.R.T * c.e3) + dot(eta, c.M),
        dot(dt(eta), c.J * Om) + dot(eta, cross(c.J * Om, Om) - weight + c.M),
        -dot(eta, c.J * dt(Om)) + dot(eta, cross(c.J * Om, Om) - weight + c.M),
        dot(eta, -(c.J * dt(Om)) - cross(Om, c.J * Om) - weight + c.M),
    )
    found = stages(system)
    for step, formula in zip(found, expected, strict=True):
        assert equal(step.integrand, formula, configuration=(c.R,)), step.title
    assert [symbol for symbol, _ in found[3].terms] == [dt(eta), eta]
    assert [symbol for symbol, _ in found[5].terms] == [eta]
    assert equal(extract(found[5])[c.R].residual, c.J * dt(Om) + cross(Om, c.J * Om) + weight - c.M)


def test_derive_takes_these_steps():
    system = SYSTEMS["quadrotor_load"]()
    one_by_one = stages(system)
    found = system.derive()
    assert [str(step) for step in found.steps] == [str(step) for step in one_by_one]
    assert [row.form for row in found] == [row.form for row in extract(one_by_one[-1])]


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_step_changes_the_integrand_as_it_says(name):
    """Substitution and collection leave the variation of the action's integrand as it is; parts do not."""
    system = SYSTEMS[name]()
    found = system.derive()
    _, second, third, fourth, fifth, sixth = (step.integrand for step in found.steps)
    assert equal(second, third, configuration=system.configuration)
    assert equal(third, fourth, configuration=system.configuration)
    assert not equal(fourth, fifth, configuration=system.configuration)
    assert equal(fifth, sixth, configuration=system.configuration)
    virtual = sum(dot(q.virtual, found[q].residual) if q.virtual.shape else q.virtual * found[q].residual for q in
                  system.configuration)  # fmt: skip
    assert equal(-sixth, virtual, configuration=system.configuration)


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_is_integrated_by_parts_differs_by_a_time_derivative(name):
    """fourth - fifth = d/dt of the sum of u . A over the terms u' . A, which vanishes at the ends of a path."""
    system = SYSTEMS[name]()
    fourth, fifth = system.derive().steps[3:5]
    assert isinstance(fourth, Collection) and isinstance(fifth, Collection)
    by_parts = [(symbol, form) for symbol, form in fourth.terms if symbol.order]
    assert by_parts and all(symbol.order == 1 for symbol, _ in by_parts)
    lowered = tuple((type(symbol)(symbol.base, 0, symbol.is_variation), form) for symbol, form in by_parts)
    boundary = Collection(fourth.problem, "boundary", lowered).integrand
    assert equal(fourth.integrand - fifth.integrand, dt(boundary), configuration=system.configuration)


def test_extracting_before_collecting_is_refused():
    *_, fourth, fifth, sixth = stages(spherical)
    for step in (fourth, fifth):
        with pytest.raises(ModelError, match="not collected yet"):
            extract(step)
    again = derive(spherical.lagrangian, spherical.virtual_work, q)
    assert [row.form for row in extract(sixth)] == [row.form for row in again]


def test_a_row_is_found_by_its_symbol():
    found = spherical.derive()
    assert found[q] is found.rows[0]
    with pytest.raises(ModelError, match="no row of 'tau'; the configuration is q"):
        found[s.tau]

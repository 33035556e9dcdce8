"""What a derivation refuses: the message names the symbol that is at fault."""

import pytest

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold import (
    action,
    cross,
    define,
    delta,
    derive,
    dot,
    dt,
    matrices,
    rotations,
    scalars,
    unit_vectors,
    vectors,
)

m, l = scalars("m l", constant=True)
theta, w = scalars("theta w")
x, p, tau = vectors("x p tau")
e3, rho = vectors("e3 rho", constant=True)
q, n = unit_vectors("q"), unit_vectors("n", constant=True)
R, A = rotations("R", rate="Om"), matrices("A")
T = m * dot(dt(x), dt(x)) / 2
swinging, offset = define("swinging", x + l * q), define("offset", x + R * rho)


@pytest.mark.parametrize(
    ("lagrangian", "message"),
    [
        (m * dot(q, e3), "'q' in the Lagrangian is neither constant nor in the configuration"),
        (T + dt(theta) ** 2, "'theta' in the Lagrangian"),
        (T + dot(R.rate, R.rate), "'Om' in the Lagrangian"),
        (T + dot(x, R * e3), "'R' in the Lagrangian"),
        (T + dot(swinging, e3), "'q' in the Lagrangian"),
        (T + dot(x, A * x), "'A' in the Lagrangian"),
        (m * dot(dt(x), delta(x)), r"Lagrangian m x'\.δx holds a variation"),
        (T + dot(q.virtual, e3), r"holds a variation"),
        (m * dt(x), "Lagrangian must be a scalar formula, not m x'"),
        ("m v^2 / 2", "must be a scalar formula, not 'm v"),
        (None, "must be a scalar formula, not None"),
    ],
)
def test_lagrangians(lagrangian, message):
    with pytest.raises(ModelError, match=message):
        derive(lagrangian, None, x)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (dot(x, tau), r"the term x\.tau|the term tau\.x"),
        (dot(delta(x), delta(x)), r"\|δx\|\^2 is not linear in variations"),
        (dot(delta(x), tau) * dot(delta(x), x), r"tau\.δx.*is not linear|δx\.tau.*is not linear"),
        (dot(delta(x), tau) + 1, "the term 1 is not linear in variations"),
        (dot(delta(p), tau), "holds δp, but its symbol is not in the configuration"),
        (dot(q.virtual, tau), "holds xi, but its symbol is not in the configuration"),
        (dot(delta(swinging), tau), "'q'|δq|swinging"),
        (theta * delta(theta), "holds δtheta"),
        (dot(dt(delta(x)), tau), "holds δx'; forces work on displacements"),
        (delta(x), "virtual work must be a scalar formula, not δx"),
        ("tau", "virtual work must be a scalar formula, not 'tau'"),
    ],
)
def test_virtual_work(work, message):
    with pytest.raises(ModelError, match=message):
        derive(T, work, x)


def test_virtual_work_at_an_angular_velocity():
    with pytest.raises(ModelError, match="δOm"):
        derive(T + dot(R.rate, R.rate), dot(delta(R.rate), tau), (x, R))


def test_a_term_that_is_not_linear_is_named_alone():
    with pytest.raises(ModelError) as caught:
        derive(T, dot(delta(x), tau) ** 2, x)
    assert "m x'" not in str(caught.value)


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ((), "configuration is empty"),
        ((x, x), "two .* called 'x'"),
        ((x, vectors("x")), "two .* called 'x'"),
        ((x, vectors("xi"), q), "two .* called 'xi'"),
        ((x, R, R.rate), "two .* called 'Om'"),
        ((x, R, rotations("S", rate="Om")), "two .* called 'Om'"),
        ((x, dt(q)), "'q'' cannot be in the configuration"),
        ((x, m), "'m' cannot be in the configuration"),
        ((x, n), "'n' cannot be in the configuration"),
        ((x, swinging), "'swinging' cannot be in the configuration"),
        ((x, delta(q)), "'δq' cannot be in the configuration"),
        ((x, q.virtual), "'xi' cannot be in the configuration"),
        ((x, A), "'A' is a 3 x 3 matrix; of matrices only rotations"),
        ((x, "q"), "holds 'q', which is no symbol"),
        ((x, x + p), r"holds x \+ p, which is no symbol"),
        (x + p, r"x \+ p"),
        (5, "5"),
    ],
)
def test_configurations(configuration, message):
    with pytest.raises(ModelError, match=message):
        action(T, None, configuration)


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (dot(x, x) - 1, r"\|x\|\^2 - 1 holds no velocity"),
        (dt(x, 2), "x'' holds no velocity|x''"),
        (dot(dt(x, 2), x) + dot(dt(x), x), "x''"),
        (dot(dt(x), dt(x)), r"\|x'\|\^2 is not linear in velocity"),
        (dot(dt(x), e3) ** 2, r"is not linear in velocity"),
        (dt(x) + delta(x), "δx"),
        (dt(p), "'p' in the constraint p' is neither constant nor in the configuration"),
        (dt(x) + dt(q), "'q' in the constraint"),
        (dt(x) + cross(R.rate, e3), "'Om' in the constraint"),
        (dt(offset), "'R' in the constraint"),
        (R, "constraint 0 must be a scalar or vector formula that is zero, not R"),
        (0, "constraint 0 must be a scalar or vector formula that is zero, not 0"),
    ],
)
def test_constraints(constraint, message):
    with pytest.raises(ModelError, match=message):
        derive(T, None, x, constraints=[constraint])


def test_the_constraint_at_fault_is_counted():
    with pytest.raises(ModelError, match="constraint 1 must be"):
        derive(T, None, x, constraints=[dt(x), "x"])


def test_prescribed_motions():
    with pytest.raises(ModelError, match="'x'"):
        derive(T, dot(delta(x), tau), x, prescribed=[x])
    with pytest.raises(ModelError, match="'w'"):
        derive(T + w * dot(x, e3), None, x, prescribed=["w"])
    with pytest.raises(ModelError, match="'w' in the Lagrangian"):
        derive(T + w * dot(x, e3), None, x, prescribed=[p])


def test_one_symbol_needs_no_list():
    expected = derive(T + w * dot(x, p), None, (x,), [dot(dt(x), e3)], [w, p]).rows[0].row
    assert str(derive(T + w * dot(x, p), None, x, [dot(dt(x), e3)], (w, p)).rows[0].row) == str(expected)
    assert str(derive(T, None, x, dot(dt(x), e3), w).rows[0].row) == "m x'' - lambda e3"

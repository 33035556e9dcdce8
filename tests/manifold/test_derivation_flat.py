"""Scalars and R^n, derivatives of any order, abbreviations, prescribed motions and nonholonomic constraints."""

import pytest

from demos.manifolds import rolling_ball
from recursive_dyn.manifold import (
    cross,
    define,
    delta,
    derive,
    dot,
    dt,
    matrices,
    rotations,
    scalars,
    symmetric_matrices,
    unit_vectors,
    vectors,
)
from recursive_dyn.manifold.comparison.equality import equal
from recursive_dyn.manifold.comparison.same_equations import same_equations
from recursive_dyn.manifold.formula.calculus import replace, symbols_of
from recursive_dyn.manifold.formula.symbol import Symbol

m, g, l, k, b = scalars("m g l k b", constant=True)
e3, rho = vectors("e3 rho", constant=True)
x, p = vectors("x p")
q, R = unit_vectors("q"), rotations("R", rate="Om")
Om = R.rate


def kinetic(mass, point):
    return mass * dot(dt(point), dt(point)) / 2


def test_a_mass_on_a_hardening_spring():
    s, f = scalars("s f")
    found = derive(m * dt(s) ** 2 / 2 - k * s**2 / 2 - b * s**4 / 4, f * delta(s), s)
    assert str(found) == "m s'' + k s + b s^3 - f = 0"
    assert equal(found[s].residual, m * dt(s, 2) + k * s + b * s**3 - f)


def test_a_cart_with_a_pole_of_polynomial_height():
    """Height h = l (1 - a^2/2), along c = l a: energies of polynomials, rows by the rule of Euler and Lagrange."""
    c, a = scalars("c a")
    M = scalars("M", constant=True)
    along, height = c + l * a, l * (1 - a**2 / 2)
    found = derive(M * dt(c) ** 2 / 2 + m * (dt(along) ** 2 + dt(height) ** 2) / 2 - m * g * height, None, (c, a))
    assert equal(found[c].residual, (M + m) * dt(c, 2) + m * l * dt(a, 2))
    inertia = m * l**2 * (1 + a**2)
    row = inertia * dt(a, 2) + m * l * dt(c, 2) + m * l**2 * a * dt(a) ** 2 - m * g * l * a
    assert equal(found[a].residual, row)


def test_planar_polar_coordinates():
    r, phi = scalars("r phi")
    found = derive(m * (dt(r) ** 2 + r**2 * dt(phi) ** 2) / 2 - k * r**2 / 2, None, (r, phi))
    assert equal(found[r].residual, m * dt(r, 2) - m * r * dt(phi) ** 2 + k * r)
    assert equal(found[phi].residual, m * r**2 * dt(phi, 2) + 2 * m * r * dt(r) * dt(phi))


@pytest.mark.parametrize("n", [1, 2, 5])
def test_vibrations_in_n_dimensions(n):
    """M y'' + (G - G^T) y' + K y - f: mass, gyroscopic and stiffness matrices."""
    y, f = vectors("y", n), vectors("f", n)
    M, K = symmetric_matrices("M K", n, constant=True)
    G = matrices("G", (n, n), constant=True)
    L = dot(dt(y), M * dt(y)) / 2 + dot(dt(y), G * y) - dot(y, K * y) / 2
    found = derive(L, dot(delta(y), f), y)
    assert equal(found[y].residual, M * dt(y, 2) + (G - G.T) * dt(y) + K * y - f)


def test_spaces_of_different_dimension_meet_by_a_matrix():
    y, z = vectors("y", 2), vectors("z", 5)
    A = matrices("A", (2, 5), constant=True)
    found = derive(kinetic(m, y) + kinetic(m, z) - k * dot(y, A * z), None, (y, z))
    assert equal(found[y].residual, m * dt(y, 2) + k * (A * z))
    assert equal(found[z].residual, m * dt(z, 2) + k * (A.T * y))


def test_a_matrix_that_moves():
    """A prescribed symmetric inertia: its derivative enters."""
    J = symmetric_matrices("J")
    found = derive(dot(Om, J * Om) / 2, None, R, prescribed=[J])
    assert equal(found[R].residual, dt(J * Om) + cross(Om, J * Om))


@pytest.mark.parametrize("order", range(1, 6))
def test_any_order_of_derivative(order):
    """(1/2) |x^(n)|^2 gives (-1)^(n+1) x^(2n), a sign of this form of the rows: minus the variation."""
    found = derive(k * dot(dt(x, order), dt(x, order)) / 2, None, x)
    assert equal(found[x].residual, (-1) ** (order + 1) * k * dt(x, 2 * order))


def test_an_elastic_rod():
    """L = 1/2 x'^2 - 1/2 x''^2 - 1/2 x^2, in a scalar."""
    s = scalars("s")
    found = derive(m * dt(s) ** 2 / 2 - b * dt(s, 2) ** 2 / 2 - k * s**2 / 2, None, s)
    assert equal(found[s].residual, m * dt(s, 2) + b * dt(s, 4) + k * s)


def test_splines_on_the_sphere_and_of_rotations():
    """|q''|^2: q x q'''' = 0; |Om'|^2: Om''' + Om x Om'' = 0 (Noakes, Heinzinger & Paden 1989)."""
    assert equal(derive(dot(dt(q, 2), dt(q, 2)) / 2, None, q)[q].residual, -cross(q, dt(q, 4)))
    assert equal(derive(dot(dt(Om), dt(Om)) / 2, None, R)[R].residual, -dt(Om, 3) - cross(Om, dt(Om, 2)))


def test_terms_of_different_orders_in_one_product():
    s, u = scalars("s u")
    found = derive(k * dt(s, 2) * u * dt(u), None, (s, u))
    assert equal(found[s].residual, -k * dt(u * dt(u), 2))
    assert equal(found[u].residual, k * dt(s, 3) * u)


def abbreviated(c):
    """A Lagrangian of a point c with all kinds of terms."""
    return kinetic(m, c) - m * g * dot(c, e3) + k * dot(c, dt(x)) * dot(c, rho) - b * dot(c, c) ** 2


def test_abbreviations_change_nothing():
    point = x + l * q + R * rho
    c = define("c", point)
    work = dot(delta(x), p)
    short = derive(abbreviated(c), work, (x, q, R))
    long = derive(abbreviated(point), work, (x, q, R))
    assert same_equations(short, long)
    assert all(equal(a.residual, b.residual) for a, b in zip(short.rows, long.rows, strict=True))
    assert short.definitions == (c,) and str(short).endswith("c = x + l q + R rho")


def test_scalar_abbreviations():
    h = define("h", dot(q, e3) + dot(x, x))
    short = derive(kinetic(m, x) + kinetic(m, q) - k * h**2 + dt(h) ** 2 / 2, None, (x, q))
    h = h.base.definition
    assert same_equations(short, derive(kinetic(m, x) + kinetic(m, q) - k * h**2 + dt(h) ** 2 / 2, None, (x, q)))


def test_nested_abbreviations():
    inner = define("inner", l * q)
    outer = define("outer", x + inner)
    last = define("last", outer + dot(inner, rho) * inner)
    L = kinetic(m, last) + kinetic(k, outer) - m * g * dot(last, e3)
    deep = x + l * q
    deeper = deep + dot(l * q, rho) * (l * q)
    plain = derive(kinetic(m, deeper) + kinetic(k, deep) - m * g * dot(deeper, e3), None, (x, q))
    short = derive(L, None, (x, q))
    assert all(equal(a.residual, b.residual) for a, b in zip(short.rows, plain.rows, strict=True))
    assert {str(s) for s in short.definitions} == {"inner", "outer", "last"}  # each name that is printed is explained


def test_an_abbreviation_of_velocities():
    """v = x' + Om x rho varies with derivatives of displacements: parts are integrated once more."""
    v = define("v", R.T * dt(x) + cross(Om, rho))
    short = derive(m * dot(v, v) / 2, None, (x, R))
    long = derive(m * dot(v.base.definition, v.base.definition) / 2, None, (x, R))
    assert all(equal(a.residual, b.residual) for a, b in zip(short.rows, long.rows, strict=True))
    assert len(short.steps) > len(long.steps) == 6


def test_second_derivatives_of_an_abbreviation():
    c = define("c", x + R * rho)
    jolt = derive(k * dot(dt(c, 2), dt(c, 2)) / 2, None, (x, R))
    expanded = dt(c.base.definition, 4)
    assert equal(jolt[x].residual, -k * expanded)
    assert equal(jolt[R].residual, -k * cross(rho, R.T * expanded))


def test_virtual_work_at_an_abbreviated_point():
    c = define("c", x + R * rho)
    found = derive(kinetic(m, x) + dot(Om, Om) / 2, dot(delta(c), p), (x, R))
    assert equal(found[x].residual, m * dt(x, 2) - p)
    assert equal(found[R].residual, dt(Om) - cross(rho, R.T * p))


@pytest.mark.parametrize("named", [False, True], ids=["written out", "abbreviated"])
def test_a_pendulum_on_a_moving_pivot(named):
    tip = p + l * q
    if named:
        tip = define("tip", tip)
    found = derive(kinetic(m, tip) - m * g * dot(tip, e3), None, q, prescribed=[p])
    assert equal(found[q].residual, m * l * cross(q, l * dt(q, 2) + dt(p, 2) + g * e3))
    assert found.inputs == ()  # p moves as given: it is no force
    assert "δp" not in "".join(map(str, found.steps))


def test_a_rotating_plate_that_is_prescribed():
    """A mass on a plate with a given rotation: inertial forces of Euler, Coriolis and the centrifuge."""
    found = derive(kinetic(m, R * x), None, x, prescribed=[R, Om])
    forces = cross(dt(Om), x) + 2 * cross(Om, dt(x)) + cross(Om, cross(Om, x))
    assert equal(found[x].residual, m * (dt(x, 2) + forces))


def test_a_rolling_balls_rows():
    system = rolling_ball.uniform()
    s, found = system.symbols, system.derive()
    (force,) = found.multipliers
    assert equal(found[s.x].residual, s.m * dt(s.x, 2) + s.m * s.g * s.e3 - force)
    arm = -s.r * (s.R.T * s.e3)  # from the middle to the point that touches, where the force acts
    spin = s.k * s.m * s.r**2 * dt(s.R.rate)
    assert equal(found[s.R].residual, spin - cross(arm, s.R.T * force))
    assert str(found).splitlines()[-1] == "x' - r R Om x e3 = 0"
    assert found.inputs == ()  # reactions are no applied forces


def test_an_off_centre_balls_rows_are_newtons_and_eulers():
    system = rolling_ball.off_centre()
    s, found, Om = system.symbols, system.derive(), system.symbols.R.rate
    (force,) = found.multipliers
    a = dt(s.x, 2) + s.R * (cross(dt(Om), s.rho) + cross(Om, cross(Om, s.rho)))
    assert equal(found[s.x].residual, s.m * (a + s.g * s.e3) - force)
    arm = -s.r * (s.R.T * s.e3) - s.rho  # from the centre of mass to the point that touches
    about_centre = s.J * dt(Om) + cross(Om, s.J * Om) - cross(arm, s.R.T * force) - s.M
    about_middle = about_centre + cross(s.rho, s.R.T * (s.m * (a + s.g * s.e3) - force))
    assert equal(found[s.R].residual, about_middle)


def test_a_ball_on_a_turntable_circles():
    """Its middle has x'' = w k / (1 + k) e3 x x': circles at 2/7 of the table's rate for a solid ball."""
    system = rolling_ball.on_turntable()
    s, found = system.symbols, system.derive()
    circling = (1 + s.k) * dt(s.x, 2) - s.w * s.k * cross(s.e3, dt(s.x))
    assert same_equations(found, _beside_the_constraint(found, s, circling))
    wrong = (1 + s.k) * dt(s.x, 2) - s.w * cross(s.e3, dt(s.x))
    assert not same_equations(found, _beside_the_constraint(found, s, wrong))


def _beside_the_constraint(found, s, row):
    """The ball spins no faster about the vertical; the rest of its spin follows from the constraint."""
    return {s.x: row, s.R: dot(s.R * dt(s.R.rate), s.e3) * s.e3}


def test_a_constraint_takes_part_in_no_other_row():
    """Multipliers act where the constrained velocities are."""
    y = vectors("y")
    found = derive(kinetic(m, x) + kinetic(k, y), None, (x, y), [dot(dt(x), e3)])
    assert equal(found[y].residual, k * dt(y, 2))
    assert found.multipliers[0] in set(symbols_of(found[x].residual))


def test_two_constraints_have_two_multipliers():
    found = derive(kinetic(m, x) + dot(Om, Om) / 2, None, (x, R), [dot(dt(x), R * e3), dt(x) - cross(x, R * Om)])
    one, two = found.multipliers
    assert (one.shape, two.shape) == ((), (3,)) and str(one) != str(two)
    assert equal(found[x].residual, m * dt(x, 2) - one * (R * e3) - two)
    reaction = dt(Om) + R.T * cross(two, x)
    assert equal(found[R].residual, reaction)


def test_a_holonomic_constraint_by_its_velocity():
    """x' = l q': the pendulum again, once the multiplier is put into the row of q."""
    found = derive(kinetic(m, x) - m * g * dot(x, e3), None, (x, q), [dt(x) - l * dt(q)])
    force = replace(found[x].residual, lambda s: 0 * s if s == found.multipliers[0] else s)
    row = replace(found[q].residual, lambda s: force if s == found.multipliers[0] else s)
    row = replace(row, lambda s: l * dt(q, s.order) if s.base == x.base else s)
    assert equal(row, l * cross(q, m * l * dt(q, 2) + m * g * e3))


def test_a_constraint_with_a_prescribed_rate():
    w = scalars("w")
    found = derive(kinetic(m, x), None, x, [dt(x) - w * cross(e3, x)], [w])
    assert equal(found[x].residual, m * dt(x, 2) - found.multipliers[0])


def test_configuration_may_be_one_symbol():
    assert derive(kinetic(m, x), None, x).configuration == (Symbol(x.base),)

"""The systems' equations of motion: as printed in the literature, and as written down by hand."""

import pytest

from demos.manifolds import chain, pendulums, quadrotor, walker
from demos.manifolds.gallery import SYSTEMS
from recursive_dyn.errors import ModelError
from recursive_dyn.manifold import cross, derive, dot, dt, vectors
from recursive_dyn.manifold.comparison.equality import equal
from recursive_dyn.manifold.comparison.same_equations import difference, same_equations
from recursive_dyn.manifold.formula.calculus import replace
from recursive_dyn.manifold.formula.symbol import Symbol

PRINTED = {
    "spherical": "q x (m l^2 q'' + m g l e3 - tau) = 0",
    "three_dimensional": "J Om' + Om x J Om + m g rho x R^T e3 - M = 0",
    "double_spherical": """
        q1 x ((m1 + m2) l1^2 q1'' + m2 l1 l2 q2'' + (m1 + m2) g l1 e3 - tau1) = 0
        q2 x (m2 l2^2 q2'' + m2 l1 l2 q1'' + m2 g l2 e3 - tau2) = 0""",
    "double_3d": """
        J1 Om1' + Om1 x J1 Om1 + m2 lam x R1^T (x2'' + g e3) + m1 g rho1 x R1^T e3 - M1 = 0
        J2 Om2' + Om2 x J2 Om2 + m2 rho2 x R2^T (x2'' + g e3) - M2 = 0
        x2 = R1 lam + R2 rho2""",
    "walker_stance": """
        q1 x ((5/4 m + mH + mT) l^2 q1'' + 1/2 m l^2 q2'' + mT l L q3'' + (3/2 m + mH + mT) g l e3) = 0
        q2 x (1/4 m l^2 q2'' + 1/2 m l^2 q1'' + 1/2 m g l e3 - u2) = 0
        q3 x (mT L^2 q3'' + mT l L q1'' + mT g L e3 - u3) = 0""",
    "walker_flight": """
        q1 x ((5/4 m + mH + mT) l^2 q1'' + 1/2 m l^2 q2'' + mT l L q3'' + (3/2 m + mH + mT) l (x'' + g e3)) = 0
        q2 x (1/4 m l^2 q2'' + 1/2 m l^2 q1'' + 1/2 m l (x'' + g e3) - u2) = 0
        q3 x (mT L^2 q3'' + mT l L q1'' + mT L (x'' + g e3) - u3) = 0
        (2 m + mH + mT) (x'' + g e3) + (3/2 m + mH + mT) l q1'' + 1/2 m l q2'' + mT L q3'' = 0""",
    "quadrotor_load": """
        (mQ + mL) (xL'' + g e3) - mQ l q'' - f R e3 = 0
        q x (mQ l q'' - mQ (xL'' + g e3) + f R e3) = 0
        J Om' + Om x J Om - M = 0""",
}


@pytest.mark.parametrize("name", PRINTED)
def test_rows_read_as_in_the_literature(name):
    expected = [_terms(line.strip()) for line in PRINTED[name].strip().splitlines()]
    assert [_terms(line) for line in str(SYSTEMS[name]().derive()).splitlines()] == expected


def _terms(line):
    """A row as its outermost operation and its terms, sorted: their order is a matter of taste."""
    left, right = line.split(" = ")
    head, inside = left.split(" x (", 1) if left.startswith("q") else ("", left)
    terms, depth = [""], 0
    for word in (inside[:-1] if head else inside).replace(" - ", " + -").split(" "):
        depth += word.count("(") - word.count(")")
        if word == "+" and depth == 0:
            terms.append("")
        else:
            terms[-1] += word + " "
    return head, sorted(terms), right


def test_spherical_pendulum():
    system = pendulums.spherical()
    s = system.symbols
    row = cross(s.q, s.m * s.l**2 * dt(s.q, 2) + s.m * s.g * s.l * s.e3 - s.tau)
    assert equal(system.derive()[s.q].residual, row)
    assert same_equations(system.derive(), {s.q: row})
    misprinted = cross(s.q, s.m * s.l**2 * dt(s.q, 2) + s.m * s.g * s.e3 - s.tau)  # step 7 of the paper, without l
    assert difference(system.derive(), {s.q: misprinted}).symbol == s.q


def test_virtual_work_without_a_variation_is_refused():
    """The paper prints W = q . tau."""
    s = pendulums.spherical()
    with pytest.raises(ModelError, match=r"q\.tau"):
        derive(s.lagrangian, s.symbols.q.dot(s.symbols.tau), s.configuration)


def test_three_dimensional_pendulum():
    system = pendulums.three_dimensional()
    s, Om = system.symbols, system.symbols.R.rate
    row = s.J * dt(Om) + cross(Om, s.J * Om) + s.m * s.g * cross(s.rho, s.R.T * s.e3) - s.M
    assert equal(system.derive()[s.R].residual, row)
    assert same_equations(system.derive(), {s.R: row})
    assert not same_equations(system.derive(), {s.R: row + 2 * s.M})


def test_double_spherical_pendulum():
    system = pendulums.double_spherical()
    s = system.symbols
    M = s.m1 + s.m2
    c = s.m2 * s.l1 * s.l2
    rows = {
        s.q1: cross(s.q1, M * s.l1**2 * dt(s.q1, 2) + c * dt(s.q2, 2) + M * s.g * s.l1 * s.e3 - s.tau1),
        s.q2: cross(s.q2, s.m2 * s.l2**2 * dt(s.q2, 2) + c * dt(s.q1, 2) + s.m2 * s.g * s.l2 * s.e3 - s.tau2),
    }
    _agree(system, rows)
    misprint = (s.m1 - s.m2) * s.l1 * s.l2 * dot(dt(s.q1), dt(s.q2))  # m1 l1 l2 where m2 l1 l2 belongs
    _differ(system, misprint, s.q1)


def test_double_three_dimensional_pendulum():
    system = pendulums.double_three_dimensional()
    s, Om1, Om2 = system.symbols, system.symbols.R1.rate, system.symbols.R2.rate
    a2 = s.R1 * (cross(dt(Om1), s.lam) + cross(Om1, cross(Om1, s.lam)))
    a2 = a2 + s.R2 * (cross(dt(Om2), s.rho2) + cross(Om2, cross(Om2, s.rho2)))
    force = s.m2 * (a2 + s.g * s.e3)
    weight = s.m1 * s.g * cross(s.rho1, s.R1.T * s.e3)
    rows = {
        s.R1: s.J1 * dt(Om1) + cross(Om1, s.J1 * Om1) + weight + cross(s.lam, s.R1.T * force) - s.M1,
        s.R2: s.J2 * dt(Om2) + cross(Om2, s.J2 * Om2) + cross(s.rho2, s.R2.T * force) - s.M2,
    }
    _agree(system, rows)
    misprint = s.m2 * s.g * dot(s.R1 * s.lam, s.e3)  # which the paper's U lacks
    _differ(system, misprint, s.R1)


def _walker_points(s, foot):
    hip = foot + s.l * s.q1
    return ((s.m, foot + s.l * s.q1 / 2), (s.mH, hip), (s.m, hip + s.l * s.q2 / 2), (s.mT, hip + s.L * s.q3))


def test_walker_stands_as_its_masses_do():
    system = walker.stance()
    s = system.symbols
    points = _walker_points(s, vectors("foot", constant=True))
    L = sum(mass * dot(dt(p), dt(p)) / 2 - mass * s.g * dot(p, s.e3) for mass, p in points)
    assert same_equations(system.derive(), derive(L, system.virtual_work, system.configuration))


def test_walker_in_stance():
    system = walker.stance()
    s = system.symbols
    _agree(system, _walker_rows(s, s.g * s.e3))
    v1, v2, v3 = dt(s.q1), dt(s.q2), dt(s.q3)
    wrong = s.mT / 2 * dot(s.l * s.L * v1 + s.L**2 * v2, v3) - s.mT * dot(s.l * s.L * v1 + s.L**2 * v3 / 2, v3)
    _differ(system, wrong, s.q1)
    _differ(system, (s.mH * s.g - s.mH) * s.l * dot(s.q1, s.e3), s.q1)  # mH l without g


def test_walker_in_flight():
    system = walker.flight()
    s = system.symbols
    a = dt(s.x, 2) + s.g * s.e3
    b = (3 * s.m / 2 + s.mH + s.mT) * s.l * dt(s.q1, 2) + s.m * s.l * dt(s.q2, 2) / 2 + s.mT * s.L * dt(s.q3, 2)
    _agree(system, {**_walker_rows(s, a), s.x: (2 * s.m + s.mH + s.mT) * a + b})


def _walker_rows(s, a):
    a1, a2, a3 = dt(s.q1, 2), dt(s.q2, 2), dt(s.q3, 2)
    m, mH, mT, l, L = s.m, s.mH, s.mT, s.l, s.L
    first = (5 * m / 4 + mH + mT) * l**2 * a1 + m * l**2 / 2 * a2 + mT * l * L * a3 + (3 * m / 2 + mH + mT) * l * a
    return {
        s.q1: cross(s.q1, first),
        s.q2: cross(s.q2, m * l**2 / 4 * a2 + m * l**2 / 2 * a1 + m * l / 2 * a - s.u2),
        s.q3: cross(s.q3, mT * L**2 * a3 + mT * l * L * a1 + mT * L * a - s.u3),
    }


def test_quadrotor_with_a_load():
    system = quadrotor.with_load()
    s, Om = system.symbols, system.symbols.R.rate
    a = dt(s.xL, 2) + s.g * s.e3
    thrust = s.f * (s.R * s.e3)
    rows = {
        s.xL: (s.mQ + s.mL) * a - s.mQ * s.l * dt(s.q, 2) - thrust,
        s.q: cross(s.q, s.mQ * s.l * dt(s.q, 2) - s.mQ * a + thrust),
        s.R: s.J * dt(Om) + cross(Om, s.J * Om) - s.M,
    }
    _agree(system, rows)
    _differ(system, s.mL * s.g * s.l * dot(s.q, s.e3), s.q)  # weights that both pull at the load


def test_quadrotor_by_the_place_of_the_quadrotor():
    """xQ for xL as a coordinate: rows are combined otherwise, motions are the same."""
    system = quadrotor.with_load()
    s = system.symbols
    x = vectors("xQ")
    xL = x + s.l * s.q
    L = s.mQ * dot(dt(x), dt(x)) / 2 + s.mL * dot(dt(xL), dt(xL)) / 2 + dot(s.R.rate, s.J * s.R.rate) / 2
    L = L - s.mQ * s.g * dot(x, s.e3) - s.mL * s.g * dot(xL, s.e3)
    work = dot(s.R.virtual, s.M) + s.f * dot(s.R * s.e3, x.virtual)
    found = derive(L, work, (x, s.q, s.R))

    def back(f):
        return replace(f, lambda v: dt(s.xQ, v.order) if v.base == x.base else v)

    rows = {Symbol(s.xL.base) if r.symbol == x else r.symbol: back(r.residual) for r in found.rows}
    assert not equal(rows[s.q], system.derive()[s.q].residual)
    assert same_equations(system.derive(), rows)


@pytest.mark.parametrize("n", range(1, 7))
def test_chain_on_a_cart(n):
    """Lee, Leok & McClamroch 2012: M_ii q_i'' - hat(q_i)^2 (M_0i x'' + sum M_ij q_j'' + ...) = - M_ii |q_i'|^2 q_i."""
    system = chain.on_cart(n)
    s, q = system.symbols, system.symbols.directions
    mass = [sum(s.masses[i:]) for i in range(n)]
    along = dt(s.x, 2) * s.e1
    cart = (s.m0 + mass[0]) * dt(s.x, 2) - s.u
    rows = {}
    for i in range(n):
        cart = cart + mass[i] * s.lengths[i] * dot(s.e1, dt(q[i], 2))
        own = mass[i] * s.lengths[i] ** 2
        pull = mass[i] * s.lengths[i] * (along + s.g * s.e3)
        for j in set(range(n)) - {i}:
            pull = pull + mass[max(i, j)] * s.lengths[i] * s.lengths[j] * dt(q[j], 2)
        rows[q[i]] = own * dt(q[i], 2) + own * dot(dt(q[i]), dt(q[i])) * q[i] - cross(q[i], cross(q[i], pull))
    found = system.derive()
    assert equal(found[s.x].residual, cart)
    assert same_equations(found, {**rows, s.x: cart})
    wrong = rows[q[-1]] + s.masses[0] * dt(s.x, 2) * cross(q[-1], s.e1)
    assert difference(found, {**rows, s.x: cart, q[-1]: wrong}).symbol == q[-1]


def _agree(system, rows):
    found = system.derive()
    assert all(equal(found[q].row, row) for q, row in rows.items())
    assert same_equations(found, rows)


def _differ(system, error, symbol):
    """What is wrongly added to the Lagrangian changes the row of the symbol."""
    wrong = derive(system.lagrangian + error, system.virtual_work, system.configuration)
    assert difference(system.derive(), wrong).symbol == symbol

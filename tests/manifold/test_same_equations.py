"""Comparing equations of motion: no slip of the pen passes, no harmless rewriting is refused."""

from fractions import Fraction

import numpy as np
import pytest
from by_hand import (
    J1,
    J2,
    M1,
    M2,
    R1,
    R2,
    SYSTEMS,
    F,
    J,
    L,
    M,
    Omega,
    Omega1,
    Omega2,
    R,
    double_3d_pendulum,
    double_spherical_pendulum,
    e3,
    g,
    half,
    l,
    l1,
    l2,
    lam,
    m,
    m1,
    m2,
    mH,
    mL,
    mQ,
    mT,
    pendulum_3d,
    q,
    q1,
    q2,
    q3,
    quadrotor_with_load,
    rho,
    rho1,
    rho2,
    spherical_pendulum,
    tau,
    tau1,
    tau2,
    u3,
    walker_flight,
    walker_stance,
    x,
    x2,
    xL,
)
from slips import slips

from recursive_dyn.errors import ModelError, OperandError
from recursive_dyn.manifold import derive
from recursive_dyn.manifold.calculus import delta, dt, symbols_of
from recursive_dyn.manifold.elimination import reduced, remainder
from recursive_dyn.manifold.equality import difference, same_equations
from recursive_dyn.manifold.evaluate import Evaluator
from recursive_dyn.manifold.operations import cross, dot, hat, zero
from recursive_dyn.manifold.points import exact
from recursive_dyn.manifold.symbols import (
    matrices,
    rotations,
    scalars,
    symmetric_matrices,
    vectors,
)

a, b, c, d = vectors("a b c d")
s, u = scalars("s u")
A = matrices("A")
C = rotations("C", constant=True)
K = symmetric_matrices("K")
y = vectors("y", 2)


@pytest.mark.parametrize("name", [name for name in SYSTEMS if "flight" not in name])
def test_no_slip_of_the_pen_passes(name):
    equations = SYSTEMS[name]
    symbols = list(dict.fromkeys(v for f in equations.values() for v in symbols_of(f)))
    passed, count = [], 0
    for symbol, row in equations.items():
        for what, wrong in slips(row, symbols):
            harmless = what == f"order of {row}" or (name, symbol) == ("quadrotor with a load", q)
            count += not harmless
            if not harmless and same_equations(equations, equations | {symbol: wrong}):
                passed.append((symbol, what))
    assert not passed and count > 15


PRINTED_WRONG = {
    "m1 l1 l2 in the double spherical pendulum's T": (
        double_spherical_pendulum,
        {
            q1: cross(q1, (m1 + m2) * l1**2 * dt(q1, 2) + m1 * l1 * l2 * dt(q2, 2) + (m1 + m2) * g * l1 * e3 - tau1),
            q2: cross(q2, m2 * l2**2 * dt(q2, 2) + m1 * l1 * l2 * dt(q1, 2) + m2 * g * l2 * e3 - tau2),
        },
    ),
    "no m2 g (R1 lam).e3 in the double 3D pendulum's U": (
        double_3d_pendulum,
        {
            R1: J1 * dt(Omega1)
            + cross(Omega1, J1 * Omega1)
            + m1 * g * cross(rho1, R1.T * e3)
            + m2 * cross(lam, R1.T * dt(x2, 2))
            - M1
        },
    ),
    "m_T/2 (l L q1' + L^2 q2').q3' in the walker's T": (
        walker_stance,
        {
            q1: walker_stance[q1] - cross(q1, half * mT * l * L * dt(q3, 2)),
            q2: walker_stance[q2] + cross(q2, half * mT * L**2 * dt(q3, 2)),
            q3: cross(q3, half * mT * (l * L * dt(q1, 2) + L**2 * dt(q2, 2)) + mT * g * L * e3 - u3),
        },
    ),
    "m_H l without g in the walker's U": (
        walker_stance,
        {q1: walker_stance[q1] + cross(q1, mH * l * e3 - mH * g * l * e3)},
    ),
    "m g e3 without l in step 7": (spherical_pendulum, {q: cross(q, m * l**2 * dt(q, 2) + m * g * e3 - tau)}),
    "q.tau for the virtual work, varied with the Lagrangian's sign": (
        spherical_pendulum,
        {q: cross(q, m * l**2 * dt(q, 2) + m * g * l * e3 + tau)},
    ),
}


@pytest.mark.parametrize("correct, wrong", PRINTED_WRONG.values(), ids=PRINTED_WRONG.keys())
def test_errors_printed_in_the_paper_are_found(correct, wrong):
    assert same_equations(correct, dict(correct))
    assert not same_equations(correct, correct | wrong)
    found = difference(correct, correct | wrong, points=1)
    assert found.symbol in wrong and found.symbol.base.name in str(found)


@pytest.mark.parametrize("equations", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_scaled_mixed_and_reordered_rows_are_the_same(equations):
    rows = list(reversed(equations.items()))
    (first, row), *others = rows
    mixed = row * Fraction(-3, 7) / g
    for _, other in others:
        mixed = mixed + 2 * m * (R * other)
    assert same_equations(equations, dict([*others, (first, mixed)]))
    assert same_equations(equations, {symbol: C.T * f / m**2 for symbol, f in rows})
    assert not same_equations(equations, dict([*others, (first, mixed - row * Fraction(-3, 7) / g + 0 * row)]))


REWRITTEN = {
    "without l": (spherical_pendulum, {q: cross(q, m * l * dt(q, 2) + m * g * e3 - tau / l)}),
    "without m l": (spherical_pendulum, {q: cross(q, dt(q, 2) + g / l * e3 - tau / (m * l**2))}),
    "the other way round": (spherical_pendulum, {q: cross(m * l**2 * dt(q, 2) + m * g * l * e3 - tau, q)}),
    "projected to the tangent plane": (
        spherical_pendulum,
        {
            q: m * l**2 * (dt(q, 2) + dot(dt(q), dt(q)) * q)
            + m * g * l * (e3 - dot(q, e3) * q)
            - (tau - dot(q, tau) * q)
        },
    ),
    "with what is along q": (
        spherical_pendulum,
        {q: cross(q, m * l**2 * dt(q, 2) + m * g * l * e3 - tau + (s + dot(q, tau)) * q)},
    ),
    "as d/dt of angular momentum": (
        spherical_pendulum,
        {q: dt(m * l**2 * cross(q, dt(q))) + m * g * l * cross(q, e3) - cross(q, tau)},
    ),
    "in world axes": (
        pendulum_3d,
        {R: dt(R * (J * Omega)) + m * g * cross(R * rho, e3) - R * M},
    ),
    "with hats": (pendulum_3d, {R: J * dt(Omega) + hat(Omega) * (J * Omega) + m * g * hat(rho) * (R.T * e3) - M}),
    "gravity first, turned": (
        pendulum_3d,
        {R: M + J * Omega.cross(Omega) - m * g * rho.cross(R.T * e3) - J * dt(Omega) - Omega.cross(J * Omega)},
    ),
    "x2 written out": (
        double_3d_pendulum,
        {
            R1: J1 * dt(Omega1)
            + cross(Omega1, J1 * Omega1)
            + g * cross(m1 * rho1 + m2 * lam, R1.T * e3)
            + m2 * cross(lam, cross(dt(Omega1), lam) + cross(Omega1, cross(Omega1, lam)))
            + m2 * cross(lam, R1.T * (R2 * (cross(dt(Omega2), rho2) + cross(Omega2, cross(Omega2, rho2)))))
            - M1
        },
    ),
    "the parallel axis theorem": (
        double_3d_pendulum,
        {
            R2: J2 * dt(Omega2)
            - m2 * hat(rho2) * (hat(rho2) * dt(Omega2))
            + cross(Omega2, J2 * Omega2 - m2 * cross(rho2, cross(rho2, Omega2)))
            + m2 * cross(rho2, R2.T * (dt(R1 * lam, 2) + g * e3))
            - M2
        },
    ),
    "Jacobi's identity": (
        double_spherical_pendulum,
        {
            q1: double_spherical_pendulum[q1]
            + cross(q1, cross(q2, tau))
            + cross(q2, cross(tau, q1))
            + cross(tau, cross(q1, q2))
        },
    ),
    "a difference of rows": (
        walker_flight,
        {q3: walker_flight[q3] - L * cross(q3, walker_flight[x])},
    ),
}


@pytest.mark.parametrize("equations, rewritten", REWRITTEN.values(), ids=REWRITTEN.keys())
def test_harmless_rewritings_are_the_same(equations, rewritten):
    assert same_equations(equations, equations | rewritten), difference(equations, equations | rewritten)
    assert same_equations(equations | rewritten, equations)
    for symbol, row in rewritten.items():
        assert not same_equations(equations, equations | {symbol: row + Fraction(1, 10**12) * m * g * l * cross(e3, a)})


def test_a_force_along_the_rod_changes_no_motion_of_the_load():
    """The rows of x_L and q give q x (x_L'' + g e3) = 0: any multiple of it but one may stand in the row of q."""
    also = quadrotor_with_load | {q: quadrotor_with_load[q] + (mQ + F) * cross(q, dt(xL, 2) + g * e3)}
    assert same_equations(quadrotor_with_load, also)
    singular = quadrotor_with_load | {q: quadrotor_with_load[q] - mL * cross(q, dt(xL, 2) + g * e3)}
    assert not same_equations(quadrotor_with_load, singular)
    wrong = quadrotor_with_load | {q: quadrotor_with_load[q] + mQ * cross(q, g * e3)}
    assert not same_equations(quadrotor_with_load, wrong)


def test_a_lost_row_is_found_from_either_side():
    lost = double_spherical_pendulum | {q2: zero((3,))}
    found = difference(double_spherical_pendulum, lost)
    assert found.symbol == q2 and found.side == "first"
    found = difference(lost, double_spherical_pendulum)
    assert found.symbol == q2 and found.side == "second"
    doubled = double_spherical_pendulum | {q2: 2 * double_spherical_pendulum[q1]}
    assert difference(double_spherical_pendulum, doubled).symbol == q2


def test_a_difference_holds_the_state_that_shows_it():
    wrong = {q: cross(q, m * l**2 * dt(q, 2) + m * g * e3 - tau)}
    found = difference(spherical_pendulum, wrong)
    apart = Evaluator(found.state, exact)(wrong[q] - spherical_pendulum[q])
    assert np.any(apart)
    assert found.symbol == q and "row of q of the second" in str(found)


def test_derived_equations_are_those_written_by_hand():
    kinetic = half * m * l**2 * dot(dt(q), dt(q))
    derived = derive(kinetic - m * g * l * dot(q, e3), dot(delta(q), tau), [q])
    assert same_equations(derived, spherical_pendulum) and same_equations(spherical_pendulum, derived)
    assert same_equations(derived, derived)
    assert not same_equations(derived, derive(kinetic - m * g * l * dot(q, e3), None, [q]))
    assert not same_equations(derived, derive(kinetic + m * g * l * dot(q, e3), dot(delta(q), tau), [q]))


def rod(constraint, mass=m):
    """A point mass in space held by a constraint."""
    return derive(half * mass * dot(dt(x), dt(x)) - mass * g * dot(x, e3), None, [x], constraints=[constraint])


def test_multipliers_are_eliminated_and_constraints_differentiated():
    held = rod(dot(x, dt(x)))
    free = derive(half * m * dot(dt(x), dt(x)) - m * g * dot(x, e3), None, [x])
    (multiplier,) = held.multipliers
    assert same_equations(held, rod(-3 * l * dot(x, dt(x))))
    assert same_equations(held, rod(dot(x, dt(x)), mass=m1))
    assert same_equations(held, {x: m * dt(x, 2) + m * g * e3 - multiplier * x})
    assert same_equations(held, {x: dt(x, 2) + g * e3 + 2 * multiplier * x})
    assert same_equations({x: dt(x, 2) + g * e3 + 2 * multiplier * x}, held)
    assert not same_equations(held, {x: dt(x, 2) + g * e3 + multiplier * e3})
    assert not same_equations(held, {x: dt(x, 2) - g * e3 + multiplier * x})
    assert not same_equations(held, free)
    assert not same_equations(held, rod(dot(e3, dt(x))))
    assert str(difference(held, free))


def test_what_holds_on_the_constraint_only_is_used():
    """Where x . x' = 0, terms with x . x' and its derivative may be added."""
    held = rod(dot(x, dt(x)))
    (multiplier,) = held.multipliers
    row = m * dt(x, 2) + m * g * e3 - multiplier * x
    assert same_equations(held, {x: row + s * dot(x, dt(x)) * e3})
    assert same_equations(held, {x: row + s * dt(dot(x, dt(x))) * e3})
    assert not same_equations(held, {x: row + s * dot(x, e3) * e3})
    assert not same_equations(held, {x: row + s * dot(x, dt(x, 2)) * e3})


def test_velocities_fulfil_constraints_on_spheres_too():
    constraints = [dot(e3, dt(q1) - dt(q2))]
    kinetic = half * m1 * dot(dt(q1), dt(q1)) + half * m2 * dot(dt(q2), dt(q2))
    linked = derive(kinetic, None, [q1, q2], constraints=constraints)
    (multiplier,) = linked.multipliers
    rows = {q1: cross(q1, m1 * dt(q1, 2) + multiplier * e3), q2: cross(q2, m2 * dt(q2, 2) - multiplier * e3)}
    assert same_equations(linked, rows)
    found = difference(linked, rows | {q2: cross(q2, m2 * dt(q2, 2) + multiplier * e3)})
    at = Evaluator(found.state, exact)
    assert at(constraints[0]) == 0 and at(dot(q1, dt(q1))) == 0 == at(dot(q2, dt(q2)))


def test_other_constraints_are_other_equations():
    assert not same_equations(rod(dot(e3, dt(x)) - m), rod(dot(e3, dt(x))))
    assert not same_equations(rod(dot(e3, dt(x)) - m), rod(dot(e3, dt(x)) - l))
    assert difference(rod(dot(e3, dt(x))), rod(dot(rho, dt(x)))).what == "the constraints"


def test_contradicting_constraints_are_told():
    stuck = derive(half * m * dot(dt(x), dt(x)), None, [x], constraints=[dot(e3, dt(x)) - m, dot(e3, dt(x))])
    with pytest.raises(ModelError, match="contradict"):
        same_equations(stuck, stuck)


def test_equations_of_different_configurations_are_refused_by_name():
    with pytest.raises(
        ModelError, match=r"q1 \(only in the first\).*q2 \(only in the first\).*q \(only in the second\)"
    ):
        same_equations(double_spherical_pendulum, spherical_pendulum)
    with pytest.raises(ModelError, match=r"x \(only in the first\)"):
        same_equations(walker_flight, walker_stance)


@pytest.mark.parametrize(
    "row, words",
    [
        (dot(dt(x, 2), e3) * dt(x, 2) - g * e3, "row of x is not affine in x"),
        (m * dt(x, 3) + dt(x, 2), "row of x holds the derivative of order 3 of x"),
        (m * dt(x, 2) - delta(x), "row of x holds a variation"),
    ],
)
def test_rows_that_are_not_equations_of_motion_are_refused(row, words):
    with pytest.raises(ModelError, match=words):
        same_equations({x: row}, {x: m * dt(x, 2)})


@pytest.mark.parametrize("other, words", [([q], "no set of equations"), ({q: 0}, "the row of q must be a formula")])
def test_what_is_no_set_of_equations_is_refused(other, words):
    with pytest.raises(OperandError, match=words):
        same_equations(spherical_pendulum, other)


def test_reduced_rows_are_the_span():
    rows = [[Fraction(2), Fraction(4), Fraction(1, 3)], [Fraction(1), Fraction(2), Fraction(0)]]
    assert reduced(rows) == ((1, 2, 0), (0, 0, 1)) == reduced([[-x for x in row] for row in reversed(rows)])
    assert reduced([[Fraction(0)] * 3]) == () == reduced([])
    basis = reduced([[Fraction(0), Fraction(-3), Fraction(6)]])
    assert basis == ((0, 1, -2),)
    assert not any(remainder([Fraction(0), Fraction(1, 2), Fraction(-1)], basis))
    assert any(remainder([Fraction(1), Fraction(1), Fraction(-2)], basis))

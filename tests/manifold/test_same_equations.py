"""Comparing equations of motion: no slip of the pen passes, no harmless rewriting is refused."""

from fractions import Fraction

import by_hand as h
import numpy as np
import pytest
from slips import slips

from recursive_dyn.errors import ModelError, OperandError
from recursive_dyn.manifold import derive
from recursive_dyn.manifold.comparison.same_equations import difference, same_equations
from recursive_dyn.manifold.formula.calculus import delta, dt, symbols_of
from recursive_dyn.manifold.formula.declare import rotations, scalars, vectors
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.operations import cross, dot, hat, zero

a, s = vectors("a"), scalars("s")
C = rotations("C", constant=True)


@pytest.mark.parametrize("name", [name for name in h.SYSTEMS if "flight" not in name])
def test_no_slip_of_the_pen_passes(name):
    equations = h.SYSTEMS[name]
    symbols = list(dict.fromkeys(v for f in equations.values() for v in symbols_of(f)))
    passed, count = [], 0
    for symbol, row in equations.items():
        for what, wrong in slips(row, symbols):
            harmless = what == f"order of {row}" or (name, symbol) == ("quadrotor with a load", h.q)
            count += not harmless
            if not harmless and same_equations(equations, equations | {symbol: wrong}):
                passed.append((symbol, what))
    assert not passed and count > 15


PRINTED_WRONG = {
    "m1 l1 l2 in the double spherical pendulum's T": (
        h.double_spherical_pendulum,
        {
            h.q1: cross(
                h.q1,
                (h.m1 + h.m2) * h.l1**2 * dt(h.q1, 2)
                + h.m1 * h.l1 * h.l2 * dt(h.q2, 2)
                + (h.m1 + h.m2) * h.g * h.l1 * h.e3
                - h.tau1,
            ),
            h.q2: cross(
                h.q2,
                h.m2 * h.l2**2 * dt(h.q2, 2) + h.m1 * h.l1 * h.l2 * dt(h.q1, 2) + h.m2 * h.g * h.l2 * h.e3 - h.tau2,
            ),
        },
    ),
    "no m2 g (R1 lam).e3 in the double 3D pendulum's U": (
        h.double_3d_pendulum,
        {
            h.R1: h.J1 * dt(h.Omega1)
            + cross(h.Omega1, h.J1 * h.Omega1)
            + h.m1 * h.g * cross(h.rho1, h.R1.T * h.e3)
            + h.m2 * cross(h.lam, h.R1.T * dt(h.x2, 2))
            - h.M1
        },
    ),
    "m_T/2 (l L q1' + L^2 q2').q3' in the walker's T": (
        h.walker_stance,
        {
            h.q1: h.walker_stance[h.q1] - cross(h.q1, h.half * h.mT * h.l * h.L * dt(h.q3, 2)),
            h.q2: h.walker_stance[h.q2] + cross(h.q2, h.half * h.mT * h.L**2 * dt(h.q3, 2)),
            h.q3: cross(
                h.q3, h.half * h.mT * (h.l * h.L * dt(h.q1, 2) + h.L**2 * dt(h.q2, 2)) + h.mT * h.g * h.L * h.e3 - h.u3
            ),
        },
    ),
    "m_H l without g in the walker's U": (
        h.walker_stance,
        {h.q1: h.walker_stance[h.q1] + cross(h.q1, h.mH * h.l * h.e3 - h.mH * h.g * h.l * h.e3)},
    ),
    "m g e3 without l in step 7": (
        h.spherical_pendulum,
        {h.q: cross(h.q, h.m * h.l**2 * dt(h.q, 2) + h.m * h.g * h.e3 - h.tau)},
    ),
    "q.tau for the virtual work, varied with the Lagrangian's sign": (
        h.spherical_pendulum,
        {h.q: cross(h.q, h.m * h.l**2 * dt(h.q, 2) + h.m * h.g * h.l * h.e3 + h.tau)},
    ),
}


@pytest.mark.parametrize("correct, wrong", PRINTED_WRONG.values(), ids=PRINTED_WRONG.keys())
def test_errors_printed_in_the_paper_are_found(correct, wrong):
    assert same_equations(correct, dict(correct))
    assert not same_equations(correct, correct | wrong)
    found = difference(correct, correct | wrong, points=1)
    assert found.symbol in wrong and found.symbol.base.name in str(found)


@pytest.mark.parametrize("equations", h.SYSTEMS.values(), ids=h.SYSTEMS.keys())
def test_scaled_mixed_and_reordered_rows_are_the_same(equations):
    rows = list(reversed(equations.items()))
    (first, row), *others = rows
    mixed = row * Fraction(-3, 7) / h.g
    for _, other in others:
        mixed = mixed + 2 * h.m * (h.R * other)
    assert same_equations(equations, dict([*others, (first, mixed)]))
    assert same_equations(equations, {symbol: C.T * f / h.m**2 for symbol, f in rows})
    assert not same_equations(equations, dict([*others, (first, mixed - row * Fraction(-3, 7) / h.g + 0 * row)]))


REWRITTEN = {
    "without l": (h.spherical_pendulum, {h.q: cross(h.q, h.m * h.l * dt(h.q, 2) + h.m * h.g * h.e3 - h.tau / h.l)}),
    "without m l": (h.spherical_pendulum, {h.q: cross(h.q, dt(h.q, 2) + h.g / h.l * h.e3 - h.tau / (h.m * h.l**2))}),
    "the other way round": (
        h.spherical_pendulum,
        {h.q: cross(h.m * h.l**2 * dt(h.q, 2) + h.m * h.g * h.l * h.e3 - h.tau, h.q)},
    ),
    "projected to the tangent plane": (
        h.spherical_pendulum,
        {
            h.q: h.m * h.l**2 * (dt(h.q, 2) + dot(dt(h.q), dt(h.q)) * h.q)
            + h.m * h.g * h.l * (h.e3 - dot(h.q, h.e3) * h.q)
            - (h.tau - dot(h.q, h.tau) * h.q)
        },
    ),
    "with what is along q": (
        h.spherical_pendulum,
        {h.q: cross(h.q, h.m * h.l**2 * dt(h.q, 2) + h.m * h.g * h.l * h.e3 - h.tau + (s + dot(h.q, h.tau)) * h.q)},
    ),
    "as d/dt of angular momentum": (
        h.spherical_pendulum,
        {h.q: dt(h.m * h.l**2 * cross(h.q, dt(h.q))) + h.m * h.g * h.l * cross(h.q, h.e3) - cross(h.q, h.tau)},
    ),
    "in world axes": (
        h.pendulum_3d,
        {h.R: dt(h.R * (h.J * h.Omega)) + h.m * h.g * cross(h.R * h.rho, h.e3) - h.R * h.M},
    ),
    "with hats": (
        h.pendulum_3d,
        {h.R: h.J * dt(h.Omega) + hat(h.Omega) * (h.J * h.Omega) + h.m * h.g * hat(h.rho) * (h.R.T * h.e3) - h.M},
    ),
    "gravity first, turned": (
        h.pendulum_3d,
        {
            h.R: h.M
            + h.J * h.Omega.cross(h.Omega)
            - h.m * h.g * h.rho.cross(h.R.T * h.e3)
            - h.J * dt(h.Omega)
            - h.Omega.cross(h.J * h.Omega)
        },
    ),
    "x2 written out": (
        h.double_3d_pendulum,
        {
            h.R1: h.J1 * dt(h.Omega1)
            + cross(h.Omega1, h.J1 * h.Omega1)
            + h.g * cross(h.m1 * h.rho1 + h.m2 * h.lam, h.R1.T * h.e3)
            + h.m2 * cross(h.lam, cross(dt(h.Omega1), h.lam) + cross(h.Omega1, cross(h.Omega1, h.lam)))
            + h.m2
            * cross(h.lam, h.R1.T * (h.R2 * (cross(dt(h.Omega2), h.rho2) + cross(h.Omega2, cross(h.Omega2, h.rho2)))))
            - h.M1
        },
    ),
    "the parallel axis theorem": (
        h.double_3d_pendulum,
        {
            h.R2: h.J2 * dt(h.Omega2)
            - h.m2 * hat(h.rho2) * (hat(h.rho2) * dt(h.Omega2))
            + cross(h.Omega2, h.J2 * h.Omega2 - h.m2 * cross(h.rho2, cross(h.rho2, h.Omega2)))
            + h.m2 * cross(h.rho2, h.R2.T * (dt(h.R1 * h.lam, 2) + h.g * h.e3))
            - h.M2
        },
    ),
    "Jacobi's identity": (
        h.double_spherical_pendulum,
        {
            h.q1: h.double_spherical_pendulum[h.q1]
            + cross(h.q1, cross(h.q2, h.tau))
            + cross(h.q2, cross(h.tau, h.q1))
            + cross(h.tau, cross(h.q1, h.q2))
        },
    ),
    "a difference of rows": (
        h.walker_flight,
        {h.q3: h.walker_flight[h.q3] - h.L * cross(h.q3, h.walker_flight[h.x])},
    ),
}


@pytest.mark.parametrize("equations, rewritten", REWRITTEN.values(), ids=REWRITTEN.keys())
def test_harmless_rewritings_are_the_same(equations, rewritten):
    assert same_equations(equations, equations | rewritten), difference(equations, equations | rewritten)
    assert same_equations(equations | rewritten, equations)
    for symbol, row in rewritten.items():
        assert not same_equations(
            equations, equations | {symbol: row + Fraction(1, 10**12) * h.m * h.g * h.l * cross(h.e3, a)}
        )


def test_a_force_along_the_rod_changes_no_motion_of_the_load():
    """The rows of x_L and q give q x (x_L'' + g e3) = 0: any multiple of it but one may stand in the row of q."""
    also = h.quadrotor_with_load | {
        h.q: h.quadrotor_with_load[h.q] + (h.mQ + h.F) * cross(h.q, dt(h.xL, 2) + h.g * h.e3)
    }
    assert same_equations(h.quadrotor_with_load, also)
    singular = h.quadrotor_with_load | {h.q: h.quadrotor_with_load[h.q] - h.mL * cross(h.q, dt(h.xL, 2) + h.g * h.e3)}
    assert not same_equations(h.quadrotor_with_load, singular)
    wrong = h.quadrotor_with_load | {h.q: h.quadrotor_with_load[h.q] + h.mQ * cross(h.q, h.g * h.e3)}
    assert not same_equations(h.quadrotor_with_load, wrong)


def test_a_lost_row_is_found_from_either_side():
    lost = h.double_spherical_pendulum | {h.q2: zero((3,))}
    found = difference(h.double_spherical_pendulum, lost)
    assert found.symbol == h.q2 and found.side == "first"
    found = difference(lost, h.double_spherical_pendulum)
    assert found.symbol == h.q2 and found.side == "second"
    doubled = h.double_spherical_pendulum | {h.q2: 2 * h.double_spherical_pendulum[h.q1]}
    assert difference(h.double_spherical_pendulum, doubled).symbol == h.q2


def test_a_difference_holds_the_state_that_shows_it():
    wrong = {h.q: cross(h.q, h.m * h.l**2 * dt(h.q, 2) + h.m * h.g * h.e3 - h.tau)}
    found = difference(h.spherical_pendulum, wrong)
    apart = Evaluation(found.state, Fraction)(wrong[h.q] - h.spherical_pendulum[h.q])
    assert np.any(apart)
    assert found.symbol == h.q and "row of q of the second" in str(found)


def test_derived_equations_are_those_written_by_hand():
    kinetic = h.half * h.m * h.l**2 * dot(dt(h.q), dt(h.q))
    derived = derive(kinetic - h.m * h.g * h.l * dot(h.q, h.e3), dot(delta(h.q), h.tau), [h.q])
    assert same_equations(derived, h.spherical_pendulum) and same_equations(h.spherical_pendulum, derived)
    assert same_equations(derived, derived)
    assert not same_equations(derived, derive(kinetic - h.m * h.g * h.l * dot(h.q, h.e3), None, [h.q]))
    assert not same_equations(
        derived, derive(kinetic + h.m * h.g * h.l * dot(h.q, h.e3), dot(delta(h.q), h.tau), [h.q])
    )


def test_equations_of_different_configurations_are_refused_by_name():
    with pytest.raises(
        ModelError, match=r"q1 \(only in the first\).*q2 \(only in the first\).*q \(only in the second\)"
    ):
        same_equations(h.double_spherical_pendulum, h.spherical_pendulum)
    with pytest.raises(ModelError, match=r"x \(only in the first\)"):
        same_equations(h.walker_flight, h.walker_stance)


@pytest.mark.parametrize(
    "row, words",
    [
        (dot(dt(h.x, 2), h.e3) * dt(h.x, 2) - h.g * h.e3, "row of x is not affine in x"),
        (h.m * dt(h.x, 3) + dt(h.x, 2), "row of x holds the derivative of order 3 of x"),
        (h.m * dt(h.x, 2) - delta(h.x), "row of x holds a variation"),
    ],
)
def test_rows_that_are_not_equations_of_motion_are_refused(row, words):
    with pytest.raises(ModelError, match=words):
        same_equations({h.x: row}, {h.x: h.m * dt(h.x, 2)})


@pytest.mark.parametrize("other, words", [([h.q], "no set of equations"), ({h.q: 0}, "the row of q must be a formula")])
def test_what_is_no_set_of_equations_is_refused(other, words):
    with pytest.raises(OperandError, match=words):
        same_equations(h.spherical_pendulum, other)

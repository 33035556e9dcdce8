"""The reaction mass pendulum against balances of momentum written by hand."""

import pytest

from demos.manifolds import reaction_mass
from recursive_dyn.manifold import cross, dot, dt
from recursive_dyn.manifold.comparison.equality import equal
from recursive_dyn.manifold.comparison.same_equations import same_equations
from recursive_dyn.manifold.formula.calculus import replace

system = reaction_mass.pendulum()
s = system.symbols
OmL, OmP = s.RL.rate, s.RP.rate
PAIRS = ((s.m1, s.s1, s.a1, s.u1), (s.m2, s.s2, s.a2, s.u2), (s.m3, s.s3, s.a3, s.u3))
HIP = (  # in the leg's axes: the acceleration of rho e3 by the rules of Euler and Coriolis
    dt(s.rho, 2) * s.e3
    + 2 * dt(s.rho) * cross(OmL, s.e3)
    + s.rho * (cross(dt(OmL), s.e3) + cross(OmL, cross(OmL, s.e3)))
)
WEIGHT = s.g * (s.RL.T * s.e3)


def across(v, axis):
    """The part of v at right angles to an axis: (1 - a a^T) v."""
    return v - dot(axis, v) * axis


def inertia(v):
    """The body's inertia about its middle, of its three pairs of masses as well, times v."""
    return s.JP * v + sum((2 * m * d**2 * across(v, a) for m, d, a, _ in PAIRS), start=0 * s.e3)


def by_hand():
    """Moments about the foot, moments about the body's middle, forces along the leg and along each axis."""
    rows = {}
    about_foot = s.rho * cross(s.e3, s.m * (HIP + WEIGHT))
    rows[s.RL] = s.JL * dt(OmL) + cross(OmL, s.JL * OmL) + about_foot + s.RL.T * (s.RP * s.tau)
    growing = sum((4 * m * d * dt(d) * across(OmP, a) for m, d, a, _ in PAIRS), start=0 * s.e3)
    rows[s.RP] = inertia(dt(OmP)) + growing + cross(OmP, inertia(OmP)) - s.tau
    rows[s.rho] = s.m * dot(s.e3, HIP + WEIGHT) - s.f
    for m, d, a, u in PAIRS:
        rows[d] = 2 * m * (dt(d, 2) + d * (dot(a, OmP) ** 2 - dot(OmP, OmP))) - u
    return rows


def test_every_row_is_a_balance_of_momentum():
    found = system.derive()
    for symbol, row in by_hand().items():
        assert equal(found[symbol].residual, row), symbol
    assert same_equations(found, by_hand())


@pytest.mark.parametrize("symbol", system.configuration, ids=str)
def test_no_term_of_a_balance_may_be_missing(symbol):
    """Each term of the printed row matters."""
    rows = by_hand()
    row = system.derive()[symbol].row
    for i in range(len(row.terms)):
        rest = row.terms[:i] + row.terms[i + 1 :]
        assert not equal(sum(rest, start=0 * row), rows[symbol])


def test_a_stiff_one_is_a_3d_pendulum_and_a_spinning_body():
    """rho and the s at rest: the leg's hip mass adds m rho^2 to its inertia across the leg."""
    at_rest = {x.base for x in (s.rho, s.s1, s.s2, s.s3)}
    stiff = replace(system.derive()[s.RL].residual, lambda v: 0 * v if v.order and v.base in at_rest else v)

    def momentum(v):
        return s.JL * v + s.m * s.rho**2 * across(v, s.e3)

    leg = momentum(dt(OmL)) + cross(OmL, momentum(OmL)) + s.m * s.g * s.rho * cross(s.e3, s.RL.T * s.e3)
    assert equal(stiff, leg + s.RL.T * (s.RP * s.tau))

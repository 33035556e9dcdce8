"""Rates of Jacobians, the centre of mass and momentum about it, against differences along motions of every joint."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import assert_close, curve, derivative, mechanism, random_scene

# ``derivative`` promises 1e-11 of the size of what it differentiates.
DIFFERENCED = 1e-10


def check(m, seed):
    d, rng = m.dynamics(), np.random.default_rng(seed)
    q, v = m.states(2, seed)
    a, point = rng.normal(size=v.shape), rng.uniform(-1, 1, 3)
    body = d.bodies[int(rng.integers(len(d.bodies)))]

    def along(t):
        return curve(d, q, v, a, t)

    def momentum(t):
        x, u = along(t)
        H, c = d.momentum(x, u), d.center_of_mass(x)
        H[..., :3] -= np.cross(c, H[..., 3:])
        return H

    def twist(t):
        x, u = along(t)
        return np.einsum("...ij,...j->...i", d.jacobian(x, body, point), u)

    J = d.jacobian(q, body, point)
    moved = np.einsum("...ij,...j->...i", J, a) + d.jacobian_rate_velocity(q, v, body, point)
    assert_close(moved, derivative(twist), DIFFERENCED)
    center = derivative(lambda t: d.center_of_mass(along(t)[0]))
    assert_close(np.einsum("...ij,...j->...i", d.center_of_mass_jacobian(q), v), center, DIFFERENCED)
    A = d.centroidal_momentum_matrix(q)
    assert_close(np.einsum("...ij,...j->...i", A, v), momentum(np.zeros(1))[0], 1e-12)
    assert_close(d.centroidal_momentum_rate(q, v, a), derivative(momentum), DIFFERENCED)


@pytest.mark.parametrize("seed", [13])
def test_rates_are_those_of_motions_of_every_joint(seed):
    check(mechanism(seed, 13), seed)


@settings(max_examples=3)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 5))
def test_rates_are_those_of_motions_of_any_tree(seed, bodies):
    check(random_scene(seed, bodies, couplings=True), seed)

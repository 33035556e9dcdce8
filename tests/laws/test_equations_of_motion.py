"""Laws that forward dynamics, inverse dynamics and the mass matrix obey on every joint type and on random trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import ALL, SAMPLED, TREES, assert_close, curve, derivative, mechanism, named, random_scene

# Accelerations are M^-1 times forces: rounding of 1e-16 grows with the condition number of M, up to 1e5 for 40 bodies,
# of which typically a tenth to a hundredth shows. Forces, energies and poses are sums of a few dozen terms: 1e-13.
SOLVED, SUMMED = 1e-12, 1e-13


def sample(name, count=8, seed=1):
    m = named(name)
    q, v = m.states(count, seed)
    rng = np.random.default_rng(seed + 100)
    return m.dynamics(), q, v, rng.normal(size=v.shape), rng


@pytest.mark.parametrize("method", ["recursive", "lagrangian"])
@pytest.mark.parametrize("name", ALL)
def test_forward_dynamics_undoes_inverse_dynamics(name, method):
    _, q, v, a, _ = sample(name)
    d = named(name).dynamics(method)
    assert_close(d.forward_dynamics(q, v, d.inverse_dynamics(q, v, a)), a, SOLVED)


@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 7))
def test_forward_dynamics_undoes_inverse_dynamics_on_any_tree(seed, bodies):
    m = random_scene(seed, bodies)
    q, v = m.states(4, seed)
    a = np.random.default_rng(seed).normal(size=v.shape)
    tau = m.dynamics("recursive").inverse_dynamics(q, v, a)
    condition = np.linalg.cond(m.dynamics("recursive").mass_matrix(q)).max()
    for method in ("recursive", "lagrangian"):
        back = m.dynamics(method).forward_dynamics(q, v, tau)
        assert_close(back, a, max(SOLVED, 10 * np.finfo(float).eps * condition))


@pytest.mark.parametrize("name", ALL)
def test_mass_matrix_is_symmetric_and_positive_definite(name):
    d, q, *_ = sample(name)
    M = d.mass_matrix(q)
    np.testing.assert_array_equal(M, np.swapaxes(M, -1, -2))
    assert np.linalg.eigvalsh(M).min() > 0.0


@pytest.mark.parametrize("name", ALL)
def test_mass_matrix_is_the_derivative_of_inverse_dynamics_by_acceleration(name):
    d, q, v, a, _ = sample(name)
    M, bias = d.mass_matrix(q), d.bias(q, v)
    unit = np.eye(d.nv)
    columns = d.inverse_dynamics(q[0], v[0], unit) - bias[0]
    scale = np.abs(M).max() + np.abs(bias).max()  # the difference cancels the bias: its rounding stays
    assert_close(columns.T, M[0], SUMMED, scale)
    assert_close(d.inverse_dynamics(q, v, a), np.einsum("nij,nj->ni", M, a) + bias, SUMMED * 10)


@pytest.mark.parametrize("name", ALL)
def test_bias_at_rest_is_gravity_and_gravity_is_the_slope_of_its_potential(name):
    d, q, v, *_ = sample(name)
    gravity = d.gravity(q)
    assert_close(d.bias(q, 0 * v), gravity, SUMMED)
    directions = np.eye(d.nv)[:, None, :]
    slope = derivative(lambda t: d.potential_energy(curve(d, q[:3], directions, 0 * directions, t)[0]))
    assert_close(gravity[:3].T, slope, 1e-11, np.abs(d.potential_energy(q)).max() + np.abs(gravity).max())


@pytest.mark.parametrize("name", ALL)
def test_applied_power_is_the_rate_of_energy(name):
    d, q, v, tau, rng = sample(name, count=4)
    external = rng.normal(size=(len(v), len(d.bodies), 6))
    a = d.forward_dynamics(q, v, tau, external)

    def energy(t):
        q_t, v_t = curve(d, q, v, a, t)
        return d.kinetic_energy(q_t, v_t) + d.potential_energy(q_t)

    power = np.einsum("ni,ni->n", tau, v) + np.einsum("nbi,nbi->n", external, d.velocities(q, v))
    rate = derivative(energy)
    # The stencil's truncation grows with the accelerations and its rounding with the energies.
    scale = np.abs(energy(np.zeros(1))).max() + np.abs(np.einsum("ni,ni->n", d.inverse_dynamics(q, v, a), v)).max()
    assert_close(rate, power, 1e-10, scale)


@pytest.mark.parametrize("name", SAMPLED)
def test_external_wrenches_act_through_the_transposed_jacobian(name):
    d, q, v, tau, rng = sample(name, count=3)
    external = rng.normal(size=(len(v), len(d.bodies), 6))
    through = sum(np.einsum("nij,ni->nj", d.jacobian(q, body), external[:, k]) for k, body in enumerate(d.bodies))
    a = d.forward_dynamics(q, v, tau, external)
    assert_close(a, d.forward_dynamics(q, v, tau + through), SOLVED)
    assert_close(d.inverse_dynamics(q, v, a, external), tau, SOLVED, np.abs(d.bias(q, v)).max() + np.abs(tau).max())


@pytest.mark.parametrize("name", ["tree of 8", "tree of 13", "tree of 40"])
def test_both_methods_agree_on_every_solved_function(name):
    m = named(name)
    q, v = m.states(8, 2)
    tau = np.random.default_rng(3).normal(size=v.shape)
    recursive, lagrangian = m.dynamics("recursive"), m.dynamics("lagrangian")
    a = recursive.forward_dynamics(q, v, tau)
    assert_close(lagrangian.forward_dynamics(q, v, tau), a, SOLVED)
    auto = m.dynamics("auto")
    assert_close(auto.forward_dynamics(q, v, tau), a, SOLVED)
    fewest = min(d.operation_count().total for d in (recursive, lagrangian))
    assert auto.operation_count().total == fewest


@pytest.mark.parametrize("seed", range(4))
def test_a_coupled_tree_is_the_free_tree_with_its_coordinates_tied(seed):
    """q_free = G q + offset: M = G^T M_free G and bias = G^T bias_free, by virtual work."""
    tied = mechanism(seed, 9, couplings=True, kinds=("revolute", "prismatic", "helix", "screw", "ball", "fixed"))
    assert tied.coupled
    untied = mechanism(
        seed, 9, couplings=True, untie=True, kinds=("revolute", "prismatic", "helix", "screw", "ball", "fixed")
    )
    d, f = tied.dynamics(), untied.dynamics()
    G, offset = np.zeros((f.nv, d.nv)), np.zeros(f.nv)
    for row, name in enumerate(f.velocity_coordinates):
        coupling = tied.scene[name.split(".")[0]].joint.coupling
        leader = name if coupling is None else coupling.leader + "."
        column = next(i for i, c in enumerate(d.velocity_coordinates) if c.startswith(leader))
        G[row, column] = 1.0 if coupling is None else coupling.multiplier
        offset[row] = 0.0 if coupling is None else coupling.offset
    rng = np.random.default_rng(seed)
    v, a, rate = rng.normal(size=(3, d.nv))
    q = d.integrate(d.neutral(), rate * 0.4, 1.0)
    q_free = f.integrate(f.integrate(f.neutral(), offset, 1.0), G @ rate * 0.4, 1.0)
    assert_close(d.poses(q), f.poses(q_free), SUMMED)
    assert_close(d.velocities(q, v), f.velocities(q_free, G @ v), SUMMED)
    assert_close(d.mass_matrix(q), G.T @ f.mass_matrix(q_free) @ G, SUMMED * 10)
    assert_close(d.bias(q, v), G.T @ f.bias(q_free, G @ v), SUMMED * 10)
    tau = d.inverse_dynamics(q, v, a)
    assert_close(tau, G.T @ f.inverse_dynamics(q_free, G @ v, G @ a), SUMMED * 10)
    assert_close(d.forward_dynamics(q, v, tau), a, SOLVED)
    assert_close(d.momentum(q, v), f.momentum(q_free, G @ v), SUMMED)


@pytest.mark.slow
def test_forward_dynamics_undoes_inverse_dynamics_on_forty_bodies():
    m = random_scene(1000, 40)
    q, v = m.states(8, 0)
    a = np.random.default_rng(0).normal(size=v.shape)
    d = m.dynamics("recursive")
    tau = d.inverse_dynamics(q, v, a)
    back = d.forward_dynamics(q, v, tau)
    # Stated backwards, free of the condition number: the accelerations found need the forces given.
    assert_close(d.inverse_dynamics(q, v, back), tau, SOLVED)


def test_the_trees_cover_every_joint_type_branches_and_long_chains():
    models = [named(name).dynamics().model for name in TREES]
    assert {len(m.bodies) for m in models} == {1, 2, 3, 5, 8, 13, 20, 40}
    assert max(len(m.chain(i)) for m in models for i in range(len(m.links))) >= 8
    parents = [link.parent for link in models[-1].links]
    assert max(parents.count(p) for p in parents) >= 3

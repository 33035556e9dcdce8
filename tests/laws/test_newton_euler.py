"""Newton and Euler for every single body, in maximal coordinates, with nothing from the recursions but the motion.

Each body's momentum and spin follow from its pose, velocity and mass properties as the scene states them; their rates
along the motion, less gravity and external wrenches, are what the joints transmit. d'Alembert: projected by the
Jacobians these sum to the generalized forces that were applied (and to the inertia of the rotors).
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maximal import DIFFERENCED, Bodies, rates_of_momenta, rotors
from trees import ALL, GRAVITY, SAMPLED, assert_close, curve, derivative, mechanism, named, random_scene

import recursive_dyn as rd


def check(m, seed, count=3):
    d, bodies = m.dynamics(), Bodies(m)
    rng = np.random.default_rng(seed)
    q, v = m.states(count, seed)
    tau = rng.normal(size=v.shape)
    external = rng.normal(size=(count, len(d.bodies), 6))
    a = d.forward_dynamics(q, v, tau, external)
    spin_rate, linear_rate = rates_of_momenta(d, bodies, q, v, a)
    X = d.poses(q)
    arm = bodies.centers(X) - X[..., :3, 3]
    force = linear_rate - bodies.mass[:, None] * np.array(m.scene.gravity) - external[..., 3:]
    moment = spin_rate - (external[..., :3] + np.cross(-arm, external[..., 3:]))
    needed, largest = rotors(m) * a, 0.0
    for k, body in enumerate(d.bodies):
        J = d.jacobian(q, body, bodies.center[k])
        terms = np.einsum("nij,ni->nj", J, np.concatenate([moment[:, k], force[:, k]], axis=-1))
        needed, largest = needed + terms, max(largest, np.abs(terms).max(initial=0.0))
    assert_close(needed, tau, DIFFERENCED, largest + np.abs(tau).max())


@pytest.mark.parametrize("name", ALL)
def test_newton_and_euler_hold_for_every_body(name):
    check(named(name), 1)


@settings(max_examples=2)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 6))
def test_newton_and_euler_hold_on_any_tree(seed, bodies):
    check(random_scene(seed, bodies), seed, count=2)


@pytest.mark.parametrize("seed", range(3))
def test_newton_and_euler_hold_with_followers(seed):
    m = mechanism(seed, 9, couplings=True, kinds=("revolute", "prismatic", "helix", "screw", "ball", "fixed"))
    assert m.coupled
    check(m, seed)


@pytest.mark.parametrize("name", SAMPLED)
def test_energy_momentum_and_centre_of_mass_are_sums_over_bodies(name):
    m = named(name)
    d, bodies = m.dynamics(), Bodies(m)
    q, v = m.states(6, 2)
    X, V = d.poses(q), d.velocities(q, v)
    spin, linear = bodies.momenta(X, V)
    centers, weight = bodies.centers(X), bodies.mass * bodies.moves
    kinetic = np.einsum("nbi,nbi,b->n", linear, linear, 0.5 / bodies.mass) + 0.5 * (v * v) @ rotors(m)
    kinetic += 0.5 * np.einsum("nbi,nbi->n", V[..., :3], spin)
    assert_close(d.kinetic_energy(q, v), kinetic, 1e-13)
    assert_close(d.kinetic_energy(q, v), 0.5 * np.einsum("ni,nij,nj->n", v, d.mass_matrix(q), v), 1e-13)
    angular = spin + np.cross(centers, linear)
    total = np.concatenate([angular.sum(axis=1), linear.sum(axis=1)], axis=-1)
    assert_close(d.momentum(q, v), total, 1e-13, np.abs(angular).sum(axis=1).max())
    assert_close(
        d.center_of_mass(q), np.einsum("nbi,b->ni", centers, weight) / weight.sum(), 1e-13, np.abs(centers).max()
    )
    assert_close(
        d.potential_energy(q),
        -np.einsum("nbi,b,i->n", centers, weight, GRAVITY),
        1e-13,
        10 * np.abs(centers).max() * weight.sum(),
    )


FLOATING = {"two bodies": (21, 2), "six bodies": (22, 6), "thirty bodies": (23, 30)}


@pytest.mark.parametrize("size", FLOATING)
def test_only_gravity_and_external_wrenches_change_the_momentum_of_what_floats(size):
    m = mechanism(*FLOATING[size], root="free")
    d, bodies = m.dynamics(), Bodies(m)
    rng = np.random.default_rng(3)
    q, v = m.states(3, 3)
    tau = rng.normal(size=v.shape)
    tau[:, :6] = 0.0  # no motor acts between the world and the first body
    for external in (np.zeros((3, len(d.bodies), 6)), rng.normal(size=(3, len(d.bodies), 6))):
        a = d.forward_dynamics(q, v, tau, external)
        rate = derivative(lambda t, a=a: d.momentum(*curve(d, q, v, a, t)))
        X = d.poses(q)
        weight = bodies.mass[:, None] * np.array(GRAVITY)
        moment = np.cross(X[..., :3, 3], external[..., 3:]) + external[..., :3] + np.cross(bodies.centers(X), weight)
        expected = np.concatenate([moment.sum(axis=1), (external[..., 3:] + weight).sum(axis=1)], axis=-1)
        parts = np.abs(np.stack(rates_of_momenta(d, bodies, q, v, a))).max()  # large internal rates cancel
        assert_close(rate, expected, DIFFERENCED, parts + np.abs(expected).max())


def test_a_tree_adrift_without_gravity_keeps_its_momentum_while_its_motors_work():
    m = mechanism(
        22, 6, root="free", gravity=(0.0, 0.0, 0.0), kinds=("revolute", "ball", "prismatic", "helix", "universal")
    )
    d = m.dynamics()
    sim = rd.Simulation(d, 1e-3, "rk4")
    sim.q, sim.v = m.states(1, 4)[0][0], m.states(1, 4)[1][0]
    tau = np.random.default_rng(5).normal(size=d.nv)
    tau[:6] = 0.0
    sim.tau = tau
    start, energy = d.momentum(sim.q, sim.v), d.kinetic_energy(sim.q, sim.v)
    sim.step(500)
    assert abs(d.kinetic_energy(sim.q, sim.v) - energy) > 0.01 * energy  # the motors did work
    # RK4 at 1 ms: (rate h)^4 is 1e-10 at 3 rad/s and its constant 1 / 120
    assert_close(d.momentum(sim.q, sim.v), start, 1e-9)

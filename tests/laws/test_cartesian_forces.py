"""Generalized forces as wrenches on bodies and back (Liu & Jain, section 6.2)."""

import numpy as np
import pytest
from maximal import EXACT, centers, taus
from trees import SAMPLED, assert_close, mechanism, named

import recursive_dyn as rd
from scene import Body, Scene, joints


@pytest.mark.parametrize("name", SAMPLED)
def test_wrenches_of_generalized_forces_have_those_generalized_forces(name):
    m = named(name)
    d, q, tau = taus(m)
    wrenches = d.cartesian_forces(q, tau)
    back = d.generalized_forces(q, wrenches)
    assert_close(back, tau, EXACT, np.abs(tau).max() + np.abs(wrenches).max())


@pytest.mark.parametrize("name", SAMPLED)
def test_generalized_forces_are_jacobians_transposed_times_wrenches(name):
    m = named(name)
    d, q, tau = taus(m)
    wrenches = np.random.default_rng(2).normal(size=(len(q), len(d.bodies), 6))
    expected = np.zeros_like(tau)
    for k, body in enumerate(m.scene.bodies):
        expected += np.einsum("nij,ni->nj", d.jacobian(q, body.name, body.center_of_mass), wrenches[:, k])
    assert_close(d.generalized_forces(q, wrenches), expected, EXACT)


@pytest.mark.parametrize("name", ["tree of 5", "tree of 13", "tree of 40", "ellipsoid_on_ellipsoid", "prismatic"])
def test_wrenches_come_in_pairs_on_a_body_and_its_parent(name):
    """Each coordinate's force alone: only the joint's child and parent feel it, equally and oppositely."""
    m = named(name)
    d, q, _ = taus(m, count=1)
    tau = np.eye(d.nv)
    wrenches = d.cartesian_forces(q[0], tau)
    place = centers(d, m.scene, q[0])
    names = [b.name for b in m.scene.bodies]
    for slot, label in enumerate(d.velocity_coordinates):
        child = names.index(label.split(".")[0])
        parent = m.scene.bodies[child].parent.name
        felt = {i for i in range(len(names)) if np.any(wrenches[slot, i])}
        assert felt <= {child} | ({names.index(parent)} if parent in names else set())
        if parent in names:
            W = wrenches[slot]
            moment = (W[:, :3] + np.cross(place - 0.7, W[:, 3:])).sum(axis=0)  # about the point (0.7, 0.7, 0.7)
            scale = np.abs(W).max() * (1 + np.abs(place).max())
            assert_close(np.concatenate([moment, W[:, 3:].sum(axis=0)]), np.zeros(6), EXACT, scale)


@pytest.mark.parametrize("kind", ["revolute", "ball", "universal", "euler"])
def test_a_joint_that_only_turns_is_driven_by_a_pure_couple(kind):
    m = named(kind)
    d, q, tau = taus(m)
    np.testing.assert_array_equal(d.cartesian_forces(q, tau)[..., 3:], 0.0)


def test_a_hinge_is_driven_by_a_couple_about_its_axis_on_arm_and_parent():
    scene = Scene()
    base = scene.world.attach(Body("base", mass=1.0, inertia=0.1 * np.eye(3)), joints.free())
    base.attach(Body("arm", mass=1.0, center_of_mass=(0, 0, -0.5)), joints.revolute("y"))
    d = scene.compile()
    wrenches = d.cartesian_forces(d.neutral(), [0, 0, 0, 0, 0, 0, 2.5])
    np.testing.assert_allclose(wrenches, [[0, -2.5, 0, 0, 0, 0], [0, 2.5, 0, 0, 0, 0]], atol=1e-15)


def test_the_wrenches_on_unconstrained_bodies_do_the_work_of_the_motors():
    m = named("tree of 13")
    d, q, tau = taus(m)
    v = m.states(4, 9)[1]
    V = d.velocities(q, v)
    arm = centers(d, m.scene, q) - d.poses(q)[..., :3, 3]
    V[..., 3:] += np.cross(V[..., :3], arm)
    wrenches = d.cartesian_forces(q, tau)
    power = np.einsum("nbi,nbi->n", wrenches, V)
    scale = np.abs(wrenches).max() * np.abs(V).max()  # pairs cancel
    assert_close(power, np.einsum("ni,ni->n", tau, v), EXACT, scale)


def test_a_follower_leaves_its_leaders_force_alone():
    m = mechanism(2, 9, couplings=True, kinds=("revolute", "prismatic", "screw"))
    d, q, tau = taus(m)
    assert m.coupled
    assert_close(d.generalized_forces(q, d.cartesian_forces(q, tau)), tau, EXACT * 10)


def test_a_gimbal_lock_is_reported():
    scene = Scene()
    scene.world.attach(Body("gimbal", mass=1.0, inertia=np.eye(3)), joints.euler("zyz"))
    d = scene.compile()
    with pytest.raises(rd.StateError, match=r"cartesian_forces.*gimbal lock"):
        d.cartesian_forces([0.3, 0.0, 0.0], [1.0, 0.0, 0.0])
    with pytest.raises(rd.StateError, match=r"forward_dynamics.*singular"):
        d.forward_dynamics([0.3, 0.0, 0.0], np.zeros(3), [1.0, 0.0, 0.0])


@pytest.mark.parametrize(("order", "angle"), [("xyz", np.pi / 2), ("zyx", -np.pi / 2), ("zyz", 0.0), ("zyz", np.pi)])
def test_a_gimbal_lock_says_that_some_forces_cannot_be_reached(order, angle):
    """cos(pi / 2) is 6e-17 in floating point: the wrench would be 1e16 N m."""
    scene = Scene()
    scene.world.attach(Body("head", mass=1.0, inertia=np.eye(3)), joints.euler(order))
    dynamics = scene.compile()
    with pytest.raises(rd.StateError, match="gimbal lock"):
        dynamics.cartesian_forces([0.3, angle, 0.4], [1.0, 2.0, 3.0])
    near = dynamics.cartesian_forces([0.3, angle + 1e-3, 0.4], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(dynamics.generalized_forces([0.3, angle + 1e-3, 0.4], near), [1, 2, 3], rtol=1e-8)

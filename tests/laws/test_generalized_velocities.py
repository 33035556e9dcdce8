"""Bodies' velocities as those of coordinates (Liu & Jain, section 6.1): exact where joints allow them, else nearest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_cases import MOVING
from trees import SAMPLED, assert_close, named, random_scene

import recursive_dyn as rd
from scene import Body, Scene, joints

CHOICES = ("tree", "joints")


def check(m, choice, seed=1):
    d, (q, v) = m.dynamics(), m.states(3, seed)
    V = d.velocities(q, v)
    found, residual = d.generalized_velocities(q, V, choice=choice, length=0.8)
    scale = np.abs(V).max() + np.abs(v).max()
    # S of curves is far from orthonormal, and squared: errors grow with its condition
    assert_close(found, v, 1e-10, scale)
    assert_close(residual, np.zeros_like(V), 1e-11, scale)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", SAMPLED)
def test_velocities_that_joints_allow_give_back_those_of_the_coordinates(name, choice):
    check(named(name), choice)


@settings(max_examples=2)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 5), choice=st.sampled_from(CHOICES))
def test_so_they_do_on_any_tree(seed, bodies, choice):
    kinds = (*(k for k in MOVING if k != "euler"), "fixed")  # at random configurations far from singular ones
    check(random_scene(seed, bodies, kinds, couplings=True), choice, seed)


@pytest.mark.parametrize("name", ["tree of 8", "ball", "helix", "ellipsoid_on_ellipsoid", "fixed"])
def test_what_joints_do_not_allow_is_told_and_least(name):
    """The residual, its angular part weighed by a length, is orthogonal to everything that the tree can do."""
    m, length = named(name), 0.4
    d, (q, _) = m.dynamics(), m.states(2, 4)
    V = np.random.default_rng(5).normal(size=(2, len(d.bodies), 6))
    v, residual = d.generalized_velocities(q, V, length=length)
    np.testing.assert_allclose(d.velocities(q, v) + residual, V, atol=1e-11)
    weighed = residual * np.array([length**2] * 3 + [1.0] * 3)
    along = sum(np.einsum("nij,ni->nj", d.jacobian(q, body), weighed[:, k]) for k, body in enumerate(d.bodies))
    assert_close(along, np.zeros_like(v), 1e-11, np.abs(weighed).max() * (1 + np.abs(d.poses(q)).max()))
    assert np.abs(residual).max() > 0.1


def test_each_joint_alone_takes_its_bodies_as_they_move():
    """A hinge on a hinge: the parent's slip along the first axis does not enter the second angle's rate."""
    scene = Scene()
    upper = scene.world.attach(Body("upper", mass=1.0, inertia=np.eye(3)), joints.revolute("y"))
    upper.attach(Body("lower", mass=1.0, inertia=np.eye(3)), joints.revolute("y"), at=rd.pose((0, 0, -1)))
    d = scene.compile()
    q = np.array([0.3, -0.5])
    V = d.velocities(q, [1.0, 2.0])
    slip = np.array([0.0, 0.0, 0.0, 0.1, 0.2, 0.3])
    v, residual = d.generalized_velocities(q, V + slip, choice="joints")
    np.testing.assert_allclose(v, [1.0, 2.0], atol=1e-14)
    np.testing.assert_allclose(residual, [slip, slip], atol=1e-14)
    both, left = d.generalized_velocities(q, V + slip, choice="tree")
    assert np.abs(both - v).max() > 1e-3 and (left**2).sum() < (residual**2).sum()


@pytest.mark.parametrize("name", ["tree of 8", "ball", "helix", "ellipsoid_on_ellipsoid", "free", "gibbs_six"])
def test_poses_give_back_the_configuration(name):
    """From a tenth of a radian and of a metre away, up to a quaternion's sign."""
    m = named(name)
    d, (q, v) = m.dynamics(), m.states(3, 4)
    found, residual = d.generalized_positions(d.integrate(q, 0.1 * np.tanh(v), 1.0), d.poses(q))
    assert_close(residual, np.zeros_like(residual), 1e-11, 1 + np.abs(d.poses(q)).max())
    assert_close(d.difference(q, found), np.zeros_like(v), 1e-10, 1.0)


def test_poses_that_joints_do_not_allow_are_met_as_near_as_can_be():
    m = named("tree of 3")
    d, (q, _) = m.dynamics(), m.states(1, 4)
    X = d.poses(q)
    X[..., :3, 3] += np.random.default_rng(1).uniform(-0.02, 0.02, X[..., :3, 3].shape)
    found, residual = d.generalized_positions(q[0], X, length=0.4)
    weighed = residual * np.array([0.4**2] * 3 + [1.0] * 3)
    along = sum(np.einsum("nij,ni->nj", d.jacobian(found, body), weighed[:, k]) for k, body in enumerate(d.bodies))
    assert found.shape == q.shape and np.abs(residual).max() > 1e-3
    assert np.abs(along).max() < 1e-6  # where the search settles


def test_what_are_no_poses_is_refused():
    d = named("ball").dynamics()
    q = named("ball").states(1, 1)[0][0]
    X = d.poses(q)
    with pytest.raises(rd.StateError, match=r"'poses' must be.*\(\.\.\., 3, 4, 4\)"):
        d.generalized_positions(q, X[0])
    for entry, value in (((1, 0, 3), np.nan), ((1, 0, 0), 2.0), ((1, slice(0, 3), 0), -X[1, :3, 0])):
        bad = np.stack([X, X])
        bad[(1, *entry)] = value
        with pytest.raises(rd.StateError, match=r"no rigid pose of body 'b1', batch row \(1,\)"):
            d.generalized_positions(q, bad)
    with pytest.raises(rd.StateError, match="'q' is not finite at coordinate 'b0"):
        d.generalized_positions(np.full_like(q, np.nan), X)


def test_a_scene_where_nothing_moves_has_no_velocities():
    scene = Scene()
    scene.world.attach(Body("rock", mass=1.0), joints.fixed())
    d = scene.compile()
    for choice in CHOICES:
        v, residual = d.generalized_velocities([], np.ones((1, 6)), choice=choice)
        assert v.shape == (0,)
        np.testing.assert_array_equal(residual, np.ones((1, 6)))


@pytest.mark.parametrize("choice", CHOICES)
def test_a_gimbal_lock_is_named(choice):
    scene = Scene()
    scene.world.attach(Body("head", mass=1.0, inertia=np.eye(3)), joints.euler("zyz"))
    d = scene.compile()
    with pytest.raises(rd.StateError, match=r"'head\.\w+' is singular.*gimbal lock"):
        d.generalized_velocities([0.3, 0.0, 0.4], np.ones((1, 6)), choice=choice)


def test_what_is_no_velocity_is_refused():
    d = named("ball").dynamics()
    q = named("ball").states(1, 1)[0][0]
    with pytest.raises(rd.StateError, match="not fitted by 'body'; choose 'tree' or 'joints'"):
        d.generalized_velocities(q, np.zeros((3, 6)), choice="body")
    with pytest.raises(rd.StateError, match=r"'velocities' has shape \(6,\).*\(\.\.\., 3, 6\)"):
        d.generalized_velocities(q, np.zeros(6))
    with pytest.raises(rd.StateError, match="'velocities' is not finite at body 'b2'"):
        d.generalized_velocities(q, [[0] * 6, [0] * 6, [np.nan] * 6])
    with pytest.raises(rd.StateError, match="'length' must be a positive"):
        d.generalized_velocities(q, np.zeros((3, 6)), length=0)

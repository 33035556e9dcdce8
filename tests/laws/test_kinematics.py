"""Poses, velocities, Jacobians and steps on the configuration manifold against independent computations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import ALL, assert_close, curve, derivative, named, random_scene

# Products of up to forty poses with entries of order 1 to 10 m: a few hundred roundings of 1e-16.
EXACT = 2e-13
# ``derivative`` promises 1e-11 of the size of what it differentiates.
DIFFERENCED = 3e-11


def vee(W):
    """Axial vector of (..., 3, 3) skew matrices."""
    return np.stack([W[..., 2, 1] - W[..., 1, 2], W[..., 0, 2] - W[..., 2, 0], W[..., 1, 0] - W[..., 0, 1]], -1) / 2


def twists(X, X_rate):
    """[omega; v] (..., 6) in world axes at the origin, of poses and their rates."""
    omega = vee(X_rate[..., :3, :3] @ np.swapaxes(X[..., :3, :3], -1, -2))
    return np.concatenate([omega, X_rate[..., :3, 3]], axis=-1)


@pytest.mark.parametrize("name", ALL)
def test_poses_are_the_product_of_the_transforms_as_written(name):
    m = named(name)
    q, _ = m.states(3, 1)
    assert_close(m.dynamics().poses(q), np.array([m.poses(row) for row in q]), EXACT)


@settings(max_examples=5)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 5))
def test_poses_are_the_product_of_the_transforms_on_any_tree(seed, bodies):
    m = random_scene(seed, bodies, couplings=True)
    q, _ = m.states(2, seed)
    assert_close(m.dynamics().poses(q), np.array([m.poses(row) for row in q]), EXACT)


@pytest.mark.parametrize("name", ALL)
def test_velocities_are_the_rate_of_the_poses(name):
    m = named(name)
    d = m.dynamics()
    q, v = m.states(4, 2)
    rate = derivative(lambda t: d.poses(curve(d, q, v, 0 * v, t)[0]))
    assert_close(d.velocities(q, v), twists(d.poses(q), rate), DIFFERENCED)


@pytest.mark.parametrize("name", ALL)
def test_jacobian_gives_the_velocity_of_a_point_and_the_slope_of_its_pose(name):
    m = named(name)
    d = m.dynamics()
    q, v = m.states(4, 3)
    points = np.random.default_rng(4).uniform(-1, 1, (len(d.bodies), 3))
    X, V = d.poses(q), d.velocities(q, v)
    directions = np.eye(d.nv)[:, None, :]
    X_slope = derivative(lambda t: d.poses(curve(d, q[:1], directions, 0 * directions, t)[0]))[:, 0]
    for k, body in list(enumerate(d.bodies))[:: max(1, len(d.bodies) // 6)]:
        arm = X[:, k, :3, :3] @ points[k]
        moved = V[:, k].copy()
        moved[:, 3:] += np.cross(V[:, k, :3], arm)
        J = d.jacobian(q, body, points[k])
        assert_close(np.einsum("nij,nj->ni", J, v), moved, EXACT, np.abs(V).max())
        slope = X_slope[:, k].copy()
        slope[:, :3, 3] += slope[:, :3, :3] @ points[k]
        assert_close(J[0].T, twists(np.broadcast_to(X[0, k], slope.shape), slope), DIFFERENCED, np.abs(X_slope).max())


def test_jacobian_of_a_body_fixed_to_the_world_is_zero():
    m = random_scene(3, 2, kinds=["fixed", "revolute"])
    still = [
        b.name for b, case in zip(m.scene.bodies, m.cases, strict=True) if not case.nq and b.parent.name == "world"
    ]
    d = m.dynamics()
    assert still or d.nv
    for body in still:
        np.testing.assert_array_equal(d.jacobian(d.neutral(), body), 0.0)


@pytest.mark.parametrize("name", ALL)
def test_difference_undoes_integrate(name):
    m = named(name)
    d = m.dynamics()
    q, v = m.states(8, 5)
    # less than half a turn, so that the rotation between the two configurations is the one that was made
    v = np.clip(v, -1.5, 1.5)
    there = d.integrate(q, v, 1.0)
    assert_close(d.difference(q, there), v, EXACT)
    assert_close(d.integrate(d.integrate(q, v, 0.3), v, 0.7), there, EXACT)  # a one-parameter subgroup
    assert_close(d.integrate(there, v, -1.0), q, EXACT)


@pytest.mark.parametrize("name", ["ball", "free", "telescope", "tree of 8", "tree of 40"])
def test_integrate_undoes_difference(name):
    m = named(name)
    d = m.dynamics()
    a, b = m.states(8, 6)[0], m.states(8, 7)[0]
    there = d.integrate(a, d.difference(a, b), 1.0)
    for first, end in d.model.units:  # q and -q are one rotation
        sign = np.sign(np.einsum("ni,ni->n", there[:, first:end], b[:, first:end]))
        there[:, first:end] *= sign[:, None]
    # up to half a turn apart, where the logarithm's conditioning is about 1 / (pi - angle)
    assert_close(there, b, 1e-12)


vectors = st.tuples(*[st.floats(-3, 3) for _ in range(3)]).map(np.array)


@settings(max_examples=60)
@given(omega=vectors, velocity=vectors, scale=st.sampled_from([0.0, 1e-160, 1e-12, 1e-8, 1e-4, 1e-2, 0.3, 1.0]))
def test_a_free_body_moves_by_the_exponential_of_its_twist(omega, velocity, scale):
    """The matrix exponential by scaling and squaring of its series, at every size of the angle, zero included."""
    d = named("free").dynamics()
    start = named("free").states(1, 8)[0][0]
    v = np.zeros(d.nv)
    v[1:7] = *(omega * scale), *velocity
    A = np.zeros((4, 4))
    A[:3, :3] = np.cross(np.eye(3), omega * scale)
    A[:3, 3] = velocity
    E, term = np.eye(4), np.eye(4)
    for k in range(1, 16):  # |A / 64| < 0.1: the sixteenth term is below 1e-29
        term = term @ (A / 64) / k
        E = E + term
    for _ in range(6):
        E = E @ E
    before, after = (relative(d.poses(q)) for q in (start, d.integrate(start, v, 1.0)))
    assert_close(after, before @ E, 1e-13)


def relative(X):
    """Pose of the middle body against the first, whose own hinge stands still."""
    return np.linalg.inv(X[0]) @ X[1]


def test_integrate_and_difference_take_batches_of_steps():
    d = named("ball").dynamics()
    q, v = named("ball").states(5, 9)
    dt = np.linspace(0.1, 0.5, 5)
    many = d.integrate(q, v, dt)
    for i in range(5):
        np.testing.assert_allclose(many[i], d.integrate(q[i], v[i], dt[i]), rtol=0, atol=1e-15)

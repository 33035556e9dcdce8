"""Which wrenches shall act as tau: couples, forces at points, the least ones; and what cannot be reached."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_cases import MOVING
from maximal import EXACT, at_centers, centers, somewhere, taus
from trees import SAMPLED, SAMPLED_KINDS, assert_close, mechanism, named, random_scene

import recursive_dyn as rd
from scene import Body, Scene, joints

PAIRS = ("couple", "minimum", "force")


def check(m, d, q, tau, v, choice, length=0.7):
    wrenches = d.cartesian_forces(q, tau, choice=choice, length=length, points=somewhere(d))
    scale = np.abs(wrenches).max() * (1 + np.abs(d.poses(q)).max()) + np.abs(tau).max()
    assert_close(d.generalized_forces(q, wrenches), tau, EXACT, scale)
    V = at_centers(d, m.scene, q, v)
    power = np.einsum("nbi,nbi->n", wrenches, V)
    assert_close(power, np.einsum("ni,ni->n", tau, v), EXACT, np.abs(wrenches).max() * np.abs(V).max())
    return wrenches


@pytest.mark.parametrize("choice", [*PAIRS, "tree"])
@pytest.mark.parametrize("name", SAMPLED)
def test_whatever_the_choice_wrenches_act_as_tau_and_do_its_work(name, choice):
    m = named(name)
    d, q, tau = taus(m, count=2)
    check(m, d, q, tau, m.states(2, 9)[1], choice)


@settings(max_examples=3)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 5), choice=st.sampled_from([*PAIRS, "tree"]))
def test_so_they_do_on_any_tree(seed, bodies, choice):
    kinds = tuple(k for k in MOVING if k != "euler")  # at random configurations far from singular ones
    m = random_scene(seed, bodies, kinds, couplings=True)
    d, q, tau = taus(m, count=2, seed=seed)
    check(m, d, q, tau, m.states(2, 9)[1], choice)


@pytest.mark.parametrize("choice", PAIRS)
def test_pairs_add_up_to_nothing(choice):
    """Where no motor acts between the world and what floats."""
    m = mechanism(3, 6, root="free")
    d, q, tau = taus(m, count=2)
    tau[:, :6] = 0.0
    W = check(m, d, q, tau, m.states(2, 9)[1], choice)
    moment = W[..., :3] + np.cross(centers(d, m.scene, q), W[..., 3:])
    total = np.concatenate([moment, W[..., 3:]], axis=-1)
    assert_close(total.sum(axis=1), np.zeros((2, 6)), EXACT, np.abs(total).sum())


def own_joint(m, q, point):
    """S (6, d) of the middle joint of a mechanism of three at a point of its body, in world axes, and its slots."""
    d = m.dynamics()
    slots = [k for k, label in enumerate(d.velocity_coordinates) if label.startswith("b1.")]
    return d.jacobian(q, "b1", point)[:, slots], slots


def middle_wrench(m, q, choice, **options):
    """On the middle body of three, about ``point``, when only its own joint is driven; S there."""
    d, point = m.dynamics(), options.get("points", np.zeros((3, 3)))[1]
    S, slots = own_joint(m, q, point)
    tau = np.zeros(d.nv)
    tau[slots] = np.random.default_rng(2).normal(size=len(slots))
    wrench = d.cartesian_forces(q, tau, choice=choice, **options)[1]
    X = d.poses(q)[1]
    arm = centers(d, m.scene, q)[1] - (X[:3, 3] + X[:3, :3] @ point)
    return np.concatenate([wrench[:3] + np.cross(arm, wrench[3:]), wrench[3:]]), S


def across(S):
    """A basis (6, 6 - d) of the wrenches that do nothing along S."""
    return np.linalg.svd(S)[0][:, S.shape[1] :]


@pytest.mark.parametrize("kind", [kind for kind in SAMPLED_KINDS if kind != "fixed"])
def test_the_minimum_is_the_least_by_its_length_at_its_point(kind):
    """Orthogonal to everything that could be added without acting: moments count 1 / length^2, forces 1."""
    m, length = named(kind), 0.3
    q, points = m.states(1, 3)[0][0], somewhere(m.dynamics())
    wrench, S = middle_wrench(m, q, "minimum", length=length, points=points)
    weight = np.array([length**-2] * 3 + [1.0] * 3)
    assert_close(across(S).T @ (weight * wrench), np.zeros(6 - S.shape[1]), 1e-11, np.abs(weight * wrench).max())


@pytest.mark.parametrize("kind", [kind for kind in SAMPLED_KINDS if kind != "fixed"])
def test_forces_alone_and_couples_alone_wherever_they_can_do(kind):
    m = named(kind)
    q, points = m.states(1, 3)[0][0], somewhere(m.dynamics())
    for choice, rows, others in (("force", slice(3, 6), slice(0, 3)), ("couple", slice(0, 3), slice(3, 6))):
        wrench, S = middle_wrench(m, q, choice, points=points)
        if np.linalg.matrix_rank(S[rows], tol=1e-6) == S.shape[1]:
            assert_close(wrench[others], np.zeros(3), 1e-11, np.abs(wrench).max())
            null = np.linalg.svd(S[rows])[0][:, S.shape[1] :]
            assert_close(null.T @ wrench[rows], np.zeros(null.shape[1]), 1e-11, np.abs(wrench).max())


def test_a_door_is_pushed_at_its_handle():
    scene = Scene()
    scene.world.attach(Body("door", mass=1.0, center_of_mass=(0.4, 0, 0), inertia=np.eye(3)), joints.revolute("z"))
    d = scene.compile()
    wrench = d.cartesian_forces([np.pi / 2], [1.6], choice="force", points=[[0.8, 0, 0.3]])[0]
    np.testing.assert_allclose(wrench[3:], [-2, 0, 0], atol=1e-15)
    np.testing.assert_allclose(wrench[:3], np.cross([0, 0.4, 0.3], [-2, 0, 0]), atol=1e-15)


@pytest.mark.parametrize("name", ["tree of 8", "ellipsoid_on_ellipsoid", "ball"])
def test_by_tree_they_are_the_least_of_all(name):
    m, length = named(name), 0.6
    d, q, tau = taus(m, count=1)
    W = d.cartesian_forces(q[0], tau[0], choice="tree", length=length)
    X = d.poses(q[0])
    W[:, :3] += np.cross(centers(d, m.scene, q[0]) - X[:, :3, 3], W[:, 3:])  # to the origins, where they are the least
    J = np.concatenate([d.jacobian(q[0], body) for body in d.bodies])
    weight = np.tile([length**-2] * 3 + [1.0] * 3, len(d.bodies))
    residual = np.linalg.svd(J)[0][:, d.nv :].T @ (weight * W.ravel())
    assert_close(residual, np.zeros_like(residual), 1e-11, np.abs(weight * W.ravel()).max())


def test_joints_that_each_mix_two_coordinates_act_together():
    """Neither alone can do what one of the coordinates asks for."""
    scene = Scene()
    x, y = scene.coordinate("x"), scene.coordinate("y")
    a = scene.world.attach(Body("a", mass=1.0, inertia=np.eye(3)), joints.revolute("z").driven(x + y))
    a.attach(Body("b", mass=1.0, inertia=np.eye(3)), joints.prismatic("x").driven(x - sp.sin(y) / 2))
    d = scene.compile()
    rng = np.random.default_rng(1)
    q, tau, v = rng.normal(size=(3, 4, 2))
    for wrenches in (d.cartesian_forces(q, tau), *(d.cartesian_forces(q, tau, choice=c) for c in ("minimum", "tree"))):
        assert_close(d.generalized_forces(q, wrenches), tau, EXACT * 10)
    fitted, residual = d.generalized_velocities(q, d.velocities(q, v), choice="joints")
    assert_close(fitted, v, EXACT * 10)
    assert_close(residual, 0 * residual, EXACT * 10, 1.0)


def locked():
    scene = Scene()
    arm = scene.world.attach(Body("arm", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
    arm.attach(Body("head", mass=1.0, inertia=np.eye(3)), joints.euler("zyz"), at=rd.pose((1, 0, 0)))
    return scene.compile()


@pytest.mark.parametrize("choice", ["couple", "minimum"])
def test_what_cannot_be_reached_is_named_or_left(choice):
    d = locked()
    q, tau = np.full((5, 4), 0.6), np.tile([0.5, 1.0, 2.0, 3.0], (5, 1))
    q[3, 2] = 0.0  # head's second angle
    with pytest.raises(rd.StateError, match=r"'head\.\w+', batch row \(3,\).*gimbal lock.*partial=True"):
        d.cartesian_forces(q, tau, choice=choice, length=0.5)
    wrenches = d.cartesian_forces(q, tau, choice=choice, length=0.5, partial=True)
    missing = tau - d.generalized_forces(q, wrenches)
    assert np.isfinite(wrenches).all() and np.abs(wrenches).max() < 10.0
    np.testing.assert_allclose(np.delete(missing, 3, axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(missing[3], [0, -2, 0, 0], atol=1e-13)  # the first angle turns as the last does
    tau[3] = [0.5, 3.0, 2.0, 3.0]  # which can be
    reached = d.cartesian_forces(q, tau, choice=choice, length=0.5)
    np.testing.assert_allclose(d.generalized_forces(q, reached), tau, atol=1e-13)


def test_a_force_through_a_hinges_axis_is_named():
    scene = Scene()
    scene.world.attach(Body("door", mass=1.0, inertia=np.eye(3)), joints.revolute("z"))
    d = scene.compile()
    for point in ((0, 0, 0), (0, 0, 3.0), (1e-12, 0, 0)):
        with pytest.raises(rd.StateError, match=r"by 'force'.*'door\.angle'.*on its axis"):
            d.cartesian_forces([0.3], [1.0], choice="force", points=[point])
    np.testing.assert_array_equal(d.cartesian_forces([0.3], [0.0], choice="force"), 0.0)


def test_what_is_no_choice_is_refused():
    d = named("ball").dynamics()
    q, tau = (x[0] for x in named("ball").states(1, 1))
    with pytest.raises(rd.StateError, match=r"by 'torque'; choose 'couple', 'minimum', 'force' or 'tree'"):
        d.cartesian_forces(q, tau, choice="torque")
    for length in (0.0, -1.0, np.nan, np.inf, "long", [1.0]):
        with pytest.raises(rd.StateError, match="'length' must be a positive number of metres"):
            d.cartesian_forces(q, tau, choice="minimum", length=length)
    with pytest.raises(rd.StateError, match=r"'points'.*\(\.\.\., 3, 3\)"):
        d.cartesian_forces(q, tau, points=[0, 0, 1])
    with pytest.raises(rd.StateError, match="'points' is not finite at body 'b2'"):
        d.cartesian_forces(q, tau, points=[[0, 0, 0], [0, 0, 0], [0, 0, np.nan]])


def test_points_may_differ_along_a_batch():
    d = named("revolute").dynamics()
    q, tau = named("revolute").states(4, 1)
    points = np.random.default_rng(1).uniform(0.5, 1.0, (4, 3, 3))
    many = d.cartesian_forces(q[0], tau, choice="force", points=points)
    for i in range(4):
        one = d.cartesian_forces(q[0], tau[i], choice="force", points=points[i])
        assert_close(many[i], one, 1e-13)

"""What joints transmit: Newton and Euler for every body, closed forms, the motors' share, and loops."""

import numpy as np
import pytest
import sympy as sp
from constraint_cases import bound, driven
from hypothesis import given, settings
from hypothesis import strategies as st
from maximal import DIFFERENCED, Bodies, rates_of_momenta, rotors
from trees import GRAVITY, SAMPLED, assert_close, mechanism, named, random_scene

import recursive_dyn as rd
from scene import Body, Scene, joints


def left_over(d, bodies, scene, X, wrenches):
    """On every body (n, nb, 6), at its centre of mass: gravity, the wrench by its joint, less those on its children."""
    total = wrenches.copy()
    place, names = X[..., :3, 3], list(d.bodies)
    for k, body in enumerate(scene.bodies):
        if body.parent.name in names:
            host = names.index(body.parent.name)
            total[:, host] -= wrenches[:, k]
            total[:, host, :3] -= np.cross(place[:, k] - place[:, host], wrenches[:, k, 3:])
    total[..., :3] -= np.cross(bodies.centers(X) - place, total[..., 3:])
    total[..., 3:] += bodies.mass[:, None] * np.array(scene.gravity)
    return total


def check(m, seed, count=3):
    d, bodies, rng = m.dynamics(), Bodies(m), np.random.default_rng(seed)
    q, v = m.states(count, seed)
    a, external = rng.normal(size=v.shape), rng.normal(size=(count, len(d.bodies), 6))
    X = d.poses(q)
    rates = np.concatenate(rates_of_momenta(d, bodies, q, v, a), axis=-1)
    scale = np.abs(rates).max() + np.abs(d.joint_wrenches(q, v, a)).max()
    assert_close(left_over(d, bodies, m.scene, X, d.joint_wrenches(q, v, a)), rates, DIFFERENCED, scale)
    supplied = external.copy()
    supplied[..., :3] -= np.cross(bodies.centers(X) - X[..., :3, 3], external[..., 3:])
    pushed = left_over(d, bodies, m.scene, X, d.joint_wrenches(q, v, a, external)) + supplied
    assert_close(pushed, rates, DIFFERENCED, scale + np.abs(external).max())


@pytest.mark.parametrize("name", SAMPLED)
def test_with_its_joints_wrenches_every_body_moves_as_newton_and_euler_say(name):
    check(named(name), 1)


@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 5))
def test_so_it_does_on_any_tree(seed, bodies):
    check(random_scene(seed, bodies, couplings=True), seed, count=2)


def projected(d, q, wrenches):
    """Of wrenches on the bodies by their joints, at their origins, what acts along the joints' motions (n, nv)."""
    pairs = wrenches.copy()
    place = d.poses(q)[..., :3, 3]
    for k, body in enumerate(d.model.bodies):
        if body.parent >= 0:
            pairs[:, body.parent] -= wrenches[:, k]
            pairs[:, body.parent, :3] -= np.cross(place[:, k] - place[:, body.parent], wrenches[:, k, 3:])
    return d.call("external_forces", q, pairs.reshape(len(q), -1))


@pytest.mark.parametrize("name", SAMPLED)
def test_along_the_joints_they_are_the_motors_forces_less_what_rotors_take(name):
    m = named(name)
    d, (q, v) = m.dynamics(), m.states(4, 2)
    a = np.random.default_rng(3).normal(size=v.shape)
    wrenches = d.joint_wrenches(q, v, a)
    motors = d.inverse_dynamics(q, v, a) - rotors(m) * a
    assert_close(projected(d, q, wrenches), motors, 1e-12, np.abs(wrenches).max() * (1 + np.abs(d.poses(q)).max()))


def test_a_pendulum_pulls_with_its_weight_and_its_centrifugal_force():
    scene, m, l = Scene(), 0.7, 1.3
    scene.world.attach(Body("bob", mass=m, center_of_mass=(0, 0, -l), inertia=np.zeros((3, 3))), joints.revolute("y"))
    d, theta, rate = scene.compile(), 0.4, 2.0
    a = d.forward_dynamics([theta], [rate])
    along = np.array([-np.sin(theta), 0, -np.cos(theta)])  # from the hinge to the bob
    pull = -(m * l * rate**2 + m * 9.81 * np.cos(theta)) * along
    wrench = d.joint_wrenches([theta], [rate], a)[0]
    assert_close(wrench, [0, 0, 0, *pull], 1e-14)
    held = d.joint_wrenches([theta], [0.0], [0.0])[0]
    assert_close(held, [0, m * 9.81 * l * np.sin(theta), 0, 0, 0, m * 9.81], 1e-14)


def test_a_weld_carries_what_stands_on_it():
    """Fixed in the world, and fixed to what moves: a mast on a cart that is pushed."""
    scene = Scene()
    table = scene.world.attach(Body("table", mass=5.0, center_of_mass=(0.2, 0, 0)), joints.fixed())
    table.attach(Body("vase", mass=2.0, center_of_mass=(0, 0, 0.1)), joints.fixed(), at=rd.pose((0.5, 0, 1)))
    cart = table.attach(Body("cart", mass=3.0), joints.prismatic("x"), at=rd.pose((0, 1, 1)))
    mast = cart.attach(Body("mast", mass=1.0, center_of_mass=(0, 0, 2.0)), joints.fixed())
    mast.attach(Body("flag", mass=0.5, center_of_mass=(0, 0, 0)), joints.fixed(), at=rd.pose((0, 0, 4)))
    g = 9.81
    table_, vase, cart_, mast_, flag = scene.compile().joint_wrenches([0.0], [0.0], [2.0])
    np.testing.assert_allclose(vase, [0, 0, 0, 0, 0, 2 * g], atol=1e-14)
    np.testing.assert_allclose(flag, [0, 0, 0, 1, 0, 0.5 * g], atol=1e-14)
    np.testing.assert_allclose(mast_, [0, 2 * 2.0 + 4 * 1.0, 0, 3, 0, 1.5 * g], atol=1e-14)
    np.testing.assert_allclose(cart_, [0, 8, 0, 9, 0, 4.5 * g], atol=1e-13)
    moment = sum(np.cross(*pair) for pair in (([0, 1, 1], cart_[3:]), ([0.2, 0, 0], [0, 0, 5 * g]),
                                              ([0.5, 0, 1], vase[3:])))  # fmt: skip
    np.testing.assert_allclose(table_, [*(moment + cart_[:3]), 9, 0, 11.5 * g], atol=1e-13)


def test_a_parameter_is_a_mass_of_what_is_fixed():
    scene = Scene()
    load = scene.parameter("load", 2.0)
    cart = scene.world.attach(Body("cart", mass=1.0), joints.prismatic("x"))
    cart.attach(Body("load", mass=load), joints.fixed())
    d = scene.compile()
    d.parameters["load"] = 7.0
    np.testing.assert_allclose(d.joint_wrenches([0.0], [0.0], [1.0])[:, 3:], [[8, 0, 8 * 9.81], [7, 0, 7 * 9.81]])


def test_equal_trees_in_lanes_have_the_same_wrenches():
    """Bodies fixed to moving ones bring their masses along as inputs."""
    scene = Scene(gravity=GRAVITY)
    for i in range(6):
        arm = scene.world.attach(Body(f"arm{i}", mass=1.0 + i, inertia=np.eye(3)), joints.revolute("y"))
        arm.attach(Body(f"tool{i}", mass=0.3 * (i + 1), center_of_mass=(0, 0, 0.5)), joints.fixed())
    d = scene.compile()
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 6))
    wrenches = d.joint_wrenches(q, v, a)
    for i in range(6):
        alone = Scene(gravity=GRAVITY)
        arm = alone.world.attach(Body("arm", mass=1.0 + i, inertia=np.eye(3)), joints.revolute("y"))
        arm.attach(Body("tool", mass=0.3 * (i + 1), center_of_mass=(0, 0, 0.5)), joints.fixed())
        expected = alone.compile().joint_wrenches(q[i : i + 1], v[i : i + 1], a[i : i + 1])
        assert_close(wrenches[2 * i : 2 * i + 2], expected, 1e-13)


@pytest.mark.parametrize("case", ["any joint", "driven"])
def test_with_the_constraints_wrenches_a_loops_joints_carry_no_more_than_their_motors(case):
    """S^T of what tree joints transmit beside the constraints is tau, and what acts on coordinates directly."""
    m = bound(11, 6) if case == "any joint" else driven()
    d, (q, v, tau) = m.dynamics(), m.states(4, 0)
    a = d.forward_dynamics(q, v, tau)
    on_bodies = d.constraint_wrenches(q, v, tau)
    direct = d.constraint_forces(q, v, tau) - d.call("external_forces", q, on_bodies.reshape(len(q), -1))
    wrenches = d.joint_wrenches(q, v, a, on_bodies)
    armature = np.array([c.armature for c in d.model.coordinates])
    scale = np.abs(wrenches).max() * (1 + np.abs(d.poses(q)).max())
    assert_close(projected(d, q, wrenches), tau + direct - armature * a, 1e-10, scale)


def test_a_four_bar_is_held_by_its_pin():
    """At rest, with the pin cut by the constraint: the pin's force is what balances the coupler bar's weight."""
    scene, m = Scene(), 2.0
    left = scene.world.attach(Body("left", mass=m, center_of_mass=(0, 0, 0.5)), joints.revolute("y"))
    coupler = left.attach(
        Body("coupler", mass=m, center_of_mass=(0.5, 0, 0)), joints.revolute("y"), at=rd.pose((0, 0, 1))
    )
    right = scene.world.attach(
        Body("right", mass=m, center_of_mass=(0, 0, 0.5)), joints.revolute("y"), at=rd.pose((1, 0, 0))
    )
    gap = coupler.point((1, 0, 0)) - right.point((0, 0, 1))
    scene.constrain(sp.Matrix([gap[0], gap[2]]), name="pin")
    d = scene.compile()
    q = v = np.zeros(3)
    a = d.forward_dynamics(q, v)
    np.testing.assert_allclose(a, 0.0, atol=1e-12)
    pin = d.constraint_wrenches(q, v)
    np.testing.assert_allclose(pin[:, 5], [0, m * 9.81 / 2, -m * 9.81 / 2], atol=1e-12)
    np.testing.assert_allclose(pin[:, 3], 0.0, atol=1e-12)
    by_joints = d.joint_wrenches(q, v, a, pin)
    np.testing.assert_allclose(by_joints[:, 5], np.array([1.5, 0.5, 1.5]) * m * 9.81, atol=1e-11)
    np.testing.assert_allclose(by_joints[:, 1], 0.0, atol=1e-11)


def test_external_wrenches_are_checked():
    d = named("ball").dynamics()
    q, v = (x[0] for x in named("ball").states(1, 1))
    with pytest.raises(rd.StateError, match="not finite at body 'b1'"):
        d.joint_wrenches(q, v, v, [[0] * 6, [np.nan] * 6, [0] * 6])
    with pytest.raises(rd.StateError, match=r"shape.*\(\.\.\., 3, 6\)"):
        d.joint_wrenches(q, v, v, np.zeros((2, 6)))
    with pytest.raises(rd.StateError, match="do not broadcast"):
        d.joint_wrenches(np.tile(q, (2, 1)), v, v, np.zeros((3, 3, 6)))
    assert d.joint_wrenches(q, v, v, np.zeros((5, 3, 6))).shape == (5, 3, 6)


def test_the_floating_root_of_what_flies_carries_nothing():
    """No joint force acts between the world and a free body."""
    m = mechanism(21, 4, root="free")
    d, (q, v) = m.dynamics(), m.states(3, 3)
    tau = np.random.default_rng(1).normal(size=v.shape)
    tau[:, :6] = 0.0
    wrenches = d.joint_wrenches(q, v, d.forward_dynamics(q, v, tau))
    assert_close(wrenches[:, 0], np.zeros((3, 6)), 1e-11, np.abs(wrenches).max())

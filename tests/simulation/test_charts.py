"""Motions through the singularities of the charts of a joint.

The references are joints without singularities (a hinge, a ball) and quantities that the motion keeps.
"""

import copy

import numpy as np
import pytest
import sympy as sp
from chart_cases import (
    INERTIA,
    ORDERS,
    bead,
    energy,
    euler,
    orders,
    run_counting,
    single,
    started,
    tangent_charts,
    tumbling,
    u,
    v,
)
from trees import assert_close, random_body

import recursive_dyn as rd
from scene import Body, Scene, joints


@pytest.fixture(scope="module")
def beads():
    return {frame: single(bead("z", "x", frame=frame)) for frame in ("translation", "tangent")}


def pendulum(time):
    """Where a point that starts at (1, 0, 0) with 6 m/s upwards is, by a hinge about y."""
    scene = Scene()
    scene.world.attach(Body("rod", mass=1.0, center_of_mass=(1, 0, 0), inertia=np.zeros((3, 3))), joints.revolute("y"))
    sim = started(scene.compile(), [-6.0], 1e-4)
    sim.step(round(time / 1e-4))
    return sim.dynamics.center_of_mass(sim.q)


def test_a_bead_over_the_poles_is_a_pendulum(beads):
    """A great circle through the poles of both charts; 6 m/s leaves 4 m/s at the top."""
    sim = started(beads["translation"], [0.0, 6.0], 2.5e-4)
    switches = run_counting(sim, 8000)
    assert switches >= 6
    assert_close(sim.dynamics.poses(sim.q)[0, :3, 3], pendulum(2.0), 1e-10)


@pytest.mark.parametrize("integrator", ORDERS)
def test_the_place_of_a_bead_is_of_the_integrators_order(beads, integrator):
    expected = pendulum(2.0)
    steps = [400, 800, 1600]
    errors = []
    for n in steps:
        sim = started(beads["translation"], [0.0, 6.0], 2.0 / n, integrator)
        assert run_counting(sim, n) >= 6
        errors.append(np.linalg.norm(sim.dynamics.poses(sim.q)[0, :3, 3] - expected))
    np.testing.assert_allclose(orders(errors), ORDERS[integrator], atol=0.15)


@pytest.mark.parametrize("integrator", ORDERS)
def test_a_spinning_bead_over_the_poles_keeps_its_energy_to_the_integrators_order(beads, integrator):
    """The centre of mass goes over a pole of each chart again and again, where one chart alone has no spin."""
    errors = []
    for n in (1000, 2000, 4000):
        sim = started(beads["tangent"], [0.3, 6.0, 1.0], 4.0 / n, integrator)
        start = energy(sim)
        assert run_counting(sim, n) >= 10
        errors.append(abs(energy(sim) - start))
    np.testing.assert_allclose(orders(errors), ORDERS[integrator], atol=0.2)


def test_a_body_tumbling_through_gimbal_lock_turns_as_on_a_ball():
    charted, free = (tumbling(joint, 2.5e-4) for joint in (euler("xyz", "zxz"), joints.ball()))
    start_energy, start_momentum = energy(charted), charted.dynamics.momentum(charted.q, charted.v)
    assert run_counting(charted, 16000) >= 6
    free.step(16000)
    assert_close(charted.dynamics.poses(charted.q), free.dynamics.poses(free.q), 1e-8)
    assert_close(energy(charted), start_energy, 1e-10)
    # about the pivot: the linear part is zero, as the centre of mass is there
    assert_close(charted.dynamics.momentum(charted.q, charted.v), start_momentum, 1e-9)


@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint"])
def test_gimbal_lock_is_passed_to_the_integrators_order(integrator):
    free = tumbling(joints.ball(), 1e-4)
    free.step(20000)
    poses = free.dynamics.poses(free.q)
    errors = []
    for n in (500, 1000, 2000):
        sim = tumbling(euler("xyz", "zxz"), 2.0 / n, integrator)
        start = energy(sim)
        assert run_counting(sim, n) >= 4
        errors.append((abs(energy(sim) - start), np.abs(sim.dynamics.poses(sim.q) - poses).max()))
    np.testing.assert_allclose(orders(errors), ORDERS[integrator], atol=0.2)


@pytest.mark.parametrize(
    ("joint", "velocity"), [(bead("z"), [0.3, 6.0, 1.0]), (joints.euler("xyz"), [0.01, 5.0, 0.02])]
)
def test_one_chart_alone_does_not_get_through(joint, velocity):
    sim = started(single(joint), velocity, 1e-3)
    start = energy(sim)
    try:
        sim.step(4000)
    except rd.StateError:
        return
    assert abs(energy(sim) - start) > 1e-3 * abs(start)


def test_a_chain_of_charted_joints_keeps_its_energy_and_moves_as_a_chain_of_balls():
    def chain(joint):
        scene = Scene()
        rng = np.random.default_rng(3)
        upper = scene.world.attach(random_body(rng, "upper"), joint)
        upper.attach(random_body(rng, "lower"), joint, at=rd.pose((0.2, 0.1, -0.6)))
        return scene.compile()

    sims = []
    for joint in (euler("xyz", "zxz"), joints.ball()):
        sim = started(chain(joint), np.zeros(6), 2.5e-4)
        omega = np.concatenate([sim.dynamics.jacobian(sim.q, name)[:3] for name in ("upper", "lower")])
        sim.v = np.linalg.solve(omega, [1.0, 5.0, -2.0, -3.0, 4.0, 2.0])
        sims.append(sim)
    start = energy(sims[0])
    assert run_counting(sims[0], 8000) >= 4
    sims[1].step(8000)
    assert_close(energy(sims[0]), start, 1e-8)
    assert_close(sims[0].dynamics.poses(sims[0].q), sims[1].dynamics.poses(sims[1].q), 1e-6)


@pytest.mark.parametrize(("integrator", "tolerance"), [("rk4", 1e-8), ("implicit_midpoint", 1e-4)])
def test_charts_by_normed_derivatives_carry_a_bead_through_their_poles(integrator, tolerance):
    sim = started(single(tangent_charts()), [0.3, 6.0, 1.0], 5e-4, integrator)
    start = energy(sim)
    assert run_counting(sim, 8000) >= 10
    assert_close(energy(sim), start, tolerance)


def test_a_bead_on_six_charts_each_of_half_a_sphere():
    """Heights over the coordinate planes: no chart has more than half of the sphere, and its rim is singular."""
    z = sp.sqrt(1 - u**2 - v**2)
    halves = [[u, v, z], [v, u, -z], [z, u, v], [-z, v, u], [v, z, u], [u, -z, v]]
    parts = [joints.surface(f, (u, v), frame="translation") for f in halves]
    errors = []
    for n in (2000, 4000):
        sim = started(single(joints.charts(*parts)), [6.0, 3.0], 2.0 / n)
        start = energy(sim)
        assert run_counting(sim, n) >= 6
        assert_close(np.linalg.norm(sim.dynamics.poses(sim.q)[0, :3, 3]), 1.0, 1e-14)
        errors.append(abs(energy(sim) - start))
    assert orders(errors) > 3.5 and errors[1] < 1e-6


def test_a_pendulum_whose_coordinate_is_infinite_at_the_top_goes_round():
    """The tangent of half the angle from the lowest and from the highest point: each has no number for the other."""

    def chart(start):
        c, s = (1 - u**2) / (1 + u**2), 2 * u / (1 + u**2)
        return joints.fixed(rd.pose((0, 0, 0), (start, 0, 0))) @ joints.Joint(
            sp.Matrix([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]]), u
        )

    def started_pendulum(joint, velocity):
        scene = Scene()
        scene.world.attach(Body("rod", mass=1.0, center_of_mass=(0, 0, -1), inertia=INERTIA), joint)
        return started(scene.compile(), [velocity], 5e-4)

    sim = started_pendulum(joints.charts(chart(0.0), chart(np.pi)), 3.5)
    hinge = started_pendulum(joints.revolute("x"), 7.0)
    assert run_counting(sim, 6000) >= 4
    hinge.step(6000)
    assert_close(sim.dynamics.poses(sim.q), hinge.dynamics.poses(hinge.q), 1e-9)


def test_a_body_far_from_its_joint_changes_charts():
    """Three distances and three angles, thrown: the centre flies a parabola 30 m away while the body tumbles."""
    slides = joints.prismatic("x") @ joints.prismatic("y") @ joints.prismatic("z")
    sim = started(single(slides @ euler("xyz", "zxz")), [10.0, 2.0, 6.0, 1.0, 5.0, 2.0], 1e-3)
    assert run_counting(sim, 3000) >= 3
    assert_close(sim.dynamics.poses(sim.q)[0, :3, 3], [30.0, 6.0, 18.0 - 0.5 * 9.81 * 9.0], 1e-12)


def test_charted_joints_are_composed_chart_by_chart():
    joint = euler("xyz", "zxz") @ joints.prismatic("x")
    assert [c.name for c in joint.coordinates] == ["angle", "angle_2", "angle_3", "distance"] and len(joint.charts) == 2
    assert len((euler("xyz", "zxz") @ bead("z", "x", frame="translation")).charts) == 4
    sim = started(single(joint, gravity=(0, 0, 0)), [1.0, 6.0, 0.5, 0.5], 1e-3)
    start = energy(sim)
    assert run_counting(sim, 500) >= 1
    assert_close(energy(sim), start, 1e-7)


def test_other_charts_dynamics_refuse_a_simulations_own_state():
    """The numbers are another pose to those that the simulation was made from; a copy of them is nobody's."""
    sim = started(single(euler("xyz", "zxz")), [0.0, 1.0, 0.0], 1e-3)
    sim.q = 0.3, 0.5, 0.5
    made_from = sim.dynamics.view()
    np.testing.assert_array_equal(made_from.poses(sim.q), sim.dynamics.poses(sim.q))
    sim.rechart("body", 1)
    twin = copy.copy(sim)
    for of in (sim, twin):
        for ask in (made_from.poses, made_from.potential_energy, lambda q: made_from.derivatives("gravity", q)):
            with pytest.raises(
                rd.StateError, match=r"joint of 'body' has gone on in its chart 1.*simulation\.dynamics"
            ):
                ask(of.q)
        assert np.isfinite(of.dynamics.poses(of.q)).all() and np.isfinite(made_from.poses(of.q.copy())).all()
    sim.rechart("body", 0)
    np.testing.assert_array_equal(made_from.poses(sim.q), sim.dynamics.poses(sim.q))

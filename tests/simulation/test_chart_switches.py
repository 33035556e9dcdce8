"""What a switch of charts carries over, and what a simulation does where there is no chart to switch to."""

import numpy as np
import pytest
import sympy as sp
from chart_cases import (
    INERTIA,
    bead,
    energy,
    euler,
    run_counting,
    single,
    started,
    tangent_charts,
    tumbling,
    u,
    v,
)
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints


@pytest.mark.parametrize(
    "joint",
    [bead("z", "x"), bead("z", "x", frame="translation"), euler("xyz", "zxz", "xzy")],
    ids=["bead", "point", "euler"],
)
def test_a_switch_changes_poses_velocities_and_power_by_rounding_only(joint):
    sim = rd.Simulation(single(joint))
    d, rng = sim.dynamics, np.random.default_rng(8)
    for _ in range(20):
        sim.q = rng.uniform(-1.2, 1.2, d.nq)
        sim.v, sim.tau = rng.normal(size=(2, d.nv))
        for chart in (1, 2, 0) if len(joint.charts) == 3 else (1, 0):
            poses, velocities, power = d.poses(sim.q), d.velocities(sim.q, sim.v), sim.tau @ sim.v
            sim.rechart("body", chart)
            assert sim.charts == {"body": chart} and d.parameters["body.chart"] == chart
            assert_close(d.poses(sim.q), poses, 2e-15)
            assert_close(d.velocities(sim.q, sim.v), velocities, 1e-13)
            assert_close(sim.tau @ sim.v, power, 1e-12, 10.0)


def test_a_snapshot_from_before_a_switch_continues_bit_by_bit():
    sim = tumbling(euler("xyz", "zxz"), 1e-3)
    sim.step(200)
    saved = sim.snapshot()
    run_counting(sim, 700)
    once = sim.q.copy(), sim.v.copy(), sim.charts
    sim.restore(saved)
    assert sim.charts == {"body": 0}
    sim.step(700)
    np.testing.assert_array_equal(sim.q, once[0])
    np.testing.assert_array_equal(sim.v, once[1])
    assert sim.charts == once[2]
    later = sim.snapshot()
    sim.rechart("body", 1 - sim.charts["body"])
    sim.restore(later)
    assert sim.charts == once[2] and sim.parameters["body.chart"] == once[2]["body"]


def test_two_simulations_of_one_dynamics_have_their_own_charts():
    dynamics = single(euler("xyz", "zxz"))
    alone = started(dynamics, [0.3, 5.0, 0.2], 1e-3)
    alone.step(400)
    first, second = (started(dynamics, [0.3, x, 0.2], 1e-3) for x in (5.0, 1.0))
    for _ in range(400):
        first.step()
        second.step()
    assert first.charts != second.charts
    for sim in (second, first):
        own = rd.Simulation(single(euler("xyz", "zxz")))
        own.rechart("body", sim.charts["body"])
        assert_close(sim.dynamics.poses(sim.q), own.dynamics.poses(sim.q), 1e-15)
    np.testing.assert_array_equal(first.q, alone.q)


def test_a_state_given_at_a_singularity_goes_on_in_another_chart():
    sim = rd.Simulation(single(euler("xyz", "zxz")), 1e-3, "rk4")
    sim.q = 0.3, np.pi / 2, 0.1
    pose = sim.dynamics.poses(sim.q)
    sim.v = 1.0, 2.0, 0.5
    start = energy(sim)
    sim.step()
    assert sim.charts == {"body": 1}
    assert_close(sim.dynamics.poses(sim.q), pose, 1e-2)
    assert_close(energy(sim), start, 1e-10)


def test_forces_act_the_same_way_in_every_chart():
    ends = []
    for chart in (0, 1):
        sim = rd.Simulation(single(euler("xyz", "zxz")), 1e-4, "rk4")
        sim.q, sim.v = (0.2, 0.6, 0.3), (0.5, 1.0, 0.2)
        sim.rechart("body", chart)
        for _ in range(50):
            sim.apply_force("body", (1.0, 2.0, 3.0), (0.5, 0.1, 0.2))
            sim.step()
        ends.append(sim.dynamics.poses(sim.q))
    assert_close(
        ends[1], ends[0], 1e-7
    )  # generalized forces are held for a step, in one chart's coordinates or another's


def test_a_state_that_has_no_chart_keeps_the_last_good_state_and_names_the_joint():
    """Both charts end at the equator, where the upper half of the sphere does."""
    z = sp.sqrt(1 - u**2 - v**2)
    halves = [joints.surface(f, (u, v), frame="translation") for f in ([u, v, z], [v, -u, z])]
    sim = started(single(joints.charts(*halves)), [2.0, 0.5], 1e-3)
    with pytest.raises(rd.StateError, match=r"joint of coordinate 'body\.u' has no finite frame"):
        sim.step(2000)
    state = np.array([*sim.q, *sim.v])
    assert np.isfinite(state).all() and 0.9 < np.linalg.norm(sim.q) < 1.0
    with pytest.raises(rd.StateError, match=r"joint of coordinate 'body\.u'"):
        sim.step()
    np.testing.assert_array_equal([*sim.q, *sim.v], state)


def test_a_state_exactly_at_a_pole_without_a_frame_is_named():
    by_latitude, by_angle = tangent_charts().charts
    sim = rd.Simulation(single(joints.charts(by_angle, by_latitude)))
    with pytest.raises(rd.StateError, match="joint of 'body' is singular in its chart 0 at this state"):
        sim.step()
    sim.q = 0.5, 0.2, 0.1
    sim.step()


def test_a_constrained_body_on_charts_moves_as_on_a_ball():
    """Its x axis is kept level; about the vertical and about that axis it turns through every chart."""
    sims = []
    for joint in (euler("xyz", "zxz"), joints.ball()):
        scene = Scene()
        body = Body("body", mass=1.0, center_of_mass=(0.1, 0.2, -0.3), inertia=INERTIA)
        scene.world.attach(body, joint)
        scene.constrain(body.direction((1, 0, 0))[2], name="level")
        sim = started(scene.compile(), np.zeros(3), 5e-4)
        sim.v = np.linalg.solve(sim.dynamics.jacobian(sim.q, "body")[:3], [4.0, 0.0, 3.0])
        sims.append(sim)
    assert run_counting(sims[0], 4000) >= 2
    sims[1].step(4000)
    assert_close(sims[0].dynamics.poses(sims[0].q), sims[1].dynamics.poses(sims[1].q), 1e-8)

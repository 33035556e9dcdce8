"""Motors of joints of several charts: a pose is led to, whatever chart the state is in."""

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from chart_cases import INERTIA, bead, euler, single
from trees import assert_close

import recursive_dyn as rd
from recursive_dyn.simulation.joint_laws.charted_motors import MOST, shaft_ways
from scene import Body, Scene, joints

u, v = sp.symbols("u v", real=True)
TARGET = (0.2, 0.4, -0.3)


def flat_charts():
    """A plate that slides on a plane, by its place along two axes, or along two others at 40 and 115 degrees."""
    transforms = [sp.eye(4), sp.eye(4)]
    transforms[0][0, 3], transforms[0][1, 3] = u, v
    a, b = np.radians(40.0), np.radians(115.0)
    transforms[1][0, 3] = u * float(np.cos(a)) + v * float(np.cos(b))
    transforms[1][1, 3] = u * float(np.sin(a)) + v * float(np.sin(b))
    return joints.charts(*(joints.Joint(T, (u, v)) for T in transforms))


def hung(joint, h=1 / 240, integrator=None, gravity=(1.0, -2.0, -9.81)):
    scene = Scene(gravity=gravity)
    scene.world.attach(Body("body", mass=1.5, center_of_mass=(0.1, 0.05, -0.2), inertia=INERTIA), joint)
    sim = rd.Simulation(scene.compile(), h, integrator)
    sim.contact.tolerance = 1e-13
    return sim


def pose(sim):
    return sim.dynamics.poses(sim.q)[0].copy()


def shafts(sim):
    """Ways left of the motors' shafts."""
    sim.motors.write()
    a, ways = sim.motors.arrays, np.zeros(sim.dynamics.nv)
    shaft_ways(a.targets, int(a.size[3]), sim.dynamics.call("chart_motion", sim.q), ways, np.zeros((len(ways), MOST)))
    return ways


# What it means


@pytest.mark.parametrize("joint", [euler("xyz", "zxz"), bead("z", "x")], ids=["euler", "bead"])
def test_near_its_target_a_shaft_is_a_coordinate_of_the_motors_chart(joint):
    """What is left of it to second order, and its rate at the target, whatever chart is in force."""
    sim, step = hung(joint), np.array([0.3, -0.2, 0.5])
    sim.motors["body"] = rd.Motor(position=TARGET, kp=1.0)
    missed = []
    for eps in (1e-2, 1e-3):
        for chart in (0, 1):
            sim.rechart("body", 0)
            sim.q = TARGET + eps * step
            sim.rechart("body", chart)
            missed.append(np.abs(shafts(sim) + eps * step).max())
    assert max(missed[:2]) < 1e-3 and max(missed[2:]) < 1e-5
    sim.rechart("body", 0)
    sim.q = TARGET
    found = sim.motors.pushes(sim.q)
    np.testing.assert_allclose([found[f"{x}"] for x in sim.dynamics.velocity_coordinates], np.eye(3), atol=1e-14)


@pytest.mark.parametrize("joint", [euler("xyz", "zxz"), bead("z", "x")], ids=["euler", "bead"])
def test_the_rate_of_a_shaft_is_that_of_what_is_left_of_it(joint):
    """So that its force does the work of its energy: by differences, far from the target and in both charts."""
    sim, rng = hung(joint), np.random.default_rng(4)
    sim.motors["body"] = rd.Motor(position=TARGET, kp=1.0)
    for _ in range(5):
        sim.q = np.array(TARGET) + rng.uniform(-0.9, 0.9, 3)
        for chart in (0, 1):
            sim.rechart("body", chart)
            q, found = sim.q.copy(), np.array(list(sim.motors.pushes(sim.q).values()))
            for j, way in enumerate(1e-6 * np.eye(3)):
                sim.q = q + way
                ahead = shafts(sim)
                sim.q = q - way
                assert_close((shafts(sim) - ahead) / 2e-6, found[:, j], 1e-7)
            sim.q = q


def test_a_held_pose_stays_in_every_chart():
    sim = hung(euler("xyz", "zxz", "yzx"), 1 / 60, gravity=(0, 0, 0))
    sim.motors["body"] = rd.Motor(position=TARGET)
    sim.q = TARGET
    held = pose(sim)
    for chart in (1, 2, 0):
        sim.rechart("body", chart)
        sim.step(60)
        assert_close(pose(sim), held, 1e-14)


@pytest.mark.parametrize("h, close", [(1 / 1000, 1e-7), (1 / 60, 5e-5)])
def test_a_held_pose_sags_alike_in_every_chart(h, close):
    """Under a weight it comes to rest at one pose, to second order in the step: along which coordinates it flies."""
    sim = hung(euler("xyz", "zxz", "yzx"), h)
    sim.motors["body"] = rd.Motor(position=TARGET, kp=200.0, kd=20.0)
    sim.q = TARGET
    sim.step(round(4 / h))
    rest, forces = pose(sim), {name: told.force for name, told in sim.motor_forces.items()}
    assert 0.005 < np.abs(rest - pose_at(sim, TARGET)).max() < 0.1
    for chart in (1, 2, 0):
        sim.rechart("body", chart)
        sim.step(round(0.5 / h))
        assert_close(pose(sim), rest, close)
        for name, told in sim.motor_forces.items():
            assert told.force == pytest.approx(forces[name], abs=2e3 * close)
    assert sim.motors["body"].position == TARGET and sim.motors["body"].chart == 0


def pose_at(sim, q):
    before = dict(sim.charts)
    sim.rechart("body", 0)
    found = sim.dynamics.poses(np.array(q))[0].copy()
    sim.rechart("body", before["body"])
    return found


@pytest.mark.parametrize("most", [None, 3.0], ids=["free", "bounded"])
def test_between_charts_that_are_linear_in_each_other_all_motion_is_the_same(most):
    """Springs, dampers, speeds and bounds are those of the motor's chart, in which it was given."""
    ends = []
    for charts in ([0] * 6, [0, 1, 0, 1, 1, 0]):
        sim = hung(flat_charts(), 1 / 100, gravity=(1.0, -2.0, 0.0))
        sim.motors["body"] = rd.Motor(
            position=(0.5, -0.3), velocity=(0.1, 0.0), kp=(40.0, 90.0), kd=(1.0, 2.0), max_force=most
        )
        for chart in charts:
            sim.rechart("body", chart)
            sim.step(20)
        sim.rechart("body", 0)
        ends.append(np.concatenate([sim.q, sim.v]))
    assert_close(ends[1], ends[0], 1e-10)
    plain = hung(flat_charts().charts[0], 1 / 100, gravity=(1.0, -2.0, 0.0))
    for k, name in enumerate(plain.dynamics.velocity_coordinates):
        plain.motors[name] = rd.Motor(
            position=(0.5, -0.3)[k], velocity=(0.1, 0.0)[k], kp=(40.0, 90.0)[k], kd=(1.0, 2.0)[k], max_force=most
        )
    plain.step(120)
    assert_close(ends[0], np.concatenate([plain.q, plain.v]), 1e-8)


def test_three_angles_are_held_as_a_ball_is():
    """Charts change on the way; kp (log) is a ball's spring, the same about every axis. To first order in the step."""
    missed = []
    for h in (1 / 500, 1 / 1000):
        sims = [hung(joint, h, "rk4", gravity=(0, 0, 0)) for joint in (euler("xyz", "zxz"), joints.ball())]
        sims[0].motors["body"] = rd.Motor(position=(0, 0, 0), kp=8.0, kd=0.0)
        sims[1].motors["body"] = rd.Motor(position=(0, 0, 0, 1), kp=8.0, kd=0.0)
        sims[0].v = np.linalg.solve(sims[0].dynamics.jacobian(sims[0].q, "body")[:3], [0.4, 9.0, 0.3])
        sims[1].v = np.linalg.solve(sims[1].dynamics.jacobian(sims[1].q, "body")[:3], [0.4, 9.0, 0.3])
        far, charts = 0.0, set()
        for _ in range(round(0.6 / h)):
            for sim in sims:
                sim.step()
            charts |= set(sims[0].charts.values())
            far = max(far, np.abs(pose(sims[0]) - pose(sims[1])).max())
        assert charts == {0, 1}
        missed.append(far)
    assert missed[1] < 0.6 * missed[0] < 0.05


# What it may not change


def test_power_is_that_of_the_springs_energy():
    """Without dampers E + sum of kp s^2 / 2 stays, through switches, as the step goes to 0."""
    lost = []
    for h in (1 / 1000, 1 / 2000, 1 / 4000):
        sim = hung(euler("xyz", "zxz"), h, "rk4", gravity=(0, 0, -9.81))
        kp = np.array([30.0, 20.0, 45.0])
        sim.motors["body"] = rd.Motor(position=TARGET, kp=kp, kd=0.0)
        sim.v = np.linalg.solve(sim.dynamics.jacobian(sim.q, "body")[:3], [0.4, 9.0, 0.3])
        d, charts, energies = sim.dynamics, set(), []
        for _ in range(round(0.4 / h)):
            energies.append(d.kinetic_energy(sim.q, sim.v) + d.potential_energy(sim.q) + 0.5 * kp @ shafts(sim) ** 2)
            sim.step()
            charts.add(sim.charts["body"])
        assert charts == {0, 1}
        lost.append(np.ptp(energies))
    assert lost[0] < 1.5
    for coarse, fine in pairwise(lost):
        assert fine == pytest.approx(coarse / 2, rel=0.2)


def test_momentum_of_what_floats_stays():
    scene = Scene(gravity=(0, 0, 0))
    base = scene.world.attach(Body("base", mass=2.0, inertia=INERTIA), joints.free())
    base.attach(Body("arm", mass=1.0, center_of_mass=(0.3, 0, 0), inertia=INERTIA), euler("xyz", "zxz"),
                at=rd.pose((0.2, 0.1, 0)))  # fmt: skip
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.motors["arm"] = rd.Motor(position=(1.0, 1.5, 0.3), kp=20.0, kd=1.0)
    sim.v = np.linspace(-0.5, 0.7, sim.dynamics.nv)
    before, charts = sim.dynamics.momentum(sim.q, sim.v), set()
    for _ in range(240):
        sim.step()
        charts.add(sim.charts["arm"])
    assert_close(sim.dynamics.momentum(sim.q, sim.v), before, 2e-5)  # as of balls, of second order in the step
    assert charts == {0, 1}


def test_snapshots_from_before_a_switch_go_on_bit_by_bit():
    sim = hung(euler("xyz", "zxz"))
    sim.motors["body"] = rd.Motor(position=(0.5, 1.5, 0.2), frequency=2.0)
    sim.step(10)
    kept = sim.snapshot_bytes(), sim.snapshot()
    assert sim.charts == {"body": 0}
    sim.step(60)
    assert sim.charts == {"body": 1}
    end = np.concatenate([sim.q, sim.v])
    for before in kept:
        sim.restore(before)
        assert sim.charts == {"body": 0}
        sim.step(60)
        np.testing.assert_array_equal(np.concatenate([sim.q, sim.v]), end)


def test_a_motor_comes_to_a_pose_that_its_first_chart_does_not_have():
    """Over the pole of chart 0, in the time that gains by inertia say: critically damped at 2 Hz."""
    sim = hung(bead("z", "x"), 1 / 240, gravity=(0, 0, 0))
    sim.q = (0.0, 1.2, 0.0)
    sim.rechart("body", 1)
    sim.motors["body"] = rd.Motor(position=sim.q - np.array([0.4, 0.6, 0.0]), frequency=2.0)
    assert sim.motors["body"].chart == 1
    goal = sim.motors["body"].position
    sim.step(480)
    sim.rechart("body", 1)
    assert_close(sim.q, goal, 1e-5)


# Beside all else


def test_what_the_motor_takes_is_what_the_joint_carries():
    """A force sensor on the held body, and linear models, know of it."""
    sim = hung(euler("xyz", "zxz"), gravity=(0, 0, -9.81))
    sim.motors["body"] = rd.Motor(position=TARGET, kp=500.0, kd=40.0)
    sim.q = TARGET
    sim.step(960)
    sim.sensors.force("root", "body")
    R, weight = pose(sim)[:3, :3], np.array([0, 0, -1.5 * 9.81])
    arm = np.array([0.1, 0.05, -0.2])
    expected = np.concatenate([-np.cross(arm, R.T @ weight), -R.T @ weight])
    assert_close(sim.sensors["root"], expected, 2e-5)
    A, B = sim.linearize(inputs="motors")
    assert A.shape == (6, 6) and B.shape == (6, 3)
    start, eps, ends = sim.snapshot(), 1e-5, []
    for sign in (1, -1):
        sim.restore(start)
        sim.motors["body"] = rd.Motor(
            position=(TARGET[0], TARGET[1] + sign * eps, TARGET[2]), chart=0, kp=500.0, kd=40.0
        )
        sim.step()
        ends.append(np.concatenate([sim.q, sim.v]))
    assert_close((ends[0] - ends[1]) / (2 * eps), B[:, 1], 0.05 * np.abs(B[:, 1]).max())


def test_motors_stay_through_edits_and_follow_parameters():
    scene = Scene()
    size = scene.parameter("size", 1.0)
    parts = [joints.surface(joints.surfaces.sphere(size, poles=p), frame="translation") for p in ("z", "x")]
    scene.world.attach(Body("bead", mass=1.0), joints.charts(*parts))
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.q = 0.5, 0.3
    sim.motors["bead"] = rd.Motor(position=(0.5, 0.3), frequency=5.0)
    sim.parameters["size"] = 2.0
    sim.step(480)
    assert np.linalg.norm(sim.dynamics.poses(sim.q)[0, :3, 3]) == pytest.approx(2.0)
    assert 0 < np.abs(sim.q - (0.5, 0.3)).max() < 0.02
    scene.world.attach(Body("other", mass=1.0), joints.prismatic("x"), at=rd.pose((0, 5, 0)))
    sim.update(scene.compile())
    assert sim.motors["bead"].chart == 0
    before = sim.q[:2].copy()
    sim.step(48)
    assert_close(sim.q[:2], before, 1e-4)


@pytest.mark.parametrize(
    "name, motor, told",
    [
        ("body.angle", rd.Motor(position=0.1), r"lead the joint as a whole, motors\['body'\]"),
        ("body", rd.Motor(velocity=1.0), "position is its 3 coordinates in one of them"),
        ("body", rd.Motor(position=(1.0, 2.0)), "position is its 3 coordinates"),
        ("body", rd.Motor(position=TARGET, chart=2), "the charts 0 to 1, not 2"),
        ("body", rd.Motor(position=(0, np.pi / 2, 0)), "chart 0 of the joint is singular at that position"),
        ("body", rd.Motor(position=TARGET, kp=(1.0, 2.0)), "kp of motors"),
    ],
)
def test_what_a_motor_of_several_charts_cannot_be_is_said(name, motor, told):
    sim = rd.Simulation(single(euler("xyz", "zxz")))
    with pytest.raises(rd.StateError, match=told):
        sim.motors[name] = motor
    sim.step()


def test_a_chart_is_of_joints_that_have_several():
    sim = hung(joints.revolute("y"))
    with pytest.raises(rd.StateError, match="its joint but one"):
        sim.motors["body.angle"] = rd.Motor(position=0.0, chart=0)
    with pytest.raises(rd.StateError, match="the number of a chart"):
        rd.Motor(position=0.0, chart=0.5)

"""Springs and dampers of a stable PD are inertia at the stages of the default rule: laws of such steps."""

from functools import cache

import numpy as np
import pytest
from trees import assert_close

import recursive_dyn as rd
from bridge import PyBulletMirror
from recursive_dyn import control
from scene import Body, Scene, joints, shapes

LINK = {"mass": 2.0, "center_of_mass": (0, 0, 0.25), "inertia": np.diag([0.05, 0.05, 0.01])}


def arms(joint, count, number=1):
    """A scene with so many arms, each of so many links."""
    scene = Scene()
    for n in range(number):
        node = scene.world
        for k in range(count):
            body = Body(f"link {n}.{k}", **LINK)
            node = node.attach(body, joint(), at=rd.pose((n, 0, 0) if k == 0 else (0, 0, 0.5)))
    return scene


@cache
def compiled(kind, count, number=1):
    return arms(joints.ball if kind == "balls" else lambda: joints.revolute("y"), count, number).compile()


def started(d, h, kp, kd, seed=0, **given):
    """Off its target, moving."""
    rng, sim = np.random.default_rng(seed), rd.Simulation(d, h)
    goal = d.integrate(d.neutral(), rng.uniform(-0.5, 0.5, d.nv), 1.0)
    sim.q, sim.v = d.integrate(goal, rng.uniform(-0.4, 0.4, d.nv), 1.0), rng.normal(size=d.nv)
    sim.control = control.StablePD(d, goal, timestep=h, kp=kp, kd=kd, **given)
    return sim, goal


def classical(d, q, v, h, load, pull):
    """A step of (M + load) a = pull - bias by the classical Runge-Kutta method."""
    k, rates = np.zeros((4, d.nv)), np.zeros((4, d.nq))
    for i, reach in enumerate((0.0, 0.5, 0.5, 1.0)):
        Q, V = q + h * reach * rates[i - 1], v + h * reach * k[i - 1]
        k[i] = np.linalg.solve(d.mass_matrix(Q) + np.diag(load), pull - d.bias(Q, V))
        rates[i] = d.call("rates", Q, V, np.zeros(d.nv))[: d.nq]
    weights = h / 6 * np.array([1.0, 2.0, 2.0, 1.0])
    q, v = q + weights @ rates, v + weights @ k
    for first, end in d.model.units:
        q[first:end] /= np.linalg.norm(q[first:end])
    return q, v


@pytest.mark.parametrize("h, kp, kd", [(1 / 240, 50.0, 3.0), (1 / 30, 1e6, 1e3)])
@pytest.mark.parametrize("kind, number", [("hinges", 1), ("balls", 1), ("hinges", 12)])
def test_a_step_is_one_of_a_tree_with_more_inertia_under_a_constant_force(kind, number, h, kp, kd):
    d = compiled(kind, 2, number)
    sim, goal = started(d, h, kp, kd)
    for _ in range(5):
        pull = kp * (d.difference(sim.q, goal) - h * sim.v) - kd * sim.v
        q, v = classical(d, sim.q, sim.v, h, np.full(d.nv, h * kd + h * h * kp), pull)
        sim.step()
        assert_close(sim.q, q, 1e-12)
        assert_close(sim.v, v, 1e-11)
    assert sim.report.steps_halved == 0


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("kp", [1e5, 1e6, 1e7, 1e10])
def test_chains_of_balls_come_to_rest_at_any_gain_in_long_steps(kp, damped):
    """Five of them at 1/30 s, with springs alone too."""
    d, h = compiled("balls", 5), 1 / 30
    for seed in range(2):
        sim, goal = started(d, h, kp, kp * h if damped else 0.0, seed)
        for _ in range(120):
            sim.step()
            assert np.abs(d.difference(sim.q, goal)).max() < 0.5
        assert np.abs(sim.v).max() < 1e-6
        assert np.abs(d.difference(sim.q, goal)).max() < 1e3 / kp  # what gravity bends it


def test_it_is_of_first_order_in_what_springs_do():
    d, ends = compiled("balls", 2), []
    for n in (60, 120, 240, 3840):
        sim, _ = started(d, 0.5 / n, 30.0, 3.0)
        sim.step(n)
        ends.append(np.concatenate([sim.q, sim.v]))
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert 0.8 < np.log2(errors[1] / errors[2]) < 1.3


def test_all_else_keeps_the_order_of_the_rule():
    """A tree that nothing drives takes the steps that it takes alone, whatever drives another one."""
    scene = arms(joints.ball, 2)
    thrown = Body("thrown", mass=1.0, inertia=np.diag([0.1, 0.2, 0.25]))
    scene.world.attach(thrown, joints.free(), at=rd.pose((5, 0, 0)))
    both, h = scene.compile(), 1 / 60
    alone, thrown = Scene(), Body("thrown", mass=1.0, inertia=np.diag([0.1, 0.2, 0.25]))
    alone.world.attach(thrown, joints.free(), at=rd.pose((5, 0, 0)))
    one, two = rd.Simulation(alone.compile(), h), rd.Simulation(both, h)
    one.v = two.v[-6:] = (3.0, -2.0, 4.0, 1.0, 0.0, 5.0)
    two.control = control.StablePD(both, timestep=h, kp=1e6, kd=1e3)
    one.step(120)
    two.step(120)
    assert_close(two.q[-7:], one.q, 1e-12)
    assert_close(two.v[-6:], one.v, 1e-12)


def test_forces_at_their_limits_are_those():
    """A slider that is to go far away takes F h / m a step."""
    scene, h = Scene(gravity=(0, 0, 0)), 1 / 60
    scene.world.attach(Body("slider", mass=2.0, inertia=np.eye(3)), joints.prismatic("x"))
    d = scene.compile()
    sim = rd.Simulation(d, h)
    sim.control = law = control.StablePD(d, [9.0], timestep=h, kp=1e6, kd=1e3, limits=3.0)
    sim.step(10)
    assert law.saturated and sim.v[0] == pytest.approx(10 * h * 3.0 / 2.0, rel=1e-12)
    assert sim.q[0] == pytest.approx(0.5 * 1.5 * (10 * h) ** 2, rel=1e-12)


def test_forces_on_bodies_and_sums_of_laws_act_beside_it():
    """With gravity compensated a weak one stays at its target, and a push bends it by what its springs give."""
    d, h = compiled("hinges", 1), 1 / 60
    sim = rd.Simulation(d, h)
    sim.control = control.GravityCompensation(d) + control.StablePD(d, [0.3], timestep=h, kp=50.0, kd=20.0)
    sim.q = [0.3]
    sim.step(60)
    assert_close(sim.q, [0.3], 1e-9)
    for _ in range(400):
        sim.apply_torque("link 0.0", (0, 2.0, 0))
        sim.step()
    assert sim.q[0] == pytest.approx(0.3 + 2.0 / 50.0, abs=1e-6)


@pytest.mark.parametrize("integrator", ["linearly_implicit_rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("h", [1 / 30, 1 / 60, 1 / 240])
def test_a_robot_stands_as_motors_of_the_same_gains_hold_it(h, integrator):
    """Four legs of two joints under 10 kg. (The law, that knows no ground, foresees it falling, and let it sink by
    1 cm at 1/240 s, and to the ground at 1/60 s.)"""
    heights, kp, kd = [], 300.0, 10.0
    for driven in ("motors", "law"):
        scene = Scene()
        scene.world.shapes.append(shapes.Plane(material=rd.Material(friction=0.9)))
        trunk = Body("trunk", [shapes.Box((0.5, 0.3, 0.15))], mass=10.0)
        scene.world.attach(trunk, joints.free(), at=rd.pose((0, 0, 0.6)))
        for k, place in enumerate([(0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15)]):
            rod = [shapes.Capsule(0.03, 0.2, at=rd.pose((0, 0, -0.15)))]
            thigh = trunk.attach(Body(f"thigh {k}", rod, mass=0.6), joints.revolute("y"), at=rd.pose((*place, 0)))
            thigh.attach(Body(f"shank {k}", rod, mass=0.4), joints.revolute("y"), at=rd.pose((0, 0, -0.3)))
        sim = rd.Simulation(scene.compile(), h, integrator)
        goal = np.concatenate((sim.q[:7], np.tile([0.3, -0.6], 4)))
        sim.q = goal
        if driven == "motors":
            for name, angle in zip(sim.dynamics.coordinates[7:], goal[7:], strict=True):
                sim.motors[name] = rd.Motor(position=angle, kp=kp, kd=kd)
        else:
            sim.control = control.StablePD(
                sim.dynamics, goal, timestep=h, kp=kp, kd=kd, actuated=sim.dynamics.velocity_coordinates[6:]
            )
        sim.sensors.imu("head", "trunk")
        with PyBulletMirror(scene, sim, gui=False, ground=False):
            sim.step(round(2 / h))
            assert sim.contacts.impulse[:, 2].sum() / h == pytest.approx(14 * 9.81, rel=1e-4)
            assert sim.sensors["head"][5] == pytest.approx(9.81, abs=2e-2)
        heights.append(sim.q[2])
        assert np.abs(sim.v).max() < 1e-3
    assert heights[1] == pytest.approx(heights[0], abs=1e-4)

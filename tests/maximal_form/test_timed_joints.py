"""Joints that time moves between free bodies: C(p, t) = 0 and its rates, beside the same scene in joint coordinates."""

import numpy as np
import pytest
import sympy as sp
from formulations import EACH, WAYS, runs_beside
from test_joint_step import compared
from timed_scenes import pose, shaking_table
from trees import assert_close

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints

ANGLE = sp.Symbol("angle", real=True)


def body(name: str, k: int = 0) -> Body:
    return Body(name, mass=0.7 + 0.2 * k, center_of_mass=(0.1, -0.05 * k, 0.2), inertia=np.diag([0.05, 0.06, 0.04]))


def machine() -> Scene:
    """Time as a whole motion, in a joint of a coordinate, and as what drives one; what hangs there is free to move."""
    scene, t = Scene(), None
    R, t = scene.parameter("R", 0.3), scene.time
    table = scene.world.attach(body("table"), joints.Joint(pose(R * sp.sin(t), t**2 / 5, 0.1 * t, sp.sin(t)), ()))
    hinge = joints.revolute("y", damping=0.1, limits=(-0.2, 0.3), friction=0.01)
    arm = table.attach(body("arm", 1), hinge, at=rd.pose((0.2, 0, 0.5)))
    vane = joints.Joint(pose(sp.cos(t) / 3, 0.2, ANGLE / 4, ANGLE + t), ANGLE, limits=[(-0.1, 0.2)], armature=0.02)
    arm.attach(body("vane", 2), vane, at=rd.pose((0, 0, -0.4)))
    cam = scene.world.attach(body("cam", 1), joints.prismatic("x").driven(R * sp.sin(2 * t)), at=rd.pose((0, 1, 0)))
    cam.attach(body("bob", 2), joints.ball(), at=rd.pose((0, 0, -0.3)))
    scene.world.attach(body("still"), joints.revolute("x", stiffness=2.0), at=rd.pose((0, -1, 0)))
    scene.potential((1 + t / 2) * arm.q[0] ** 2)
    return scene


def states(d: rd.Dynamics, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q, v = np.array([d.random(rng) for _ in range(count)]), rng.normal(size=(count, d.nv))
    q[:, -1], v[:, -1] = rng.uniform(-1, 1, count), 1.0
    return q, v


def test_bodies_of_joints_that_time_moves_accelerate_as_in_joint_coordinates() -> None:
    scene = machine()
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    reduced.parameters["R"] = d.parameters["R"] = 0.35
    q, v = states(reduced, 3)
    Q, V = d.from_reduced(q, v)
    assert_close(d.velocities(Q, V), reduced.velocities(q, v), 1e-12)
    one = d.joint_errors(Q[0], V[0], near=q[0])  # in machine code, as below for many states
    for found in (*d.joint_errors(Q, V), *one):
        assert np.abs(found).max() < 1e-12
    for near in (q, None):
        back, rates = d.to_reduced(Q, V, near)
        assert_close(reduced.poses(back), reduced.poses(q), 1e-10)
        assert_close(reduced.velocities(back, rates), reduced.velocities(q, v), 1e-9)
    tau = np.random.default_rng(2).normal(size=v.shape)
    a = reduced.forward_dynamics(q, v, tau)
    A = d.forward_dynamics(Q, V, d.forces_from_reduced(Q, tau, near=q))
    assert_close(d.accelerations(Q, V, A), reduced.accelerations(q, v, a), 1e-10)


@EACH
def test_bodies_of_joints_that_time_moves_move_as_in_joint_coordinates(method: str, integrator: str) -> None:
    """To the first order of the timestep; and what time's motion takes, from a start in which bodies move along."""
    exact, sims, off = runs_beside(machine(), method, integrator)
    power = exact.prescribed["time"].force
    missed = [abs(sim.prescribed["time"].force - power) for sim in sims]
    assert off[1] < 0.7 * off[0] < 0.01
    assert missed[1] < max(0.7 * missed[0], 0.01 * abs(power))


@pytest.mark.parametrize(
    "method, integrator", [WAYS[0], *(pytest.param(*way, marks=pytest.mark.slow) for way in WAYS[1:])]
)
def test_steps_of_joints_that_time_moves_are_those_of_the_definition(method: str, integrator: str) -> None:
    compared(machine(), method, integrator, 1e-6)


def turntable(**settings) -> rd.Simulation:
    """A body that turns about z by its coordinate beside 2 rad/s."""
    scene = Scene(gravity=(0, 0, 0))
    joint = joints.Joint(pose(turn=ANGLE + 2 * scene.time), ANGLE, **settings)
    scene.world.attach(Body("disc", mass=1.0, inertia=np.diag([0.1, 0.1, 0.2])), joint)
    return rd.Simulation(scene.compile("velocity_constraints"), 1 / 240)


def test_friction_limits_and_motors_act_on_the_coordinate_beside_time() -> None:
    """Against what time turns, and not against the world."""
    rubbing = turntable(friction=[3.0])
    rubbing.step(60)
    assert_close(rubbing.dynamics.to_reduced(rubbing.q, rubbing.v)[1], [0.0, 1.0], 1e-9)
    assert_close(rubbing.dynamics.velocities(rubbing.q, rubbing.v)[0, 2], 2.0, 1e-9)
    led = turntable()
    led.motors["disc.angle"] = rd.Motor(velocity=0.5)
    led.step(120)
    assert_close(led.dynamics.to_reduced(led.q, led.v)[1][0], 0.5, 1e-5)
    assert_close(led.dynamics.velocities(led.q, led.v)[0, 2], 2.5, 1e-5)
    stopped = turntable(limits=[(-1.0, 0.1)])
    stopped.v = stopped.dynamics.from_reduced([0.0, 0.0], [3.0, 1.0])[1]
    stopped.step(60)
    q, v = stopped.dynamics.to_reduced(stopped.q, stopped.v)
    assert abs(q[0] - 0.1) < 1e-6 and abs(v[0]) < 1e-9
    assert_close(stopped.dynamics.velocities(stopped.q, stopped.v)[0, 2], 2.0, 1e-9)


@pytest.mark.parametrize("ratio", [0.95, 1.6])
def test_a_shaking_table_carries_boxes_up_to_mu_g(ratio: float) -> None:
    """a = mu g is the threshold; beyond it a box gains mu g t."""
    mu, t_end = 0.5, 0.25
    a = ratio * mu * 9.81
    scene = shaking_table(a, mu)
    sim = rd.Simulation(scene.compile("velocity_constraints"), 1 / 240)
    scene.pair("table", scene.world, collide=False)
    with PyBulletMirror(scene, sim, gui=False) as shown:
        shown.sim.step(round(240 * t_end))
    table, box = sim.dynamics.velocities(sim.q, sim.v)[:, 3]
    assert abs(table - a * (t_end - 0.5 / 240)) < 1e-8  # as half a step before
    assert abs(box - min(a, mu * 9.81) * t_end) < 0.6 * a / 240


def test_what_hangs_on_what_time_moves_begins_as_it_moves() -> None:
    """A simulation, and a body that an edit hangs there."""
    scene = Scene(gravity=(0, 0, 0))
    table = scene.world.attach(body("table"), joints.Joint(pose(scene.time, 0, 0, 3 * scene.time), ()))
    sim = rd.Simulation(scene.compile("velocity_constraints"), 1 / 240)
    assert_close(sim.v, [0, 0, 3, 1, 0, 0, 1], 1e-14)
    sim.step(24)
    table.attach(body("wheel"), joints.Joint(pose(turn=ANGLE - scene.time), ANGLE), at=rd.pose((0.5, 0, 0)))
    sim.update(scene.compile("velocity_constraints"))
    missed, rates = sim.dynamics.joint_errors(sim.q, sim.v)
    assert np.abs(missed).max() < 1e-6 and np.abs(rates).max() < 1 / 240  # of what turns, half a step behind
    assert_close(sim.dynamics.to_reduced(sim.q, sim.v)[1], [0.0, 1.0], 1e-9)


def test_one_of_many_is_hung_anew_where_it_is() -> None:
    """Its coordinate is found from its own begin, not from all joints' of its kind."""
    scene = Scene(gravity=(0, 0, 0))

    def vane() -> joints.Joint:
        return joints.Joint(pose(sp.cos(scene.time) / 3, 0.2, ANGLE / 4, ANGLE + scene.time), ANGLE)

    for k in range(3):
        scene.world.attach(body(f"vane {k}"), vane() if k < 2 else joints.free(), at=rd.pose((0, k, 0)))
    simulation = rd.Simulation(scene.compile("velocity_constraints"), 1 / 240)
    simulation.step(24)
    before = simulation.dynamics.poses(simulation.q)
    assert len(before) == 3
    scene.swap("vane 1", vane(), at=rd.pose((0, 1, 0)))
    simulation.update(scene.compile("velocity_constraints"))
    assert_close(simulation.dynamics.poses(simulation.q), before, 1e-9)

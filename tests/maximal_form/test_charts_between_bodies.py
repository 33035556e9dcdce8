"""Joints of several charts between free bodies: rows follow them through poles of any one chart."""

import copy

import numpy as np
import pytest
import sympy as sp
from chart_cases import INERTIA, bead, euler, mechanism
from formulations import rod
from test_joint_step import compared
from trees import assert_close

import recursive_dyn as rd
from scene import Body, Scene, joints
from scene.joints import surfaces

WAYS = [("velocity_constraints", "semi_implicit_euler"), ("penalty", "implicit_euler")]
EACH = pytest.mark.parametrize("method, integrator", WAYS)
MADE = {"euler": (euler, ("xyz", "zxz"), [0.5, 3.0, 0.2]), "bead": (bead, ("z", "x"), [2.0, 3.0, 0.5])}


def carried(name: str) -> tuple[Scene, np.ndarray]:
    """A body on the joint, with a tail on a hinge; and a velocity that leads through a pole of its first chart."""
    make, given, velocity = MADE[name]
    scene = Scene()
    body = scene.world.attach(Body("body", mass=1.0, inertia=INERTIA), make(*given))
    tail = Body("tail", mass=0.5, center_of_mass=(0.1, 0, 0), inertia=INERTIA * 0.2)
    body.attach(tail, joints.revolute("x"), at=rd.pose((0.3, 0, 0)))
    return scene, np.append(velocity, 0.3)


def test_bodies_accelerate_as_in_joint_coordinates_in_any_chart() -> None:
    scene = mechanism(bead("z", "x"), euler("xyz", "zxz"))
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    rng = np.random.default_rng(1)
    for charts in ((0, 0), (1, 0), (0, 1), (1, 1)):
        for own in (reduced, d):
            own.parameters["b1.chart"], own.parameters["b2.chart"] = charts
        q, v, tau = (rng.normal(size=(3, n)) for n in (reduced.nq, reduced.nv, reduced.nv))
        Q, V = d.from_reduced(q, v)
        assert_close(d.poses(Q), reduced.poses(q), 1e-12)
        assert_close(d.velocities(Q, V), reduced.velocities(q, v), 1e-11)
        back, rates = d.to_reduced(Q, V, near=q)
        assert_close(back, q, 1e-9)
        assert_close(rates, v, 1e-9)
        a = reduced.forward_dynamics(q, v, tau)
        A = d.forward_dynamics(Q, V, d.forces_from_reduced(Q, tau, near=q))
        assert_close(d.accelerations(Q, V, A), reduced.accelerations(q, v, a), 1e-8)


@EACH
@pytest.mark.parametrize("name", MADE)
def test_bodies_move_through_poles_as_in_joint_coordinates(name: str, method: str, integrator: str) -> None:
    """To the first order of the timestep, in both charts; joints stay met."""
    scene, velocity = carried(name)
    exact, off = rd.Simulation(scene.compile(), 1 / 500, "rk4"), []
    exact.v = velocity
    exact.step(500)
    d = scene.compile(method)
    for rate in (500, 1000):
        sim, seen = rd.Simulation(d, 1 / rate, integrator), set[int]()
        sim.q, sim.v = d.from_reduced(d.reduced.neutral(), velocity)
        for _ in range(20):
            sim.step(rate // 20)
            seen.add(sim.charts["body"])
            assert np.abs(sim.dynamics.joint_errors(sim.q, near=sim.near)[0]).max() < 1e-3
        off.append(np.abs(sim.dynamics.poses(sim.q) - exact.dynamics.poses(exact.q)).max())
        assert seen == {0, 1}
    assert off[1] < 0.7 * off[0] < 0.12


@EACH
def test_a_stone_rolls_over_its_poles_as_in_joint_coordinates(method: str, integrator: str) -> None:
    """Charts that a surface has of its own accord, and rolling, whose rows are written in all of them."""
    scene = Scene()
    joint = joints.surface_on_surface(surfaces.plane(), surfaces.ellipsoid(0.3, 0.25, 0.2, poles="x"), spin=True)
    scene.roll(scene.world.attach(Body("stone", mass=1.0, inertia=np.diag([0.02, 0.03, 0.04])), joint))
    exact, off = rd.Simulation(scene.compile(), 1 / 1000, "rk4"), []
    d = exact.dynamics
    start = d.project(np.array([0.1, 0.2, 0.3, 0.2, 0.1]), np.array([1.0, 2.0, 3.0, 4.0, 1.0]))
    exact.q, exact.v = start
    exact.step(700)
    for rate in (1000, 2000):
        sim, seen = rd.Simulation(scene.compile(method), 1 / rate, integrator), set[int]()
        sim.q, sim.v = sim.dynamics.from_reduced(*start)
        for _ in range(20):
            sim.step(7 * rate // 200)
            seen.add(sim.charts["stone"])
        off.append(np.abs(sim.dynamics.poses(sim.q) - exact.dynamics.poses(exact.q)).max())
        assert np.abs(sim.dynamics.joint_errors(sim.q, near=sim.near)[0]).max() < 1e-3
    assert off[1] < 0.7 * off[0] < 0.1 and seen == {0, exact.charts["stone"]} == {0, 1}


def test_snapshots_copies_and_charts_that_a_user_chooses() -> None:
    """They go on bit by bit over a change of charts; bodies stay where they are when one is chosen."""
    scene, velocity = carried("euler")
    d = scene.compile("velocity_constraints")
    sim = rd.Simulation(d, 1 / 250)
    sim.q, sim.v = d.from_reduced(d.reduced.neutral(), velocity)
    sim.step(20)
    kept, other, charts = sim.snapshot(), copy.copy(sim), sim.charts
    sim.step(150)
    assert sim.charts != charts
    want = sim.q.copy()
    sim.restore(kept)
    for one in (sim, other):
        assert one.charts == charts
        one.step(150)
        assert np.array_equal(one.q, want)
    before = sim.dynamics.poses(sim.q)
    chosen = 1 - sim.charts["body"]
    sim.rechart("body", chosen)
    assert sim.charts == {"body": chosen} and np.array_equal(sim.dynamics.poses(sim.q), before)
    q, _ = sim.dynamics.to_reduced(sim.q, sim.v, sim.near)
    assert_close(q, sim.near, 1e-6)


def capped() -> Scene:
    """A bead on a sphere whose frame's z axis, the normal, leans by 0.6 at most, with a tail; pushed to one side."""
    scene = Scene(gravity=(1.0, 0, -9.81))
    joint = bead("z", "x").adjusted(limits=joints.TurnLimits(swing=0.6))
    scene.world.attach(Body("bead", mass=1.0, inertia=INERTIA * 1e-3), joint)
    return scene


def test_a_bead_stays_within_a_cap_of_its_sphere() -> None:
    """From near the pole, which one chart lacks, over it and down to the edge, where it leans on it by its weight."""
    d = capped().compile("velocity_constraints")
    sim, charts = rd.Simulation(d, 1 / 60), set[int]()
    sim.q, sim.v = d.from_reduced(np.array([np.pi, np.pi / 2 - 0.02, 0.0]), np.array([0.0, 0.5, 0.0]))
    for _ in range(180):
        sim.step()
        charts.add(sim.charts["bead"])
        place = d.poses(sim.q)[0, :3, 3]
        assert np.arccos(min(1.0, place[2])) < 0.6 + 1e-3
    assert 1 in charts
    np.testing.assert_allclose(place, [np.sin(0.6), 0.0, np.cos(0.6)], atol=1e-3)
    pull = 9.81 * np.sin(0.6) + 1.0 * np.cos(0.6)
    assert sim.coordinate_impulses["swing limit of bead.u"] * 60 == pytest.approx(pull, rel=1e-3)


def test_cones_and_twists_of_charts_are_those_of_a_ball() -> None:
    """Thrown about where charts change: a body is where a ball joint with the same limits has it, which knows of no
    charts, to the first order of the step."""
    limits = joints.TurnLimits(swing=(0.7, 0.5), twist=(-0.5, 1.9), center=(0, 1.3, 0))  # about a gimbal lock
    R, apart = rd.pose(rpy=(0.1, 0.9, 0.0)), []
    for rate in (240, 960):
        places, charts = [], set[int]()
        for joint in (joints.ball(limits=limits), euler("xyz", "zxz", "yzx").adjusted(limits=limits)):
            scene = Scene(gravity=(-9.81, 0, 0))
            bob = Body("bob", mass=1.5, center_of_mass=(0, 0.1, -0.4), inertia=np.diag([0.02, 0.03, 0.01]))
            scene.world.attach(bob, joint)
            sim = rd.Simulation(scene.compile("velocity_constraints"), 1 / rate)
            sim.place("bob", pose=R)
            sim.v = [3.0, -6.0, 5.0, 0.0, 0.0, 0.0]
            pushed = set[str]()
            for _ in range(rate // 2):
                sim.step()
                charts |= set(sim.charts.values())
                pushed |= {name for name, impulse in sim.coordinate_impulses.items() if impulse}
            assert len(pushed) > 1
            places.append(sim.dynamics.poses(sim.q))
        assert len(charts) > 1
        apart.append(np.abs(places[0] - places[1]).max())
    assert apart[1] < 1e-6 or apart[1] < 0.5 * apart[0] < 0.02


@EACH
def test_limits_of_charts_are_those_of_the_definition(method: str, integrator: str) -> None:
    scene = Scene()
    scene.parameter("R", 0.4)
    limits = joints.TurnLimits(swing=(0.2, 0.3), twist=(-0.1, 0.2))
    node = scene.world.attach(rod("a"), euler("xyz", "zxz").adjusted(limits=limits))
    for name in "bc":
        node = node.attach(rod(name), joints.revolute("y"), at=rd.pose((0.5, 0, 0)))
    scene.force(node, force=(0, 0, sp.Symbol("R")))
    compared(scene, method, integrator, 1e-6)

"""Joints that follow others, or share coordinates, between free bodies: rows that bind coordinates of their own."""

import numpy as np
import pytest
import sympy as sp
from formulations import EACH, WAYS, rod, runs_beside
from test_joint_step import compared
from test_timed_joints import pose
from trees import assert_close

import recursive_dyn as rd
from scene import Scene, joints


def machine(timed: bool = True) -> Scene:
    """A gear, a cam and a joint in time driven by a shared coordinate, which another joint has beside its own."""
    scene, u = Scene(), sp.Symbol("u", real=True)
    R, s, t = scene.parameter("R", 0.3), scene.coordinate("s"), scene.time if timed else sp.Float(0.2)
    a = scene.world.attach(rod("a"), joints.revolute("y", damping=0.1))
    gear = joints.revolute("x", damping=0.05, armature=0.01, friction=0.01).follow("a", 2.0, 0.1)
    b = a.attach(rod("b", 1), gear, at=rd.pose((0.5, 0, 0)))
    b.attach(rod("c", 2), joints.universal("x", "y"), at=rd.pose((0.5, 0, 0)))
    scene.world.attach(rod("d"), joints.prismatic("x").driven(R * sp.sin(s)), at=rd.pose((0, 1, 0)))
    e = scene.world.attach(rod("e"), joints.revolute("z").driven(s + t / 3), at=rd.pose((0, 2, 0)))
    beside = joints.Joint(pose(s / 3, u / 4, 0.2 * sp.cos(t), u), u, limits=[(-0.2, 0.3)])
    e.attach(rod("f"), beside, at=rd.pose((0.5, 0, 0)))
    scene.force(e.rotation[0, 0] + a.q[0], -s)
    return scene


def test_bodies_of_driven_joints_accelerate_as_in_joint_coordinates() -> None:
    scene = machine()
    reduced, d = scene.compile(), scene.compile("velocity_constraints")
    reduced.parameters["R"] = d.parameters["R"] = 0.35
    rng = np.random.default_rng(1)
    q, v = np.array([reduced.random(rng) for _ in range(3)]), rng.normal(size=(3, reduced.nv))
    q[:, -1], v[:, -1] = rng.uniform(-1, 1, 3), 1.0
    Q, V = d.from_reduced(q, v)
    assert_close(d.poses(Q), reduced.poses(q), 1e-12)
    assert_close(d.velocities(Q, V), reduced.velocities(q, v), 1e-12)
    for found in (*d.joint_errors(Q, V), *d.joint_errors(Q[0], V[0], near=q[0])):
        assert np.abs(found).max() < 1e-12
    back, rates = d.to_reduced(Q, V, q)
    assert_close(back, q, 1e-11)
    assert_close(rates, v, 1e-11)
    tau = np.random.default_rng(2).normal(size=v.shape)
    a = reduced.forward_dynamics(q, v, tau)
    A = d.forward_dynamics(Q, V, d.forces_from_reduced(Q, tau, near=q))
    assert_close(d.accelerations(Q, V, A), reduced.accelerations(q, v, a), 1e-10)


@EACH
def test_bodies_of_driven_joints_move_as_in_joint_coordinates(method: str, integrator: str) -> None:
    """To the first order of the timestep; their coordinates are those that the scene has."""
    scene = machine()
    exact, sims, off = runs_beside(scene, method, integrator)
    for sim in sims:
        assert sim.joint_coordinates.shape == exact.q.shape
    assert off[1] < 0.7 * off[0] < 0.02


@pytest.mark.parametrize(
    "method, integrator", [WAYS[0], *(pytest.param(*way, marks=pytest.mark.slow) for way in WAYS[1:])]
)
@pytest.mark.parametrize("timed", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_steps_of_driven_joints_are_those_of_the_definition(timed: bool, method: str, integrator: str) -> None:
    # coordinates are followed to 1e-7 rad or m, and springs that bind them have some 100 N m/rad here
    compared(machine(timed), method, integrator, 1e-6 if method == "velocity_constraints" else 1e-5)


def four_bar() -> Scene:
    """A closed loop in closed form: one shared angle drives all three bars of a parallelogram."""
    scene = Scene()
    s = scene.coordinate("s", damping=0.2, limits=(-2.0, 2.0))
    crank = scene.world.attach(rod("crank"), joints.revolute("y").driven(s))
    crank.attach(rod("coupler"), joints.revolute("y").driven(-s), at=rd.pose((0.5, 0, 0)))
    scene.world.attach(rod("rocker"), joints.revolute("y").driven(s), at=rd.pose((0.5, 0, 0)))
    return scene


@EACH
def test_a_linkage_in_closed_form_falls_as_one_coordinate(method: str, integrator: str) -> None:
    """Its limit, reached at speed, holds; a motor and a motion lead it, and tell the same as in joint coordinates."""
    sims = [rd.Simulation(four_bar().compile(m), 1 / 500, i) for m, i in ((method, integrator), ("recursive", None))]
    for sim in sims:
        sim.step(250)
    loose = 0.02 if integrator == "semi_implicit_euler" and method == "penalty" else 5e-3
    q, _ = sims[0].dynamics.to_reduced(sims[0].q, sims[0].v)
    assert abs(q[0] - sims[1].q[0]) < loose
    for sim in sims:
        sim.motors["s"] = rd.Motor(position=0.3, kp=400.0, kd=80.0)
        sim.step(500)
    q, _ = sims[0].dynamics.to_reduced(sims[0].q, sims[0].v)
    assert abs(q[0] - sims[1].q[0]) < 1e-3
    forces = [sim.motor_forces["s"].force for sim in sims]
    assert forces[0] == pytest.approx(forces[1], rel=0.02)
    del sims[0].motors["s"]
    here = float(sims[0].dynamics.to_reduced(sims[0].q)[0][0])
    sims[0].prescribe("s", here)
    sims[0].step(200)
    assert sims[0].prescribed["s"].force == pytest.approx(-9.81 * (0.25 + 0.5 + 0.25) * np.cos(here), rel=1e-3)


def test_edits_copies_and_places_keep_what_follows() -> None:
    scene = machine(False)
    sim = rd.Simulation(scene.compile("velocity_constraints"), 1 / 240)
    sim.step(10)
    kept = sim.snapshot()
    sim.step(5)
    want = sim.q.copy()
    sim.restore(kept)
    sim.step(5)
    assert np.array_equal(sim.q, want)
    poses = sim.dynamics.poses(sim.q)
    scene["f"].attach(rod("g"), joints.revolute("y").follow("a", -1.0), at=rd.pose((0.5, 0, 0)))
    sim.update(scene.compile("velocity_constraints"))
    assert_close(sim.dynamics.poses(sim.q)[:-1], poses, 1e-13)
    errors = sim.dynamics.joint_errors(sim.q)[0]
    sim.step(10)
    assert np.abs(errors).max() < 1e-6 and np.abs(sim.dynamics.joint_errors(sim.q)[0]).max() < 1e-6
    sim.place("a", pose=rd.pose(rpy=(0, 0.4, 0)))
    assert_close(sim.dynamics.to_reduced(sim.q)[0][0], 0.4, 1e-8)
    reduced = sim.dynamics.reduced
    assert_close(sim.dynamics.poses(sim.q), reduced.poses(sim.dynamics.to_reduced(sim.q, near=sim.near)[0]), 1e-7)


def test_coordinates_that_no_joint_shows_are_refused_by_name() -> None:
    scene = Scene()
    s, t = scene.coordinate("s"), scene.coordinate("t")
    scene.world.attach(rod("a"), joints.revolute("y").driven(s + t))
    with pytest.raises(rd.ModelError, match=r"coordinate '[st]' drives joints together with others"):
        scene.compile("penalty")

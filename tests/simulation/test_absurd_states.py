"""Steps that make energy of nothing are told before their numbers overflow."""

import numpy as np
import pytest
import sympy as sp
from trees import random_scene

import recursive_dyn as rd
from recursive_dyn.integrators.registry import INTEGRATORS
from scene import Body, Scene, joints


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("speed", [1e9, 1e100])
def test_a_speed_that_no_step_follows_is_told_at_once(integrator, speed):
    """By the name of a coordinate, at the first step; the state stays."""
    d = random_scene(3, 4, kinds=("revolute",)).dynamics()
    sim = rd.Simulation(d, 1 / 240, integrator)
    sim.q = d.random(0)
    sim.v[1] = speed
    before = sim.q.copy()
    with pytest.raises(rd.StateError, match=r"t = 0 s: .*coordinate '.*state is kept"):
        sim.step()
    np.testing.assert_array_equal(sim.q, before)
    assert sim.v[1] == speed


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("slot", [0, 3])
def test_a_speed_beyond_all_numbers_is_told_by_its_coordinate(integrator, slot):
    """Also of a turn, whose quaternion overflows where the step's end is looked for."""
    scene = Scene()
    scene.world.attach(Body("ball", mass=1.0, inertia=0.01 * np.eye(3)), joints.free())
    sim = rd.Simulation(scene.compile(), 1 / 240, integrator)
    sim.v[slot] = 1e200
    name = sim.dynamics.velocity_coordinates[slot]
    with pytest.raises(rd.StateError, match=rf"t = 0 s: .*coordinate '{name}'.*state is kept"):
        sim.step()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_great_speeds_that_are_real_go_on(integrator):
    """A wheel about its axis of symmetry, and what a great force made fast."""
    d = random_scene(3, 1, kinds=("prismatic",)).dynamics()
    sim = rd.Simulation(d, 1 / 240, integrator)
    sim.v[:] = 1e9
    sim.step(3)
    assert sim.v[0] == pytest.approx(1e9)
    sim.v[:], sim.tau[:] = 0.0, 1e12
    sim.step(3)
    assert np.isfinite(sim.v).all() and abs(sim.v[0]) > 1e6


def _push(sim):
    sim.apply_force(sim.dynamics.bodies[-1], (1.0, 2.0, -1.0))


def _ask(sim):
    sim.control = lambda q, v, t: np.full(len(v), 0.3)


@pytest.mark.parametrize("drive", [_push, _ask])
def test_forces_at_the_stages_explain_no_more_than_they_give(drive):
    """One that pushes by a few newtons is told as one that nothing acts on."""
    d = random_scene(3, 4, kinds=("revolute",)).dynamics()
    sim = rd.Simulation(d, 1 / 240)
    sim.q = d.random(0)
    sim.v[1] = 1e9
    drive(sim)
    with pytest.raises(rd.StateError, match=r"t = 0 s: .*coordinate '.*state is kept"):
        sim.step()


def test_great_forces_at_the_stages_are_real():
    """1e12 N on a slide and 1e12 by a control: v = F t / m, up to rounding."""
    d = random_scene(3, 1, kinds=("prismatic",)).dynamics()
    ends = []
    for drive in (
        lambda sim: sim.apply_force(d.bodies[-1], d.velocities(sim.q, [1.0])[-1, 3:] * 1e12),
        lambda sim: setattr(sim, "control", lambda q, v, t: np.array([1e12])),
    ):
        sim = rd.Simulation(d, 1 / 240)
        drive(sim)
        sim.step(1)
        ends.append(sim.v[0])
    assert ends[0] > 1e6
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def slide(axis="x", gravity=(0, 0, 0), **settings):
    scene = Scene(gravity=gravity)
    return scene, scene.world.attach(Body("block", mass=1.0, inertia=np.eye(3)), joints.prismatic(axis, **settings))


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize(("stiffness", "h"), [(1e6, 1 / 240), (1e5, 1 / 60)])
def test_a_spring_that_no_step_resolves_is_told_within_six_steps(integrator, stiffness, h):
    """It multiplies its energy by 2.3 to 700 a step, less than what one of them is told for."""
    scene, block = slide()
    scene.spring(scene.world, block, stiffness, point_a=(0, 1, 0), name="strut")
    sim = rd.Simulation(scene.compile(), h, integrator)
    sim.q[0] = 0.1
    with pytest.raises(rd.StateError, match=r"more energy than .* coordinate 'block.distance', .*'strut'"):
        sim.step(6)
    d = sim.dynamics
    assert float(d.kinetic_energy(sim.q, sim.v) + d.elastic_energy(sim.q)) < 1e15


def test_so_is_one_that_no_parts_of_a_step_resolve():
    """What eight parts do resolve goes on (test_finer_steps.py)."""
    scene, block = slide()
    scene.spring(scene.world, block, 3e7, point_a=(0, 1, 0), name="strut")
    sim = rd.Simulation(scene.compile(), 1 / 240, "variational_midpoint")
    sim.q[0] = 0.1
    with pytest.raises(rd.StateError, match=r"more energy than .* coordinate 'block.distance'"):
        sim.step(6)
    assert sim.q[0] == 0.1


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_is_far_away_and_all_that_forces_explain_goes_on(integrator):
    """At rest at 1e9 m, on a motor and on a spring; thrown up; under a force element; a spring that becomes stiff; a
    planet at rest that falls towards its sun."""
    scene, _ = slide("z", (0, 0, -9.81))
    sim = rd.Simulation(scene.compile(), 1 / 240, integrator)
    sim.q[:], sim.tau[:] = 1e9, 9.81
    sim.step(100)
    assert sim.q[0] == pytest.approx(1e9)
    sim.tau[:], sim.v[:] = 0.0, 2e6
    sim.step(100)
    assert sim.v[0] == pytest.approx(2e6, abs=10.0)

    scene, block = slide()
    k = scene.parameter("k", 1.0)
    scene.potential(k * (block.q[0] - 10**9) ** 2 / 2)
    sim = rd.Simulation(scene.compile(), 1 / 240, integrator)
    sim.q[:] = 1e9
    sim.step(10)
    sim.q[:] = 1.1e9
    sim.step(10)
    sim.parameters["k"] = 100.0
    sim.step(10)

    scene, block = slide()
    scene.force(block.q[0], 1e12 * (2 - sp.tanh(block.q[0] * 1e-9)), name="rocket")
    sim = rd.Simulation(scene.compile(), 1 / 240, integrator)
    sim.step(20)
    assert sim.v[0] > 1e10

    scene, block = slide()
    sun = scene.world.attach(Body("sun", mass=2e30, inertia=np.eye(3)), joints.prismatic("x"))
    scene.gravitation([block, sun])
    sim = rd.Simulation(scene.compile(), 3600.0, integrator)
    sim.q[:] = 1.5e11, 0.0
    sim.step(300)
    assert -1e5 < sim.v[0] < -1e3


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_swings_far_for_long_goes_on(integrator):
    """A swing of 1e7 m through 160 turning points, of which each falls between steps."""
    scene, block = slide()
    scene.potential(block.q[0] ** 2 / 2)
    sim = rd.Simulation(scene.compile(), 0.3, integrator)
    sim.q[:] = 1e7
    sim.step(1700)
    assert np.isfinite(sim.v).all()


@pytest.mark.parametrize("integrator", ["linearly_implicit_rk4", "semi_implicit_euler"])
def test_what_time_moves_gives_what_is_not_known(integrator):
    """A table that comes from rest to 1e7 m/s."""
    scene = Scene(gravity=(0, 0, 0))
    G = sp.eye(4)
    G[0, 3] = 10**9 * scene.time**2 * 50
    table = scene.world.attach(Body("table"), joints.Joint(G, ()))
    table.attach(Body("rod", mass=1.0, center_of_mass=(0, 0, -0.5), inertia=np.eye(3)), joints.revolute("y"))
    sim = rd.Simulation(scene.compile(), 1e-4, integrator)
    sim.step(3)
    assert np.isfinite(sim.v).all()

"""What hangs on the world and rolls, slides or rocks on the ground keeps its energy: sustained contacts do no work."""

import itertools

import numpy as np
import pytest
from contact_scenes import energy, mirror

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

INTEGRATORS = ("rk4", "implicit_midpoint", "linearly_implicit_rk4")
STEPS = ((1 / 60, 5e-3), (1 / 240, 3e-4))


def ground(friction: float) -> Scene:
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=rd.Material(friction)))
    return scene


def carousel() -> Scene:
    """A ball at the end of an arm rolls round a pole."""
    scene = ground(1.0)
    pole = Body("pole", mass=1.0, inertia=0.01 * np.eye(3))
    scene.world.attach(pole, joints.revolute("z"), at=rd.pose((0, 0, 0.2)))
    arm = Body("arm", mass=0.5, center_of_mass=(0.4, 0, 0), inertia=np.diag([0.001, 0.02, 0.02]))
    pole.attach(arm, joints.revolute("y"))
    ball = Body("ball", [shapes.Sphere(0.2, material=rd.Material(1.0))], mass=1.0)
    arm.attach(ball, joints.revolute("x"), at=rd.pose((0.8, 0, 0)))
    return scene


@pytest.mark.parametrize("integrator, step", [*itertools.product(INTEGRATORS, STEPS)])
def test_what_rolls_round_a_pole_keeps_its_speed(integrator, step):
    """Eight seconds at 4 rad/s: five rounds; 6 % went in them at 1/60 s, 1.5 % at 1/240 s."""
    h, within = step
    with mirror(carousel(), h, integrator) as m:
        m.sim.v = [4.0, 0.0, -4.0 * 0.8 / 0.2]
        m.step(2)
        start = m.sim.v[0]
        m.step(round(8 / h))
        assert m.sim.v[0] == pytest.approx(start, rel=within)
        assert m.sim.v[2] == pytest.approx(-4.0 * m.sim.v[0], rel=1e-3), "it rolls"


def held_rocker() -> Scene:
    """A smooth ball with a low centre of mass, tilted, held by an arm on which it may rock."""
    scene, smooth = ground(0.0), rd.Material(0.0)
    arm = Body("arm", mass=0.1, center_of_mass=(0.5, 0, 0), inertia=np.diag([0.001, 0.01, 0.01]))
    scene.world.attach(arm, joints.revolute("y"), at=rd.pose((0, 0, 0.1)))
    ball = Body("ball", [shapes.Sphere(0.1, material=smooth)], mass=1.0, center_of_mass=(0, 0, -0.03),
                inertia=0.004 * np.eye(3))  # fmt: skip
    arm.attach(ball, joints.revolute("y"), at=rd.pose((1.0, 0, 0)))
    return scene


@pytest.mark.parametrize("integrator, step", [*itertools.product(INTEGRATORS, ((1 / 60, 0.05), (1 / 240, 0.01)))])
def test_what_rocks_on_an_arm_keeps_its_amplitude(integrator, step):
    """Its masses swing fast against the arm; it came to 0.1 rad from 0.5 in 8 s at 1/60 s, to 0.34 at 1/240."""
    h, within = step
    with mirror(held_rocker(), h, integrator) as m:
        m.sim.q[1], tilts = 0.5, []
        m.step(round(7 / h))
        for _ in range(round(1 / h)):
            m.step()
            tilts.append(abs(m.sim.q[1]))
    assert max(tilts) == pytest.approx(0.5, rel=within)


def club() -> Scene:
    """A stick on a ball joint, whose other end, a ball, rolls on the ground."""
    scene = ground(1.0)
    ball = shapes.Sphere(0.1, at=rd.pose((0.6, 0, 0)), material=rd.Material(1.0))
    stick = Body("stick", [ball], mass=1.0, center_of_mass=(0.5, 0, 0), inertia=np.diag([0.004, 0.02, 0.02]))
    scene.world.attach(stick, joints.ball(), at=rd.pose((0, 0, 0.1)))
    return scene


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_what_rolls_about_a_ball_joint_keeps_its_speed(integrator):
    """It turns about the line from the joint to where it touches; here at 4 rad/s, for four rounds."""
    axis = np.array([0.6, 0.0, -0.1]) / np.hypot(0.6, 0.1)
    with mirror(club(), 1 / 240, integrator) as m:
        m.sim.v = 16.0 * axis
        m.step(2)
        start = energy(m.sim)
        m.step(round(4 / m.sim.timestep))
        assert energy(m.sim) == pytest.approx(start, rel=3e-3)


def test_errors_are_of_second_order():
    """A quarter of the step, a sixteenth of what the carousel loses."""
    lost = []
    for h in (1 / 60, 1 / 240):
        with mirror(carousel(), h, "rk4") as m:
            m.sim.v = [4.0, 0.0, -16.0]
            m.step(2)
            start = energy(m.sim)
            m.step(round(4 / h))
            lost.append(abs(energy(m.sim) / start - 1.0))
    assert lost[0] > 8.0 * lost[1]


@pytest.mark.parametrize("make, v", ((carousel, [4.0, 0.0, -16.0]), (club, [2.0, 0.0, -0.3])))
def test_snapshots_go_on_alike(make, v):
    with mirror(make(), 1 / 60, "linearly_implicit_rk4") as m, mirror(make(), 1 / 60, "linearly_implicit_rk4") as other:
        m.sim.v = v
        m.step(20)
        for taken in (m.sim.snapshot(), m.sim.snapshot_bytes()):
            m.sim.restore(taken)
            m.step(20)
            first = m.sim.snapshot_bytes()
            for again in (m, other):
                again.sim.restore(taken)
                again.step(20)
                assert again.sim.snapshot_bytes() == first


def test_what_is_let_go_is_not_pushed():
    """An arm that lay on the ground and is lifted, by a jump of its velocity, flies as if nothing had touched it."""
    scene = ground(0.5)
    arm = Body("arm", [shapes.Sphere(0.1, at=rd.pose((0.5, 0, 0)))], mass=1.0, center_of_mass=(0.5, 0, 0),
               inertia=0.01 * np.eye(3))  # fmt: skip
    scene.world.attach(arm, joints.revolute("-y"), at=rd.pose((0, 0, 0.1)))
    alone = rd.Simulation(scene.compile(), 1 / 60, "rk4")
    with mirror(scene, 1 / 60, "rk4") as m:
        m.step(30)
        m.sim.v = alone.v = [2.0]
        alone.q = m.sim.q
        m.step(6)
        alone.step(6)
        np.testing.assert_allclose(m.sim.q, alone.q, atol=1e-12)
        np.testing.assert_allclose(m.sim.v, alone.v, atol=1e-12)

"""Joints swapped for ones that cannot follow: what floats keeps centre of mass, momentum and spin, and it is told."""

import numpy as np
import pytest
import sympy as sp
from trees import random_body

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

H = 1 / 120
OTHERS = {
    "hinge": lambda: joints.revolute("y"),
    "slide": lambda: joints.prismatic("z"),
    "stopped": lambda: joints.revolute("z", limits=(-0.2, 0.2)),
    "fixed": joints.fixed,
}


def floating(seed, count=4):
    """Random bodies on balls, one on another, thrown without gravity, and another tree beside them."""
    rng, scene = np.random.default_rng(seed), Scene(gravity=(0, 0, 0))
    for tree in "ab":
        node = scene.world
        for k in range(count):
            place = rd.pose(0.4 * rng.normal(size=3), rng.normal(size=3))
            node = node.attach(random_body(rng, f"{tree}{k}"), joints.ball() if k else joints.free(), at=place)
    sim = rd.Simulation(scene.compile(), H)
    sim.v = rng.normal(size=sim.dynamics.nv)
    sim.step(20)
    return scene, sim


def measured(sim):
    d, q, v = sim.dynamics, sim.q, sim.v
    return d.momentum(q, v), d.center_of_mass(q), float(d.kinetic_energy(q, v))


@pytest.mark.parametrize(
    "seed, other",
    [(0, "hinge"), *(pytest.param(k, other, marks=pytest.mark.slow) for k in (1, 2, 3) for other in OTHERS)],
)
def test_what_floats_keeps_its_momenta_and_its_place(seed, other):
    """To rounding, where poses jump by decimetres; energy is lost, and told, and the other tree goes on as it was."""
    scene, sim = floating(seed)
    (p, center, energy), (poses, twists), q, v = measured(sim), sim.frames(), sim.q.copy(), sim.v.copy()
    scene.swap("a2", OTHERS[other]())
    sim.update(scene.compile())
    now, report = measured(sim), sim.report
    np.testing.assert_allclose(now[0], p, atol=1e-10)
    np.testing.assert_allclose(now[1], center, atol=1e-11)
    assert now[2] < energy and report.impulse_loss == pytest.approx(energy - now[2], rel=1e-9)
    jumped = np.linalg.norm(sim.frames()[0][2, :3, 3] - poses[2, :3, 3])
    assert report.joints_closed == 1 and report.jumped_body == report.stopped_body == "a2"
    assert report.widest_jump >= jumped - 1e-12 and report.widest_jump > 0.01
    stopped = (sim.frames()[1] - twists)[2].reshape(2, 3)
    assert report.widest_stop == pytest.approx(np.linalg.norm(stopped, axis=1).max())
    nv, nq = 6 + 3 * 3, 7 + 3 * 4
    assert np.array_equal(sim.q[-nq:], q[-nq:]) and np.array_equal(sim.v[-nv:], v[-nv:])
    sim.step(40)
    exact = 1e-8 if other != "stopped" else 1e-6 * np.abs(p).max()  # stops are solved to a tolerance
    np.testing.assert_allclose(measured(sim)[0], p, atol=exact)


def pair(offset, rate):
    """Two equal bodies, the second turning about a hinge half-way between their centres."""
    scene, inertia = Scene(gravity=(0, 0, 0)), np.diag([0.2, 0.3, 0.4])
    first = scene.world.attach(Body("first", mass=1.5, inertia=inertia), joints.free())
    second = Body("second", mass=1.5, center_of_mass=(offset, 0, 0), inertia=inertia)
    first.attach(second, joints.revolute("z"), at=rd.pose((offset, 0, 0)))
    sim = rd.Simulation(scene.compile(), H)
    sim.v = [0, 0, 0, 0, 0, 0, rate]
    return scene, sim


def test_a_hinge_that_is_welded_leaves_half_the_rate():
    """omega = r (I + m d^2) / (2 I + 2 m d^2), and I r^2 / 4 is lost."""
    scene, sim = pair(0.3, 2.0)
    scene.swap("second", joints.fixed())
    sim.update(scene.compile())
    np.testing.assert_allclose(sim.v[:3], [0, 0, 1.0], atol=1e-12)
    assert sim.report.impulse_loss == pytest.approx(0.4 * 2.0**2 / 4)
    assert sim.report.joints_closed == 1 and sim.report.widest_jump == 0.0 and sim.report.jumped_body == ""
    assert sim.report.stopped_body == "second" and sim.report.widest_stop == pytest.approx(1.0)


def test_a_joint_that_can_follow_closes_nothing():
    scene, sim = pair(0.3, 2.0)
    q, v = sim.frames()
    scene.swap("second", joints.ball())
    sim.update(scene.compile())
    np.testing.assert_allclose(sim.frames()[0], q, atol=1e-12)
    np.testing.assert_allclose(sim.frames()[1], v, atol=1e-12)
    assert sim.report.joints_closed == 0 and sim.report.impulse_loss == 0.0


@pytest.mark.slow
def test_what_stands_on_the_ground_stays_there():
    """Nothing slides its feet into the floor: the arm alone jumps."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    box = Body("box", [shapes.Box((0.4, 0.4, 0.2))], mass=5.0)
    box = scene.world.attach(box, joints.free(), at=rd.pose((0, 0, 0.1)))
    arm = Body("arm", mass=0.5, center_of_mass=(0, 0, 0.2), inertia=0.01 * np.eye(3))
    box.attach(arm, joints.universal(), at=rd.pose((0, 0, 0.1)))
    sim = rd.Simulation(scene.compile(), H)
    sim.q[-2:] = 0.3, 0.4
    with PyBulletMirror(scene, sim) as mirror:
        mirror.step(10)
        before = sim.q[:7].copy()
        scene.swap("arm", joints.revolute("x"))
        mirror.update()
        assert np.array_equal(sim.q[:7], before)
        assert sim.report.jumped_body == "arm" and sim.report.widest_jump > 0.1
        mirror.step(60)
        assert abs(sim.q[2] - before[2]) < 2e-3


def test_what_is_led_in_a_tree_that_floats_moves_on_as_it_is_led():
    """Momentum, spin and the centre of mass are kept with it, in the next step, too."""
    scene, inertia = Scene(gravity=(0, 0, 0)), np.diag([0.02, 0.03, 0.04])
    trunk = scene.world.attach(Body("trunk", mass=1.0, inertia=inertia), joints.free())
    limb = {"center_of_mass": (0.1, 0, 0.2), "inertia": inertia}
    trunk.attach(Body("led", mass=1.0, **limb), joints.revolute("x"), at=rd.pose((-0.4, 0, 0)))
    trunk.attach(Body("swapped", mass=2.0, **limb), joints.ball(), at=rd.pose((0.5, 0, 0)))
    sim = rd.Simulation(scene.compile(), H)
    sim.prescribe("led.angle", 0.3 * sp.sin(4 * scene.time))
    sim.v[:6], sim.v[7:10] = [0.3, 0.2, 0.1, 1, 0.5, 0.2], [1, 2, 0.5]
    sim.step(20)
    p, center, _ = measured(sim)
    rate = sim.v[6]
    scene.swap("swapped", joints.revolute("y"))
    sim.update(scene.compile())
    assert sim.report.joints_closed == 1 and sim.dynamics.velocity_coordinates[6] == "led.angle"
    assert sim.v[6] == rate == pytest.approx(1.2 * np.cos(4 * sim.time))
    np.testing.assert_allclose(measured(sim)[0], p, atol=1e-11)
    np.testing.assert_allclose(measured(sim)[1], center, atol=1e-12)
    sim.step(5)
    np.testing.assert_allclose(measured(sim)[0], p, atol=1e-6)

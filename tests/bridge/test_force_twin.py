"""Twins in maximal coordinates: Bullet's free bodies move as the reduced equations say, under forces made Cartesian."""

import numpy as np
import pybullet
import pytest
from bullet_twins import bullets, simulation
from trees import assert_close

import recursive_dyn as rd
from bridge import ForceTwin
from scene import Body, Scene, joints, shapes


def machine(armature=0.0):
    """A hinge, a ball, a weld, a slide and a hinge, one after the other, off all axes."""
    scene, rng = Scene(), np.random.default_rng(0)

    def part(name):
        center = rng.uniform(-0.1, 0.1, 3) - np.array([0, 0, 0.2])
        return Body(name, [shapes.Sphere(0.05)], mass=1.0, center_of_mass=center, inertia=np.diag([0.03, 0.035, 0.02]))

    node = scene.world.attach(part("upper"), joints.revolute("y", damping=0.1, armature=armature))
    node = node.attach(part("lower"), joints.ball(), at=rd.pose((0, 0, -0.5)))
    node = node.attach(part("foot"), joints.fixed(), at=rd.pose((0.1, 0, -0.2)))
    node = node.attach(part("slide"), joints.prismatic((1, 1, 0)), at=rd.pose((0, 0, -0.2), (0.1, 0.2, 0.3)))
    node.attach(part("claw"), joints.revolute("x"), at=rd.pose((0, 0, -0.3)))
    return scene


@pytest.fixture(scope="module")
def compiled():
    scene = machine()
    return scene, scene.compile()


def start(d):
    rng = np.random.default_rng(1)
    return d.integrate(d.neutral(), 0.3 * rng.normal(size=d.nv), 1.0), rng.normal(size=d.nv)


def motors(t):
    return np.array([1.0, 0.5, -0.3, 0.2, 2 * np.cos(5 * t), -0.2])


SECONDS = 0.25


def reference(d):
    """Poses after SECONDS by the fourth-order rule."""
    q, v = start(d)
    sim = rd.Simulation(d, 1 / 3840, "rk4")
    sim.q, sim.v = q, v
    for k in range(round(SECONDS * 3840)):
        sim.tau = motors(k / 3840)
        sim.step()
    return d.poses(sim.q)


def error(scene, d, expected, rate, constrained, **choice):
    q, v = start(d)
    with ForceTwin(scene, simulation(d, q, v, 1 / rate), constrained=constrained) as twin:
        for k in range(round(SECONDS * rate)):
            twin.step(motors(k / rate), **choice)
        found = np.abs(twin.frames()[0] - expected).max()
        twin.state()
        return found, twin.gap


POINTS = {"points": np.tile([0.1, 0.2, 0.3], (5, 1))}
WAYS = {
    "held, couples": (True, {}),
    "held, least": (True, {"choice": "minimum", "length": 0.2}),
    "held, forces": (True, {"choice": "force", **POINTS}),
    "held, tree": (True, {"choice": "tree"}),
    "free": (False, {}),
}


@pytest.mark.parametrize("way", WAYS)
def test_twins_converge_to_the_reduced_motion_at_first_order(way, compiled):
    """Bullet steps by semi-implicit Euler: the error, centimetres at 1/120 s, falls as the step does."""
    scene, d = compiled
    constrained, choice = WAYS[way]
    expected = reference(d)
    coarse, fine = (error(scene, d, expected, rate, constrained, **choice) for rate in (120, 480))
    assert 3.4 < coarse[0] / fine[0] < 4.6 and fine[0] < 4e-3
    assert fine[1] < 2e-3  # m between what joints hold together


@pytest.mark.parametrize("constrained", [True, False])
def test_dampers_are_never_too_stiff_for_a_step(constrained):
    """A hinge whose damper would stop it in a hundredth of a step: it comes to rest as backward Euler says."""
    scene, h = Scene(gravity=(0, 0, 0)), 1 / 240
    body = Body("wheel", mass=1.0, inertia=np.eye(3) * 0.01)
    scene.world.attach(body, joints.revolute("y", damping=240.0, stiffness=5.0))
    d = scene.compile()
    with ForceTwin(scene, simulation(d, [0.1], [2.0], h), constrained=constrained) as twin:
        q, v = 0.1, 2.0
        for _ in range(20):
            v = (0.01 * v - h * 5.0 * q) / (0.01 + h * 240.0 + h * h * 5.0)
            q += h * v
            twin.step()
            assert_close(twin.state(), ([q], [v]), 1e-5, scale=1.0)


def test_motors_change_no_momentum_of_what_floats():
    """Pairs of wrenches at the same points: Bullet's bodies as a whole keep theirs, but for the drift of a step."""
    scene = Scene(gravity=(0, 0, 0))
    node = scene.world.attach(Body("trunk", mass=2.0, inertia=np.diag([0.1, 0.12, 0.08])), joints.free())
    for side in (-1, 1):
        arm = node.attach(
            Body(f"arm{side}", mass=0.5, center_of_mass=(0, 0.2, 0), inertia=np.eye(3) * 0.01),
            joints.ball(), at=rd.pose((0.2 * side, 0, 0)),
        )  # fmt: skip
        arm.attach(
            Body(f"hand{side}", mass=0.2, center_of_mass=(0, 0.1, 0), inertia=np.eye(3) * 0.004),
            joints.revolute("z"), at=rd.pose((0, 0.4, 0)),
        )  # fmt: skip
    d = scene.compile()
    tau = np.array([0, 0, 0, 0, 0, 0, 0.3, -0.2, 0.1, 0.2, 0.1, 0.3, -0.1, -0.2])
    spins = []
    for rate in (240, 960):
        with ForceTwin(scene, simulation(d, d.neutral(), np.zeros(d.nv), 1 / rate)) as twin:
            twin.step(tau, count=rate // 4)
            momentum = d.momentum(*twin.state())
            own = np.array([2.0, 0.5, 0.2, 0.5, 0.2])
            linear = own @ bullets(twin)[:, 0]
        np.testing.assert_allclose(linear, 0.0, atol=1e-9)
        spins.append(np.abs(momentum).max())
    assert spins[1] < 0.35 * spins[0] < 0.01


def test_a_controller_of_coordinates_drives_bullets_bodies(compiled):
    """Computed torque from the twin's own state: the slide and the last hinge come to where they shall be."""
    scene, d = compiled
    goal = d.integrate(d.neutral(), [0.4, 0.2, -0.3, 0.1, 0.15, -0.5], 1.0)
    times = []

    def controller(q, v, time):
        times.append(time)
        return d.inverse_dynamics(q, v, 80.0 * d.difference(q, goal) - 18.0 * v) - d.passive_forces(q, v)

    with ForceTwin(scene, simulation(d, d.neutral(), np.zeros(d.nv), 1 / 240)) as twin:
        twin.step(controller, count=360)
        q, v = twin.state()
        assert_close(times, np.arange(360) / 240, 1e-12)
        assert twin.time == pytest.approx(1.5)
    np.testing.assert_allclose(d.difference(q, goal), 0.0, atol=2e-3)
    assert np.abs(v).max() < 2e-3


def test_it_coasts_as_fast_as_it_likes():
    """Neither damped, nor cut off at Bullet's 100 m/s, nor put to sleep."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("bullet", mass=0.01, inertia=np.eye(3) * 1e-5), joints.free())
    d = scene.compile()
    for speed in (900.0, 1e-4):
        v = [0, 0, 3 * speed, speed, 0, 0]
        with ForceTwin(scene, simulation(d, d.neutral(), v), constrained=True) as twin:
            twin.step(count=100)
            assert_close(bullets(twin)[0], [[speed, 0, 0], [0, 0, 3 * speed]], 1e-12)


def test_it_stands_where_it_is_told_and_leaves_a_connection_as_it_was(compiled):
    scene, d = compiled
    q, v = start(d)
    client = pybullet.connect(pybullet.DIRECT)
    try:
        own = pybullet.createMultiBody(1.0, physicsClientId=client)
        with ForceTwin(scene, simulation(d, q, v), client, at=(3, 2, 1)) as twin:
            assert list(twin.bullet_bodies) == ["upper", "lower", "slide", "claw"]
            X, V = twin.frames()
            assert_close(X, d.poses(q), 1e-12)
            assert_close(V, d.velocities(q, v), 1e-12)
            found = twin.state()
            assert_close(found[0], q, 1e-11)
            assert_close(found[1], v, 1e-11)
            place = pybullet.getBasePositionAndOrientation(twin.bullet_bodies["upper"], client)[0]
            assert_close(place, X[0, :3, 3] + X[0, :3, :3] @ scene["upper"].center_of_mass + [3, 2, 1], 1e-12)
            assert pybullet.getNumBodies(client) == 5
        assert pybullet.getNumBodies(client) == 1 and pybullet.getBodyUniqueId(0, client) == own
        twin.close()
        with pytest.raises(rd.StateError, match="closed"):
            twin.step()
    finally:
        pybullet.disconnect(client)


def test_two_in_one_connection_take_one_step_together(compiled):
    scene, d = compiled
    q, v = start(d)
    held = ForceTwin(scene, simulation(d, q, v))
    with held, ForceTwin(scene, simulation(d, q, v), held.client, constrained=False, at=(2, 0, 0)) as free:
        for _ in range(50):
            held.push(motors(0.0))
            free.push(motors(0.0))
            pybullet.stepSimulation(physicsClientId=held.client)
        together = held.frames()[0]
        assert_close(together, free.frames()[0], 2e-3)
    with ForceTwin(scene, simulation(d, q, v)) as alone:
        alone.step(motors(0.0), count=50)
        assert_close(alone.frames()[0], together, 1e-6)


def test_what_is_no_force_is_refused(compiled):
    scene, d = compiled
    with ForceTwin(scene, simulation(d, *start(d)), constrained=False) as twin:
        for tau in (1.0, [1.0, 2.0], np.zeros((2, d.nv)), [np.nan] * 6, ["1"] * 6):
            with pytest.raises(rd.StateError, match="'tau' must be 6 finite numbers"):
                twin.push(tau)
        with pytest.raises(rd.StateError, match="'choice' is for a twin whose joints are held"):
            twin.step(choice="force")
    for at in ((0, 0), (0, 0, np.inf), "here"):
        with pytest.raises(rd.StateError, match="'at' must be three finite numbers"):
            ForceTwin(scene, simulation(d, *start(d)), at=at)


def test_parameters_have_the_values_of_the_simulation():
    scene = Scene()
    load = scene.parameter("load", 1.0)
    scene.world.attach(Body("load", mass=load, inertia=np.eye(3)), joints.prismatic("x"))
    sim = rd.Simulation(scene.compile(), 1e-3)
    sim.parameters["load"] = 4.0
    with ForceTwin(scene, sim) as twin:
        body = twin.bullet_bodies["load"]
        assert pybullet.getDynamicsInfo(body, -1, twin.client)[0] == 4.0
        twin.step([8.0], count=10)
        assert_close(twin.state()[1], [0.02], 1e-6)

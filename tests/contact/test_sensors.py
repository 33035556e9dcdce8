"""Sensors against closed forms: what an accelerometer, a joint's force and a touched surface read."""

import copy
import pickle

import numpy as np
import pytest
from contact_scenes import mirror, put

import recursive_dyn as rd
from bridge import Plugin, PyBulletMirror
from scene import Body, Scene, joints, shapes

G, H = 9.81, 1 / 240
INTEGRATORS = ("semi_implicit_euler", "rk4", "implicit_midpoint")
PLACE = rd.pose((0.2, -0.1, 0.4), (0.3, -0.7, 1.1))


def falling(omega=(0.0, 0.0, 0.0)) -> rd.Simulation:
    scene = Scene()
    scene.world.attach(Body("box", mass=2.0, inertia=np.eye(3) * 0.3), joints.free())
    sim = rd.Simulation(scene.compile(), H, "rk4")
    sim.v = [*omega, 0.5, 0.0, -0.2]
    return sim


def arm(**settings) -> Scene:
    """Upper arm and forearm, and a hand that is welded on; the second hinge is at (0.5, 0, 0) of the first body."""
    scene = Scene()
    rod = {"mass": 1.5, "center_of_mass": (0.25, 0, 0.02), "inertia": np.diag([0.01, 0.05, 0.04])}
    upper = scene.world.attach(Body("upper", **rod), joints.revolute("y", **settings))
    fore = upper.attach(Body("fore", **rod), joints.revolute("z", **settings), at=rd.pose((0.5, 0, 0)))
    fore.attach(Body("hand", mass=0.4, inertia=np.eye(3) * 1e-3), joints.fixed(), at=rd.pose((0.5, 0, 0.1)))
    return scene


def test_nothing_is_felt_in_free_fall():
    """Where a body turns, what is away from its centre is drawn towards it: omega x (omega x r)."""
    for omega in (np.zeros(3), np.array([0.3, -2.0, 1.1])):
        sim = falling(omega)
        sim.sensors.imu("middle", "box")
        sim.sensors.imu("side", "box", at=PLACE)
        for _ in range(3):
            np.testing.assert_allclose(sim.sensors["middle"], [*sim.v[:3], 0, 0, 0], atol=1e-12)
            drawn = np.cross(sim.v[:3], np.cross(sim.v[:3], PLACE[:3, 3])) @ PLACE[:3, :3]
            np.testing.assert_allclose(sim.sensors["side"], [*(sim.v[:3] @ PLACE[:3, :3]), *drawn], atol=1e-10)
            sim.step()


def test_forces_of_the_user_are_felt_in_the_step_that_they_act_in():
    sim = falling()
    sim.sensors.imu("imu", "box", at=PLACE)
    sim.apply_force("box", (6.0, 0, 0))
    sim.apply_torque("box", (0, 0.3, 0))
    sim.step()
    R = sim.frames()[0][0, :3, :3] @ PLACE[:3, :3]
    arm = sim.frames()[0][0, :3, :3] @ PLACE[:3, 3]
    felt = np.array([3.0, 0, 0]) + np.cross([0, 1.0, 0], arm)
    np.testing.assert_allclose(sim.sensors["imu"][3:], felt @ R, atol=1e-3)  # it turns by 4e-3 rad/s in the step
    sim.step()
    np.testing.assert_allclose(sim.sensors["imu"][3:], 0.0, atol=1e-4)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_at_rest_on_the_ground_it_reads_g_upwards_and_touch_the_weight(integrator):
    """On its side, by 90 degrees about x: what is up is -y of the body."""
    scene = Scene()
    turned = rd.pose((0.3, 0, 0.1), (np.pi / 2, 0, 0))
    put(scene, "box", shapes.Box((0.4, 0.2, 0.6)), turned, mass=3.0)
    with mirror(scene, H, integrator) as shown:
        sim = shown.sim
        sim.sensors.imu("imu", "box", at=PLACE)
        sim.sensors.touch("ground", "box")
        for _ in range(60):
            shown.step()
        up = np.array([0.0, 1.0, 0.0])
        np.testing.assert_allclose(sim.sensors["imu"][:3], 0.0, atol=1e-6)
        np.testing.assert_allclose(sim.sensors["imu"][3:], G * up @ PLACE[:3, :3], atol=1e-3)
        np.testing.assert_allclose(sim.sensors["ground"], [0, 0, 0, *(3.0 * G * up)], atol=1e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_spinning_arm_reads_the_centripetal_acceleration(integrator):
    """omega^2 r towards the axis, at the end of an arm that a motor keeps turning."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("arm", mass=1.0, inertia=np.eye(3)), joints.revolute("z"))
    sim = rd.Simulation(scene.compile(), H, integrator)
    sim.sensors.imu("end", "arm", at=rd.pose((0.8, 0, 0)))
    sim.v = [3.0]
    for _ in range(20):
        sim.step()
        np.testing.assert_allclose(sim.sensors["end"], [0, 0, 3.0, -9.0 * 0.8, 0, 0], atol=1e-9)
    sim.motors["arm.angle"] = rd.Motor(velocity=3.0)
    sim.step()
    np.testing.assert_allclose(sim.sensors["end"], [0, 0, 3.0, -9.0 * 0.8, 0, 0], atol=1e-9)
    sim.motors["arm.angle"] = rd.Motor(velocity=9.0, max_force=2.5)  # 2.5 rad/s^2
    sim.step()
    assert sim.sensors["end"][4] == pytest.approx(2.5 * 0.8)


@pytest.mark.parametrize("hold", ["motors", "friction", "springs", "limits", "tau"])
def test_the_force_in_a_joint_is_the_weight_of_what_hangs_on_it(hold):
    """At rest, whatever holds it: in body axes, about the joint or any place; a welded body's joint carries too."""
    settings = {"friction": {"friction": 40.0}, "springs": {"stiffness": 1e5, "damping": 300.0}}
    scene = arm(**settings.get(hold, {}))
    if hold == "limits":
        scene["upper"].joint = scene["upper"].joint.adjusted(limits=(-1.0, 0.0))
        scene["fore"].joint = scene["fore"].joint.adjusted(friction=40.0)
    dynamics = scene.compile()
    sim = rd.Simulation(dynamics, H)
    if hold == "motors":
        for name in dynamics.velocity_coordinates:
            sim.motors[name] = rd.Motor(position=0.0)
    if hold == "tau":
        sim.control = lambda q, v, t: dynamics.gravity(q)
    for name in ("upper", "fore", "hand"):
        sim.sensors.force(name, name)
    sim.sensors.force("elsewhere", "fore", at=PLACE)
    sim.step(480)
    X = dynamics.poses(sim.q)
    heavy = np.array([0.0, 0.0, G])
    loads = {"hand": [(2, (0, 0, 0), 0.4)]}
    loads["fore"] = [(1, (0.25, 0, 0.02), 1.5), *loads["hand"]]
    loads["upper"] = [(0, (0.25, 0, 0.02), 1.5), *loads["fore"]]
    for k, name in enumerate(("upper", "fore", "hand")):
        arms = [X[i, :3, :3] @ at + X[i, :3, 3] - X[k, :3, 3] for i, at, _ in loads[name]]
        force = sum(mass for *_, mass in loads[name]) * heavy
        moment = sum(np.cross(r, mass * heavy) for r, (*_, mass) in zip(arms, loads[name], strict=True))
        expected = np.concatenate([moment @ X[k, :3, :3], force @ X[k, :3, :3]])
        np.testing.assert_allclose(sim.sensors[name], expected, atol=2e-3)
        if name == "fore":
            moved = expected[:3] - np.cross(PLACE[:3, 3], expected[3:])
            elsewhere = np.concatenate([moved @ PLACE[:3, :3], expected[3:] @ PLACE[:3, :3]])
            np.testing.assert_allclose(sim.sensors["elsewhere"], elsewhere, atol=2e-3)


def test_what_stands_on_a_hand_is_felt_in_its_joint_and_on_its_skin():
    """A tray on a slider, a box on it: the joint carries both, touch the box alone; motors say as much."""
    scene = Scene()
    tray = Body("tray", [shapes.Box((0.6, 0.6, 0.1))], mass=2.0)
    scene.world.attach(tray, joints.prismatic("z"), at=rd.pose((0, 0, 1)))
    put(scene, "box", shapes.Box((0.2, 0.2, 0.2)), rd.pose((0.1, 0.05, 1.15)), mass=3.0)
    with mirror(scene, H, "semi_implicit_euler", ground=False) as shown:
        sim = shown.sim
        sim.motors["tray.distance"] = rd.Motor(position=0.0, kp=1e5)
        sim.sensors.force("mount", "tray")
        sim.sensors.touch("skin", "tray")
        for _ in range(240):
            shown.step()
        box = np.array([-0.05 * 3 * G, 0.1 * 3 * G, 0, 0, 0, -3 * G])  # r x f at (0.1, 0.05)
        np.testing.assert_allclose(sim.sensors["skin"], box, atol=5e-3)
        np.testing.assert_allclose(sim.sensors["mount"], [*-box[:3], 0, 0, 5 * G], atol=5e-3)
        assert sim.motor_forces["tray.distance"].force == pytest.approx(5 * G, abs=5e-3)


def test_readings_travel_and_change_nothing():
    sim, twin = falling((0.3, 1.0, 0.2)), falling((0.3, 1.0, 0.2))
    sim.sensors.imu("imu", "box", at=PLACE)
    for _ in range(5):
        sim.apply_force("box", (1.0, 2.0, 0.0))
        twin.apply_force("box", (1.0, 2.0, 0.0))
        sim.step()
        twin.step()
        read = sim.sensors["imu"]
    np.testing.assert_array_equal(sim.q, twin.q)
    for other in (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        np.testing.assert_array_equal(other.sensors["imu"], read)
    snapshot = sim.snapshot()
    sim.step(3)
    sim.restore(snapshot)
    np.testing.assert_array_equal(sim.sensors["imu"], read)
    assert list(sim.sensors) == ["imu"]
    del sim.sensors["imu"]
    assert not sim.sensors


def test_sensors_stay_on_the_bodies_that_stay():
    scene = arm()
    sim = rd.Simulation(scene.compile(), H)
    for name in ("upper", "hand"):
        sim.sensors.imu(name, name)
    scene["hand"].detach()
    sim.update(scene.compile())
    assert list(sim.sensors) == ["upper"] and np.isfinite(sim.sensors["upper"]).all()


def test_sensors_that_make_no_sense():
    sim = falling()
    sim.sensors.imu("imu", "box")
    with pytest.raises(rd.StateError, match="a sensor 'imu' already"):
        sim.sensors.touch("imu", "box")
    with pytest.raises(rd.ModelError, match="unknown body 'bax'"):
        sim.sensors.imu("other", "bax")
    for at in (np.eye(3), 2 * np.eye(4), np.full((4, 4), np.nan), "here"):
        with pytest.raises(rd.StateError, match=r"sensor 'other': at is a pose \(4, 4\)"):
            sim.sensors.imu("other", "box", at=at)


def test_a_touch_in_a_step_of_many_parts_is_that_of_the_whole_step():
    """A ball falls at 20 m/s on a board that it would pass: m (v - v0) / h + m g."""
    scene, h = Scene(), 1 / 60
    scene.world.shapes.append(shapes.Box((2, 2, 0.2), at=rd.pose((0, 0, -0.1)), material=rd.Material(0.5)))
    scene.world.attach(Body("ball", [shapes.Sphere(0.05)], mass=1.0), joints.free(), at=rd.pose((0, 0, 0.3)))
    sim = rd.Simulation(scene.compile(), h)
    sim.v[5] = -20.0
    sim.sensors.touch("touch", "ball")
    with PyBulletMirror(scene, sim, gui=False, ground=False) as shown:
        shown.step()
        assert sim.solution.substeps > 5
        assert sim.sensors["touch"][5] == pytest.approx((sim.v[5] + 20.0) / h + 9.81, rel=1e-9)
        assert sum(c.impulse[2] for c in shown.contacts) / h == pytest.approx(sim.sensors["touch"][5], rel=1e-9)


@pytest.mark.parametrize("collisions", ["closed form", "bullet"])
@pytest.mark.parametrize("restitution", [0.5, 1.0])
@pytest.mark.parametrize("speed", [5.0, 30.0])
def test_a_touch_that_is_over_when_the_step_ends_is_felt(speed, restitution, collisions):
    """A box hits a wall with a corner, at 1/60 s, and is off it again within the step: what it felt is what changed its
    momentum and its spin. (The moment of a step that is not cut is about where the box is as it ends.)"""
    scene, rubber = Scene(gravity=(0, 0, 0)), rd.Material(friction=0.3, restitution=restitution)
    scene.world.shapes.append(shapes.Box((0.5, 20, 20), at=rd.pose((2, 0, 0)), material=rubber))
    box = Body("box", [shapes.Box((0.2, 0.2, 0.2), material=rubber)], mass=2.0)
    scene.world.attach(box, joints.free(), at=rd.pose(rpy=(0.2, 0.3, 0)))
    with Plugin(scene, 1 / 60, collisions=collisions) as game:
        sim = game.simulation
        turn, inertia, felt = sim.dynamics.poses(sim.q)[0, :3, :3], 2.0 * 0.04 / 6.0, 0.0
        sim.v[3:] = turn.T @ [speed, 0.3, 0]
        for _ in range(round(120 / speed)):
            before = sim.dynamics.velocities(sim.q, sim.v)[0]
            game.step()
            change = (sim.dynamics.velocities(sim.q, sim.v)[0] - before) * np.repeat([inertia, 2.0], 3)
            found, about = sim.contact_wrench(box) / 60, 1e-9 if sim.solution.substeps > 1 else 2e-3
            np.testing.assert_allclose(found[3:], change[3:], atol=1e-9 * speed)
            np.testing.assert_allclose(found[:3], change[:3], atol=about * speed)
            felt += np.abs(change[3])
        assert felt > speed

"""Bullet's multibody of a robot file beside ours, under the same generalized forces, as wrenches and as torques."""

from functools import cache
from pathlib import Path

import numpy as np
import pybullet
import pytest

import recursive_dyn as rd
from bridge import MultibodyTwin
from recursive_dyn.control import ComputedTorque
from scene import Body, Scene, joints

pybullet_data = pytest.importorskip("pybullet_data")
FOLDER = Path(pybullet_data.getDataPath())
KUKA, LAIKAGO, HUMANOID = "kuka_iiwa/model.urdf", "laikago/laikago.urdf", "humanoid/humanoid.urdf"
R2D2 = "r2d2.urdf"
ROUNDING = 1e-6  # Bullet's file reader has inertias and places in single precision
WAYS = ("wrenches", "torques")


@cache
def robot(name, fixed, prefix=""):
    scene = Scene()
    scene.add_urdf(FOLDER / name, prefix=prefix, fixed_base=fixed, at=rd.pose((0.1, -0.2, 0.3), (0.2, 0.1, 0.4)))
    return scene, scene.compile()


def moving(dynamics, h, seed=0, away=0.2):
    """A simulation within the limits, with velocities."""
    rng, sim = np.random.default_rng(seed), rd.Simulation(dynamics, h, "semi_implicit_euler")
    v = rng.normal(size=dynamics.nv)
    sim.q = dynamics.integrate(dynamics.neutral(), away * rng.uniform(-1, 1, dynamics.nv), 1.0)
    sim.v = 0.5 * v
    return sim


@pytest.mark.parametrize("forces", WAYS)
def test_an_arm_moves_in_bullet_as_it_does_in_ours(forces):
    """The same recursion and the same rule of integration: equal but for rounding, stiff dampers of joints included."""
    scene, d = robot(KUKA, True, "arm/")
    sim = moving(d, 1 / 240)
    sim.tau = tau = np.array([5.0, -20.0, 3.0, 4.0, 0.5, 0.3, 0.02])
    with MultibodyTwin(scene, sim, FOLDER / KUKA, "arm/", forces=forces, at=(1, 2, 3)) as twin:
        for found, ours in zip(twin.frames(), (d.poses(sim.q), d.velocities(sim.q, sim.v)), strict=True):
            np.testing.assert_allclose(found, ours, atol=2 * ROUNDING)
        twin.step(tau, count=120)
        sim.step(120)
        for found, ours in zip(twin.frames(), (d.poses(sim.q), d.velocities(sim.q, sim.v)), strict=True):
            np.testing.assert_allclose(found, ours, atol=20 * ROUNDING)
        q, v = twin.state()
        np.testing.assert_allclose(q, sim.q, atol=20 * ROUNDING)
        np.testing.assert_allclose(v, sim.v, atol=100 * ROUNDING)
        assert twin.time == pytest.approx(0.5)


@pytest.mark.parametrize("forces", WAYS)
def test_a_floating_robot_comes_to_ours_at_first_order(forces):
    """Its base turns as it flies, which each of the two integrates in its own coordinates."""
    scene, d = robot(LAIKAGO, False)
    tau = np.concatenate([np.zeros(6), np.random.default_rng(1).normal(size=d.nv - 6)])
    away = []
    for h in (1 / 240, 1 / 960):
        sim = moving(d, h)
        sim.tau = tau
        with MultibodyTwin(scene, sim, FOLDER / LAIKAGO, forces=forces) as twin:
            twin.step(tau, count=round(0.1 / h))
            sim.step(round(0.1 / h))
            away.append(np.abs(twin.frames()[0] - d.poses(sim.q)).max())
    assert away[0] < 1e-3 and away[1] < 0.35 * away[0]


def test_what_has_passed_the_limits_of_its_file_moves_on_as_ours_without_them():
    """r2d2's grippers, beyond limits that Bullet reads as well: a rounding apart, where limits of a file stopped it."""
    scene = Scene.from_urdf(FOLDER / R2D2, fixed_base=True)
    limited = scene.compile()
    for body in scene.bodies:
        if body.joint.coordinates:
            body.joint = body.joint.adjusted(limits=(-np.inf, np.inf))
    sim = rd.Simulation(scene.compile(), 1 / 240)
    sim.v = np.array([1.0, -1.0, 2.0, 0.5, -0.9, 1.2, -2.0, 3.0])
    with MultibodyTwin(scene, sim, FOLDER / R2D2) as twin:
        twin.step(count=240)
        sim.step(240)
        assert sim.q[4] < limited.limits[4, 0] - 0.2 and sim.q[5] > limited.limits[5, 1] + 0.2
        np.testing.assert_allclose(twin.frames()[0], sim.frames()[0], atol=20 * ROUNDING)
    other = rd.Simulation(limited, 1 / 240)
    other.v = sim.v
    with (
        MultibodyTwin(scene, other, FOLDER / R2D2) as twin,
        pytest.warns(RuntimeWarning, match="gripper.*limits.*stops"),
    ):
        twin.step(count=240)


@pytest.mark.parametrize("forces", WAYS)
def test_at_rest_balls_are_accelerated_alike(forces):
    """Only at rest: the momentum of a floating multibody whose balls turn is not kept by Bullet."""
    scene, d = robot(HUMANOID, False)
    sim = rd.Simulation(d, 1e-5)
    bend = np.array([0.3 if "elbow" in name else -0.3 if "knee" in name else 0.1 for name in d.velocity_coordinates])
    sim.q = d.integrate(d.neutral(), bend, 1.0)
    sim.tau = tau = np.concatenate([np.zeros(6), np.random.default_rng(2).normal(size=d.nv - 6)])
    with MultibodyTwin(scene, sim, FOLDER / HUMANOID, forces=forces) as twin:
        twin.step(tau)
        sim.step()
        a = sim.v / sim.timestep
        np.testing.assert_allclose(twin.state()[1] / sim.timestep, a, atol=1e-4 * np.abs(a).max())


def test_a_controller_of_coordinates_drives_it():
    scene, d = robot(KUKA, True)
    goal = d.integrate(d.neutral(), np.array([0.4, 0.3, -0.3, 0.5, 0.2, -0.4, 0.3]), 1.0)
    for choice in ({}, {"choice": "minimum"}):
        with MultibodyTwin(scene, rd.Simulation(d, 1 / 240), FOLDER / KUKA) as twin:
            twin.step(ComputedTorque(d, goal), count=360, **choice)
            q, v = twin.state()
        assert np.abs(d.difference(q, goal)).max() < 1e-3 and np.abs(v).max() < 1e-2


def test_it_leaves_a_connection_as_it_was():
    scene, d = robot(KUKA, True)
    client = pybullet.connect(pybullet.DIRECT)
    try:
        with MultibodyTwin(scene, rd.Simulation(d), FOLDER / KUKA, client=client, color=(1, 0, 0, 1)) as twin:
            assert pybullet.getNumBodies(client) == 1
            assert pybullet.getBodyInfo(twin.bullet_body, client)[1] == b"lbr_iiwa"
        assert pybullet.getNumBodies(client) == 0
        twin.close()
        with pytest.raises(rd.StateError, match="closed"):
            twin.step()
    finally:
        pybullet.disconnect(client)


def test_what_bullet_has_otherwise_is_named():
    def refused(name, message, change=lambda scene: None, error=rd.ModelError, **given):
        scene = Scene.from_urdf(FOLDER / name, fixed_base=True)
        change(scene)
        with pytest.raises(error, match=message):
            MultibodyTwin(scene, rd.Simulation(scene.compile()), FOLDER / name, **given)

    refused("franka_panda/panda.urdf", "'panda_.*finger' is none that Bullet has as we do: .* no follower")
    refused("mini_cheetah/mini_cheetah.urdf", "link 'thigh_fr' is 0.634 kg with moments .* which drops inertias")
    refused(KUKA, "link 'b/lbr_iiwa_link_0' of the robot file is no body of the scene; see 'prefix'", prefix="b/")
    refused(KUKA, "forces are 'wrenches' or 'torques', not 'both'", error=rd.StateError, forces="both")
    refused(KUKA, "'at' must be three finite numbers", error=rd.StateError, at=(0, 0))

    def rotor(scene):
        scene["lbr_iiwa_link_3"].joint = scene["lbr_iiwa_link_3"].joint.adjusted(armature=0.1)

    def tied(scene):
        scene.constrain(scene["lbr_iiwa_link_3"].q[0] - scene["lbr_iiwa_link_5"].q[0], name="tie")

    def invented(scene):
        arm = scene["lbr_iiwa_link_7"]
        arm.joint = joints.universal("x", "y")

    refused(KUKA, "'lbr_iiwa_link_3.*' has a rotor's inertia", rotor)
    refused(KUKA, "constraint 'tie' is none that Bullet reads", tied)
    refused(KUKA, "the joint of 'lbr_iiwa_link_7' is none that Bullet has", invented)
    other = Scene()
    other.world.attach(Body("lbr_iiwa_link_0", mass=1.0, inertia=np.eye(3)), joints.revolute("z"))
    with pytest.raises(rd.ModelError, match="'lbr_iiwa_link_1' of the robot file is no body"):
        MultibodyTwin(other, rd.Simulation(other.compile()), FOLDER / KUKA)


def test_what_is_no_force_is_refused():
    scene, d = robot(LAIKAGO, False)
    with MultibodyTwin(scene, rd.Simulation(d), FOLDER / LAIKAGO, forces="torques") as twin:
        for tau in (1.0, np.zeros(3), [np.nan] * d.nv):
            with pytest.raises(rd.StateError, match=f"'tau' must be {d.nv} finite numbers"):
                twin.push(tau)
        with pytest.raises(rd.StateError, match=r"tau at 'chassis.*' is no torque of a joint of Bullet's"):
            twin.push(np.ones(d.nv))
        with pytest.raises(rd.StateError, match="'choice' is for wrenches"):
            twin.push(choice="force")

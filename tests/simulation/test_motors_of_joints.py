"""Motors on whole joints, and within what floats: momenta, balls driven as hinges, poses of free bodies."""

import numpy as np
import pytest
from trees import chain_of_hinges

import recursive_dyn as rd
from recursive_dyn.contact.contacts import Contacts
from recursive_dyn.spatial.rotations import quaternion_exp
from scene import Body, Scene, joints

INTEGRATORS = ("semi_implicit_euler", "rk4", "implicit_midpoint")
H = 1 / 240


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_motors_within_a_floating_robot_keep_its_momentum(integrator):
    """Linear, and angular about its centre of mass."""

    def measured() -> np.ndarray:
        angular, linear = np.split(d.momentum(sim.q, sim.v), 2)
        return np.append(angular - np.cross(d.center_of_mass(sim.q), linear), linear)

    d = chain_of_hinges(1, joints.free(), 4)
    sim, rng = rd.Simulation(d, H, integrator), np.random.default_rng(2)
    sim.detect = lambda sim: Contacts.none()
    sim.v = rng.normal(size=d.nv)
    before = measured()
    for name in d.velocity_coordinates[6:]:
        sim.motors[name] = rd.Motor(position=0.5, max_force=rng.uniform(1.0, 20.0))
    sim.step(240)
    np.testing.assert_allclose(measured(), before, atol=1e-11)
    assert abs(sim.q[7:]).min() > 0.1


@pytest.mark.parametrize("detects", [False, True])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_motor_on_a_free_body_changes_its_momentum_by_its_impulse(integrator, detects):
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("ball", mass=2.0, inertia=np.eye(3) * 0.1), joints.free())
    sim = rd.Simulation(scene.compile(), H, integrator)
    sim.detect = (lambda sim: Contacts.none()) if detects else None
    sim.motors["ball"] = rd.Motor(velocity=(0, 0, 1.0, 0.5, 0, 0), max_force=3.0)
    for _ in range(5):
        before = sim.v.copy()
        sim.step()
        told = np.array([sim.coordinate_impulses[f"motor of ball.{c}"] for c in ("wx", "wy", "wz", "vx", "vy", "vz")])
        turned = np.concatenate([sim.v[:3], sim.v[3:] - H * np.cross(before[3:], sim.v[:3])])  # in its own axes
        np.testing.assert_allclose(np.repeat([0.1, 2.0], 3) * (turned - before), told, atol=1e-4)
    assert sim.v[2] == pytest.approx(5 * H * 3.0 / 0.1) and sim.v[3] == pytest.approx(5 * H * 3.0 / 2.0, rel=1e-3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_ball_joint_turns_as_a_hinge_about_the_same_axis(integrator):
    """A ball of equal moments of inertia, driven to a quaternion: its angle is a hinge's, which is driven there."""
    axis = np.array([2.0, -1.0, 0.5]) / np.sqrt(5.25)
    ends = []
    for joint in (joints.revolute(axis), joints.ball()):
        scene = Scene(gravity=(0, 0, 0))
        scene.world.attach(Body("body", mass=1.0, inertia=np.eye(3) * 0.2), joint)
        sim = rd.Simulation(scene.compile(), H, integrator)
        whole = sim.dynamics.nv == 3
        target = quaternion_exp(1.9 * axis) if whole else 1.9
        sim.motors["body" if whole else "body.angle"] = rd.Motor(position=target, kp=80.0, kd=4.0)
        turns = []
        for _ in range(60):
            sim.step()
            x = sim.q[:3] @ axis if whole else np.sin(sim.q[0] / 2)
            turns.append(2 * np.arcsin(x))
        ends.append(turns)
    # rk4 moves the quaternion's four numbers, to its order
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-7 if integrator == "rk4" else 1e-10)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_free_body_is_driven_to_a_pose_a_place_or_an_orientation(integrator):
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("ball", mass=2.0, inertia=np.diag([0.1, 0.2, 0.15])), joints.free())
    d = scene.compile()
    place, turn = np.array([0.3, -0.8, 0.5]), quaternion_exp(np.array([0.4, -1.1, 2.0]))
    start = d.integrate(d.neutral(), np.array([0.3, 0.2, -0.5, 0.1, 0.2, -0.3]), 1.0)
    for target, moves, turns in ((place, True, False), (turn, False, True), (np.append(place, turn), True, True)):
        sim = rd.Simulation(d, H, integrator)
        sim.q = start
        sim.motors["ball"] = rd.Motor(position=target)
        sim.step(480)
        np.testing.assert_allclose(sim.q[:3], place if moves else start[:3], atol=1e-9)
        np.testing.assert_allclose(abs(sim.q[3:] @ (turn if turns else start[3:])), 1.0, atol=1e-12)
        assert sorted(sim.coordinate_impulses) == sorted(
            f"motor of ball.{c}" for c in ("wx", "wy", "wz") * turns + ("vx", "vy", "vz") * moves
        )

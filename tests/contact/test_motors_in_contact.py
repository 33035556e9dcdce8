"""Robots held by motors on the ground: default gains hold them up, any gains are stable, no bound is passed."""

from functools import cache
from pathlib import Path

import numpy as np
import pybullet_data
import pytest
from contact_scenes import INTEGRATORS, energy

import recursive_dyn as rd
from bridge import PyBulletMirror
from demos.benchmark.contact.robots import HINGES, LEGS, STANDING_HEIGHT, STANDING_POSE, laikago
from recursive_dyn.spatial.rotations import quaternion_exp
from scene import Scene


@cache
def robot(folder: Path) -> tuple[Scene, rd.Dynamics, dict[str, float]]:
    """A Laikago whose feet collide, and the angles it stands with by coordinate."""
    (folder / "laikago.urdf").write_text(laikago(feet_only=True))
    scene = Scene.from_urdf(folder / "laikago.urdf", fixed_base=False)
    angles = {
        f"{scene.joint_names[f'{leg}_{hinge}']}.angle": angle
        for leg, pose in zip(LEGS, STANDING_POSE, strict=True)
        for hinge, angle in zip(HINGES, pose, strict=True)
    }
    return scene, scene.compile(), angles


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """mirror(h, integrator, height, **motor) of the robot with a motor in every hinge."""
    scene, dynamics, angles = robot(tmp_path_factory.mktemp("laikago"))

    def make(h: float, integrator: str, height: float, **motor) -> PyBulletMirror:
        sim = rd.Simulation(dynamics, h, integrator)
        sim.q[2] = STANDING_HEIGHT + height
        for name, angle in angles.items():
            sim.q[dynamics.coordinates.index(name)] = angle
            sim.motors[name] = rd.Motor(position=angle, **motor)
        return PyBulletMirror(scene, sim, gui=False, renderer="tiny")

    make.error = lambda sim: max(abs(sim.q[dynamics.coordinates.index(n)] - a) for n, a in angles.items())
    return make


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("h", [1 / 240, 1 / 60])
def test_gains_that_nobody_chose_hold_a_robot_up(standing, h, integrator):
    """By the inertia that a leg carries when it stands: the trunk sinks by less than a millimetre."""
    with standing(h, integrator, 1e-4) as shown:
        for _ in range(round(1.0 / h)):
            shown.step()
        assert abs(shown.sim.q[2] - STANDING_HEIGHT) < 1e-3
        assert standing.error(shown.sim) < 2e-3
        assert np.abs(shown.sim.v).max() < 1e-6
        assert shown.sim.solution.converged and not any(f.saturated for f in shown.sim.motor_forces.values())


@pytest.mark.parametrize("kd", [0.0, 1e3])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_no_gain_is_too_stiff_for_a_robot_that_falls_on_its_feet(standing, integrator, kd):
    """10^7 N m/rad at 60 steps a second: energy never exceeds what it fell with, and it stands as it should."""
    with standing(1 / 60, integrator, 0.3, kp=1e7, kd=kd, max_force=np.inf) as shown:
        first = energy(shown.sim)
        for _ in range(90):
            shown.step()
            assert energy(shown.sim) <= first + 1e-9
            assert standing.error(shown.sim) < 1e-3
        assert abs(shown.sim.q[2] - STANDING_HEIGHT) < 1e-3
        assert np.abs(shown.sim.v).max() < 1e-9


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_no_motor_is_stronger_than_its_bound(standing, integrator):
    """It lands hard on motors that are too weak for it: each gives what it has, and no more, and it sinks.

    Its file's 100 N m are the bound where nobody says one.
    """
    saturated = 0
    with standing(1 / 240, integrator, 0.3) as shown:
        shown.step()
        assert {f.most for f in shown.sim.motor_forces.values()} == {100.0}
    with standing(1 / 240, integrator, 0.3, max_force=8.0) as shown:
        for _ in range(240):
            shown.step()
            forces = shown.sim.motor_forces
            assert len(forces) == 12 and max(abs(f.force) for f in forces.values()) <= 8.0 * (1 + 1e-9)
            saturated += sum(f.saturated for f in forces.values())
        assert saturated > 50 and shown.sim.q[2] < STANDING_HEIGHT - 0.02


def test_gains_that_nobody_chose_hold_an_arm_of_ball_joints_level():
    """PyBullet's humanoid, in the air by its base: its arms turn to the side, and sag by less than half a degree."""
    scene = Scene.from_urdf(Path(pybullet_data.getDataPath()) / "humanoid" / "humanoid.urdf", fixed_base=True)
    dynamics = scene.compile()
    sim = rd.Simulation(dynamics, 1 / 240)
    wanted = {f"{side}_shoulder": quaternion_exp(np.array([sign * 1.2, 0.0, 0.0])) for side, sign in
              (("left", -1.0), ("right", 1.0))}  # fmt: skip
    whole = ("chest", "neck", "right_hip", "right_ankle", "right_shoulder", "left_hip", "left_ankle", "left_shoulder")
    for name in whole:
        sim.motors[name] = rd.Motor(position=wanted.get(name, (0, 0, 0, 1)))
    for name in ("right_knee", "left_knee", "right_elbow", "left_elbow"):
        sim.motors[f"{name}.angle"] = rd.Motor(position=0.0)
    sim.step(480)
    names = dynamics.coordinates
    for name in whole:
        at = names.index(f"{name}.qx")
        q = sim.q[at : at + 4]
        assert 2 * np.arccos(min(1.0, abs(q @ wanted.get(name, np.array([0, 0, 0, 1.0]))))) < np.radians(0.5)
    assert np.abs(sim.v).max() < 1e-6

"""Robots that ship with PyBullet, as users load them: dropped, held or overlapping, nothing jumps or is lost."""

import re
import warnings
from pathlib import Path

import numpy as np
import pybullet_data
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.bodies import colliders
from recursive_dyn.contact.tuning import PUSH_ARM, PUSH_SPEED
from scene import Scene, shapes
from scene.mass_properties import MassProperties

FOLDER = Path(pybullet_data.getDataPath())
FIXED = {"panda": "franka_panda/panda.urdf"}
FIXED_TOO = {
    "kuka": "kuka_iiwa/model.urdf",
    "xarm": "xarm/xarm6_robot.urdf",
    "xarm with its gripper": "xarm/xarm6_with_gripper.urdf",
    "pr2 gripper": "pr2_gripper.urdf",
}
FLOATING = {"a1": "a1/a1.urdf"}
FLOATING_TOO = {
    "laikago": "laikago/laikago.urdf",
    "laikago with toes": "laikago/laikago_toes.urdf",
    "mini_cheetah": "mini_cheetah/mini_cheetah.urdf",
    "humanoid": "humanoid/humanoid.urdf",
    "aliengo": "aliengo/aliengo.urdf",
    "racecar": "racecar/racecar.urdf",
    "minitaur": "quadruped/minitaur.urdf",
    "vision60": "quadruped/vision60.urdf",
    "spirit40": "quadruped/spirit40.urdf",
    "r2d2": "r2d2.urdf",
}
ROBOTS = FIXED | FLOATING | FIXED_TOO | FLOATING_TOO
CASES = [pytest.param(name, marks=[pytest.mark.slow] if name in FIXED_TOO | FLOATING_TOO else []) for name in ROBOTS]
OVERLAPS = {  # what is told first
    "panda": "'panda_link5' and 'panda_hand' by 41.4 mm",
    "pr2 gripper": "'(left|right)_gripper' and 'world' by 27.6 mm",
    "xarm with its gripper": "'(left|right)_finger' and 'world' by 50.1 mm",
    "vision60": "'hip[0-3]' and 'toe[0-3]' by 8 mm",
    "humanoid": "'(left|right)_shoulder' and 'world' by 212 mm",  # its file lays it on its back
}


@pytest.mark.parametrize("name", CASES)
def test_a_robot_moves_without_a_jump(name, monkeypatch):
    """A coordinate moves by its velocity and, as two bodies may be pushed against each other, by twice the push speed.

    Where a step is cut into parts nobody tells the velocities between them. Hollow meshes are filled: that takes no
    time to cut them, and overlaps are the worse.
    """
    monkeypatch.setattr(colliders, "hulls", lambda shape: None)
    fixed, scene = name in FIXED | FIXED_TOO, Scene()
    scene.add_urdf(FOLDER / ROBOTS[name], at=rd.pose((0, 0, 0 if fixed else 0.7)), fixed_base=fixed)
    dynamics = scene.compile()
    for h, steps in ((1 / 240, 240), (1 / 60, 60)):
        sim = rd.Simulation(dynamics, h)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            shown = PyBulletMirror(scene, sim, gui=False)
        with shown:
            _check_told(name, shown, [str(w.message) for w in told])
            whole = 0
            for _ in range(steps):
                q, v = sim.q.copy(), sim.v.copy()
                shown.step()
                way = np.abs(dynamics.difference(q, sim.q))
                flown = h * (np.maximum(np.abs(v), np.abs(sim.v)) + np.abs(sim.v - v))
                if sim.solution.substeps == 1:
                    whole += 1
                    assert (way - flown).max() < 2.0 * h * PUSH_SPEED / PUSH_ARM
            assert whole > steps / 4
            assert np.isfinite(sim.q).all() and np.abs(sim.v).max() < 50.0


def _check_told(name: str, shown: PyBulletMirror, told: list[str]) -> None:
    if name not in OVERLAPS:
        assert told == [] and shown.overlaps == ()
        return
    (message,) = told
    assert re.match(f"bodies overlap at the start: {OVERLAPS[name]}[,.]", message)
    assert f"'{shown.overlaps[0].body_a}' and '{shown.overlaps[0].body_b}'" in message


def test_a_robot_without_self_collision_is_left_alone():
    """The panda's hull of link 5 and its hand overlap by 41 mm: apart from each other's way, nothing is pushed."""
    scene = Scene.from_urdf(FOLDER / FIXED["panda"], fixed_base=True, self_collision=False)
    sim, alone = (rd.Simulation(scene.compile(), 1 / 240) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with PyBulletMirror(scene, sim, gui=False) as shown:
            shown.step(60)
    alone.step(60)
    np.testing.assert_allclose(sim.q, alone.q, atol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*floats but has no mass")
def test_a_base_without_inertia_that_falls_is_told_by_name_and_what_to_do():
    """Its first joint turns as it does: at the first touch M has no inverse."""
    scene = Scene.from_urdf(FOLDER / "kuka_iiwa/model_vr_limits.urdf", fixed_base=False)
    scene["lbr_iiwa_link_0"].properties = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    scene.world.shapes.append(shapes.Plane())
    sim = rd.Simulation(scene.compile(), 1 / 60)
    with PyBulletMirror(scene, sim, gui=False) as shown:
        sim.q[2] += 0.5
        with pytest.raises(
            rd.StateError, match=r"contacts led to .* at coordinate 'lbr_iiwa_link_0.*give bodies inertia"
        ):
            shown.step(60)
        assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all()

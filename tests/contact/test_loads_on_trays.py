"""What stands on a tray that swings swings on with it, and takes nothing of the swing."""

import numpy as np
import pytest
import sympy as sp
from contact_scenes import energy

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

G, REACH, AMPLITUDE = 9.81, 1.0, 0.5


def kept(h: float, seconds: float) -> float:
    """Share of the energy of its swing that a tray of 1 kg, which keeps level, has left, with 2 kg on it."""
    s, material, scene = sp.Symbol("s", real=True), rd.Material(friction=2.0), Scene()
    swing = sp.eye(4)
    swing[0, 3], swing[2, 3] = REACH * sp.sin(s), -REACH * sp.cos(s)
    tray = Body("tray", [shapes.Box((0.6, 0.6, 0.05), material=material)], mass=1.0)
    scene.world.attach(tray, joints.Joint(swing, s), at=rd.pose((0, 0, 2)))
    x, z = REACH * np.sin(AMPLITUDE), 2.0 - REACH * np.cos(AMPLITUDE)
    box = Body("box", [shapes.Box((0.2, 0.2, 0.1), material=material)], mass=2.0)
    scene.world.attach(box, joints.free(), at=rd.pose((x, 0, z + 0.075)))
    sim = rd.Simulation(scene.compile(), h)
    sim.q[0] = AMPLITUDE
    start = energy(sim)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step(round(seconds / h))
    return 1.0 + (energy(sim) - start) / (3.0 * G * REACH * (1.0 - np.cos(AMPLITUDE)))


@pytest.mark.parametrize("h, within", [(1 / 60, 0.01), (1 / 240, 1e-3)])
def test_a_tray_that_swings_keeps_its_energy(h, within):
    """0.73 of it was left after 5 s at 1/60 s, 0.92 at 1/240: what lies on it does nothing to its coordinate, but half
    of that where the step began, and half of it where it ends, does."""
    assert kept(h, 5.0) == pytest.approx(1.0, abs=within)


def on_joints(kind: str) -> Scene:
    """1 kg that sticks to a tray of 3 kg, which hangs on a ball, or on an arm and a hinge."""
    scene, material = Scene(), rd.Material(friction=3.0)
    tray = Body("tray", [shapes.Box((1, 1, 0.1), at=rd.pose((0, 0, -0.55)), material=material)], mass=3.0)
    if kind == "ball":
        scene.world.attach(tray, joints.ball(), at=rd.pose((0, 0, 1)))
    else:
        arm = Body("arm", [shapes.Box((0.05, 0.05, 1.0), at=rd.pose((0, 0, -0.5)))], mass=1.0)
        scene.world.attach(arm, joints.revolute("y"), at=rd.pose((0, 0, 2)))
        arm.attach(tray, joints.revolute("y"), at=rd.pose((0, 0, -1)))
    box = Body("box", [shapes.Box((0.2, 0.2, 0.1), material=material)], mass=1.0)
    scene.world.attach(box, joints.free(), at=rd.pose((0.2, 0.1, 0.55)))
    return scene


@pytest.mark.parametrize("kind, least", [("ball", 0.002), ("arm", 0.04)])
def test_what_sticks_to_a_tray_on_joints_takes_nothing_of_its_swing(kind, least):
    """In 10 s at 1/60 s, with some 0.5 J in it: on the arm 0.1 J went before."""
    scene = on_joints(kind)
    sim = rd.Simulation(scene.compile(), 1 / 60)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step(60)
        sim.v[: 3 if kind == "ball" else 2] += [0.3, 0.5, 0.2] if kind == "ball" else [0.6, -0.3]
        mirror.step(6)
        start = energy(sim)
        for _ in range(10):
            mirror.step(60)
            assert -least < energy(sim) - start < 0.005

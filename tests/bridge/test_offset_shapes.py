"""Shapes that are not in their body's own frame: Bullet's compounds, of which it tells nothing before they overlap."""

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes


def over_a_box(body: Body, joint, at: np.ndarray) -> Scene:
    scene = Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((20, 20, 1), at=rd.pose((0, 0, -0.5))))
    scene.world.attach(body, joint, at=at)
    return scene


@pytest.mark.parametrize("offset", [0.0, 0.4])
@pytest.mark.parametrize("make", [lambda at: shapes.Sphere(0.05, at=at), lambda at: shapes.Capsule(0.05, 0.2, at=at)])
def test_a_gap_is_told_wherever_a_shape_is_in_its_body(make, offset):
    lying = rd.pose((offset, 0, 0), rpy=(0, np.pi / 2, 0))
    body = Body("body", [make(lying)], mass=1.0, inertia=np.eye(3))
    scene = over_a_box(body, joints.free(), rd.pose((0, 0, 0.0505)))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        mirror.step()
        assert [contact.distance for contact in sim.contacts] == pytest.approx([5e-4] * len(sim.contacts), abs=1e-9)
        assert len(sim.contacts) > 0


@pytest.mark.parametrize("speed", [1.0, 5.0])
def test_a_motor_does_not_push_a_foot_into_the_ground(speed):
    """As far as it turns in a step, 3 to 13 mm, every other step, where nothing was known of the gap that was left."""
    foot = shapes.Sphere(0.05, at=rd.pose((0.4, 0, 0)))
    arm = Body("arm", [foot], mass=2.0, center_of_mass=(0.2, 0, 0), inertia=0.03 * np.eye(3))
    scene = over_a_box(arm, joints.revolute("y", stiffness=20.0), rd.pose((0, 0, 0.3)))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    with PyBulletMirror(scene, sim, gui=False, ground=False) as mirror:
        sim.motors["arm.angle"] = rd.Motor(velocity=speed)
        for _ in range(72):
            mirror.step()
            assert 0.3 - 0.4 * np.sin(sim.q[0]) - 0.05 > -1e-3
        assert np.abs(sim.v).max() < 1e-3

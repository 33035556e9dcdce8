"""What does not touch carries nothing, however near it is: no nearer than what falls gets to in a step counts."""

import numpy as np
import pytest
from contact_scenes import G, mirror

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

RULES = ("linearly_implicit_rk4", "semi_implicit_euler", "implicit_midpoint")
MASS, FEET = 10.0, ((-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5))


def stool(short: float) -> Scene:
    """On feet of which the last one is so much too short, with its centre of mass over the other three."""
    scene, material = Scene(gravity=(0, 0, -G)), rd.Material(friction=0.5)
    scene.world.shapes.append(shapes.Plane(material=material))
    balls = [
        shapes.Sphere(0.1, at=rd.pose((x, y, short * (k == 3))), material=material) for k, (x, y) in enumerate(FEET)
    ]
    body = Body("stool", balls, mass=MASS, center_of_mass=(-0.1, -0.1, 0), inertia=np.eye(3))
    scene.world.attach(body, joints.free(), at=rd.pose((0, 0, 0.1)))
    return scene


def carried(sim: rd.Simulation) -> np.ndarray:
    """By each foot (4,), N."""
    forces = np.zeros(4)
    for contact in sim.contacts:
        foot = np.argmin(np.linalg.norm(np.array(FEET) - contact.point_on_a[:2], axis=1))
        forces[foot] += contact.impulse[2] / sim.timestep
    return forces


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("share", [0.2, 0.4, 0.9])
def test_a_short_foot_carries_nothing(share, h, rule):
    """By the moments about the other three: the one across the corner carries a fifth, the two beside it the rest."""
    with mirror(stool(share * G * h**2), h, rule) as m:
        m.step(60)
        for _ in range(5):
            m.step()
            np.testing.assert_allclose(carried(m.sim), MASS * G * np.array([0.2, 0.4, 0.4, 0.0]), atol=1e-3 * MASS * G)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("share", [0.2, 0.4, 0.9])
def test_a_stop_carries_nothing_before_it_is_met(share, h, rule):
    """An arm lies on the ground, just short of its joint's limit."""
    scene, smooth = Scene(gravity=(0, 0, -G)), rd.Material(friction=0.0)
    scene.world.shapes.append(shapes.Plane(material=smooth))
    ball = shapes.Sphere(0.1, at=rd.pose((1, 0, 0)), material=smooth)
    arm = Body("arm", [ball], mass=2.0, center_of_mass=(0.5, 0, 0), inertia=0.1 * np.eye(3))
    scene.world.attach(arm, joints.revolute("y", limits=(-1, share * G * h**2)), at=rd.pose((0, 0, 0.1)))
    with mirror(scene, h, rule) as m:
        m.step(60)
        for _ in range(5):
            m.step()
            np.testing.assert_allclose(m.sim.contact_wrench("arm")[5], G, rtol=1e-3)

"""A connection, and a scene of many kinds of shapes."""

import numpy as np
import pybullet
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes


@pytest.fixture
def client():
    number = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -9.81, physicsClientId=number)
    yield number
    if pybullet.isConnected(number):
        pybullet.disconnect(number)


@pytest.fixture(scope="module")
def tumbling():
    """Shapes of many kinds that fall on a box and over its edge on the ground, and a body without any."""
    scene = Scene()
    rough = rd.Material(0.6, rolling_friction=1e-3, restitution=0.2)
    scene.world.shapes.append(shapes.Box((0.8, 0.8, 0.4), at=rd.pose((0, 0, 0.2))))
    kinds = [
        shapes.Box((0.3, 0.2, 0.1), material=rough),
        shapes.Capsule(0.06, 0.3),
        shapes.Cylinder(0.1, 0.2),
        shapes.Sphere(0.1, material=rough),
        shapes.Box((0.2, 0.2, 0.2)),
    ]
    for k, shape in enumerate(kinds):
        at = rd.pose((0.12 * k - 0.2, 0.05 * k, 0.55 + 0.22 * k), rpy=(0.3 * k, 0.2, 0.1 * k))
        body = scene.world.attach(Body(f"b{k}", [shape], mass=1.0 + k), joints.free(), at=at)
    body.attach(Body("frame", mass=0.1, center_of_mass=(0, 0, 0), inertia=1e-3 * np.eye(3)), joints.revolute("z"))
    return scene, scene.compile()

"""Bodies that tests of force elements put these between."""

import numpy as np

import recursive_dyn as rd
from scene import Body, Scene, joints

INERTIA = np.diag([0.03, 0.04, 0.02])


def bodies():
    """A pendulum of a hinge and a ball, and a free body: (scene, arm, hand, stone)."""
    scene = Scene()
    arm = scene.world.attach(Body("arm", mass=1.0, inertia=INERTIA, center_of_mass=(0, 0, -0.3)), joints.revolute("y"))
    hand = Body("hand", mass=0.7, inertia=INERTIA, center_of_mass=(0, 0.02, -0.3))
    arm.attach(hand, joints.ball(), at=rd.pose((0, 0, -0.6)))
    stone = Body("stone", mass=0.5, inertia=INERTIA, center_of_mass=(0.1, 0, 0))
    scene.world.attach(stone, joints.free(), at=rd.pose((1, 0, 0)))
    return scene, arm, hand, stone

"""A ball on a chain of rods swings into a wall of bricks and knocks it over; Bullet's own crates stand behind it.

Bricks and wrecking ball are bodies of the scene, the crates are Bullet's: they stand, fall and push back as one world.
"""

from __future__ import annotations

import numpy as np
import pybullet

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

BRICK = np.array([0.5, 0.24, 0.2])  # m
COURSES, WIDTH = 6, 5  # rows of bricks, bricks in a row
GAP = 2e-3  # between bricks of a course, m
CRATE, CRATES = 0.36, ((-0.5, 1.5), (0.0, 1.6), (0.5, 1.5))  # m; where the crates stand in twos
RODS, ROD = 3, 0.55  # m
BALL = 0.28  # m
DENSITY, IRON = 600.0, 3000.0
HEIGHT = RODS * ROD + BALL + 0.75  # of the beam, m
LEAN = 1.15  # rad
CLAY, RED, STEEL, WOOD = (0.72, 0.38, 0.28, 1), (0.66, 0.3, 0.22, 1), (0.3, 0.32, 0.36, 1), (0.62, 0.47, 0.3, 1)
ROUGH = rd.Material(friction=0.6)


def add_wall(scene: Scene) -> None:
    """Courses of bricks on the ground along x, every other one shifted by half a brick."""
    step = BRICK[0] + GAP
    for row in range(COURSES):
        count = WIDTH - row % 2
        for k in range(count):
            x, z = (k - (count - 1) / 2) * step, (row + 0.5) * BRICK[2]
            color = CLAY if (k + row) % 2 else RED
            brick = Body(f"brick{row + 1}.{k + 1}", [shapes.Box(BRICK, color=color, material=ROUGH)], density=DENSITY)
            scene.world.attach(brick, joints.free(), at=rd.pose((x, 0, z)))


def add_pendulum(scene: Scene) -> None:
    """A ball on rods, the first of which hangs on a beam."""
    node = scene.world
    for k in range(RODS):
        shape = shapes.Capsule(0.03, ROD - 0.06, at=rd.pose((0, 0, -ROD / 2)), color=STEEL, material=ROUGH)
        joint = joints.universal("x", "y", damping=0.3)
        node = node.attach(Body(f"rod{k + 1}", [shape], density=IRON), joint,
                           at=rd.pose((0, 0, -ROD)) if k else rd.pose((0, 0, HEIGHT)))  # fmt: skip
    ball = Body("ball", [shapes.Sphere(BALL, color=STEEL, material=ROUGH)], density=IRON)
    node.attach(ball, joints.fixed(), at=rd.pose((0, 0, -ROD - 0.8 * BALL)))
    post, top = 2.1, HEIGHT + 0.02
    scene.world.shapes += [
        shapes.Box((2 * post + 0.16, 0.16, 0.16), at=rd.pose((0, 0, HEIGHT + 0.1)), color=WOOD),
        *(shapes.Box((0.16, 0.16, top), at=rd.pose((x, 0, top / 2)), color=WOOD) for x in (-post, post)),
    ]


def yard() -> Scene:
    """Wall and pendulum."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=ROUGH))
    add_wall(scene)
    add_pendulum(scene)
    return scene


def stack_crates(mirror: PyBulletMirror) -> None:
    """Bullet's own boxes, in towers of two."""
    client = mirror.client
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    half = [CRATE / 2] * 3
    solid = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=half, physicsClientId=client)
    look = pybullet.createVisualShape(pybullet.GEOM_BOX, halfExtents=half, rgbaColor=(0.2, 0.45, 0.75, 1),
                                      physicsClientId=client)  # fmt: skip
    for x, y in CRATES:
        for level in range(2):
            place = [x, y, (level + 0.5) * CRATE]
            crate = pybullet.createMultiBody(200 * CRATE**3, solid, look, place, physicsClientId=client)
            pybullet.changeDynamics(crate, -1, lateralFriction=0.6, linearDamping=0, angularDamping=0,
                                    physicsClientId=client)  # fmt: skip


def build() -> Stage:
    """The ball let go in front of the wall."""
    scene = yard()
    simulation = compiled(scene, 1 / 240)
    first = simulation.dynamics.coordinates.index("rod1.angle")
    simulation.q[first] = -LEAN
    return Stage(scene, simulation, seconds=4.0, contact=True, decorate=stack_crates,
                 camera=Camera(target=(0, 0.4, 1.0), distance=8.0, yaw=120, pitch=-14))  # fmt: skip

"""A rover with six driven wheels on sprung rockers climbs over logs, a ramp and rubble: nothing but friction moves it.

Each wheel is a hinge with a motor, on a rocker that is a hinge with a spring. The rubble is Bullet's own.
"""

from __future__ import annotations

import numpy as np
import pybullet

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

WHEEL, TREAD = 0.16, 0.12  # m
LENGTH, HALF = 0.42, 0.36  # m between axles, m from the middle to a wheel
ARM = 0.22  # of a rocker, m
SPRING, DAMPER = 120.0, 9.0  # N m/rad, N m s/rad
SPEED, STRENGTH = 7.0, 14.0  # rad/s, N m
RUBBER = rd.Material(friction=0.9)
GROUND = rd.Material(friction=0.8)
DARK, YELLOW, RED, WOOD, STONE = ((0.2, 0.21, 0.24, 1), (0.93, 0.68, 0.18, 1), (0.82, 0.25, 0.2, 1),
                                  (0.5, 0.36, 0.24, 1), (0.6, 0.58, 0.55, 1))  # fmt: skip
LOGS = ((1.2, 0.0, 0.05), (1.85, 0.04, -0.12), (2.45, 0.07, 0.08))  # x, height of the axis above the ground, yaw
RUBBLE = 14


def wheel(name: str) -> Body:
    """A tyre about y, and what shows that it turns."""
    turned = (np.pi / 2, 0, 0)
    return Body(name, [
        shapes.Cylinder(WHEEL, TREAD, at=rd.pose(rpy=turned), color=DARK, material=RUBBER),
        shapes.Cylinder(0.5 * WHEEL, TREAD + 0.02, at=rd.pose(rpy=turned), color=RED, collision=False),
        shapes.Box((1.5 * WHEEL, TREAD + 0.03, 0.04), color=YELLOW, collision=False),
    ], density=400.0)  # fmt: skip


def add_rover(scene: Scene) -> None:
    """Hull, six rockers, six wheels: 18 coordinates."""
    hull = Body("hull", [
        shapes.Box((3 * LENGTH, 1.2 * HALF, 0.16), color=YELLOW),
        shapes.Box((0.5, 0.3, 0.16), at=rd.pose((-0.2, 0, 0.16)), color=DARK),
        shapes.Cylinder(0.02, 0.3, at=rd.pose((0.4, 0, 0.23)), color=DARK),
        shapes.Sphere(0.06, at=rd.pose((0.4, 0, 0.4)), color=RED),
    ], density=150.0)  # fmt: skip
    scene.world.attach(hull, joints.free(), at=rd.pose((-1.0, 0, WHEEL + 0.32)))
    for i, x in enumerate((-LENGTH, 0.0, LENGTH)):
        for side, y in (("left", HALF), ("right", -HALF)):
            arm = Body(f"rocker.{side}{i + 1}", [
                shapes.Box((ARM, 0.04, 0.05), at=rd.pose((-ARM / 2, 0, 0)), color=STONE, collision=False),
            ], density=2000.0)  # fmt: skip
            rocker = joints.revolute("y", stiffness=SPRING, damping=DAMPER, limits=(-0.9, 0.9))
            hull.attach(arm, rocker, at=rd.pose((x + ARM / 2, 0.72 * y, -0.06), (0, -0.5, 0)))
            tyre = wheel(f"wheel.{side}{i + 1}")
            arm.attach(tyre, joints.revolute("y"), at=rd.pose((-ARM, 0.28 * y, 0), (0, 0.5, 0)))
            scene.pair(hull, tyre, collide=False)


def course() -> list[shapes.Shape]:
    """Ground, logs across the way, a ramp up and down."""
    result: list[shapes.Shape] = [shapes.Plane(material=GROUND)]
    for x, height, yaw in LOGS:
        at = rd.pose((x, 0, height - 0.02), (np.pi / 2, 0, yaw))
        result.append(shapes.Capsule(0.1, 1.8, at=at, color=WOOD, material=GROUND))
    for x, pitch in ((3.95, -0.2), (5.3, 0.2)):
        result.append(shapes.Box((1.5, 1.8, 0.2), at=rd.pose((x, 0, 0.045), (0, pitch, 0)), color=STONE,
                                 material=GROUND))  # fmt: skip
    return result


def scatter(mirror: PyBulletMirror) -> None:
    """Bullet's own small boxes and balls between logs and ramp."""
    client = mirror.client
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    rng = np.random.default_rng(2)
    for k in range(RUBBLE):
        half = rng.uniform(0.03, 0.05, size=3)
        place = [0.11 * (k // 2), (-1) ** k * rng.uniform(0.25, 0.5), half[2] + 1e-3]
        kind = {"shapeType": pybullet.GEOM_BOX, "halfExtents": half.tolist()}
        solid = pybullet.createCollisionShape(**kind, physicsClientId=client)
        look = pybullet.createVisualShape(**kind, rgbaColor=(0.2, 0.45, 0.75, 1), physicsClientId=client)
        stone = pybullet.createMultiBody(1500 * 8 * half.prod(), solid, look, place, physicsClientId=client)
        pybullet.changeDynamics(stone, -1, lateralFriction=0.8, linearDamping=0, angularDamping=0,
                                physicsClientId=client)  # fmt: skip


def build() -> Stage:
    """At rest in front of the rubble, its motors on."""
    scene = Scene()
    scene.world.shapes += course()
    add_rover(scene)
    simulation = compiled(scene, 1 / 240)
    for name in simulation.dynamics.coordinates:
        if name.startswith("wheel"):
            simulation.motors[name] = rd.Motor(velocity=SPEED, max_force=STRENGTH)
    return Stage(scene, simulation, seconds=6.5, contact=True, decorate=scatter,
                 camera=Camera(target="hull", distance=4.6, yaw=32, pitch=-17))  # fmt: skip

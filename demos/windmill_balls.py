"""A motor turns the windmill whose sails are surfaces touching; balls thrown at it bounce off: ours and Bullet's own.

The sails' 72 coordinates take what hits them: a blow is an impulse through the joints of a sail to the hub and its
motor. The red balls are bodies of the scene, the blue ones are Bullet's, which the same solve pushes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pybullet

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos import windmill
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

OURS, BULLETS = 6, 6
BALL, MASS = 0.11, 0.25  # m, kg
GRAVITY = 9.81
SPEED, STRENGTH = 1.5, 60.0  # rad/s, N m
DAMPING = 1.5  # of the sails' joints, N m s/rad
RED, BLUE = (0.82, 0.25, 0.2, 1), (0.2, 0.45, 0.75, 1)
RUBBER = rd.Material(friction=0.5, restitution=0.7, rolling_friction=2e-3)


def throws(count: int = OURS + BULLETS) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Where each ball starts and how fast, so that it meets the sails' disc, one after the other."""
    rng = np.random.default_rng(7)
    for i in range(count):
        arrival = 0.6 + 0.1 * i
        angle, radius = rng.uniform(0, 2 * np.pi), rng.uniform(0.6, 1.2)
        target = np.array([radius * np.cos(angle), -0.85, windmill.HEIGHT + radius * np.sin(angle)])
        start = np.array([rng.uniform(-1.8, 1.8), -3.0 - 0.5 * i, rng.uniform(1.2, 3.0)])
        yield start, (target - start) / arrival + np.array([0.0, 0.0, 0.5 * GRAVITY * arrival])


def scene() -> tuple[Scene, np.ndarray]:
    """The mill and our balls, and the state q (nq,) they start from."""
    result, q = windmill.mill(damping=DAMPING)
    result.pair("hub", result.world, collide=False)  # it sits on its shaft
    for i in range(OURS):
        ball = Body(f"ball{i + 1}", [shapes.Sphere(BALL, color=RED, material=RUBBER)], mass=MASS)
        result.world.attach(ball, joints.free())
    return result, q


def throw_bullets(mirror: PyBulletMirror) -> None:
    """Bullet's own balls, every second throw."""
    client = mirror.client
    pybullet.setGravity(0, 0, -GRAVITY, physicsClientId=client)
    solid = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=BALL, physicsClientId=client)
    look = pybullet.createVisualShape(pybullet.GEOM_SPHERE, radius=BALL, rgbaColor=BLUE, physicsClientId=client)
    for start, velocity in list(throws())[1::2]:
        ball = pybullet.createMultiBody(MASS, solid, look, start.tolist(), physicsClientId=client)
        pybullet.changeDynamics(ball, -1, lateralFriction=RUBBER.friction, restitution=RUBBER.restitution,
                                rollingFriction=RUBBER.rolling_friction, linearDamping=0, angularDamping=0,
                                physicsClientId=client)  # fmt: skip
        pybullet.resetBaseVelocity(ball, velocity.tolist(), physicsClientId=client)


def build() -> Stage:
    """The mill at its speed, the balls in the air."""
    result, start = scene()
    simulation = compiled(result, 1 / 240)
    simulation.q[: len(start)] = start
    simulation.v[0] = SPEED
    simulation.motors["hub.angle"] = rd.Motor(velocity=SPEED, max_force=STRENGTH)
    velocities = simulation.dynamics.velocity_coordinates
    for i, (place, velocity) in enumerate(list(throws())[::2]):
        at = simulation.dynamics.coordinates.index(f"ball{i + 1}.x")
        simulation.q[at : at + 3] = place
        at = velocities.index(f"ball{i + 1}.vx")
        simulation.v[at : at + 3] = velocity
    return Stage(result, simulation, seconds=5.0, contact=True, decorate=throw_bullets,
                 camera=Camera(target=(0, -1.6, 1.9), distance=9.5, yaw=48, pitch=-8))  # fmt: skip

"""A Laikago, read from its URDF file, drops on uneven ground among stones, lands on its feet and stands.

A motor in every hinge holds the stance; the ground is a height field, the stones are boxes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import recursive_dyn as rd
from bridge import Camera
from demos.stage import Stage, compiled
from scene import Scene, shapes

SAMPLES, SPACING = 65, 0.06  # of the ground's grid, m
BUMPS = 0.016  # m
DROP = 0.75  # of the trunk above the ground's mean height, m
STRENGTH = 90.0  # N m
STANCE = {"hip_motor": 0.0, "upper_leg": 0.0081, "lower_leg": -0.7}  # rad
GRASS, STONE, GREY = (0.52, 0.6, 0.42, 1), (0.6, 0.57, 0.53, 1), (0.28, 0.3, 0.34, 1)
YELLOW = (0.93, 0.68, 0.18, 1)
GROUND = rd.Material(friction=0.6)
# x, y, height above the ground's own, yaw
STONES = ((0.22, 0.3, 0.02, 0.3), (0.3, -0.12, 0.0, 1.1), (-0.28, 0.16, 0.015, -0.4), (-0.2, -0.34, 0.0, 0.8),
          (0.75, 0.5, 0.0, 0.2), (-0.8, -0.55, 0.0, 0.9), (0.7, -0.7, 0.0, 0.5), (-0.6, 0.75, 0.0, 1.4))  # fmt: skip


def heights() -> np.ndarray:
    """Gentle hills and troughs (SAMPLES, SAMPLES), m."""
    rng = np.random.default_rng(11)
    x, y = np.meshgrid(*[SPACING * (np.arange(SAMPLES) - SAMPLES // 2)] * 2, indexing="ij")
    result = np.zeros_like(x)
    for _ in range(14):
        length, angle, phase = rng.uniform(0.5, 1.6), rng.uniform(0, np.pi), rng.uniform(0, 2 * np.pi)
        result += np.sin(2 * np.pi / length * (x * np.cos(angle) + y * np.sin(angle)) + phase)
    return BUMPS * result


def terrain() -> list[shapes.Shape]:
    """The ground, and stones half sunk in it."""
    z = heights()
    result: list[shapes.Shape] = [shapes.HeightField(z, (SPACING, SPACING), color=GRASS, material=GROUND)]
    for x, y, up, yaw in STONES:
        level = z[round(x / SPACING) + SAMPLES // 2, round(y / SPACING) + SAMPLES // 2]
        place = rd.pose((x, y, level + up), (0.15 * np.sin(9 * x), 0.15 * np.cos(7 * y), yaw))
        result.append(shapes.Box((0.2, 0.16, 0.1), at=place, color=STONE, material=GROUND))
    return result


def add_robot(scene: Scene) -> None:
    """The robot above the ground; its shins' meshes reach through its feet and do not collide."""
    import pybullet_data

    path = Path(pybullet_data.getDataPath()) / "laikago" / "laikago_toes_zup.urdf"
    root = scene.add_urdf(path, at=rd.pose((0, 0, DROP), (0.12, -0.1, 0.3)))
    for body in root.walk():
        touches = "lower_leg" not in body.name
        color = GREY if "leg" in body.name or "toe" in body.name else YELLOW
        body.shapes = [replace(s, collision=s.collision and touches, color=color, material=GROUND) for s in body.shapes]
        if "upper_leg" in body.name:
            scene.pair(root, body, collide=False)  # hulls of the trunk's hollow mesh reach into them


def build() -> Stage:
    """In the air, tilted, its motors at work."""
    scene = Scene()
    scene.world.shapes += terrain()
    add_robot(scene)
    simulation = compiled(scene, 1 / 240)
    for joint, body in scene.joint_names.items():
        for part, angle in STANCE.items():
            if f"{part}_2_" in joint:
                name = f"{body}.angle"
                simulation.q[simulation.dynamics.coordinates.index(name)] = angle
                simulation.motors[name] = rd.Motor(position=angle, max_force=STRENGTH)
    return Stage(scene, simulation, seconds=4.0, ground=False, contact=True,
                 camera=Camera(target=(0, 0, 0.26), distance=2.3, yaw=32, pitch=-14))  # fmt: skip

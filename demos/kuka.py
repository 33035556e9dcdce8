"""A KUKA arm, read from its URDF file, swings under gravity with nothing holding it but joint friction."""

from __future__ import annotations

from pathlib import Path

import recursive_dyn as rd
from bridge import Camera
from demos.stage import Stage, compiled
from scene import Scene, shapes

HEIGHT = 0.9  # of the pedestal, m
PEDESTAL = shapes.Cylinder(0.16, HEIGHT, at=rd.pose((0, 0, -HEIGHT / 2)), color=(0.45, 0.47, 0.5, 1))


def arm(self_collision: bool = True) -> Scene:
    """The arm as pybullet_data ships it, bolted to the ground."""
    import pybullet_data

    path = Path(pybullet_data.getDataPath()) / "kuka_iiwa" / "model.urdf"
    return Scene.from_urdf(path, fixed_base=True, self_collision=self_collision)


def build() -> Stage:
    """The arm let go from a stretched pose, turning about its base."""
    scene = arm()
    scene.world.shapes.append(PEDESTAL)
    simulation = compiled(scene, 1 / 240)
    simulation.q = [0.0, 0.5, 0.3, -0.6, 0.4, 1.0, 0.0]
    simulation.v[0] = 1.5
    return Stage(scene, simulation, ground=-HEIGHT,
                 camera=Camera(target=(0.1, 0.0, 0.15), distance=2.7, yaw=40, pitch=-14))  # fmt: skip

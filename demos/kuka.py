"""A KUKA arm, read from its URDF file, swings under gravity with nothing holding it but joint friction."""

from __future__ import annotations

from pathlib import Path

from demos.stage import Stage, compiled
from scene import Scene


def arm() -> Scene:
    """The arm as pybullet_data ships it, bolted to the ground."""
    import pybullet_data

    return Scene.from_urdf(Path(pybullet_data.getDataPath()) / "kuka_iiwa" / "model.urdf", fixed_base=True)


def build() -> Stage:
    """The arm let go from a stretched pose, turning about its base."""
    scene = arm()
    simulation = compiled(scene, 1 / 240, "semi_implicit_euler")
    simulation.q = [0.0, 0.5, 0.3, -0.6, 0.4, 1.0, 0.0]
    simulation.v[0] = 1.5
    return Stage(scene, simulation, camera={"target": (0.0, 0.0, 0.5), "distance": 2.2, "yaw": 40, "pitch": -20})

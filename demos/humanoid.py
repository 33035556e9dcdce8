"""A humanoid ragdoll with ball joints, read from its URDF file, is thrown into the air and tumbles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bridge import Camera
from demos.stage import Stage, compiled
from scene import Scene


def build() -> Stage:
    """Thrown up with a spin; the flight ends before the ground, which nothing feels yet."""
    import pybullet_data

    path = Path(pybullet_data.getDataPath()) / "humanoid" / "humanoid.urdf"
    scene = Scene.from_urdf(path, fixed_base=False)
    simulation = compiled(scene, 1 / 240, "implicit_midpoint")
    dynamics = simulation.dynamics
    simulation.q[:7] = (0.0, 0.0, 4.5, np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))  # the file's figure stands along y
    rng = np.random.default_rng(4)
    simulation.v = 0.8 * rng.normal(size=dynamics.nv)
    simulation.v[:6] = (1.5, 1.0, 1.2, 0.6, 9.0, 0.0)  # child axes: up is the figure's y
    return Stage(scene, simulation, seconds=2.4, follow=dynamics.bodies[0],
                 camera=Camera(distance=13.0, yaw=35, pitch=-12))  # fmt: skip

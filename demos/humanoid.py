"""A human figure with ball joints, read from its URDF file, is thrown up, tumbles, and falls on the ground."""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from bridge import Camera
from demos.figures import DAMPING, RUBBING, UPRIGHT, dress, figure_file
from demos.stage import Stage, compiled
from scene import Scene

HEIGHT = 4.5  # of the figure's root at the start, m
COLOR = (0.2, 0.45, 0.75, 1)
SURFACE = rd.Material(friction=0.6, restitution=0.1)


def thrown(damping: float = DAMPING, rubbing: float = RUBBING) -> tuple[Scene, rd.Simulation]:
    """The figure in the air, on its way up and spinning; its joints are damped and rub by so much."""
    scene = Scene()
    root = scene.add_urdf(figure_file(), at=rd.pose((0, 0, HEIGHT), UPRIGHT))
    dress(root, COLOR, SURFACE, damping, rubbing)
    simulation = compiled(scene, 1 / 240)
    rng = np.random.default_rng(4)
    simulation.v = 0.8 * rng.normal(size=simulation.dynamics.nv)
    simulation.v[:6] = (1.5, 1.0, 1.2, 0.6, 9.0, 0.0)  # child axes: up is the figure's y
    return scene, simulation


def build() -> Stage:
    """Seen by a camera that follows it."""
    scene, simulation = thrown()
    return Stage(scene, simulation, seconds=5.0, contact=True,
                 camera=Camera(target="root", distance=13.0, yaw=35, pitch=-14))  # fmt: skip

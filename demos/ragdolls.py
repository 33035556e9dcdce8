"""Four ragdolls, read from a URDF file, fall on stairs and tumble down: 60 bodies that feel one another.

The file's figures are almost six metres tall, so are the stairs. Knees and elbows stop at the limits that the file
gives; hips, shoulders, ankles, spines and necks swing within cones and twist within ranges, with dry friction.
"""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from bridge import Camera
from demos.figures import DAMPING, RUBBING, UPRIGHT, dress, figure_file
from demos.stage import Stage, compiled
from scene import Scene, shapes

COUNT, STEPS = 4, 8
DEPTH, RISE, WIDTH = 1.15, 0.8, 11.0  # of a step, m
STONE = ((0.66, 0.64, 0.6, 1), (0.6, 0.58, 0.55, 1))
COLORS = ((0.82, 0.25, 0.2, 1), (0.2, 0.45, 0.75, 1), (0.93, 0.68, 0.18, 1), (0.28, 0.6, 0.36, 1))
SURFACE = rd.Material(friction=0.4, restitution=0.2)


def stairs() -> list[shapes.Shape]:
    """Steps that go down along +x from a landing at x < 0; the last one stands on the ground."""
    result: list[shapes.Shape] = []
    for k in range(STEPS):
        height = RISE * (STEPS - k)
        size = (DEPTH, WIDTH, height) if k else (5 * DEPTH, WIDTH, height)
        place = rd.pose(((k + 0.5) * DEPTH if k else -1.5 * DEPTH, 0, height / 2))
        result.append(shapes.Box(size, at=place, color=STONE[k % 2], material=SURFACE))
    return result


def crowd(count: int = COUNT) -> Scene:
    """``count`` figures in the air above the stairs, facing down."""
    scene = Scene()
    scene.world.shapes += stairs()
    for i in range(count):
        y = (i - (count - 1) / 2) * 0.6 * WIDTH / max(count - 1, 1)
        upright = rd.pose((0.2 - 2.6 * (i % 2), y, RISE * STEPS + 3.8 + 0.5 * i), UPRIGHT)
        root = scene.add_urdf(figure_file(), f"doll{i + 1}.", at=upright)
        dress(root, COLORS[i % len(COLORS)], SURFACE, DAMPING, RUBBING)
    return scene


def build() -> Stage:
    """Thrown towards the stairs with some spin."""
    scene = crowd()
    simulation = compiled(scene, 1 / 240)
    dynamics = simulation.dynamics
    rng = np.random.default_rng(5)
    simulation.v = 0.3 * rng.normal(size=dynamics.nv)
    for i in range(COUNT):
        first = dynamics.velocity_coordinates.index(f"doll{i + 1}.base.wx")
        simulation.v[first : first + 6] = 0.0, 0.3 * (-1) ** i, -1.0, 3.5, 0.0, 0.0  # forward, and pitching forward
    return Stage(scene, simulation, seconds=8.0, contact=True,
                 camera=Camera(target=(4.8, 0, 2.9), distance=25.0, yaw=55, pitch=-16))  # fmt: skip

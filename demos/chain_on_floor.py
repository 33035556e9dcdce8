"""Two chains of rings fall on the floor and lie down: one of free rings that only their contacts hold, one of joints.

The first chain's rings are free bodies, interlocked: nothing but contact keeps them together. In the second each ring
is on the one before it by torus on torus, four coordinates, and meets the others and the floor.
"""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from bridge import Camera
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

COUNT = 8
RADIUS, TUBE = 0.2, 0.045  # m
GAP = 1e-4  # between interlocked rings at the start, m
HEIGHT = 0.25  # of the lowest ring's centre above the floor, m
DENSITY = 2000.0
APART = 0.9  # m
IRON = rd.Material(friction=0.4, rolling_friction=5e-4)
GOLD, STEEL, BLUE, RED = (0.93, 0.68, 0.18, 1), (0.56, 0.62, 0.72, 1), (0.2, 0.45, 0.75, 1), (0.82, 0.25, 0.2, 1)


def ring(name: str, color: tuple[float, ...]) -> Body:
    """One torus of iron about z."""
    return Body(name, [shapes.Torus(RADIUS, TUBE, color=color, material=IRON)], density=DENSITY)


def upright(i: int, x: float = 0.0) -> np.ndarray:
    """Pose (4, 4) of ring i, counted from below, in a straight chain that hangs at x: every other one across."""
    z = HEIGHT + i * (2 * (RADIUS - TUBE) - GAP)
    return rd.pose((x, 0, z), (np.pi / 2, 0, (i % 2) * np.pi / 2))


def attach_free(scene: Scene, count: int = COUNT, x: float = 0.0) -> None:
    """Interlocked rings that nothing but contact holds together."""
    for i in range(count):
        scene.world.attach(ring(f"free{i + 1}", BLUE if i % 2 else GOLD), joints.free(), at=upright(i, x))


def scene(count: int = COUNT) -> Scene:
    result = Scene()
    result.world.shapes.append(shapes.Plane(material=IRON))
    attach_free(result, count)
    return result


def build() -> Stage:
    """Both let go, a little aslant."""
    result = scene()
    simulation = compiled(result, 1 / 240, "semi_implicit_euler")
    rng = np.random.default_rng(1)
    simulation.v = 0.05 * rng.normal(size=simulation.dynamics.nv)
    return Stage(result, simulation, seconds=4.0, contact=True,
                 camera=Camera(target=(0, 0, 0.9), distance=4.0, yaw=30, pitch=-18))  # fmt: skip

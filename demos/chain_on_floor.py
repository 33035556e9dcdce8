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
APART = 1.6  # m
DAMPING, RUBBING = 5e-3, 0.02  # N m s/rad and N m in each coordinate of a joint; a ring weighs 16 kg
STANDING = (np.pi / 2, np.pi, -np.pi / 2, np.pi)  # the highest point inside a ring meets the lowest of the next
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


def attach_jointed(scene: Scene, count: int = COUNT, x: float = 0.0) -> None:
    """The same rings, each on the one below it by a joint that keeps their insides in touch."""
    torus = joints.surfaces.torus(RADIUS, TUBE)
    inside = (np.pi - 1.3, np.pi + 1.3)  # of v, where a tube cannot slip out of the other's hole
    limits = [(-np.inf, np.inf), inside] * 2
    link = joints.surface_on_surface(torus, torus, turn=np.pi / 2, damping=DAMPING, friction=RUBBING, limits=limits)
    node = scene.world.attach(ring("joint1", STEEL), joints.free(), at=upright(0, x))
    for i in range(1, count):
        node = node.attach(ring(f"joint{i + 1}", STEEL if i % 2 == 0 else RED), link)


def chains(count: int = COUNT) -> tuple[Scene, np.ndarray]:
    """Both chains upright over the floor, and the state q (nq,) in which they are."""
    scene = Scene()
    scene.world.shapes.append(shapes.Plane(material=IRON))
    attach_free(scene, count, -APART / 2)
    attach_jointed(scene, count, APART / 2)
    free = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    return scene, np.concatenate([np.tile(free, count + 1), np.tile(STANDING, count - 1)])


def build() -> Stage:
    """Both let go with a little push."""
    scene, start = chains()
    simulation = compiled(scene, 1 / 240)
    simulation.q = start
    rng = np.random.default_rng(1)
    simulation.v[: 6 * COUNT] = 0.05 * rng.normal(size=6 * COUNT)
    simulation.v[6 * COUNT : 6 * COUNT + 3] = 0.3, 0.2, 0.1
    return Stage(scene, simulation, seconds=4.0, contact=True,
                 camera=Camera(target=(0.1, 0, 1.0), distance=5.6, yaw=18, pitch=-16))  # fmt: skip

"""Interlocked rings slide along a Bezier curve of seven control points, the first one around it.

After Si & Guenter (2011), figure 3: the curve passes through the centre of the first ring, whose main axis is the
curve's tangent; in it hangs a chain of rings, torus on torus, four coordinates each (Guenter & Lee 2009, eq. 15). The
curve is a valley that the chain never leaves; at its ends the first coordinate would stop. One step a frame of
1/60 s, by the default rule.
"""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from demos.torus_chain import GOLD, HANGING, STEEL, ring, ring_in_ring
from scene import Body, Scene, joints, shapes
from scene.joints import Joint

POINTS = np.array([
    (-7.0, 1.0, 8.6), (-5.8, -3.0, 6.2), (-2.6, -5.0, 4.8), (0.0, 0.0, 3.6), (2.6, 5.0, 4.8), (5.8, 3.0, 6.2),
    (7.0, -1.0, 8.6),
])  # fmt: skip
RINGS = 7  # with the one around the curve
START = 0.2  # of the curve's coordinate, from 0 to 1
RED, WIRE, WOOD = (0.80, 0.27, 0.2, 1), (0.25, 0.27, 0.30, 1), (0.42, 0.3, 0.22, 1)
ACROSS = np.array([[0, 0, 1, 0], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]])  # a ring's z along the tangent, y down


def along(damping: float = 0.0) -> Joint:
    """The joint of a ring that the curve passes through: x of its frame, the ring's z axis, along the tangent."""
    return joints.bezier(POINTS, frame="up", outside="clamp", damping=damping) @ joints.fixed(ACROSS)


def chain(count: int = RINGS, damping: float = 0.0) -> Scene:
    """``count`` rings, 1 + 4 (count - 1) coordinates; damping in N m s/rad, and N m s along the curve."""
    scene = Scene()
    link = ring_in_ring(damping)
    node: Body = scene.world.attach(ring("ring0", RED), along(3 * damping))
    for i in range(1, count):
        node = node.attach(ring(f"ring{i}", STEEL if i % 2 else GOLD), link)
    return scene


def start(count: int = RINGS) -> np.ndarray:
    """q (nq,): the chain straight, as far up the slope as the first ring leans."""
    return np.array([START, *HANGING * (count - 1)])


def build() -> Stage:
    """The chain let go high up on one side."""
    scene = chain(damping=8.0)
    for end, out in ((POINTS[0], -1), (POINTS[-1], 1)):
        height = end[2] + 0.4
        post = rd.pose((end[0] + 0.1 * out, end[1], height / 2))
        scene.world.shapes.append(shapes.Cylinder(0.22, height, at=post, color=WOOD))
    simulation = compiled(scene, 1 / 60)
    simulation.q = start()

    def decorate(mirror: PyBulletMirror) -> None:
        path = joints.bezier(POINTS).path
        assert path is not None
        mirror.add_polyline(path.points(300), color=WIRE, radius=0.07)
        mirror.add_polyline(POINTS, color=(0.72, 0.45, 0.4, 1), radius=0.015)
        for x, y, z in POINTS:
            mirror.add_polyline([(x, y, z - 0.08), (x, y, z + 0.08)], color=RED, radius=0.08)

    return Stage(scene, simulation, seconds=8.0, decorate=decorate,
                 camera=Camera(target=(0.3, 0, 4.1), distance=18.0, yaw=14, pitch=-13))  # fmt: skip

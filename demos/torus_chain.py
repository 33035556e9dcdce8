"""Two chains of interlocked rings swing side by side: 10 tori with 38 coordinates, and 20 tori with 78.

The torus chain of Si & Guenter (2011), figure 1 and table 1 (TC10, TC20). A ring hangs in a ring by S1 S2^-1, four
coordinates (Guenter & Lee 2009, eq. 15). The first ring slides neither along the fixed one nor along itself: it turns
about both tubes, two hinges, so that there are 2 + 4 (count - 1) coordinates. One step a frame of 1/60 s, by the
default rule.
"""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from bridge import Camera
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes
from scene.body import Node
from scene.joints import Joint

RADIUS, TUBE = 0.48, 0.11  # m; smaller rings under the pull of twenty shake too fast for 60 steps a second
HEIGHT = 16.0  # of the fixed rings' centres, m
DENSITY = 1000.0
DAMPING = 1.5  # N m s/rad; a ring weighs 115 kg
LEAN = 0.8  # of the chains when they are let go, rad
GOLD, STEEL, WOOD = (0.93, 0.68, 0.18, 1), (0.56, 0.62, 0.72, 1), (0.42, 0.3, 0.22, 1)
BELOW = rd.pose(rpy=(-np.pi / 2, 0, 0))  # of a fixed ring: upright, its y axis down
HANGING = (np.pi / 2, np.pi, -np.pi / 2, np.pi)  # the lowest point inside a ring meets the highest inside the next


def ring_in_ring(damping: float = 0.0) -> Joint:
    """Torus on torus, interlocked: u along a tube, v around it, v = pi the inside of the hole."""
    torus = joints.surfaces.torus(RADIUS, TUBE)
    return joints.surface_on_surface(torus, torus, turn=np.pi / 2, damping=damping)


def hinged_ring(damping: float = 0.0) -> Joint:
    """The same contact where neither ring slides along the other: a hinge along each tube's centre line."""
    hinge = joints.revolute("x", damping=damping)
    lowest = joints.fixed(rd.pose((0, RADIUS, 0)))
    across = joints.fixed(rd.pose((0, -2 * TUBE, 0), (0, np.pi / 2, 0)))
    return lowest @ hinge @ across @ hinge @ joints.fixed(rd.pose((0, RADIUS, 0)))


def ring(name: str, color: tuple[float, ...]) -> Body:
    """One solid torus."""
    return Body(name, [shapes.Torus(RADIUS, TUBE, color=color)], density=DENSITY)


def hang(node: Node, count: int, at: np.ndarray, name: str = "ring", damping: float = 0.0) -> None:
    """``count`` rings below a fixed one whose pose in ``node`` is ``at``."""
    link = ring_in_ring(damping)
    for i in range(count):
        body = ring(f"{name}{i + 1}", STEEL if i % 2 else GOLD)
        node = node.attach(body, link, at=None) if i else node.attach(body, hinged_ring(damping), at=at)


def chain(count: int, damping: float = 0.0) -> Scene:
    """``count`` interlocked tori in a fixed ring, 2 + 4 (count - 1) coordinates: TC10 and TC20 of Si & Guenter."""
    scene = Scene()
    scene.world.shapes.append(shapes.Torus(RADIUS, TUBE, at=BELOW, color=STEEL))
    hang(scene.world, count, BELOW, damping=damping)
    return scene


def at_rest(count: int) -> np.ndarray:
    """q (nq,) of a chain that hangs straight down."""
    return np.array([0.0, 0.0, *HANGING * (count - 1)])


def build() -> Stage:
    """Both chains let go, straight, from a slant, with a small push out of the plane."""
    scene = Scene()
    q = []
    for count, x in ((10, -2.4), (20, 2.4)):
        place = rd.pose((x, 0, HEIGHT)) @ BELOW
        scene.world.shapes.append(shapes.Torus(RADIUS, TUBE, at=place, color=STEEL))
        hang(scene.world, count, place, f"chain{count}.", DAMPING)
        q.append(at_rest(count))
        q[-1][0] = LEAN
    top = HEIGHT + RADIUS + 0.2
    scene.world.shapes.append(shapes.Box((9.5, 0.5, 0.5), at=rd.pose((0, 0, top)), color=WOOD))
    scene.world.shapes += [shapes.Box((0.5, 0.5, top), at=rd.pose((x, 0, top / 2)), color=WOOD) for x in (-4.5, 4.5)]
    simulation = compiled(scene, 1 / 60)
    simulation.q = np.concatenate(q)
    simulation.v[[1, len(q[0]) + 1]] = 0.3
    return Stage(scene, simulation, seconds=9.0,
                 camera=Camera(target=(0, 0, HEIGHT / 2 + 0.7), distance=28.0, yaw=40, pitch=-7))  # fmt: skip

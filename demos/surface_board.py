"""A board glides on a Bezier patch of 25 control points and carries a chain of links that sways.

After Si & Guenter (2011), figure 4: the board lies in the tangent plane of the patch (Guenter & Lee 2009, section 5),
two coordinates and a turn about the normal. The patch is a bowl with waves in it; at its edges the coordinates stop.
One step a frame of 1/60 s, by the default rule.
"""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes
from scene.joints import Joint

REACH = 1.9  # of the patch from its middle, m
HEIGHTS = np.array([  # of the control points, m; a row along y for each x
    [1.75, 1.25, 1.20, 1.35, 1.80],
    [1.30, 0.55, 0.25, 0.70, 1.30],
    [1.10, 0.15, 0.75, 0.10, 1.15],
    [1.35, 0.75, 0.10, 0.60, 1.25],
    [1.85, 1.30, 1.15, 1.30, 1.70],
])  # fmt: skip
LINKS, LENGTH, RADIUS = 6, 0.16, 0.034  # of the chain's capsules, m
STIFFNESS = np.linspace(45.0, 8.0, LINKS)  # of the chain's springs, N m/rad: it sways and stays off the patch
START = (0.80, 0.30, 0.3, 0.1, 0.5, 1.2)  # u, v, the turn, and their rates
SAND, LINE, RED = (0.90, 0.84, 0.70, 1), (0.45, 0.40, 0.33, 1), (0.80, 0.24, 0.18, 1)


def patch() -> Joint:
    """The joint of a body in the patch's tangent plane, over u and v from 0 to 1."""
    side = np.linspace(-REACH, REACH, 5)
    x, y = np.meshgrid(side, side, indexing="ij")
    return joints.bezier_surface(np.stack([x, y, HEIGHTS], axis=-1), outside="clamp")


def board(damping: float = 0.0) -> Scene:
    """The board with its chain: 3 coordinates and 2 a link; damping in N m s/rad, and N m s along u and v."""
    scene = Scene()
    glide = patch().adjusted(damping=damping) @ joints.revolute("z", damping=damping)
    plank = shapes.Box((0.52, 0.26, 0.04), at=rd.pose((0, 0, 0.07)), color=RED)
    runners = [
        shapes.Capsule(0.022, 0.4, at=rd.pose((0, y, 0.03), (0, np.pi / 2, 0)), color=(0.25, 0.27, 0.3, 1))
        for y in (-0.09, 0.09)
    ]
    node = scene.world.attach(Body("board", [plank, *runners], density=600), glide)
    place = rd.pose((0, 0, 0.09))
    for i in range(LINKS):
        tint = i / (LINKS - 1)
        color = (0.16 + 0.75 * tint, 0.45 + 0.28 * tint, 0.75 - 0.5 * tint, 1)
        rod = shapes.Capsule(RADIUS, LENGTH, at=rd.pose((0, 0, LENGTH / 2 + RADIUS)), color=color)
        sway = joints.universal("x", "y", damping=damping, stiffness=float(STIFFNESS[i]))
        node = node.attach(Body(f"link{i}", [rod], density=150), sway, at=place)
        place = rd.pose((0, 0, LENGTH + 1.6 * RADIUS))
    return scene


def set_off(simulation: rd.Simulation) -> None:
    """Near the rim, with a push along it."""
    simulation.q[:3], simulation.v[:3] = START[:3], START[3:]


def build() -> Stage:
    """The board under way, its friction small."""
    simulation = compiled(scene := board(0.05), 1 / 60)
    set_off(simulation)
    return Stage(scene, simulation, seconds=8.0, decorate=draw,
                 camera=Camera(target=(0, 0, 0.8), distance=6.3, yaw=38, pitch=-30))  # fmt: skip


def draw(mirror: PyBulletMirror) -> None:
    """The patch, and lines of its coordinates on it."""
    shape = patch().patch
    assert shape is not None
    count = 61
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).reshape(-1)
    faces = np.concatenate([
        np.stack([corner, corner + count, corner + count + 1], axis=1),
        np.stack([corner, corner + count + 1, corner + 1], axis=1),
    ])  # fmt: skip
    grid = shape.grid(count, count)
    mirror.add_surface(grid.reshape(-1, 3), faces, color=SAND)
    for k in range(0, count, 6):
        radius = 0.018 if k in (0, count - 1) else 0.006
        for line in (grid[k], grid[:, k]):
            mirror.add_polyline(line, color=LINE, radius=radius)

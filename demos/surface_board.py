"""A board glides on a curved surface and carries a chain of links that sways.

The board is aligned with the surface's tangent plane (Guenter & Lee 2009, section 5; Si & Guenter 2011, figure 4): two
coordinates and a turn about the normal.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

REACH = 1.7


def landscape(u: sp.Expr, v: sp.Expr) -> list[sp.Expr]:
    """A bowl with waves in it, m."""
    return [u, v, 0.6 + sp.Rational(1, 5) * (u**2 + v**2) + sp.Rational(1, 8) * sp.sin(2 * u) * sp.cos(2 * v)]


def build() -> Stage:
    """The board starts near the rim with a push along it."""
    u, v = sp.symbols("u v", real=True)
    scene = Scene()
    board = Body("board", [shapes.Box((0.5, 0.28, 0.05), at=rd.pose((0, 0, 0.03)), color=(0.8, 0.35, 0.2, 1))],
                 density=600)  # fmt: skip
    glide = joints.surface(landscape(u, v), (u, v), damping=0.05) @ joints.revolute("z", damping=0.01)
    node = scene.world.attach(board, glide)
    place = rd.pose((-0.1, 0, 0.055))
    for i in range(6):
        tint = 0.35 + 0.09 * i
        link = Body(f"link{i}", [shapes.Capsule(0.035, 0.16, at=rd.pose((0, 0, 0.1)), color=(0.2, tint, 0.75, 1))],
                    density=200)  # fmt: skip
        node = node.attach(link, joints.universal("x", "y", damping=0.06, stiffness=14.0), at=place)
        place = rd.pose((0, 0, 0.22))
    simulation = compiled(scene, 1 / 240, "implicit_midpoint")
    simulation.q[:3] = (1.3, 0.2, 0.0)
    simulation.v[:3] = (0.0, 1.2, 1.0)
    side = np.linspace(-REACH, REACH, 61)
    grid_u, grid_v = np.meshgrid(side, side, indexing="ij")
    heights = sp.lambdify((u, v), landscape(u, v)[2])(grid_u, grid_v)
    vertices = np.stack([grid_u, grid_v, heights], axis=-1).reshape(-1, 3)
    corner = (np.arange(60)[:, None] * 61 + np.arange(60)).reshape(-1)
    faces = np.concatenate([
        np.stack([corner, corner + 61, corner + 62], axis=1), np.stack([corner, corner + 62, corner + 1], axis=1)
    ])  # fmt: skip

    def decorate(mirror: PyBulletMirror) -> None:
        mirror.add_surface(vertices, faces, color=(0.62, 0.72, 0.6, 1))

    return Stage(scene, simulation, seconds=8.0, decorate=decorate,
                 camera=Camera(target=(0, 0, 0.9), distance=4.2, yaw=35, pitch=-30))  # fmt: skip

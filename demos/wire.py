"""Beads with pendants slide along a knotted wire, each carried by the wire's Frenet frame.

Guenter & Lee (2009), figures 5a and 8: a bead is C(q) Rx(r), the travelling frame of the curve times a rotation about
its tangent. The bead cannot leave the wire, whatever the time step: its position is the curve. One step a frame of
1/60 s, by the default rule.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes

SCALE = 0.32
HEIGHT = 1.35
COLORS = ((0.85, 0.33, 0.2, 1), (0.2, 0.5, 0.8, 1), (0.95, 0.72, 0.2, 1), (0.35, 0.65, 0.35, 1), (0.6, 0.4, 0.7, 1))


def knot(s: sp.Expr) -> list[sp.Expr]:
    """A trefoil knot, m; its curvature is nowhere zero, so that the Frenet frame exists all along."""
    reach = 2 + sp.cos(3 * s)
    return [SCALE * reach * sp.cos(2 * s), SCALE * reach * sp.sin(2 * s), SCALE * 1.4 * sp.sin(3 * s)]


def build() -> Stage:
    """Five beads, each with two hinged links, let go at rest."""
    s = sp.Symbol("s", real=True)
    scene = Scene()
    track = joints.curve(knot(s), s) @ joints.revolute("x", damping=1e-2)
    rod = shapes.Capsule(0.018, 0.16, at=rd.pose((0, 0, -0.1)), color=(0.85, 0.85, 0.88, 1))
    for i, color in enumerate(COLORS):
        bead = Body(f"bead{i}", [shapes.Sphere(0.06, color=color)], density=2000)
        scene.world.attach(bead, track, at=rd.pose((0, 0, HEIGHT)))
        upper = bead.attach(Body(f"upper{i}", [rod], density=2000), joints.revolute("y", damping=1e-2))
        tip = shapes.Sphere(0.04, at=rd.pose((0, 0, -0.2)), color=color)
        upper.attach(Body(f"lower{i}", [rod, tip], density=2000), joints.revolute("x", damping=1e-2),
                     at=rd.pose((0, 0, -0.2)))  # fmt: skip
    simulation = compiled(scene, 1 / 60)
    simulation.q[::4] = np.linspace(0.0, 2 * np.pi, len(COLORS), endpoint=False) + 0.4
    points = np.array(sp.lambdify(s, knot(s))(np.linspace(0, 2 * np.pi, 400))).T + np.array([0, 0, HEIGHT])

    def decorate(mirror: PyBulletMirror) -> None:
        mirror.add_polyline(points, color=(0.25, 0.27, 0.3, 1), radius=0.014)

    return Stage(scene, simulation, seconds=8.0, decorate=decorate,
                 camera=Camera(target=(0, 0, HEIGHT - 0.15), distance=3.4, yaw=30, pitch=-24))  # fmt: skip

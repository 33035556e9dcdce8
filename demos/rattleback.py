"""A rattleback: a stone that rolls on the floor, spins one way, begins to rattle, and turns back of its own accord.

Half an ellipsoid whose axes of inertia are turned against its shape by two weights. Spin one way feeds the rocking
until nothing of it is left, and the rocking feeds the spin the other way: the rolling constraint is nonholonomic, so
that nothing conserves angular momentum (Guenter & Lee 2009, eq. 16, by ``scene.roll``). One RK4 step a frame of 1/60 s.
"""

from __future__ import annotations

import numpy as np
import trimesh

import recursive_dyn as rd
from bridge import Camera
from demos.stage import Stage, compiled
from scene import Body, Scene, joints, shapes
from scene.joints import surfaces

SIZES = (0.6, 0.15, 0.12)  # semi-axes, m: large, so that its rattling is slow enough to be seen
WEIGHTS, RADIUS = (0.36, 0.06), 0.055  # place in the lid from its centre, m
SPIN, ROCKING = -2.5, 0.4  # rad/s at the start
WOOD, BRASS, RED = (0.62, 0.42, 0.26, 1), (0.95, 0.75, 0.25, 1), (0.85, 0.2, 0.15, 1)


def half_ellipsoid(around: int = 64, down: int = 17) -> trimesh.Trimesh:
    """The lower half, closed by a flat lid."""
    vertices, faces = surfaces.ellipsoid(*SIZES).mesh(around, down, v=(-np.pi / 2, 0.0))
    rim = down * np.arange(around) + down - 1
    lid = np.stack([rim, np.roll(rim, -1), np.full(around, len(vertices))], axis=1)
    mesh = trimesh.Trimesh(np.vstack([vertices, np.zeros((1, 3))]), np.vstack([faces, lid]))
    mesh.update_faces(mesh.nondegenerate_faces())  # the keel's lowest point is one vertex
    return mesh


def stone() -> Scene:
    """The half ellipsoid on the floor, its weights fixed to it."""
    scene = Scene()
    body = Body("stone", [shapes.Mesh(half_ellipsoid(), color=WOOD, collision=False)], density=700)
    touching = joints.surface_on_surface(surfaces.plane(), surfaces.ellipsoid(*SIZES, poles="x"), spin=True)
    scene.world.attach(body, touching)
    scene.roll(body)
    for name, side, color in (("red weight", 1, RED), ("brass weight", -1, BRASS)):
        weight = Body(name, [shapes.Sphere(RADIUS, color=color, collision=False)], density=4000)
        body.attach(weight, joints.fixed(), at=rd.pose((side * WEIGHTS[0], side * WEIGHTS[1], 0.03)))
    return scene


def start(dynamics: rd.Dynamics) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) on its keel, spinning and rocking a little."""
    return dynamics.project([0, 0, -np.pi / 2, 0, 0], [0, 0, 0.1, ROCKING, SPIN])


def build() -> Stage:
    """Spun in the direction it does not like."""
    scene = stone()
    simulation = compiled(scene, 1 / 60)
    simulation.q, simulation.v = start(simulation.dynamics)
    return Stage(scene, simulation, seconds=10.0,
                 camera=Camera(target=(0, 0, 0.1), distance=2.1, yaw=20, pitch=-20))  # fmt: skip

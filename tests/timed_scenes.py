"""Transforms that time moves, and what stands on them."""

from __future__ import annotations

import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes


def pose(x=0, y=0, z=0, turn=0) -> sp.Matrix:
    """A transform of expressions: a turn about z, and a place."""
    c, s = sp.cos(turn), sp.sin(turn)
    return sp.Matrix([[c, -s, 0, x], [s, c, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])


def shaking_table(acceleration: float, friction: float) -> Scene:
    """A table that time accelerates along x, with a box on it."""
    scene, rough = Scene(), rd.Material(friction=friction)
    top = [shapes.Box((4, 1, 0.2), material=rough)]
    scene.world.attach(Body("table", top, mass=1.0), joints.Joint(pose(acceleration * scene.time**2 / 2), ()))
    cube = Body("box", [shapes.Box((0.2, 0.2, 0.2), material=rough)], density=500)
    scene.world.attach(cube, joints.free(), at=rd.pose((0, 0, 0.2)))
    return scene

"""A KUKA arm from its URDF file swings a chain of interlocked rings: torus on torus, four coordinates a joint.

The arm is a file nobody here wrote; a ring on a ring is a joint that engines with a list of joints do not have: the
tangent frames of two tori made to coincide, S1 S2^-1 (Guenter & Lee 2009, eq. 15).
"""

from __future__ import annotations

import numpy as np
import sympy as sp

import recursive_dyn as rd
from demos.kuka import arm
from demos.stage import Stage, compiled
from scene import Body, joints, shapes

RADIUS, TUBE = 0.10, 0.022
RINGS = 6


def torus(u: sp.Expr, v: sp.Expr) -> list[sp.Expr]:
    """A ring about z, m: u runs along the tube, v around it; v = pi is the inside of the hole."""
    reach = RADIUS + TUBE * sp.cos(v)
    return [reach * sp.cos(u), reach * sp.sin(u), TUBE * sp.sin(v)]


def build() -> Stage:
    """The chain hangs from the arm's hand, which is let go."""
    scene = arm()
    u1, v1, u2, v2 = sp.symbols("u1 v1 u2 v2", real=True)
    link = joints.surface_on_surface(torus(u1, v1), (u1, v1), torus(u2, v2), (u2, v2), turn=np.pi / 2, damping=4e-3)
    gold, steel = (0.9, 0.68, 0.2, 1), (0.55, 0.6, 0.68, 1)
    place = rd.pose((0, 0, 0.045 + RADIUS + TUBE), (np.pi / 2, 0, 0))
    hand = scene["lbr_iiwa_link_7"]
    ring = hand.attach(Body("ring0", [shapes.Torus(RADIUS, TUBE, color=steel)], density=600), joints.fixed(), at=place)
    for i in range(1, RINGS):
        color = gold if i % 2 else steel
        ring = ring.attach(Body(f"ring{i}", [shapes.Torus(RADIUS, TUBE, color=color)], density=600), link)
    simulation = compiled(scene, 1 / 480, "implicit_midpoint")
    # hand pointing down, rings hanging straight: each touches the inside of the one above at its lowest point
    simulation.q[:7] = (0.0, -0.2, 0.0, -1.9, 0.0, np.pi - 1.7, 0.0)
    simulation.q[7:] = np.tile([np.pi / 2, np.pi, -np.pi / 2, np.pi], RINGS - 1)
    simulation.v[0] = 2.5
    return Stage(scene, simulation, seconds=5.0,
                 camera={"target": (0.1, 0, 0.55), "distance": 2.4, "yaw": 50, "pitch": -16})  # fmt: skip

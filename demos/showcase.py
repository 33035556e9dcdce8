"""A KUKA arm, read from its URDF file, swings a chain of interlocked rings: torus on torus, four coordinates a joint.

The arm is a file nobody here wrote; a ring on a ring is a joint that engines with a list of joints do not have: the
tangent frames of two tori made to coincide, S1 S2^-1 (Guenter & Lee 2009, eq. 15).
"""

from __future__ import annotations

import numpy as np

import recursive_dyn as rd
from bridge import Camera
from demos.kuka import HEIGHT, PEDESTAL, arm
from demos.stage import Stage, compiled
from scene import Body, joints, shapes

RADIUS, TUBE = 0.10, 0.022
RINGS = 6
REST = (0.0, -0.2, 0.0, -1.9, 0.0, np.pi - 1.7, 0.0)  # hand down


def build() -> Stage:
    """The chain hangs from the arm's hand."""
    scene = arm()
    for k, angle in enumerate(REST):
        body = scene[f"lbr_iiwa_link_{k + 1}"]
        hold = 800.0 if k else 0.0  # N m/rad; the springs are implicit, so that they may be this stiff
        body.joint = body.joint.adjusted(stiffness=hold, rest=angle, damping=20.0)
    torus = joints.surfaces.torus(RADIUS, TUBE)
    link = joints.surface_on_surface(torus, torus, turn=np.pi / 2, damping=4e-3)
    gold, steel = (0.9, 0.68, 0.2, 1), (0.55, 0.6, 0.68, 1)
    place = rd.pose((0, 0, 0.045 + RADIUS + TUBE), (np.pi / 2, 0, 0))
    hand = scene["lbr_iiwa_link_7"]
    ring = hand.attach(Body("ring0", [shapes.Torus(RADIUS, TUBE, color=steel)], density=600), joints.fixed(), at=place)
    for i in range(1, RINGS):
        color = gold if i % 2 else steel
        ring = ring.attach(Body(f"ring{i}", [shapes.Torus(RADIUS, TUBE, color=color)], density=600), link)
    scene.world.shapes.append(PEDESTAL)
    simulation = compiled(scene, 1 / 240, "implicit_midpoint")
    # the rings hanging straight: each touches the inside of the one above at its lowest point
    simulation.q[:7] = REST
    simulation.q[7:] = np.tile([np.pi / 2, np.pi, -np.pi / 2, np.pi], RINGS - 1)
    return Stage(scene, simulation, seconds=8.0, ground=-HEIGHT, control=swing,
                 camera=Camera(target=(0.05, 0, 0.12), distance=2.7, yaw=20, pitch=-10))  # fmt: skip


def swing(simulation: rd.Simulation) -> None:
    """Turn the base to and fro."""
    simulation.tau[0] = 200.0 * (1.1 * np.sin(2.4 * simulation.time) - simulation.q[0])

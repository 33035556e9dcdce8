"""Laikago as pybullet_data has it, without what only pictures need and what engines read differently."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

from demos.benchmark.contact.description import Robot, Vector

LEGS = ("FL", "FR", "RL", "RR")
HINGES = ("hip_motor_2_chassis_joint", "upper_leg_2_hip_motor_joint", "lower_leg_2_upper_leg_joint")
ANYMAL_POSE = ((0.03, 0.4, -0.8), (-0.03, 0.4, -0.8), (0.03, -0.4, 0.8), (-0.03, -0.4, 0.8))  # by leg and hinge
STANDING_POSE = ((0.0, 0.0081, -0.7),) * 4  # the feet about the centre of mass
STANDING_HEIGHT = 0.4737  # m, of the root's frame: the feet, balls of 30 mm, then touch the ground


@cache
def laikago(feet_only: bool = False) -> str:
    """URDF of the z-up Laikago with ball feet: true inertias, no limits, no pictures, no soft-contact extensions.

    feet_only: nothing else collides. (The meshes of its shins reach through the feet and would touch the ground too.)
    """
    import pybullet_data

    folder = Path(pybullet_data.getDataPath()) / "laikago"
    root = ET.parse(folder / "laikago_toes_zup.urdf").getroot()
    for link in root.iter("link"):
        for child in list(link):
            if child.tag in ("visual", "contact") or (feet_only and child.find("geometry/mesh") is not None):
                link.remove(child)
    for mesh in root.iter("mesh"):
        mesh.set("filename", str(folder / mesh.get("filename", "")))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode")


@cache
def total_mass() -> float:
    """Laikago's mass, kg."""
    return sum(float(mass.get("value", "0")) for mass in ET.fromstring(laikago()).iter("mass"))


def quadruped(
    position: Vector,
    pose: tuple[Vector, ...] = ANYMAL_POSE,
    stiffness: float = 0.0,
    damping: float = 0.0,
    feet_only: bool = False,
) -> Robot:
    """Laikago at a position; pose: angles of hip, thigh and knee of the legs front left, front right, rear ones."""
    angles = {
        f"{leg}_{hinge}": angle
        for leg, of_leg in zip(LEGS, pose, strict=True)
        for hinge, angle in zip(HINGES, of_leg, strict=True)
    }
    return Robot(laikago(feet_only), position, angles, stiffness, damping)

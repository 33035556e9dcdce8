"""Parametric joints: each is one transform G(q); derivatives, motion subspace and bias follow from it."""

from scene.joints.base import Joint
from scene.joints.curve import curve
from scene.joints.elementary import (
    ball,
    cylindrical,
    euler,
    fixed,
    free,
    planar,
    prismatic,
    revolute,
    screw,
    universal,
)
from scene.joints.surface import surface, surface_on_surface

__all__ = [
    "Joint",
    "ball",
    "curve",
    "cylindrical",
    "euler",
    "fixed",
    "free",
    "planar",
    "prismatic",
    "revolute",
    "screw",
    "surface",
    "surface_on_surface",
    "universal",
]

"""Parametric joints: each is one transform G(q); derivatives, motion subspace and bias follow from it."""

from scene.joints import surfaces
from scene.joints.base import Joint
from scene.joints.charts import charts
from scene.joints.curves.curve import bezier, bspline, curve
from scene.joints.curves.patch import PatchShape, bezier_surface, bspline_surface
from scene.joints.curves.polyline import CurvePath
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
from scene.joints.rolling import gear, rack, rolling, wheel
from scene.joints.surface_joints import surface, surface_on_surface

__all__ = [
    "CurvePath",
    "Joint",
    "PatchShape",
    "ball",
    "bezier",
    "bezier_surface",
    "bspline",
    "bspline_surface",
    "charts",
    "curve",
    "cylindrical",
    "euler",
    "fixed",
    "free",
    "gear",
    "planar",
    "prismatic",
    "rack",
    "revolute",
    "rolling",
    "screw",
    "surface",
    "surface_on_surface",
    "surfaces",
    "universal",
    "wheel",
]

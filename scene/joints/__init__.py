"""Parametric joints: each is one transform G(q); derivatives, motion subspace and bias follow from it."""

from recursive_dyn.joint.turn_limits import TurnLimits
from scene.joints import surfaces
from scene.joints.charts import charts
from scene.joints.curves.curve import bezier, bspline, curve
from scene.joints.curves.curve_path import CurvePath
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
from scene.joints.exponential import exponential_map
from scene.joints.parametric_joint import Joint
from scene.joints.rolling import gear, rack, rolling, wheel
from scene.joints.surfaces.gliding import surface, surface_on_surface
from scene.joints.surfaces.patch import bezier_surface, bspline_surface
from scene.joints.surfaces.patch_shape import PatchShape

__all__ = [
    "CurvePath",
    "Joint",
    "PatchShape",
    "TurnLimits",
    "ball",
    "bezier",
    "bezier_surface",
    "bspline",
    "bspline_surface",
    "charts",
    "curve",
    "cylindrical",
    "euler",
    "exponential_map",
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

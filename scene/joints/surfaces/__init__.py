"""Surfaces that joints glide on or touch with: the library, and those of a person's own expressions."""

from scene.joints.surfaces.library import cylinder, ellipsoid, paraboloid, plane, rim, sphere, torus
from scene.joints.surfaces.surface import Span, Surface

__all__ = ["Span", "Surface", "cylinder", "ellipsoid", "paraboloid", "plane", "rim", "sphere", "torus"]

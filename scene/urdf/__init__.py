"""Robots described by URDF files."""

from scene.urdf.robot import add

__all__ = ["add"]

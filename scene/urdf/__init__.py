"""Robots described by URDF files."""

from scene.urdf.robot import add, load

__all__ = ["add", "load"]

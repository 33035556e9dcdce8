"""Robots described by URDF files."""

from scene.urdf.reader import add, load

__all__ = ["add", "load"]

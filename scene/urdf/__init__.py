"""Robots described by URDF files."""

from scene.urdf.reader import load

__all__ = ["load"]

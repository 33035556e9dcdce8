"""The scene graph: what a person writes."""

from scene import joints, linkages, shapes
from scene.body import Body, World
from scene.scene import Scene

__all__ = ["Body", "Scene", "World", "joints", "linkages", "shapes"]

"""Scene shapes as triangles: meshes of our own, as Bullet's renderers make coarse ones of its shapes."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

import numpy as np

from bridge.meshes.files import MeshFile, MeshFiles
from bridge.meshes.paint import paint_of
from bridge.meshes.triangle_mesh import Triangles
from scene import shapes

TURN = 36  # edges around a full turn of what is drawn: few corners are seen at 640 x 480
SHARED = ("at", "color", "collision", "visual", "material")  # what all shapes have, which is not part of a mesh


def drawn(shape: shapes.Shape, files: MeshFiles) -> MeshFile:
    """The file of a shape's triangles in its own frame, in m."""
    return files.get(_key(shape), lambda: tessellated(shape, TURN))


def _key(shape: shapes.Shape) -> Hashable:
    """Equal for shapes that look alike but for place and colour; a mesh in memory is known by its shape alone."""
    if isinstance(shape, shapes.Mesh):
        return (shape.source, *scale_of(shape)) if isinstance(shape.source, Path) else shape
    sizes = ((name, value) for name, value in vars(shape).items() if name not in SHARED)
    return (type(shape), *((name, tuple(np.ravel(value).tolist())) for name, value in sizes))


def scale_of(shape: shapes.Mesh) -> tuple[float, float, float]:
    """What turns the file's units into m, along each axis."""
    x, y, z = np.ravel(shape.scale).tolist()
    return x, y, z


def tessellated(shape: shapes.Shape, sections: int) -> Triangles:
    """A shape's triangles in its own frame, with ``sections`` edges around a full turn."""
    mesh = shapes.to_trimesh(shape, sections)
    return Triangles.shaded(mesh.vertices, mesh.faces, paint_of(mesh) if isinstance(shape, shapes.Mesh) else None)

"""What decides how low a shape reaches over a plane, by type of shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from bridge import mesh_cache
from bridge.planes.lowest_points import ELLIPSOID, POINTS, RIM, TUBE
from recursive_dyn.errors import ModelError
from scene import shapes


@dataclass(frozen=True, eq=False)
class Support:
    """What decides how low a shape reaches, in the shape's own frame, m.

    POINTS: balls of a ``size[0]`` about ``points`` (n, 3). RIM: a circle of radius size[0] about its centre, the one
    point, and the z axis. TUBE: a torus of radii size[0] > size[1], likewise. ELLIPSOID: semi-axes ``size``.
    """

    kind: int
    points: np.ndarray
    size: Sequence[float] = (0.0, 0.0, 0.0)


@singledispatch
def supports(shape: shapes.Shape) -> list[Support]:
    """The supports of a shape; ``supports.register`` adds a type. Raises ModelError."""
    raise ModelError(
        f"{shape.label}: it is not known how it lies on a plane; give it collision=False, or register its supports with"
        " bridge.planes.supports.supports.register"
    )


@supports.register
def _(shape: shapes.Box) -> list[Support]:
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij")).reshape(3, 8).T
    return [Support(POINTS, 0.5 * signs * np.asarray(shape.size))]


@supports.register
def _(shape: shapes.Sphere) -> list[Support]:
    return [Support(POINTS, np.zeros((1, 3)), (shape.radius, 0.0, 0.0))]


@supports.register
def _(shape: shapes.Capsule) -> list[Support]:
    return [Support(POINTS, _ends(shape.length), (shape.radius, 0.0, 0.0))]


@supports.register
def _(shape: shapes.Cylinder) -> list[Support]:
    return [Support(RIM, end[None], (shape.radius, 0.0, 0.0)) for end in _ends(shape.length)]


@supports.register
def _(shape: shapes.Torus) -> list[Support]:
    return [Support(TUBE, np.zeros((1, 3)), (shape.major, shape.minor, 0.0))]


@supports.register
def _(shape: shapes.Ellipsoid) -> list[Support]:
    return [Support(ELLIPSOID, np.zeros((1, 3)), tuple(shape.radii))]


@supports.register
def _(shape: shapes.Mesh) -> list[Support]:
    """The corners of its convex hull: a plane never meets hollows."""
    return [Support(POINTS, corners(shape) * np.asarray(shape.scale))]


def corners_key(shape: shapes.Mesh) -> str:
    """What the corners are kept under."""
    return mesh_cache.key_of(shape, "corners")


def corners(shape: shapes.Mesh) -> np.ndarray:
    """The vertices (n, 3) on the convex hull of a mesh, in the units of its source; kept once found."""
    key = corners_key(shape)
    kept = (mesh_cache.load(key) or {}).get("corners")
    if kept is not None and kept.ndim == 2 and kept.shape[1] == 3 and len(kept):
        return kept
    vertices = np.asarray(shape.geometry.vertices, dtype=float)
    found: np.ndarray = vertices[_on_hull(vertices)]
    mesh_cache.keep(key, {"corners": found})
    return found


def _ends(length: float) -> np.ndarray:
    return np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]])


def _on_hull(vertices: np.ndarray) -> np.ndarray:
    """Indices of the vertices on the convex hull; all, where they lie in a plane or a line."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        corners: np.ndarray = ConvexHull(vertices).vertices
    except QhullError:
        return np.arange(len(vertices))
    return np.sort(corners)

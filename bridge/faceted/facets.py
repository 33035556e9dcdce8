"""Surfaces of triangles as compiled loops read them: grids of heights, and meshes under a tree of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import numpy as np

from bridge.curved.manifold_points import Rows3
from bridge.faceted.shared_sides import sides_shared
from recursive_dyn.codegen.compiled import Floats

LEAF = 4  # triangles of a leaf
_LEVELS = 21  # bits of each coordinate in the order of leaves
_FLAT = 1e-12  # share of the square of its longest side below which a triangle has no area


class Facets(NamedTuple):
    """Any number of surfaces, each in a frame of its own, m.

    ranges (n, 6): of a grid its first height, its rows and columns, and three zeros; of a mesh three zeros, its first
    triangle, how many it has, and its first box. spacing (n, 2): of a grid. heights (h,), row by row; corners
    (t, 3, 3): of triangles; boxes (b, 6): low and high ends of what is under the nodes of binary trees, each tree from
    its place 1 on, where node k has the children 2 k and 2 k + 1. The last nodes hold LEAF triangles each.
    beside (t, 3): of meshes, the number within its mesh of the triangle beyond each side, or BORDER.
    """

    ranges: Annotated[np.ndarray, int, 6]
    spacing: Annotated[np.ndarray, float, 2]
    heights: Floats
    corners: Annotated[np.ndarray, float, 3, 3]
    boxes: Annotated[np.ndarray, float, 6]
    beside: Annotated[np.ndarray, int, 3]


class Triangulation(NamedTuple):
    """One of them: a grid of heights (nx, ny) with its spacing, or triangles with their tree, in the same terms."""

    spacing: Sequence[float] | np.ndarray
    heights: np.ndarray
    corners: np.ndarray
    boxes: np.ndarray
    beside: np.ndarray


def grid_surface(heights: np.ndarray, spacing: Sequence[float] | np.ndarray) -> Triangulation:
    """A grid about the origin, triangles as a HeightField has them."""
    return Triangulation(spacing, heights, np.zeros((0, 3, 3)), np.zeros((0, 6)), np.zeros((0, 3), np.int64))


def mesh_surface(corners: np.ndarray) -> Triangulation:
    """Triangles (t, 3, 3), in any order and wound either way; those without area are left out."""
    sides = np.roll(corners, -1, axis=1) - corners
    longest = np.einsum("tij,tij->ti", sides, sides).max(axis=1, initial=0.0)
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    corners = corners[area > _FLAT * longest]
    corners = corners[np.argsort(_along_a_curve(corners.mean(axis=1)), kind="stable")]
    leaves = 1
    while leaves * LEAF < len(corners):
        leaves *= 2
    boxes = np.empty((2 * leaves, 6))
    boxes[:, :3], boxes[:, 3:] = np.inf, -np.inf
    leaf = leaves + np.arange(len(corners)) // LEAF
    np.minimum.at(boxes[:, :3], leaf, corners.min(axis=1))
    np.maximum.at(boxes[:, 3:], leaf, corners.max(axis=1))
    while leaves > 1:
        children = boxes[leaves : 2 * leaves].reshape(-1, 2, 6)
        leaves //= 2
        boxes[leaves : 2 * leaves, :3] = children[:, :, :3].min(axis=1)
        boxes[leaves : 2 * leaves, 3:] = children[:, :, 3:].max(axis=1)
    return Triangulation((1.0, 1.0), np.zeros((0, 0)), corners, boxes, sides_shared(corners))


def gathered_facets(own: Sequence[Triangulation]) -> Facets:
    """All of them in common arrays."""
    ranges, h, t, b = np.zeros((len(own), 6), dtype=np.int64), 0, 0, 0
    for row, each in zip(ranges, own, strict=True):
        if each.heights.size:
            row[:3] = h, *each.heights.shape
        else:
            row[3:] = t, len(each.corners), b
        h, t, b = h + each.heights.size, t + len(each.corners), b + len(each.boxes)
    return Facets(
        ranges,
        np.array([each.spacing for each in own], dtype=float).reshape(-1, 2),
        np.concatenate([np.zeros(0), *(each.heights.ravel() for each in own)]),
        np.concatenate([np.zeros((0, 3, 3)), *(each.corners for each in own)]),
        np.concatenate([np.zeros((0, 6)), *(each.boxes for each in own)]),
        np.concatenate([np.zeros((0, 3), np.int64), *(each.beside for each in own)]),
    )


def _along_a_curve(points: Rows3) -> np.ndarray:
    """Numbers of points (n, 3), by which those near each other come near each other (Morton, 1966): bits by turns."""
    low = points.min(axis=0, initial=np.inf)
    extent = float((points - low).max(initial=0.0)) or 1.0
    cells = ((points - low) / extent * (2**_LEVELS - 1)).astype(np.int64)
    key = np.zeros(len(points), dtype=np.int64)
    for bit in range(_LEVELS):
        for axis in range(3):
            key |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return key

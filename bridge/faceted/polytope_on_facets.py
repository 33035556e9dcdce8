"""Boxes and convex meshes on a surface of triangles, in the world; compiled.

Their corners touch its faces, its corners that stick out touch their faces, and edges that stick out touch edges. What
lies flat or is hollow adds nothing to that: a flat surface is touched as the plane is that it is in.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.curved_pairs import into_world, seen
from bridge.curved.manifold_points import Found, InWorld, Rows3, dot
from bridge.curved.polytopes import Polytopes
from bridge.curved.solid import Solid
from bridge.faceted.facet_corners import corner_on_polytope
from bridge.faceted.facet_edges import edge_on_polytope, reach_within
from bridge.faceted.facet_search import NONE, Near, next_facet
from bridge.faceted.facet_sides import beside, corners_of_own, knows
from bridge.faceted.facets import Facets
from bridge.faceted.fewest_points import MANY, keep_fewest
from bridge.faceted.polytope_corners import corners_on_facets
from bridge.faceted.shared_sides import BORDER
from recursive_dyn.codegen.compiled import compiled


@compiled
def polytope_on_facets(
    placed: InWorld, solids: Polytopes, hull: int, facets: Facets, k: int, a: int, b: int, margin: float, found: Found
) -> None:
    """Points nearer than ``margin`` of shape a, the hull-th polytope, on shape b, the k-th surface."""
    centre, axes, middle, found.size[0] = np.empty(3), np.empty((3, 3)), np.empty(3), 0
    seen(placed, a, b, centre, axes)
    many = Found(np.empty((MANY, 7)), np.zeros(1, dtype=np.int64))
    solid = Solid(0, centre, axes, middle)
    near = Near(np.full(3, math.inf), np.full(3, -math.inf), centre, math.inf)
    size = _surround(solid, solids, hull, margin, near)
    t = next_facet(facets, k, near, NONE)
    if t == NONE and facets.ranges[k, 1] == 0:
        return
    deep = math.inf  # the least way from the middle to a face
    for f in range(solids.ranges[hull, 4], solids.ranges[hull, 5]):
        deep = min(deep, solids.offsets[f] - dot(solids.normals[f], middle))
    own = np.empty((3, 3))
    while t != NONE:
        corners_of_own(solid, facets, k, t, own)
        if not _is_apart(own, solids, hull, margin):
            _meet(solid, own, facets, k, t, solids, hull, margin, deep, many)
        t = next_facet(facets, k, near, t)
    _into_surface(solid, many)
    corners_on_facets(solid, solids, hull, facets, k, margin, many)
    keep_fewest(many, size, margin, found)
    into_world(placed, b, found)


@compiled
def _surround(solid: Solid, solids: Polytopes, hull: int, margin: float, near: Near) -> float:
    """Write the ends of a box about a polytope and the margin, and its middle as the solid's size, in its own frame;
    how large it is."""
    first, last, size = solids.ranges[hull, 0], solids.ranges[hull, 1], 0.0
    for j in range(3):
        solid.size[j] = 0.0
        for c in range(first, last):
            solid.size[j] += solids.corners[c, j] / (last - first)
    for c in range(first, last):
        square = 0.0
        for i in range(3):
            at = solid.centre[i]
            for j in range(3):
                at += solid.axes[j, i] * solids.corners[c, j]
            near.low[i], near.high[i] = min(near.low[i], at - margin), max(near.high[i], at + margin)
            square += (solids.corners[c, i] - solid.size[i]) * (solids.corners[c, i] - solid.size[i])
        size = max(size, math.sqrt(square))
    return size


@compiled
def _is_apart(own: Rows3, solids: Polytopes, hull: int, margin: float) -> bool:
    """Whether a face's plane has all of a triangle beyond the margin."""
    for f in range(solids.ranges[hull, 4], solids.ranges[hull, 5]):
        least = math.inf
        for c in range(3):
            least = min(least, dot(solids.normals[f], own[c]))
        if least - solids.offsets[f] >= margin:
            return True
    return False


@compiled
def _meet(
    solid: Solid, own: Rows3, facets: Facets, k: int, t: int, solids: Polytopes, hull: int, margin: float, deep: float,
    many: Found,
) -> None:  # fmt: skip
    """Sides and corners of a triangle, those that no triangle before it has."""
    other, up = np.empty((3, 3)), np.zeros(3)
    if facets.ranges[k, 1] > 0:
        for j in range(3):
            up[j] = solid.axes[j, 2]
    for c in range(3):
        reach = reach_within(own[c], own[(c + 1) % 3], solids, hull, margin)
        if reach < 0.0:
            continue
        beyond = beside(facets, k, t, c)
        if beyond != BORDER and beyond < t and knows(facets, k, beyond, t):
            continue
        if beyond != BORDER:
            corners_of_own(solid, facets, k, beyond, other)
        edge_on_polytope(own, c, other, beyond == BORDER, solids, hull, margin, reach, deep, up, many)
    for c in range(3):
        corner_on_polytope(solid, facets, k, t, c, own, solids, hull, margin, deep, up, many)


@compiled
def _into_surface(solid: Solid, many: Found) -> None:
    """Points and normals in the solid's own frame as those in the surface's."""
    x, n = np.empty(3), np.empty(3)
    for r in range(many.size[0]):
        row = many.rows[r]
        for i in range(3):
            x[i], n[i] = solid.centre[i], 0.0
            for j in range(3):
                x[i] += solid.axes[j, i] * row[j]
                n[i] += solid.axes[j, i] * row[3 + j]
        for i in range(3):
            row[i], row[3 + i] = x[i], n[i]

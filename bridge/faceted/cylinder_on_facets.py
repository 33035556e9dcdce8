"""Cylinders on a surface of triangles; compiled. All is in the surface's frame.

Their rims touch its faces, and edges and corners that stick out touch them: their barrel, a rim or a cap. What lies
flat or is hollow adds nothing to its faces. Every normal meets the axis or is along it, so that none spins a cylinder
about that without friction.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import Found, Rows3, dot, normalized
from bridge.curved.polytopes import Polytopes
from bridge.curved.solid import Solid, distance_from, lowest, rim_axes, rim_end, rim_quarter
from bridge.faceted.cylinder_on_edges import edge_on_cylinder, touched_by
from bridge.faceted.facet_corners import AROUND, Rim, around, carries, goes_on
from bridge.faceted.facet_search import NONE, Near, corners_of, is_below, next_facet
from bridge.faceted.facet_sides import beside, knows, normal_of, put_over
from bridge.faceted.facets import Facets
from bridge.faceted.fewest_points import MANY, keep_fewest
from bridge.faceted.shared_sides import BORDER
from recursive_dyn.codegen.compiled import Floats, compiled

_STANDING = 0.1  # cosine of the angle between the axis and a face's normal, from which on a cap is over it


@compiled
def cylinder_on_facets(
    solid: Solid, solids: Polytopes, facets: Facets, k: int, margin: float, found: Found
) -> None:  # fmt: skip
    """Add the points nearer than ``margin`` of a cylinder on the k-th surface, as many as there is room for."""
    many = Found(np.empty((MANY, 7)), np.zeros(1, dtype=np.int64))
    near, radius, half = Near(np.empty(3), np.empty(3), solid.centre, math.inf), solid.size[0], solid.size[1]
    for i in range(3):
        u = solid.axes[2, i]
        reach = half * abs(u) + radius * math.sqrt(max(1.0 - u * u, 0.0)) + margin
        near.low[i], near.high[i] = solid.centre[i] - reach, solid.centre[i] + reach
    corners, m, a, up = np.empty((3, 3)), np.empty(3), np.empty(3), np.zeros(3)
    up[2] = 1.0 if facets.ranges[k, 1] > 0 else 0.0
    deep = min(radius, half)  # m, up to where it is looked for overlaps
    deepest = radius + half if is_below(facets, k, solid.centre) else deep
    t = next_facet(facets, k, near, NONE)
    while t != NONE:
        corners_of(facets, k, t, corners)
        normal_of(corners, m)
        side = 1.0 if up[2] > 0.0 or dot(m, solid.centre) >= dot(m, corners[0]) else -1.0
        for i in range(3):
            m[i] *= side
        if lowest(solid, m, a) - dot(m, corners[0]) < margin:
            _on_face(solid, corners, m, margin, deepest, many)
            _at_borders(solid, solids, facets, k, t, corners, margin, deep, up, many)
        t = next_facet(facets, k, near, t)
    keep_fewest(many, radius + half, margin, found)


@compiled
def _on_face(solid: Solid, corners: Rows3, m: Floats, margin: float, deep: float, many: Found) -> None:
    """Points of rims over a face of normal m: the lowest of each, and of the one under a cap three more around it."""
    down, across, x, end, n = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    cosine = rim_axes(solid, m, down, across)
    if abs(cosine) <= _STANDING:
        deep = max(deep, solid.size[0])
    for side in range(2):
        if abs(cosine) > _STANDING and (cosine > 0.0) == (side == 1):
            continue
        rim_end(solid, side, end)
        for quarter in range(4 if abs(cosine) > _STANDING else 1):
            rim_quarter(solid, end, down, across, quarter, x)
            lean = dot(m, down) if quarter % 2 == 1 else 0.0  # along the rim, which would spin it
            for i in range(3):
                n[i] = m[i] - lean * down[i]
            normalized(n)
            gap = (dot(m, x) - dot(m, corners[0])) / dot(m, n)
            if -deep < gap < margin:
                put_over(corners, x, n, gap, gap, many)


@compiled
def _at_borders(
    solid: Solid, solids: Polytopes, facets: Facets, k: int, t: int, corners: Rows3, margin: float, deep: float,
    up: Floats, many: Found,
) -> None:  # fmt: skip
    """Sides and corners of a triangle, those that no triangle before it has."""
    other, apart, n = np.empty((3, 3)), np.empty(3), np.empty(3)
    for c in range(3):
        apart[c] = distance_from(solid, solids, corners[c], n)
    for c in range(3):
        square = 0.0
        for i in range(3):
            square += (corners[(c + 1) % 3, i] - corners[c, i]) * (corners[(c + 1) % 3, i] - corners[c, i])
        if 0.5 * (apart[c] + apart[(c + 1) % 3] - math.sqrt(square)) >= margin:
            continue
        beyond = beside(facets, k, t, c)
        if beyond != BORDER and beyond < t and knows(facets, k, beyond, t):
            continue
        if beyond != BORDER:
            corners_of(facets, k, beyond, other)
        edge_on_cylinder(solid, solids, corners, c, other, beyond == BORDER, margin, deep, up, many)
    for c in range(3):
        if -deep < apart[c] < margin:
            _corner(solid, solids, facets, k, t, c, corners, margin, deep, up, many)


@compiled
def _corner(
    solid: Solid, solids: Polytopes, facets: Facets, k: int, t: int, c: int, corners: Rows3, margin: float, deep: float,
    up: Floats, many: Found,
) -> None:  # fmt: skip
    """The c-th corner of triangle t, if the surface is nowhere higher there."""
    if BORDER < beside(facets, k, t, c) < t or BORDER < beside(facets, k, t, (c + 2) % 3) < t:
        return
    here, n, m = Solid(0, np.zeros(3), np.zeros((3, 3)), np.zeros(3)), np.empty(3), np.empty(3)
    for i in range(3):
        here.axes[i, i] = 1.0
    rim = Rim(np.zeros((2 * AROUND, 3)), np.empty((AROUND, 3)))
    count = around(here, facets, k, t, corners[c], rim)
    if count == 0 or goes_on(rim, count):
        return
    distance_from(solid, solids, corners[c], n)
    m[:] = n
    if carries(rim, count, n):
        touched_by(solid, corners[c], n, m, margin, deep, up, many)

"""Which triangles share sides, and how surfaces lie at these; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import Found, Rows3, crossed, dot, normalized
from bridge.curved.solid import Solid
from bridge.faceted.facet_search import corners_of
from bridge.faceted.facets import Facets
from bridge.faceted.fewest_points import put_nearest
from bridge.faceted.shared_sides import BORDER
from recursive_dyn.codegen.compiled import Floats, compiled

FLAT = 1e-5  # sine of the angle at an edge up to which a surface is flat there
_WITHIN = 1e-9  # m beyond a side that still is over a face


@compiled
def beside(facets: Facets, k: int, facet: int, side: int) -> int:
    """The triangle beyond a side of one of the k-th surface, from this corner to the next; or BORDER."""
    rows, columns = facets.ranges[k, 1], facets.ranges[k, 2]
    if rows == 0:
        return facets.beside[facets.ranges[k, 3] + facet, side]
    cell, upper = facet // 2, facet % 2
    i, j = cell // (columns - 1), cell % (columns - 1)
    if upper == 0:
        if side == 1:
            return facet + 1
        i, j = (i, j - 1) if side == 0 else (i - 1, j)
    else:
        if side == 2:
            return facet - 1
        i, j = (i + 1, j) if side == 0 else (i, j + 1)
    if not (0 <= i < rows - 1 and 0 <= j < columns - 1):
        return BORDER
    return 2 * (i * (columns - 1) + j) + 1 - upper


@compiled
def normal_of(corners: Rows3, n: Floats) -> None:
    """Write a triangle's unit normal, as it is wound."""
    u, w = np.empty(3), np.empty(3)
    for i in range(3):
        u[i], w[i] = corners[1, i] - corners[0, i], corners[2, i] - corners[0, i]
    crossed(u, w, n)
    normalized(n)


@compiled
def leading_in(a: Floats, along: Floats, corners: Rows3, u: Floats) -> None:
    """Write the unit vector (3,) across a line through a, of unit direction ``along``, into a triangle that has a side
    on it."""
    most, x = -1.0, np.empty(3)
    for c in range(3):
        for i in range(3):
            x[i] = corners[c, i] - a[i]
        way = dot(x, along)
        for i in range(3):
            x[i] -= way * along[i]
        square = dot(x, x)
        if square > most:
            most = square
            u[:] = x
    normalized(u)


@compiled
def sticking_out(
    own: Rows3, side: int, other: Rows3, border: bool, along: Floats, u: Floats, w: Floats, bulge: Floats
) -> float:
    """Write a side's direction and what leads into the triangles at it: u into ``own``, w into ``other`` unless that is
    a border, and their sum; its length, m, or 0 where the surface is flat there. w (3,): zeros."""
    a, b = own[side], own[(side + 1) % 3]
    for i in range(3):
        along[i] = b[i] - a[i]
    length = normalized(along)
    leading_in(a, along, own, u)
    if not border:
        leading_in(a, along, other, w)
    for i in range(3):
        bulge[i] = u[i] + w[i]
    return 0.0 if dot(bulge, bulge) < FLAT * FLAT else length


@compiled
def corner_at(corners: Rows3, x: Floats) -> int:
    """Which of a triangle's corners is nearest to a point."""
    nearest, least = 0, math.inf
    for c in range(3):
        square = 0.0
        for i in range(3):
            square += (corners[c, i] - x[i]) * (corners[c, i] - x[i])
        if square < least:
            nearest, least = c, square
    return nearest


@compiled
def corners_of_own(solid: Solid, facets: Facets, k: int, facet: int, own: Rows3) -> None:
    """Write the corners of a triangle in a solid's own frame."""
    away = np.empty(3)
    corners_of(facets, k, facet, own)
    for c in range(3):
        for i in range(3):
            away[i] = own[c, i] - solid.centre[i]
        for j in range(3):
            own[c, j] = dot(solid.axes[j], away)


@compiled
def knows(facets: Facets, k: int, t: int, other: int) -> bool:
    """Whether a triangle has another one beyond one of its sides."""
    found = False
    for c in range(3):
        found = found or beside(facets, k, t, c) == other
    return found


@compiled
def is_over(corners: Rows3, x: Floats) -> bool:
    """Whether a point of a triangle's plane is within the triangle."""
    along, inward = np.empty(3), np.empty(3)
    for c in range(3):
        for i in range(3):
            along[i] = corners[(c + 1) % 3, i] - corners[c, i]
        normalized(along)
        leading_in(corners[c], along, corners, inward)
        if dot(inward, x) - dot(inward, corners[c]) < -_WITHIN:
            return False
    return True


@compiled
def put_over(corners: Rows3, x: Floats, n: Floats, height: float, gap: float, many: Found) -> None:
    """Move a point by a height against n, onto a triangle's plane, and tell it with a gap if it is over that."""
    for i in range(3):
        x[i] -= height * n[i]
    if is_over(corners, x):
        put_nearest(many, x, n, gap)

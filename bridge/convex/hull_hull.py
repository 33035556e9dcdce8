"""Boxes and convex meshes on each other: all of the patch on which two polytopes touch; compiled.

Along the axis of least overlap a face is cut by the one that it faces. Where edges cross there is one point, and what
is apart at corners has its nearest points. All of it is found anew from where the shapes are, in every step.
"""

from __future__ import annotations

import numpy as np

from bridge.convex.hull_axes import KNOWN, NONE, meet_edges, widest_crossing, widest_face
from bridge.convex.hull_clipping import clip_faces
from bridge.convex.hull_distance import hull_distance
from bridge.convex.hulls import Hull, are_far, corners_and_faces, highest_corner, lowest_corner, place_hull
from bridge.curved.manifold_points import Found, InWorld, Rows3, dot, put, turned
from bridge.curved.polytopes import Polytopes
from recursive_dyn.codegen.compiled import Floats, compiled

_EDGE = 1.05  # by how much less deep than over a face polytopes must be past their edges to be parted there
_CLOSER = 1e-9  # m
_LIKE = 0.99  # cosine of the angle between a face's normal and that across edges up to which the face carries too


@compiled
def hull_hull(
    placed: InWorld, solids: Polytopes, hull: int, other: int, a: int, b: int, margin: float, found: Found
) -> None:
    """Points nearer than ``margin`` of shapes a and b, polytopes of these numbers."""
    found.size[0] = 0
    if are_far(placed, solids, a, hull, b, other, margin):
        return
    origin, n = placed.centers[b], np.empty(3)
    corners, faces = corners_and_faces(solids, hull)
    A = Hull(hull, np.empty((corners, 3)), np.empty((faces, 3)), np.empty(faces), np.empty(3))
    corners, faces = corners_and_faces(solids, other)
    B = Hull(other, np.empty((corners, 3)), np.empty((faces, 3)), np.empty(faces), np.empty(3))
    place_hull(placed, solids, a, origin, A)
    place_hull(placed, solids, b, origin, B)
    face, gap = widest_face(B, A, -np.inf, margin)
    if gap >= margin:
        return
    wider, more = widest_face(A, B, gap + _CLOSER, margin)
    if more >= margin:
        return
    if wider == NONE:
        n[:] = B.normals[face]
        clip_faces(solids, B, A, face, margin, found)  # normals out of B already
    else:
        gap = more
        for i in range(3):
            n[i] = -A.normals[wider, i]
        clip_faces(solids, A, B, wider, margin, found)
        turned(found)  # told as if A were B
    _meet(solids, A, B, gap, n, margin, found)
    for k in range(found.size[0]):
        for i in range(3):
            found.rows[k, i] += origin[i]


@compiled
def _meet(solids: Polytopes, A: Hull, B: Hull, gap: float, n: Floats, margin: float, found: Found) -> None:
    """What is found besides faces that are ``gap`` from each other along n (3,), or in its place."""
    on_a, on_b, m, point = np.empty((KNOWN, 3)), np.empty((KNOWN, 3)), np.empty(3), np.empty(3)
    lowest, known = _well_known(A, B, n, found, on_a, on_b), False
    crossing = widest_crossing(solids, A, B, on_a, on_b, max(gap + _CLOSER, gap / _EDGE), m)
    if crossing.one != NONE:
        if crossing.gap >= margin:
            found.size[0] = 0
            return
        apart, gap = meet_edges(solids, A, B, crossing, point), crossing.gap
        if dot(m, n) < _LIKE:
            found.size[0] = 0
        known = gap <= 0.0 or apart <= gap + _CLOSER
        if known:
            put(found, point, m, gap)
        n[:] = m
    elif gap <= 0.0 or lowest <= gap + _CLOSER:
        known = True
        if found.size[0] == 0:
            put(found, on_b[2], n, gap)
    if not known:
        distance = hull_distance(A, B, n, point)
        if _CLOSER < distance < margin:
            put(found, point, n, distance)


@compiled
def _well_known(A: Hull, B: Hull, n: Floats, found: Found, on_a: Rows3, on_b: Rows3) -> float:
    """Write points of both (3 of each) near where they touch: the middle of what is found, its lowest one, and the
    outermost corner. The least gap that is found."""
    on_a[2], on_b[2] = A.corners[lowest_corner(A, n)], B.corners[highest_corner(B, n)]
    least, deepest, many = np.inf, 0, found.size[0]
    for k in range(many):
        if found.rows[k, 6] < least:
            least, deepest = found.rows[k, 6], k
    for i in range(3):
        if many == 0:
            on_a[0, i], on_b[0, i], on_a[1, i], on_b[1, i] = A.middle[i], B.middle[i], on_a[2, i], on_b[2, i]
        else:
            on_a[0, i] = on_b[0, i] = 0.0
            for k in range(many):
                on_b[0, i] += found.rows[k, i] / many
                on_a[0, i] += (found.rows[k, i] + found.rows[k, 6] * found.rows[k, 3 + i]) / many
            on_b[1, i] = found.rows[deepest, i]
            on_a[1, i] = found.rows[deepest, i] + least * found.rows[deepest, 3 + i]
    return least

"""Where else a cylinder carries on a polytope that it touches: along its barrel, around rims, under a cap; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.distances import beyond, is_over
from bridge.curved.manifold_points import Found, dot, normalized, put
from bridge.curved.polytopes import Polytopes
from bridge.curved.solid import Solid, rim_axes, rim_end, rim_quarter
from recursive_dyn.codegen.compiled import Floats, compiled

_LIKE = 0.9  # cosine of the angle between normals that carry together
_ALONG = 0.99  # cosine of the angle between a cylinder and an edge that it lies along
_STANDING = 0.1  # cosine of the angle between the axis and a face's normal, from which on corners are under a cap
_WITHIN = 1e-9  # m beyond a side that still is within
_APART = 1e-3  # of the size: points that are nearer are one


@compiled
def cylinder_manifold(solid: Solid, solids: Polytopes, hull: int, n: Floats, margin: float, found: Found) -> None:
    """Points nearer than ``margin`` with normals like n (3,), the nearest one's, besides those that are ``found``."""
    for f in range(solids.ranges[hull, 4], solids.ranges[hull, 5]):
        if dot(solids.normals[f], n) > _LIKE:
            _on_face(solid, solids, f, margin, found)
    for e in range(solids.ranges[hull, 2], solids.ranges[hull, 3]):
        _along_edge(solid, solids, e, n, margin, found)


@compiled
def _tell(solid: Solid, point: Floats, normal: Floats, gap: float, found: Found) -> None:
    """A contact at a point of the polytope, if it is not there yet."""
    apart = _APART * (solid.size[0] + solid.size[1])
    for k in range(found.size[0]):
        square = 0.0
        for i in range(3):
            square += (found.rows[k, i] - point[i]) * (found.rows[k, i] - point[i])
        if square < apart * apart:
            return
    put(found, point, normal, gap)


@compiled
def _over(solid: Solid, solids: Polytopes, f: int, x: Floats, margin: float, found: Found) -> None:
    """The contact of a point of the cylinder, if it is over the face and near."""
    n = solids.normals[f]
    gap = dot(n, x) - solids.offsets[f]
    if gap < margin and is_over(solids, f, x, _WITHIN):
        for i in range(3):
            x[i] -= gap * n[i]
        _tell(solid, x, n, gap, found)


@compiled
def _on_face(solid: Solid, solids: Polytopes, f: int, margin: float, found: Found) -> None:
    """Points of rims and barrel, and corners under a cap."""
    n, u, down, across, x, end = solids.normals[f], solid.axes[2], np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    cosine, radius, half = rim_axes(solid, n, down, across), solid.size[0], solid.size[1]
    for side in range(2):
        rim_end(solid, side, end)
        for quarter in range(4):
            rim_quarter(solid, end, down, across, quarter, x)
            _over(solid, solids, f, x, margin, found)
        for k in range(solids.borders[f, 0], solids.borders[f, 1]):
            _rim_beyond(solid, solids, f, k, end, down, across, margin, found)
    for k in range(solids.borders[f, 0], solids.borders[f, 1]):
        for i in range(3):
            x[i] = solid.centre[i] + radius * down[i]
        here = beyond(solids, f, k, x)
        for i in range(3):
            x[i] += half * u[i]
        along = beyond(solids, f, k, x) - here
        if abs(along) > abs(here):
            for i in range(3):
                x[i] = solid.centre[i] + radius * down[i] - here / along * half * u[i]
            _over(solid, solids, f, x, margin, found)
        if abs(cosine) > _STANDING:
            _corner_under(solid, solids, f, solids.rim[k, 0], cosine, margin, found)


@compiled
def _rim_beyond(
    solid: Solid, solids: Polytopes, f: int, k: int, end: Floats, down: Floats, across: Floats, margin: float,
    found: Found,
) -> None:  # fmt: skip
    """Where the rim about ``end`` is over a side of the face."""
    x, radius = np.empty(3), solid.size[0]
    here = beyond(solids, f, k, end)
    for i in range(3):
        x[i] = end[i] + radius * down[i]
    one = beyond(solids, f, k, x) - here
    for i in range(3):
        x[i] = end[i] + radius * across[i]
    other = beyond(solids, f, k, x) - here
    size = math.sqrt(one * one + other * other)
    if size > abs(here):
        phase, half = math.atan2(other, one), math.acos(-here / size)
        for side in range(2):
            t = phase + half if side == 0 else phase - half
            c, s = radius * math.cos(t), radius * math.sin(t)
            for i in range(3):
                x[i] = end[i] + c * down[i] + s * across[i]
            _over(solid, solids, f, x, margin, found)


@compiled
def _corner_under(
    solid: Solid, solids: Polytopes, f: int, corner: int, cosine: float, margin: float, found: Found
) -> None:
    """A corner of the face, if a cap is over it."""
    p, u, n, square, gap = solids.corners[corner], solid.axes[2], solids.normals[f], 0.0, 0.0
    half = -solid.size[1] if cosine > 0.0 else solid.size[1]
    for i in range(3):
        gap += u[i] * (solid.centre[i] + half * u[i] - p[i])
    gap = gap / cosine
    for i in range(3):
        away = p[i] + gap * n[i] - solid.centre[i] - half * u[i]
        square += away * away
    if gap < margin and square <= solid.size[0] * solid.size[0]:
        _tell(solid, p, n, gap, found)


@compiled
def _along_edge(solid: Solid, solids: Polytopes, e: int, n: Floats, margin: float, found: Found) -> None:
    """Where a barrel that lies along an edge begins and ends on it."""
    p, q = solids.corners[solids.edges[e, 0]], solids.corners[solids.edges[e, 1]]
    d, away, x, out = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        d[i], away[i] = q[i] - p[i], solid.centre[i] - p[i]
    length = normalized(d)
    if abs(dot(d, solid.axes[2])) < _ALONG:
        return
    middle, one, other = dot(away, d), solids.normals[solids.edges[e, 2]], solids.normals[solids.edges[e, 3]]
    low, high, c = max(0.0, middle - solid.size[1]), min(length, middle + solid.size[1]), dot(one, other)
    if high <= low:
        return
    for side in range(2):
        for i in range(3):
            x[i] = p[i] + (low if side == 0 else high) * d[i]
            away[i] = solid.centre[i] - x[i]
        along = dot(away, solid.axes[2])
        for i in range(3):
            out[i] = away[i] - along * solid.axes[2, i]
        gap = normalized(out) - solid.size[0]
        between = dot(out, one) >= c * dot(out, other) and dot(out, other) >= c * dot(out, one)
        if gap < margin and between and dot(out, n) > _LIKE:
            _tell(solid, x, out, gap, found)

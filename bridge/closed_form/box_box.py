"""Boxes against each other: separating axes, a clipped face, and the exact distance where that is none; compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bridge.closed_form.face_clipping import clip_face
from bridge.curved.manifold_points import Found, InWorld, closest, crossed, dot, normalized, put, turned
from recursive_dyn.codegen.compiled import Floats, compiled

_EDGE = 1.05  # by how much less deep than over a face boxes must be past their edges to be parted there
_PARALLEL = 1e-6  # sine between two edges below which they say no more than the faces do
_CLOSER = 1e-9  # m


class Axis(NamedTuple):
    """The separating axis: separation, m, negative where they overlap; whose face it is, 0 of A, 1 of B, 2 of none; the
    edges or the face, i of A and j of B."""

    separation: float
    owner: int
    i: int
    j: int


@compiled
def box_box(placed: InWorld, a: int, b: int, margin: float, found: Found) -> None:
    """Points of two boxes nearer than ``margin``: what is left of the facing face, or where two edges meet."""
    n = np.empty(3)
    axis = _separating(placed, a, b, margin, n)
    if axis.separation >= margin:
        return
    if axis.owner == 2:
        if axis.separation < 0.0:
            _edges(placed, a, b, axis, n, found)
            return
    elif axis.owner == 1:
        clip_face(placed, b, a, axis.j, margin, found)  # normals out of B already
    else:
        clip_face(placed, a, b, axis.i, margin, found)
        turned(found)  # told as if A were B
    if axis.separation > 0.0:
        lowest = np.inf
        for k in range(found.size[0]):
            lowest = min(lowest, found.rows[k, 6])
        if axis.owner == 2 or lowest > axis.separation + _CLOSER:
            _nearest_edges(placed, a, b, min(lowest, margin), found)


@compiled
def _separating(placed: InWorld, a: int, b: int, margin: float, n: Floats) -> Axis:
    """The axis along which boxes overlap least; n becomes its direction from B to A. Stops where that is the margin."""
    d, axis = np.empty(3), np.empty(3)
    for i in range(3):
        d[i] = placed.centers[a, i] - placed.centers[b, i]
    best, owner, first, second = -np.inf, 0, 0, 0
    for side in range(2):
        own = a if side == 0 else b
        for k in range(3):
            separation = abs(dot(d, placed.axes[own, k])) - _extent(placed, a, placed.axes[own, k])
            separation -= _extent(placed, b, placed.axes[own, k])
            if separation > best:
                best, owner = separation, side
                first, second = (k, 0) if side == 0 else (0, k)
                n[:] = placed.axes[own, k]
    faces = best
    if best < margin:
        past, at_i, at_j = -np.inf, 0, 0
        for i in range(3):
            for j in range(3):
                crossed(placed.axes[a, i], placed.axes[b, j], axis)
                if normalized(axis) > _PARALLEL:
                    separation = abs(dot(d, axis)) - _extent(placed, a, axis) - _extent(placed, b, axis)
                    if separation > past:
                        past, at_i, at_j = separation, i, j
        if (past > 0.0 and past > faces + _CLOSER) or (past < 0.0 and _EDGE * past > faces):
            best, owner, first, second = past, 2, at_i, at_j
            crossed(placed.axes[a, first], placed.axes[b, second], n)
            normalized(n)
    if dot(d, n) < 0.0:
        for i in range(3):
            n[i] = -n[i]
    return Axis(best, owner, first, second)


@compiled
def _extent(placed: InWorld, k: int, axis: Floats) -> float:
    """How far a box reaches from its centre along a unit vector."""
    result = 0.0
    for i in range(3):
        result += placed.sizes[k, i] * abs(dot(placed.axes[k, i], axis))
    return result


@compiled
def _edge(placed: InWorld, k: int, i: int, one: float, other: float, start: Floats, along: Floats) -> None:
    """An edge along axis i, on these sides of the next two axes: where it starts, and the way to its end."""
    j, m = (i + 1) % 3, (i + 2) % 3
    size, axes = placed.sizes[k], placed.axes[k]
    for c in range(3):
        across = one * size[j] * axes[j, c] + other * size[m] * axes[m, c]
        start[c] = placed.centers[k, c] + across - size[i] * axes[i, c]
        along[c] = 2.0 * size[i] * axes[i, c]


@compiled
def _side(axis: Floats, n: Floats) -> float:
    return 1.0 if dot(axis, n) >= 0.0 else -1.0


@compiled
def _edges(placed: InWorld, a: int, b: int, axis: Axis, n: Floats, found: Found) -> None:
    """The contact of two edges that cross."""
    p, u, q, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    A, B, i, j = placed.axes[a], placed.axes[b], axis.i, axis.j
    _edge(placed, a, i, -_side(A[(i + 1) % 3], n), -_side(A[(i + 2) % 3], n), p, u)
    _edge(placed, b, j, _side(B[(j + 1) % 3], n), _side(B[(j + 2) % 3], n), q, w)
    _, t = closest(p, u, q, w)
    for c in range(3):
        q[c] += t * w[c]
    put(found, q, n, axis.separation)


@compiled
def _nearest_edges(placed: InWorld, a: int, b: int, below: float, found: Found) -> None:
    """The nearest points of any two edges, if they are nearer than ``below``."""
    p, u, q, w, n, point = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    best = below - _CLOSER
    known = False
    for first in range(12):
        _edge(placed, a, first // 4, 1.0 if first & 1 else -1.0, 1.0 if first & 2 else -1.0, p, u)
        for second in range(12):
            _edge(placed, b, second // 4, 1.0 if second & 1 else -1.0, 1.0 if second & 2 else -1.0, q, w)
            s, t = closest(p, u, q, w)
            square = 0.0
            for c in range(3):
                square += (p[c] + s * u[c] - q[c] - t * w[c]) ** 2
            if 0.0 < square < best * best:
                best, known = math.sqrt(square), True
                for c in range(3):
                    point[c] = q[c] + t * w[c]
                    n[c] = (p[c] + s * u[c] - point[c]) / best
    if known:
        put(found, point, n, best)

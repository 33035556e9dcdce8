"""The part of a box's face that lies over a face of another one; compiled."""

from __future__ import annotations

import numpy as np

from bridge.curved.manifold_points import Found, InWorld, Rows3, cut_polygon, dot, put
from recursive_dyn.codegen.compiled import Floats, compiled

_MOST = 8  # corners of a rectangle cut by another one
_KEPT = 4  # corners kept of more: the outermost in as many directions, and the lowest


@compiled
def clip_face(placed: InWorld, owner: int, other: int, face: int, margin: float, found: Found) -> None:
    """Points of ``other`` over, or under, a face of ``owner``, less than ``margin`` from it.

    Rows are the points on the face and the normals out of it, as if ``owner`` were B.
    """
    axes, size, d, n = placed.axes[owner], placed.sizes[owner], np.empty(3), np.empty(3)
    for i in range(3):
        d[i] = placed.centers[other, i] - placed.centers[owner, i]
    sign = 1.0 if dot(d, axes[face]) >= 0.0 else -1.0
    for i in range(3):
        n[i] = sign * axes[face, i]
    corners, cut, out = np.empty((_MOST, 3)), np.empty((_MOST, 3)), np.empty(3)
    _incident(placed, owner, other, n, corners)
    count, j, m = 4, (face + 1) % 3, (face + 2) % 3
    for k in range(4):  # corners in the owner's axes, at the owner's centre
        axis = j if k < 2 else m
        out[:] = 0.0
        out[axis] = 1.0 if k % 2 == 0 else -1.0
        count = cut_polygon(corners, count, out, size[axis], cut)
        corners[:] = cut
    near = 0
    for k in range(count):
        gap = sign * corners[k, face] - size[face]
        if gap < margin:
            corners[near] = corners[k]
            near += 1
    _kept(placed, owner, face, sign, n, corners, near, found)


@compiled
def _incident(placed: InWorld, owner: int, other: int, n: Floats, corners: Rows3) -> None:
    """The corners (4 of them) of the face of ``other`` that is most turned against n, in the owner's axes."""
    axes, size, face, most = placed.axes[other], placed.sizes[other], 0, -1.0
    for i in range(3):
        if abs(dot(axes[i], n)) > most:
            most, face = abs(dot(axes[i], n)), i
    sign, j, m = -1.0 if dot(axes[face], n) > 0.0 else 1.0, (face + 1) % 3, (face + 2) % 3
    x = np.empty(3)
    for k in range(4):
        one = 1.0 if k == 0 or k == 3 else -1.0
        two = 1.0 if k < 2 else -1.0
        for i in range(3):
            x[i] = placed.centers[other, i] - placed.centers[owner, i] + sign * size[face] * axes[face, i]
            x[i] += one * size[j] * axes[j, i] + two * size[m] * axes[m, i]
        for i in range(3):
            corners[k, i] = dot(placed.axes[owner, i], x)


@compiled
def _kept(
    placed: InWorld, owner: int, face: int, sign: float, n: Floats, corners: Rows3, count: int, found: Found
) -> None:
    """Tell all corners, or, of more than a few, the outermost along diagonals and the lowest."""
    j, m = (face + 1) % 3, (face + 2) % 3
    chosen = np.zeros(_MOST, dtype=np.bool_)
    if count > _KEPT:
        for d in range(_KEPT):
            best, at = -np.inf, 0
            for k in range(count):
                one, two = (1.0 if d == 0 or d == 3 else -1.0), (1.0 if d < 2 else -1.0)
                reach = one * corners[k, j] + two * corners[k, m]
                if reach > best:
                    best, at = reach, k
            chosen[at] = True
        lowest = 0
        for k in range(count):
            if sign * corners[k, face] < sign * corners[lowest, face]:
                lowest = k
        chosen[lowest] = True
    else:
        chosen[:] = True
    x = np.empty(3)
    for k in range(count):
        if chosen[k]:
            gap = sign * corners[k, face] - placed.sizes[owner, face]
            corners[k, face] = sign * placed.sizes[owner, face]
            for i in range(3):
                x[i] = placed.centers[owner, i]
                for c in range(3):
                    x[i] += placed.axes[owner, c, i] * corners[k, c]
            put(found, x, n, gap)

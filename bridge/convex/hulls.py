"""Convex polytopes where they are: their corners, faces and middles about a common origin; compiled."""

from __future__ import annotations

from typing import NamedTuple

from bridge.curved.manifold_points import InWorld, Rows3, dot
from bridge.curved.polytopes import Polytopes
from recursive_dyn.codegen.compiled import Floats, compiled


class Hull(NamedTuple):
    """A polytope along the world's axes, about an origin near by, so that what is far out loses no digits.

    number: among ``Polytopes``; corners (v, 3), m; normals (f, 3), offsets (f,), m: of its faces, outwards; middle
    (3,), m: the mean of its corners.
    """

    number: int
    corners: Rows3
    normals: Rows3
    offsets: Floats
    middle: Floats


@compiled
def corners_and_faces(solids: Polytopes, number: int) -> tuple[int, int]:
    """How many corners and faces a polytope has."""
    return solids.ranges[number, 1] - solids.ranges[number, 0], solids.ranges[number, 5] - solids.ranges[number, 4]


@compiled
def place_hull(placed: InWorld, solids: Polytopes, k: int, origin: Floats, hull: Hull) -> None:
    """Write where shape k is, as seen from ``origin`` (3,), m in the world."""
    axes, first, face = placed.axes[k], solids.ranges[hull.number, 0], solids.ranges[hull.number, 4]
    many = len(hull.corners)
    for i in range(3):
        away, total = placed.centers[k, i] - origin[i], 0.0
        for c in range(many):
            x = solids.corners[first + c]
            hull.corners[c, i] = away + axes[0, i] * x[0] + axes[1, i] * x[1] + axes[2, i] * x[2]
            total += hull.corners[c, i]
        hull.middle[i] = total / many
        for f in range(len(hull.offsets)):
            n = solids.normals[face + f]
            hull.normals[f, i] = axes[0, i] * n[0] + axes[1, i] * n[1] + axes[2, i] * n[2]
    for f in range(len(hull.offsets)):
        n, out = hull.normals[f], solids.offsets[face + f]
        for i in range(3):
            out += n[i] * (placed.centers[k, i] - origin[i])
        hull.offsets[f] = out


@compiled
def are_far(placed: InWorld, solids: Polytopes, a: int, hull: int, b: int, other: int, margin: float) -> bool:
    """Whether balls about two placed polytopes are farther from each other than ``margin``."""
    square, reach = 0.0, solids.balls[hull, 3] + solids.balls[other, 3] + margin
    for i in range(3):
        away = placed.centers[a, i] - placed.centers[b, i]
        for j in range(3):
            away += placed.axes[a, j, i] * solids.balls[hull, j] - placed.axes[b, j, i] * solids.balls[other, j]
        square += away * away
    return square > reach * reach


@compiled
def lowest_corner(hull: Hull, n: Floats) -> int:
    """Which corner has the least n . x, the first of several."""
    lowest, least = 0, dot(n, hull.corners[0])
    for c in range(1, len(hull.corners)):
        out = dot(n, hull.corners[c])
        if out < least:
            lowest, least = c, out
    return lowest


@compiled
def highest_corner(hull: Hull, n: Floats) -> int:
    """Which corner has the largest n . x, the first of several."""
    highest, most = 0, dot(n, hull.corners[0])
    for c in range(1, len(hull.corners)):
        out = dot(n, hull.corners[c])
        if out > most:
            highest, most = c, out
    return highest

"""The lowest points of shapes over planes, compiled."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled

POINTS, RIM, TUBE, ELLIPSOID = 0, 1, 2, 3
AROUND = 4  # corners kept of a shape with many: the outermost in as many directions
MOST = AROUND + 1  # and the lowest
BOX = 8  # corners of a box
ROUND = 0.01  # of a shape's size: how much higher than its lowest corner others still carry it
LEVEL = 1e-12  # sine of a circle's tilt below which it lies flat
_COS, _SIN = (1.0, 0.0, -1.0, 0.0), (0.0, 1.0, 0.0, -1.0)  # of quarter turns


class Planes(NamedTuple):
    """origins, normals (k, 3); tangents (k, 2, 3): two directions within each."""

    origins: Annotated[np.ndarray, float, 3]
    normals: Annotated[np.ndarray, float, 3]
    tangents: Annotated[np.ndarray, float, 2, 3]


class Supports(NamedTuple):
    """What decides how low shapes reach, in their bodies' frames, a row each.

    rows (m, 6): body, shape, kind, first and last of its ``points`` (n, 3), first feature; middles (m, 3): of the
    points; axes (m, 3, 3); sizes (m, 4), the fourth: how far it all reaches from the middle.
    """

    rows: Annotated[np.ndarray, int, 6]
    points: Annotated[np.ndarray, float, 3]
    middles: Annotated[np.ndarray, float, 3]
    axes: Annotated[np.ndarray, float, 3, 3]
    sizes: Annotated[np.ndarray, float, 4]


class Lowest(NamedTuple):
    """Points that were found: whole (n, 4), body, shape, plane, feature; real (n, 4), the point and its height, m."""

    whole: Annotated[np.ndarray, int, 4]
    real: Annotated[np.ndarray, float, 4]


class _Plane(NamedTuple):
    """A plane in a body's frame: the height of a point is that over x, y, z plus ``offset``."""

    x: float
    y: float
    z: float
    offset: float


class _Round(NamedTuple):
    """A circle or an ellipsoid in a body's frame: axes in columns, sizes as in ``Supports``."""

    centre: Floats
    axes: Annotated[np.ndarray, float, 3]
    size: Floats


@compiled
def lowest_points(
    supports: Supports,
    planes: Planes,
    poses: Annotated[np.ndarray, float, 4, 4],
    asleep: Integers,
    margin: float,
    found: Lowest,
) -> int:
    """How many points of bodies at ``poses`` are less than ``margin`` m above a plane; they are ``found``.

    asleep (nb,): 1 for bodies that are left out.
    """
    count = 0
    side = np.empty((2, 3))
    for k in range(len(planes.origins)):
        n = planes.normals[k]
        ox, oy, oz = planes.origins[k, 0], planes.origins[k, 1], planes.origins[k, 2]
        for s in range(len(supports.rows)):
            row = supports.rows[s]
            if asleep[row[0]] != 0:
                continue
            X = poses[row[0]]
            below = _Plane(
                X[0, 0] * n[0] + X[1, 0] * n[1] + X[2, 0] * n[2],
                X[0, 1] * n[0] + X[1, 1] * n[1] + X[2, 1] * n[2],
                X[0, 2] * n[0] + X[1, 2] * n[1] + X[2, 2] * n[2],
                n[0] * (X[0, 3] - ox) + n[1] * (X[1, 3] - oy) + n[2] * (X[2, 3] - oz),
            )
            if _height(supports.middles[s], below) - supports.sizes[s, 3] >= margin:
                continue
            before = count
            if row[2] == POINTS:
                for t in range(2):
                    for i in range(3):
                        side[t, i] = 0.0
                        for j in range(3):
                            side[t, i] += X[j, i] * planes.tangents[k, t, j]
                count = _corners(supports.points[row[3] : row[4]], supports.sizes[s], below, side, margin, found, count)
            else:
                body = _Round(supports.points[row[3]], supports.axes[s], supports.sizes[s])
                if row[2] == ELLIPSOID:
                    count = _ellipsoid(body, below, margin, found, count)
                else:
                    count = _circle(body, below, margin, found, count)
            for c in range(before, count):
                _into_world(X, found.real[c])
                found.whole[c, 0], found.whole[c, 1], found.whole[c, 2] = row[0], row[1], k
                found.whole[c, 3] += row[5]
    return count


@compiled
def _into_world(X: Annotated[np.ndarray, float, 4], point: Floats) -> None:
    x, y, z = point[0], point[1], point[2]
    for i in range(3):
        point[i] = X[i, 0] * x + X[i, 1] * y + X[i, 2] * z + X[i, 3]


@compiled
def _height(point: Floats, below: _Plane) -> float:
    return point[0] * below.x + point[1] * below.y + point[2] * below.z + below.offset


@compiled
def _put(x: float, y: float, z: float, feature: int, height: float, found: Lowest, count: int) -> int:
    real = found.real[count]
    real[0], real[1], real[2], real[3] = x, y, z, height
    found.whole[count, 3] = feature
    return count + 1


@compiled
def _put_near(point: Floats, feature: int, below: _Plane, margin: float, found: Lowest, count: int) -> int:
    height = _height(point, below)
    if height < margin:
        count = _put(point[0], point[1], point[2], feature, height, found, count)
    return count


@compiled
def _put_corner(
    points: Annotated[np.ndarray, float, 3], p: int, radius: float, below: _Plane, found: Lowest, count: int
) -> int:
    """The lowest point of a ball about a corner."""
    x, y, z = points[p, 0] - radius * below.x, points[p, 1] - radius * below.y, points[p, 2] - radius * below.z
    return _put(x, y, z, p, _height(points[p], below) - radius, found, count)


@compiled
def _corners(
    points: Annotated[np.ndarray, float, 3],
    size: Floats,
    below: _Plane,
    side: Annotated[np.ndarray, float, 3],
    margin: float,
    found: Lowest,
    count: int,
) -> int:
    """All corners within the margin, or, of more than MOST, the lowest and the outermost in AROUND directions.

    Of a shape with more corners than a box only those count that are nearly as low as the lowest: it is round there.
    """
    radius = size[0]
    near, lowest, best = 0, 0, np.inf
    for p in range(len(points)):
        height = _height(points[p], below) - radius
        if height < margin:
            near += 1
            if height < best:
                lowest, best = p, height
    if len(points) > BOX and near > 0:
        margin = min(margin, best + ROUND * size[3])
        near = 0
        for p in range(len(points)):
            if _height(points[p], below) - radius < margin:
                near += 1
    if near <= MOST:
        if near > 0:
            for p in range(len(points)):
                if _height(points[p], below) - radius < margin:
                    count = _put_corner(points, p, radius, below, found, count)
        return count
    chosen = np.full(MOST, -1)
    reach = np.full(AROUND, -np.inf)
    chosen[AROUND] = lowest
    for p in range(len(points)):
        if _height(points[p], below) - radius < margin:
            u = points[p, 0] * side[0, 0] + points[p, 1] * side[0, 1] + points[p, 2] * side[0, 2]
            v = points[p, 0] * side[1, 0] + points[p, 1] * side[1, 1] + points[p, 2] * side[1, 2]
            for d in range(AROUND):
                out = _COS[d] * u + _SIN[d] * v
                if out > reach[d]:
                    chosen[d], reach[d] = p, out
    last = -1
    for _ in range(MOST):  # in the order of their numbers, each once
        following = len(points)
        for d in range(MOST):
            if last < chosen[d] < following:
                following = chosen[d]
        if following < len(points):
            count = _put_corner(points, following, radius, below, found, count)
            last = following
    return count


@compiled
def _circle(body: _Round, below: _Plane, margin: float, found: Lowest, count: int) -> int:
    """The lowest point of a circle of radius size[0], thick by size[1] about it, and those a quarter further round."""
    centre, axes, size = body.centre, body.axes, body.size
    n, down, across, point = np.empty(3), np.empty(3), np.empty(3), np.empty(3)  # down, across: in the circle's plane
    n[0], n[1], n[2] = below.x, below.y, below.z
    cosine = axes[0, 2] * n[0] + axes[1, 2] * n[1] + axes[2, 2] * n[2]
    length = 0.0
    for i in range(3):
        down[i] = cosine * axes[i, 2] - n[i]
        length += down[i] * down[i]
    length = math.sqrt(length)
    for i in range(3):
        down[i] = down[i] / length if length > LEVEL else axes[i, 0]
    rest = axes[0, 2] * down[0] + axes[1, 2] * down[1] + axes[2, 2] * down[2]
    for i in range(3):
        down[i] -= rest * axes[i, 2]  # of a small tilt rounding is left, along the axis too
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        across[i] = axes[j, 2] * down[k] - axes[k, 2] * down[j]
    for quarter in range(4):
        c, s = _COS[quarter], _SIN[quarter]
        along = c * (across[0] * n[0] + across[1] * n[1] + across[2] * n[2])
        along -= s * (down[0] * n[0] + down[1] * n[1] + down[2] * n[2])
        thick = math.sqrt(max(1.0 - along * along, 0.0))  # of the normal, within the tube's cross section
        share = size[1] / thick if thick > 0.0 else 0.0
        for i in range(3):
            tangent = c * across[i] - s * down[i]
            point[i] = centre[i] + size[0] * (c * down[i] + s * across[i]) - share * (n[i] - along * tangent)
        count = _put_near(point, quarter, below, margin, found, count)
    return count


@compiled
def _ellipsoid(body: _Round, below: _Plane, margin: float, found: Lowest, count: int) -> int:
    """The lowest point of an ellipsoid, A^2 n / |A n| below its centre."""
    centre, axes, size = body.centre, body.axes, body.size
    length = 0.0
    scaled, point = np.empty(3), np.empty(3)
    for j in range(3):
        along = axes[0, j] * below.x + axes[1, j] * below.y + axes[2, j] * below.z
        scaled[j] = size[j] * size[j] * along
        length += scaled[j] * along
    length = math.sqrt(length)
    for i in range(3):
        point[i] = centre[i]
        for j in range(3):
            point[i] -= axes[i, j] * scaled[j] / length
    return _put_near(point, 0, below, margin, found, count)

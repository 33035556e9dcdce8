"""The lowest points of shapes over planes, compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled

POINTS, RIM, TUBE, ELLIPSOID = range(4)
AROUND = 4  # corners kept of a shape with many: the outermost in as many directions
MOST = AROUND + 1  # and the lowest
BOX = 8  # corners of a box
ROUND = 0.01  # of a shape's size: how much higher than its lowest corner others still carry it
LEVEL = 1e-12  # sine of a circle's tilt below which it lies flat


@compiled
def lowest_points(
    rows: Any,
    points: Any,
    axes: Any,
    sizes: Any,
    middles: Any,
    origins: Any,
    normals: Any,
    tangents: Any,
    poses: Any,
    margin: float,
    whole: Any,
    real: Any,
) -> int:
    """Fill whole (n, 4) with body, shape, plane, feature and real (n, 4) with point and distance; how many.

    rows (m, 6): body, shape, kind, first and last point, first feature of a support; its points (n, 3), their middles
    (m, 3), axes (m, 3, 3) and sizes (m, 4) are in the body's frame. origins, normals (k, 3), tangents (k, 2, 3): of
    the planes. poses (nb, 4, 4).
    """
    count = 0
    n = np.empty(3)  # the plane's normal in the body's frame
    side = np.empty((2, 3))
    for plane in range(len(origins)):
        for k in range(len(rows)):
            body, kind, first, last = rows[k, 0], rows[k, 2], rows[k, 3], rows[k, 4]
            X = poses[body]
            offset = 0.0
            for i in range(3):
                n[i] = 0.0
                for j in range(3):
                    n[i] += X[j, i] * normals[plane, j]
                offset += normals[plane, i] * (X[i, 3] - origins[plane, i])
            if _height(middles[k], n, offset) - sizes[k, 3] >= margin:
                continue
            before = count
            if kind == POINTS:
                for t in range(2):
                    for i in range(3):
                        side[t, i] = 0.0
                        for j in range(3):
                            side[t, i] += X[j, i] * tangents[plane, t, j]
                count = _corners(
                    points, first, last, sizes[k, 0], sizes[k, 3], n, offset, side, margin, whole, real, count
                )
            elif kind == ELLIPSOID:
                count = _ellipsoid(points[first], axes[k], sizes[k], n, offset, margin, whole, real, count)
            else:
                count = _circle(points[first], axes[k], sizes[k], n, offset, margin, whole, real, count)
            for row in range(before, count):
                whole[row, 0], whole[row, 1], whole[row, 2] = body, rows[k, 1], plane
                whole[row, 3] += rows[k, 5]
                x, y, z = real[row, 0], real[row, 1], real[row, 2]
                for i in range(3):
                    real[row, i] = X[i, 0] * x + X[i, 1] * y + X[i, 2] * z + X[i, 3]
    return count


@compiled
def _height(point: Any, n: Any, offset: float) -> float:
    height: float = point[0] * n[0] + point[1] * n[1] + point[2] * n[2] + offset
    return height


@compiled
def _put(x: float, y: float, z: float, feature: int, height: float, whole: Any, real: Any, count: int) -> int:
    real[count, 0], real[count, 1], real[count, 2], real[count, 3] = x, y, z, height
    whole[count, 3] = feature
    return count + 1


@compiled
def _corners(
    points: Any,
    first: int,
    last: int,
    radius: float,
    size: float,
    n: Any,
    offset: float,
    side: Any,
    margin: float,
    whole: Any,
    real: Any,
    count: int,
) -> int:
    """All corners within the margin, or, of more than MOST, the lowest and the outermost in AROUND directions.

    Of a shape with more corners than a box only those count that are nearly as low as the lowest: it is round there.
    """
    near, lowest, best = 0, first, math.inf
    for p in range(first, last):
        height = _height(points[p], n, offset) - radius
        if height < margin:
            near += 1
            if height < best:
                lowest, best = p, height
    if last - first > BOX and near > 0:
        margin = min(margin, best + ROUND * size)
        near = 0
        for p in range(first, last):
            if _height(points[p], n, offset) - radius < margin:
                near += 1
    if near <= MOST:
        for p in range(first, last):
            height = _height(points[p], n, offset) - radius
            if height < margin:
                x, y, z = points[p, 0], points[p, 1], points[p, 2]
                count = _put(
                    x - radius * n[0], y - radius * n[1], z - radius * n[2], p - first, height, whole, real, count
                )
        return count
    chosen, reach = np.full(MOST, -1), np.full(AROUND, -math.inf)
    chosen[AROUND] = lowest
    for p in range(first, last):
        if _height(points[p], n, offset) - radius < margin:
            u, v = _height(points[p], side[0], 0.0), _height(points[p], side[1], 0.0)
            for d in range(AROUND):
                angle = 2.0 * math.pi * d / AROUND
                out = math.cos(angle) * u + math.sin(angle) * v
                if out > reach[d]:
                    chosen[d], reach[d] = p, out
    chosen.sort()
    for d in range(MOST):
        p = chosen[d]
        if d == 0 or p != chosen[d - 1]:
            height = _height(points[p], n, offset) - radius
            x, y, z = points[p, 0], points[p, 1], points[p, 2]
            count = _put(x - radius * n[0], y - radius * n[1], z - radius * n[2], p - first, height, whole, real, count)
    return count


@compiled
def _circle(
    centre: Any, axes: Any, size: Any, n: Any, offset: float, margin: float, whole: Any, real: Any, count: int
) -> int:
    """The lowest point of a circle of radius size[0], thick by size[1] about it, and those a quarter further round."""
    cosine = axes[0, 2] * n[0] + axes[1, 2] * n[1] + axes[2, 2] * n[2]
    down, across = np.empty(3), np.empty(3)  # within the circle's plane
    length = 0.0
    for i in range(3):
        down[i] = cosine * axes[i, 2] - n[i]
        length += down[i] * down[i]
    length = math.sqrt(length)
    for i in range(3):
        down[i] = down[i] / length if length > LEVEL else axes[i, 0]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        across[i] = axes[j, 2] * down[k] - axes[k, 2] * down[j]
    for quarter in range(4):
        c, s = (1.0, 0.0, -1.0, 0.0)[quarter], (0.0, 1.0, 0.0, -1.0)[quarter]
        along = c * (across[0] * n[0] + across[1] * n[1] + across[2] * n[2])
        along -= s * (down[0] * n[0] + down[1] * n[1] + down[2] * n[2])
        thick = math.sqrt(max(1.0 - along * along, 0.0))  # of the normal, within the tube's cross section
        share = size[1] / thick if thick > 0.0 else 0.0
        point = np.empty(3)
        for i in range(3):
            tangent = c * across[i] - s * down[i]
            point[i] = centre[i] + size[0] * (c * down[i] + s * across[i]) - share * (n[i] - along * tangent)
        height = _height(point, n, offset)
        if height < margin:
            count = _put(point[0], point[1], point[2], quarter, height, whole, real, count)
    return count


@compiled
def _ellipsoid(
    centre: Any, axes: Any, size: Any, n: Any, offset: float, margin: float, whole: Any, real: Any, count: int
) -> int:
    """The lowest point of an ellipsoid, A^2 n / |A n| below its centre."""
    length = 0.0
    scaled = np.empty(3)
    for j in range(3):
        along = axes[0, j] * n[0] + axes[1, j] * n[1] + axes[2, j] * n[2]
        scaled[j] = size[j] * size[j] * along
        length += scaled[j] * along
    length = math.sqrt(length)
    point = np.empty(3)
    for i in range(3):
        point[i] = centre[i]
        for j in range(3):
            point[i] -= axes[i, j] * scaled[j] / length
    height = _height(point, n, offset)
    if height < margin:
        count = _put(point[0], point[1], point[2], 0, height, whole, real, count)
    return count

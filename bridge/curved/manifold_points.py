"""Points where two shapes meet, and the vectors it takes to find them; compiled."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import STATIC

Rows3 = Annotated[np.ndarray, float, 3]
Axes = Annotated[np.ndarray, float, 3, 3]
Pose = Annotated[np.ndarray, float, 4]
Poses = Annotated[np.ndarray, float, 4, 4]
TOUCHING = 1e-12  # m between two points, from which no direction can be told


class Found(NamedTuple):
    """Points of one pair, the first size[0] of rows (n, 7): the point on B, the normal from B to A, the gap, m."""

    rows: Annotated[np.ndarray, float, 7]
    size: Integers


class InWorld(NamedTuple):
    """Shapes in the world (n of them): centers (n, 3); axes (n, 3, 3), the i-th axis of shape k is axes[k, i];
    sizes (n, 3): half extents of a box, else radius, half length of the core, 0. low, high (n, 3): boxes about them."""

    centers: Rows3
    axes: Axes
    sizes: Rows3
    low: Rows3
    high: Rows3


@compiled
def put_in_world(body: int, at: Pose, poses: Poses, center: Floats, axes: Rows3) -> None:
    """Write where a shape is, its center (3,) and its axes (3, 3) by rows, with bodies at ``poses`` (nb, 4, 4); at
    (4, 4) in its body's frame, or in the world, of STATIC."""
    if body == STATIC:
        for i in range(3):
            center[i] = at[i, 3]
            for j in range(3):
                axes[j, i] = at[i, j]
        return
    X = poses[body]
    for i in range(3):
        center[i] = X[i, 0] * at[0, 3] + X[i, 1] * at[1, 3] + X[i, 2] * at[2, 3] + X[i, 3]
        for j in range(3):
            axes[j, i] = X[i, 0] * at[0, j] + X[i, 1] * at[1, j] + X[i, 2] * at[2, j]


@compiled
def dot(a: Floats, b: Floats) -> float:
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def clamped(x: float, low: float, high: float) -> float:
    """x, but not beyond the bounds."""
    return max(low, min(high, x))


@compiled
def put(found: Found, point: Floats, normal: Floats, gap: float) -> None:
    """One more point, if there is room."""
    k = found.size[0]
    if k < len(found.rows):
        row = found.rows[k]
        for i in range(3):
            row[i], row[3 + i] = point[i], normal[i]
        row[6] = gap
        found.size[0] = k + 1


@compiled
def written(found: Found, k: int, table: ContactTable, row: int) -> None:
    """Let a row of contacts be the k-th point, on both bodies, with no impulses yet."""
    values = found.rows[k]
    table.gaps[row] = values[6]
    for i in range(3):
        table.normals[row, i] = values[3 + i]
        table.points[row, 0, i] = values[i] + values[6] * values[3 + i]
        table.points[row, 1, i] = values[i]
        table.drift[row, i] = table.impulses[row, i] = table.moments[row, i] = 0.0


@compiled
def turned(found: Found) -> None:
    """The same points with A and B exchanged."""
    for k in range(found.size[0]):
        row = found.rows[k]
        for i in range(3):
            row[i] += row[6] * row[3 + i]
            row[3 + i] = -row[3 + i]


@compiled
def closest(p: Floats, u: Floats, q: Floats, w: Floats) -> tuple[float, float]:
    """s, t in [0, 1] where p + s u and q + t w are nearest to each other (Ericson, Real-Time Collision Detection,
    5.1.9)."""
    r0, r1, r2 = p[0] - q[0], p[1] - q[1], p[2] - q[2]
    a, e, b = dot(u, u), dot(w, w), dot(u, w)
    c, f = u[0] * r0 + u[1] * r1 + u[2] * r2, w[0] * r0 + w[1] * r1 + w[2] * r2
    if a == 0.0:
        return 0.0, clamped(f / e, 0.0, 1.0) if e > 0.0 else 0.0
    if e == 0.0:
        return clamped(-c / a, 0.0, 1.0), 0.0
    parallel = a * e - b * b
    s = clamped((b * f - c * e) / parallel, 0.0, 1.0) if parallel > 1e-14 * a * e else 0.0
    t = (b * s + f) / e
    if t < 0.0:
        return clamped(-c / a, 0.0, 1.0), 0.0
    if t > 1.0:
        return clamped((b - c) / a, 0.0, 1.0), 1.0
    return s, t


@compiled
def normalized(a: Floats) -> float:
    """Make a vector a unit one; the length it had. One without length stays."""
    length = math.sqrt(dot(a, a))
    if length > 0.0:
        for i in range(3):
            a[i] = a[i] / length
    return length


@compiled
def crossed(a: Floats, b: Floats, result: Floats) -> None:
    """a x b."""
    result[0] = a[1] * b[2] - a[2] * b[1]
    result[1] = a[2] * b[0] - a[0] * b[2]
    result[2] = a[0] * b[1] - a[1] * b[0]


@compiled
def cut_polygon(polygon: Rows3, count: int, out: Floats, bound: float, result: Rows3) -> int:
    """A polygon without what is beyond the bound along ``out`` (Sutherland and Hodgman); the number of its corners."""
    kept, most = 0, len(result)
    for k in range(count):
        following = k + 1 if k + 1 < count else 0
        here, there = dot(out, polygon[k]) - bound, dot(out, polygon[following]) - bound
        if here <= 0.0 and kept < most:
            result[kept] = polygon[k]
            kept += 1
        if (here < 0.0 < there or there < 0.0 < here) and kept < most:
            share = here / (here - there)
            for i in range(3):
                result[kept, i] = polygon[k, i] + share * (polygon[following, i] - polygon[k, i])
            kept += 1
    return kept

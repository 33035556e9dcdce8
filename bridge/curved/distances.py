"""How far a point is from the surface of a shape, and which way out; compiled.

Points are in the shape's own frame. The nearest point of the surface is x - s n, of the distance s that is told,
negative inside, and the unit normal n that is written.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import TOUCHING, clamped, dot
from bridge.curved.polytopes import Polytopes
from recursive_dyn.codegen.compiled import Floats, compiled

ROUND, BOX, HULL, CYLINDER, ELLIPSOID, TORUS = 0, 1, 2, 3, 4, 5  # spheres and capsules are round
FACETS = 6  # a surface of triangles, to which no distance is told here
_TINY = 1e-300
_ITERATIONS = 60  # of a root that takes five as a rule


@compiled
def distance_to(kind: int, size: Floats, solids: Polytopes, hull: int, x: Floats, n: Floats) -> float:
    """Signed distance of x from a shape of any kind, of sizes (3,) as ``InWorld`` has them."""
    if kind == ROUND:
        return _round(size[0], size[1], x, n)
    if kind == CYLINDER:
        return _cylinder(size[0], size[1], x, n)
    if kind == ELLIPSOID:
        return _ellipsoid(size, x, n)
    if kind == TORUS:
        return _torus(size[0], size[1], x, n)
    return _polytope(solids, hull, x, n)


@compiled
def _round(radius: float, half: float, x: Floats, n: Floats) -> float:
    n[0], n[1], n[2] = x[0], x[1], x[2] - clamped(x[2], -half, half)
    length = math.sqrt(dot(n, n))
    if length > _TINY:
        for i in range(3):
            n[i] = n[i] / length
    else:
        n[0], n[1], n[2] = 1.0, 0.0, 0.0
    return length - radius


@compiled
def _cylinder(radius: float, half: float, x: Floats, n: Floats) -> float:
    rho, up = math.sqrt(x[0] * x[0] + x[1] * x[1]), 1.0 if x[2] >= 0.0 else -1.0
    side, end = rho - radius, up * x[2] - half
    c, s = (x[0] / rho, x[1] / rho) if rho > _TINY else (1.0, 0.0)
    if side > 0.0 and end > 0.0:
        length = math.sqrt(side * side + end * end)
        n[0], n[1], n[2] = side * c / length, side * s / length, up * end / length
        return length
    if side > end:
        n[0], n[1], n[2] = c, s, 0.0
        return side
    n[0], n[1], n[2] = 0.0, 0.0, up
    return end


@compiled
def _torus(major: float, minor: float, x: Floats, n: Floats) -> float:
    rho = math.sqrt(x[0] * x[0] + x[1] * x[1])
    c, s = (x[0] / rho, x[1] / rho) if rho > _TINY else (1.0, 0.0)
    out = rho - major
    length = math.sqrt(out * out + x[2] * x[2])
    if length > _TINY:
        n[0], n[1], n[2] = out * c / length, out * s / length, x[2] / length
    else:
        n[0], n[1], n[2] = 0.0, 0.0, 1.0
    return length - minor


@compiled
def _ellipsoid(size: Floats, x: Floats, n: Floats) -> float:
    """The largest root t of sum (a x / (t + a^2))^2 = 1 leads to the foot a^2 x / (t + a^2) (Eberly, Distance from a
    Point to an Ellipse, an Ellipse, or a Hyperellipsoid, 2013), found by Newton's method on 1 / norm - 1 (Hebden)."""
    t, least = -np.inf, np.inf
    for i in range(3):
        least = min(least, size[i])
        t = max(t, size[i] * (abs(x[i]) - size[i]))  # where this term alone is 1
    floor = -least * least * (1.0 - 1e-12)
    t = max(t, floor)
    for _ in range(_ITERATIONS):
        square, slope = 0.0, 0.0
        for i in range(3):
            w = size[i] * x[i] / (t + size[i] * size[i])
            square += w * w
            slope += w * w / (t + size[i] * size[i])
        if slope == 0.0:
            break
        norm = math.sqrt(square)
        step = square / slope * (norm - 1.0)
        after = max(t + step, floor)
        done = abs(after - t) <= 1e-16 * least * least
        t = after
        if done:
            break
    length = 0.0
    for i in range(3):
        n[i] = x[i] / (t + size[i] * size[i])
        length += n[i] * n[i]
    length = math.sqrt(length)
    if length < _TINY:  # in the middle
        for i in range(3):
            n[i] = 1.0 if size[i] == least else 0.0
        return -least
    for i in range(3):
        n[i] = n[i] / length
    return t * length


@compiled
def _polytope(solids: Polytopes, hull: int, x: Floats, n: Floats) -> float:
    first, last = solids.ranges[hull, 4], solids.ranges[hull, 5]
    best, face = -np.inf, first
    for f in range(first, last):
        out = dot(solids.normals[f], x) - solids.offsets[f]
        if out > best:
            best, face = out, f
    if best > 0.0 and not is_over(solids, face, x, 0.0):
        nearest = -1
        for f in range(first, last):
            if dot(solids.normals[f], x) > solids.offsets[f] and is_over(solids, f, x, 0.0):
                nearest = f
                break
        if nearest < 0:
            distance = _nearest_edge(solids, hull, x, n)
            if distance > TOUCHING:
                return distance
            nearest = face
        face, best = nearest, dot(solids.normals[nearest], x) - solids.offsets[nearest]
    for i in range(3):
        n[i] = solids.normals[face, i]
    return best


@compiled
def is_over(solids: Polytopes, f: int, x: Floats, tolerance: float) -> bool:
    """Whether a point's foot on a face's plane is within the face, to ``tolerance`` m."""
    farthest = -np.inf
    for k in range(solids.borders[f, 0], solids.borders[f, 1]):
        farthest = max(farthest, beyond(solids, f, k, x))
    return farthest <= tolerance


@compiled
def beyond(solids: Polytopes, f: int, k: int, x: Floats) -> float:
    """How far a point is beyond the k-th of the sides of a face, m."""
    following = k + 1 if k + 1 < solids.borders[f, 1] else solids.borders[f, 0]
    p, q, n = solids.corners[solids.rim[k, 0]], solids.corners[solids.rim[following, 0]], solids.normals[f]
    u0, u1, u2 = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    m0, m1, m2 = u1 * n[2] - u2 * n[1], u2 * n[0] - u0 * n[2], u0 * n[1] - u1 * n[0]
    length = math.sqrt(m0 * m0 + m1 * m1 + m2 * m2)
    return (m0 * (x[0] - p[0]) + m1 * (x[1] - p[1]) + m2 * (x[2] - p[2])) / length


@compiled
def _nearest_edge(solids: Polytopes, hull: int, x: Floats, n: Floats) -> float:
    best, away, along = np.inf, np.empty(3), np.empty(3)
    for e in range(solids.ranges[hull, 2], solids.ranges[hull, 3]):
        p, q = solids.corners[solids.edges[e, 0]], solids.corners[solids.edges[e, 1]]
        for i in range(3):
            along[i], away[i] = q[i] - p[i], x[i] - p[i]
        t = clamped(dot(away, along) / dot(along, along), 0.0, 1.0)
        for i in range(3):
            away[i] -= t * along[i]
        square = dot(away, away)
        if square < best:
            best = square
            for i in range(3):
                n[i] = away[i]
    length = math.sqrt(best)
    for i in range(3):
        n[i] = n[i] / max(length, _TINY)
    return length

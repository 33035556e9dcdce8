"""Where a ray x + t u enters a shape, t from 0 to 1, in closed form, in the shape's own frame; compiled.

A torus, the one that is not convex, by its quartic: between points where its slope is 0 it has one root at most, and
the slope between those where its curvature is.
"""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.distances import CYLINDER, ELLIPSOID, ROUND, TORUS
from bridge.curved.manifold_points import dot, normalized
from bridge.curved.polytopes import Polytopes
from recursive_dyn.codegen.compiled import Floats, compiled

HALF_SPACE = 7  # below z = 0, a kind beside those of ``distances``
NEVER = 2.0
_ITERATIONS = 100  # of a root that takes ten as a rule
_ENOUGH = 1e-16  # of a torus' major radius


@compiled
def entry(kind: int, size: Floats, solids: Polytopes, solid: int, x: Floats, u: Floats, n: Floats) -> float:
    """t, or NEVER; n: the unit normal there, outwards. Boxes and hulls are polytopes, by their number ``solid``."""
    if kind == HALF_SPACE:
        return _half_space(x, u, n)
    if kind == ROUND:
        return _round(size[0], size[1], x, u, n)
    if kind == CYLINDER:
        return _cylinder(size[0], size[1], x, u, n)
    if kind == ELLIPSOID:
        return _ellipsoid(size, x, u, n)
    if kind == TORUS:
        return _torus(size[0], size[1], x, u, n)
    return _polytope(solids, solid, x, u, n)


@compiled
def _half_space(x: Floats, u: Floats, n: Floats) -> float:
    n[0], n[1], n[2] = 0.0, 0.0, 1.0
    return -x[2] / u[2] if x[2] >= 0.0 and u[2] < 0.0 and -x[2] <= -u[2] else NEVER


@compiled
def _polytope(solids: Polytopes, solid: int, x: Floats, u: Floats, n: Floats) -> float:
    """The last plane that it comes in by, if it has left none before."""
    enters, leaves, face = -math.inf, math.inf, -1
    for k in range(solids.ranges[solid, 4], solids.ranges[solid, 5]):
        normal = solids.normals[k]
        left, speed = solids.offsets[k] - dot(normal, x), dot(normal, u)
        if speed < 0.0:
            if left / speed > enters:
                enters, face = left / speed, k
        elif speed > 0.0:
            leaves = min(leaves, left / speed)
        elif left < 0.0:
            return NEVER
    if face < 0 or enters > leaves or enters < 0.0 or enters > 1.0:
        return NEVER
    for i in range(3):
        n[i] = solids.normals[face, i]
    return enters


@compiled
def _ball_entry(radius: float, z: float, x: Floats, u: Floats) -> float:
    """Where a ray enters a ball about a point of the axis, at any t."""
    a = dot(u, u)
    middle, square = -(x[0] * u[0] + x[1] * u[1] + (x[2] - z) * u[2]) / a, 0.0
    for i in range(3):
        p = x[i] + middle * u[i] - (z if i == 2 else 0.0)
        square += p * p
    return middle - math.sqrt((radius * radius - square) / a) if square <= radius * radius else math.inf


@compiled
def _round(radius: float, half: float, x: Floats, u: Floats, n: Floats) -> float:
    """The first of its two balls and of the side between them, unless it starts within one of these."""
    core = max(-half, min(half, x[2]))
    if x[0] * x[0] + x[1] * x[1] + (x[2] - core) * (x[2] - core) < radius * radius:
        return NEVER
    t = min(_ball_entry(radius, -half, x, u), _ball_entry(radius, half, x, u))
    a = u[0] * u[0] + u[1] * u[1]
    if half > 0.0 and a > 0.0:
        middle = -(x[0] * u[0] + x[1] * u[1]) / a
        px, py = x[0] + middle * u[0], x[1] + middle * u[1]
        square = px * px + py * py
        if square <= radius * radius:
            side = middle - math.sqrt((radius * radius - square) / a)
            if abs(x[2] + side * u[2]) <= half:
                t = min(t, side)
    if not 0.0 <= t <= 1.0:
        return NEVER
    for i in range(3):
        n[i] = x[i] + t * u[i]
    n[2] -= max(-half, min(half, n[2]))
    normalized(n)
    return t


@compiled
def _cylinder(radius: float, half: float, x: Floats, u: Floats, n: Floats) -> float:
    """The last of its side and its caps, if it is within all then."""
    enters, leaves, a = -math.inf, math.inf, u[0] * u[0] + u[1] * u[1]
    if a > 0.0:
        middle = -(x[0] * u[0] + x[1] * u[1]) / a
        px, py = x[0] + middle * u[0], x[1] + middle * u[1]
        square = px * px + py * py
        if square > radius * radius:
            return NEVER
        chord = math.sqrt((radius * radius - square) / a)
        enters, leaves = middle - chord, middle + chord
    elif x[0] * x[0] + x[1] * x[1] > radius * radius:
        return NEVER
    up = 1.0 if u[2] < 0.0 else -1.0  # the cap that it comes to first
    n[0], n[1], n[2] = x[0] + enters * u[0], x[1] + enters * u[1], 0.0
    if u[2] != 0.0:
        near = (up * half - x[2]) / u[2]
        leaves = min(leaves, (-up * half - x[2]) / u[2])
        if near > enters:
            enters = near
            n[0], n[1], n[2] = 0.0, 0.0, up
    elif abs(x[2]) > half:
        return NEVER
    if enters > leaves or enters < 0.0 or enters > 1.0:
        return NEVER
    normalized(n)
    return enters


@compiled
def _ellipsoid(radii: Floats, x: Floats, u: Floats, n: Floats) -> float:
    """A ball's, in lengths of its radii."""
    y, w = np.empty(3), np.empty(3)
    for i in range(3):
        y[i], w[i] = x[i] / radii[i], u[i] / radii[i]
    t = _ball_entry(1.0, 0.0, y, w)
    if not 0.0 <= t <= 1.0:
        return NEVER
    for i in range(3):
        n[i] = (y[i] + t * w[i]) / radii[i]
    normalized(n)
    return t


@compiled
def _value(c: Floats, s: float) -> float:
    """A polynomial with coefficients (5,), the lowest first."""
    return (((c[4] * s + c[3]) * s + c[2]) * s + c[1]) * s + c[0]


@compiled
def _root(c: Floats, low: float, high: float) -> float:
    """Where a polynomial that rises or falls from low to high, with a sign at each, is 0: Newton's steps, or halves."""
    falls = _value(c, low) > 0.0
    s = 0.5 * (low + high)
    for _ in range(_ITERATIONS):
        value = _value(c, s)
        if (value > 0.0) == falls:
            low = s
        else:
            high = s
        slope = ((4.0 * c[4] * s + 3.0 * c[3]) * s + 2.0 * c[2]) * s + c[1]
        step = -value / slope if slope != 0.0 else math.inf
        other = s + step if low < s + step < high else 0.5 * (low + high)
        if abs(other - s) <= _ENOUGH or high - low <= _ENOUGH:
            return other
        s = other
    return s


@compiled
def _turns(c: Floats, count: int, at: Floats) -> int:
    """Between places at (count, the first ones) of which a polynomial is monotonic: its roots, put there in place of
    these, between the first and the last; how many there are with these two."""
    first, last, found = at[0], at[count - 1], 1
    for k in range(1, count):
        low, high = at[k - 1], at[k]
        if (_value(c, low) > 0.0) != (_value(c, high) > 0.0):
            at[found - 1 + 5] = _root(c, low, high)
            found += 1
    for k in range(1, found):
        at[k] = at[k - 1 + 5]
    at[0], at[found] = first, last
    return found + 1


@compiled
def _torus(major: float, minor: float, x: Floats, u: Floats, n: Floats) -> float:
    """In lengths of the major radius, along the ray from where it is nearest to the middle."""
    a, thick = math.sqrt(dot(u, u)), minor / major
    nearest = -dot(x, u) / (a * a)
    o, e, at, c = np.empty(3), np.empty(3), np.empty(12), np.zeros(5)
    for i in range(3):
        o[i], e[i] = (x[i] + nearest * u[i]) / major, u[i] / a
    square = (1.0 + thick) * (1.0 + thick) - dot(o, o)
    if square <= 0.0:
        return NEVER
    far, A = math.sqrt(square), dot(o, o) + 1.0 - thick * thick
    c0 = A * A - 4.0 * (o[0] * o[0] + o[1] * o[1])
    c1, c2 = -8.0 * (o[0] * e[0] + o[1] * e[1]), 2.0 * A - 4.0 * (e[0] * e[0] + e[1] * e[1])
    at[0], count = -far, 1
    if c2 < 0.0 and math.sqrt(-c2 / 6.0) < far:
        at[1], at[2], count = -math.sqrt(-c2 / 6.0), math.sqrt(-c2 / 6.0), 3
    at[count] = far
    c[0], c[1], c[2], c[3] = c1, 2.0 * c2, 0.0, 4.0
    count = _turns(c, count + 1, at)
    c[0], c[1], c[2], c[3], c[4] = c0, c1, c2, 0.0, 1.0
    for k in range(1, count):
        if _value(c, at[k - 1]) > 0.0 and _value(c, at[k]) <= 0.0:
            s = _root(c, at[k - 1], at[k])
            t = nearest + s * major / a
            if 0.0 <= t <= 1.0:
                for i in range(3):
                    n[i] = o[i] + s * e[i]
                rho = math.sqrt(n[0] * n[0] + n[1] * n[1])
                n[0], n[1] = n[0] - n[0] / rho, n[1] - n[1] / rho
                normalized(n)
                return t
    return NEVER

"""Where two barrels that lie along each other carry: at the ends of what they share, their middles, where they cross.

Nearly parallel ones are nearest at one point, which runs along them by decimetres as they tilt by a thousandth: what
presses there alone would throw them from side to side, as a solve sees that point where it was. Points that stay where
they are on both let the solve say where they press. All in one frame, compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bridge.curved.manifold_points import Found, clamped, dot, normalized, put
from recursive_dyn.codegen.compiled import Floats, compiled

NEARLY_PARALLEL = 0.01  # square of the sine of an angle between two axes below which they lie along each other
APART = 1e-3  # share of a length: points that are nearer are one
_SAG = 1e-7  # m that surfaces leave each other by from the middle to the ends, below which these alone carry
_MIDDLES = 0.02  # share of a length from ends and from each other, from which on middles carry, too
_AS_NEAR = 1e-9  # m by which the nearest point is nearer than one that stays, so that it is left out


class Barrel(NamedTuple):
    """The axis, from its start (3,) along (3,), which ends it, and the radius, m."""

    start: Floats
    along: Floats
    radius: float


@compiled
def lie_along(one: Barrel, other: Barrel) -> bool:
    """Whether two barrels are nearly parallel, and have a length."""
    aa, bb, ab = dot(one.along, one.along), dot(other.along, other.along), dot(one.along, other.along)
    return aa > 0.0 and bb > 0.0 and aa * bb - ab * ab <= NEARLY_PARALLEL * aa * bb


@compiled
def shared(one: Barrel, other: Barrel) -> tuple[float, float]:
    """From where to where the first axis is beside the other, as shares of its length; the first is not less where they
    are one behind the other."""
    p, u, q, w, from_q, to_q = one.start, one.along, other.start, other.along, 0.0, 0.0
    square = dot(u, u)
    for i in range(3):
        from_q += (q[i] - p[i]) * u[i] / square
        to_q += (q[i] + w[i] - p[i]) * u[i] / square
    return max(0.0, min(from_q, to_q)), min(1.0, max(from_q, to_q))


@compiled
def parallel_barrels(one: Barrel, other: Barrel, low: float, high: float, margin: float, found: Found) -> None:
    """Add points nearer than ``margin`` of two barrels that share what is from ``low`` to ``high`` to the nearest one,
    the only one that is found; that is left out if another is as near."""
    u, w, nearest, middle = one.along, other.along, found.rows[0], 0.0
    aa, ab, bb = dot(u, u), dot(u, w), dot(w, w)
    away, at = one.radius + other.radius + nearest[6], 0.0
    for i in range(3):
        at += (nearest[i] - one.start[i]) * u[i] / aa
        middle += (other.start[i] + 0.5 * w[i] - one.start[i]) * u[i] / aa
    stays = _tell_at(one, other, low, at, margin, found)
    stays = _tell_at(one, other, high, at, margin, found) or stays
    sag = max(aa - ab * ab / bb, 0.0) * (high - low) * (high - low) / (8.0 * max(away, APART * one.radius))
    if sag > _SAG:
        if low + _MIDDLES < 0.5 < high - _MIDDLES:
            stays = _tell_at(one, other, 0.5, at, margin, found) or stays
        if low + _MIDDLES < middle < high - _MIDDLES and abs(middle - 0.5) > _MIDDLES:
            stays = _tell_at(one, other, middle, at, margin, found) or stays
    last = found.size[0] - 1
    for k in range(1, last + 1):
        if not stays and found.rows[k, 6] <= nearest[6] + _AS_NEAR:
            nearest[:] = found.rows[last]
            found.size[0] = last
            return


@compiled
def _tell_at(one: Barrel, other: Barrel, s: float, at: float, margin: float, found: Found) -> bool:
    """Add the contact of the balls about a point of the first axis and the other's nearest to it, unless it is the one
    that is ``at``, both shares of the first; whether it is."""
    if abs(s - at) <= APART:
        return True
    t, normal, point = 0.0, np.empty(3), np.empty(3)
    for i in range(3):
        t += (one.start[i] + s * one.along[i] - other.start[i]) * other.along[i]
    t = clamped(t / dot(other.along, other.along), 0.0, 1.0)
    for i in range(3):
        point[i] = other.start[i] + t * other.along[i]
        normal[i] = one.start[i] + s * one.along[i] - point[i]
    distance = normalized(normal)
    gap = distance - one.radius - other.radius
    turned_over = dot(normal, found.rows[0, 3:6]) < 0.0  # cores that cross
    if gap < margin and distance > 0.0 and not turned_over:
        for i in range(3):
            point[i] += other.radius * normal[i]
        put(found, point, normal, gap)
    return False

"""Edges of a surface that stick out, at a cylinder; compiled. All is in the surface's frame."""

from __future__ import annotations

import math

import numpy as np

from bridge.curved.manifold_points import Found, Rows3, clamped, dot, normalized
from bridge.curved.polytopes import Polytopes
from bridge.curved.solid import Solid, distance_from, lowest, rim_axes
from bridge.faceted.facet_edges import LEAN, upright
from bridge.faceted.facet_sides import sticking_out
from bridge.faceted.fewest_points import put_nearest
from recursive_dyn.codegen.compiled import Floats, compiled

_ITERATIONS = 60  # of halving and better, of where an edge is nearest
_CLOSE = 1e-15  # of an edge's length, between bounds of that
_ALONG = 0.99  # cosine of the angle between an axis and an edge that it lies along
_CAP = 0.9  # cosine of the angle between an axis and a normal, from which on an edge is under a cap
_TURNED = 1e-12  # by which a normal is another one
_ACROSS = 0.5  # cosine of the angle between an axis and a normal, up to which a barrel is turned upright


@compiled
def edge_on_cylinder(
    solid: Solid, solids: Polytopes, own: Rows3, side: int, other: Rows3, border: bool, margin: float, deep: float,
    up: Floats, found: Found,
) -> None:  # fmt: skip
    """Add the points of a side of triangle ``own``, with ``other`` beyond it unless that is a border; deep, m: up to
    where it is looked for overlaps. up (3,): against which no normal leads, of ground; 0 of a mesh."""
    a, along, u, w, n, x = own[side], np.empty(3), np.empty(3), np.zeros(3), np.empty(3), np.empty(3)
    bulge = np.empty(3)
    length = sticking_out(own, side, other, border, along, u, w, bulge)
    if length == 0.0:
        return
    at = _nearest(solid, solids, a, along, length, n)
    if 0.0 < at < length:
        for i in range(3):
            x[i] = a[i] + at * along[i]
        _tell(solid, x, n, u, w, border, margin, deep, up, found)
    low, high = length, 0.0
    cap = abs(dot(solid.axes[2], n)) > _CAP
    if cap:
        low, high = _under_cap(solid, a, along)
    elif abs(dot(solid.axes[2], along)) > _ALONG:
        middle = dot(solid.centre, along) - dot(a, along)
        low, high = middle - solid.size[1], middle + solid.size[1]
    low, high = max(low, 0.0), min(high, length)
    for end in range(2 if high > low else 0):
        for i in range(3):
            x[i] = a[i] + (low if end == 0 else high) * along[i]
            n[i] = solid.axes[2, i]
        away = dot(n, solid.centre) - dot(n, x)
        for i in range(3):
            n[i] = (n[i] if away > 0.0 else -n[i]) if cap else solid.centre[i] - x[i] - away * solid.axes[2, i]
        if normalized(n) > 0.0:
            _tell(solid, x, n, u, w, border, margin, deep, up, found)


@compiled
def _under_cap(solid: Solid, a: Floats, along: Floats) -> tuple[float, float]:
    """From where to where on a line from a on it is within a barrel."""
    c, d, e = 0.0, 0.0, -solid.size[0] * solid.size[0]
    axis, away = solid.axes[2], np.empty(3)
    for i in range(3):
        away[i] = a[i] - solid.centre[i]
    on, way = dot(axis, away), dot(axis, along)
    for i in range(3):
        p, q = away[i] - on * axis[i], along[i] - way * axis[i]
        c, d, e = c + q * q, d + p * q, e + p * p
    inner = d * d - c * e
    if inner <= 0.0 or c <= 0.0:
        return 1.0, -1.0
    return (-d - math.sqrt(inner)) / c, (-d + math.sqrt(inner)) / c


@compiled
def _nearest(solid: Solid, solids: Polytopes, a: Floats, along: Floats, length: float, n: Floats) -> float:
    """Where on an edge it is nearest to a cylinder, or deepest in it, and the normal there, across the edge: at a kink
    one between those at both sides. Distances from what is convex are convex."""
    x, p, q, side = np.empty(3), np.empty(3), np.empty(3), 0
    low, high = 0.0, length
    distance_from(solid, solids, a, p)
    for i in range(3):
        x[i] = a[i] + length * along[i]
    distance_from(solid, solids, x, q)
    at_low, at_high = -dot(p, along), -dot(q, along)
    if at_low >= 0.0:
        n[:] = p
        return 0.0
    if at_high <= 0.0:
        n[:] = q
        return length
    weight_low, weight_high = at_low, at_high
    for k in range(_ITERATIONS):
        if high - low <= _CLOSE * length:
            break
        middle = high - weight_high * (high - low) / (weight_high - weight_low)
        if k % 4 == 3 or not low < middle < high:
            middle = 0.5 * (low + high)
        for i in range(3):
            x[i] = a[i] + middle * along[i]
        distance_from(solid, solids, x, n)
        slope = -dot(n, along)
        if slope < 0.0:
            low, at_low, weight_low = middle, slope, slope
            p[:] = n
            weight_high = 0.5 * weight_high if side < 0 else weight_high
            side = -1
        else:
            high, at_high, weight_high = middle, slope, slope
            q[:] = n
            weight_low = 0.5 * weight_low if side > 0 else weight_low
            side = 1
    share = at_high / (at_high - at_low)
    for i in range(3):
        n[i] = share * p[i] + (1.0 - share) * q[i]
    normalized(n)
    return low if -at_low < at_high else high


@compiled
def _tell(
    solid: Solid, x: Floats, n: Floats, u: Floats, w: Floats, border: bool, margin: float, deep: float, up: Floats,
    found: Found,
) -> None:  # fmt: skip
    """The contact at a point x of an edge between faces that lead away by u and w, unless its normal n leads into one;
    one that leans over a face stands on it."""
    lean, other, m = dot(n, u), dot(n, w), np.empty(3)
    if (not border and lean + other >= 0.0) or lean > LEAN or other > LEAN:
        return
    m[:] = n
    upright(m, u)
    if not border:
        upright(m, w)
    touched_by(solid, x, m, n, margin, deep, up, found)


@compiled
def touched_by(
    solid: Solid, x: Floats, n: Floats, before: Floats, margin: float, deep: float, up: Floats, found: Found
) -> None:
    """Add the contact of a cylinder along n at a point x of an edge or a corner; a barrel if n was turned from
    ``before``, from which on n meets its axis elsewhere."""
    turn, down, across, a = 0.0, np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        turn = max(turn, abs(n[i] - before[i]))
    if dot(n, up) < 0.0:
        return
    if turn <= _TURNED:
        gap = lowest(solid, n, a) - dot(n, x)
        if -deep < gap < margin:
            put_nearest(found, x, n, gap)
        return
    if abs(rim_axes(solid, n, down, across)) > _ACROSS:
        return
    on = clamped(dot(solid.axes[2], x) - dot(solid.axes[2], solid.centre), -solid.size[1], solid.size[1])
    for i in range(3):
        a[i] = solid.centre[i] + on * solid.axes[2, i] + solid.size[0] * down[i]
    gap = dot(n, a) - dot(n, x)
    if -deep < gap < margin:
        for i in range(3):
            a[i] -= gap * n[i]
        put_nearest(found, a, n, gap)

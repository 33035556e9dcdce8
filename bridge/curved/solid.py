"""Cylinders and ellipsoids: their lowest points, and how far points are from them, in anyone's frame; compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bridge.curved.distances import CYLINDER, distance_to
from bridge.curved.manifold_points import Rows3, crossed, dot, normalized
from bridge.curved.polytopes import Polytopes
from recursive_dyn.codegen.compiled import Floats, compiled

_TINY = 1e-300
_LEVEL = 1e-12  # sine of a rim's tilt below which it lies flat
_COS, _SIN = (1.0, 0.0, -1.0, 0.0), (0.0, 1.0, 0.0, -1.0)  # of quarter turns


class Solid(NamedTuple):
    """A: kind as in ``distances``; centre (3,), axes (3, 3) by rows, sizes (3,)."""

    kind: int
    centre: Floats
    axes: Rows3
    size: Floats


@compiled
def lowest(solid: Solid, n: Floats, a: Floats) -> float:
    """The solid's point a with the least n . a; that is told."""
    if solid.kind == CYLINDER:
        along, square = dot(solid.axes[2], n), 0.0
        for i in range(3):
            a[i] = n[i] - along * solid.axes[2, i]
        rest = dot(solid.axes[2], a)
        for i in range(3):
            a[i] -= rest * solid.axes[2, i]  # of a cap along n nothing but rounding was left, along the axis too
            square += a[i] * a[i]
        share, end = solid.size[0] / max(math.sqrt(square), _TINY), solid.size[1] if along < 0.0 else -solid.size[1]
        for i in range(3):
            a[i] = solid.centre[i] + end * solid.axes[2, i] - share * a[i]
    else:
        length = 0.0
        for j in range(3):
            along = solid.size[j] * dot(solid.axes[j], n)
            length += along * along
        length = math.sqrt(length)
        for i in range(3):
            a[i] = solid.centre[i]
        for j in range(3):
            share = solid.size[j] * solid.size[j] * dot(solid.axes[j], n) / length
            for i in range(3):
                a[i] -= share * solid.axes[j, i]
    return dot(a, n)


@compiled
def rim_axes(cylinder: Solid, n: Floats, down: Floats, across: Floats) -> float:
    """Unit vectors in the planes of a cylinder's rims: down, to where they are lowest against n, and across that; the
    cosine between its axis and n is told."""
    u = cylinder.axes[2]
    cosine = dot(u, n)
    for i in range(3):
        down[i] = cosine * u[i] - n[i]
    if normalized(down) < _LEVEL:
        down[:] = cylinder.axes[0]
    rest = dot(down, u)
    for i in range(3):
        down[i] -= rest * u[i]  # of a small tilt rounding is left, along the axis too
    crossed(u, down, across)
    return cosine


@compiled
def rim_end(cylinder: Solid, side: int, end: Floats) -> None:
    """The middle of one of its two rims."""
    for i in range(3):
        end[i] = cylinder.centre[i] + (2.0 * side - 1.0) * cylinder.size[1] * cylinder.axes[2, i]


@compiled
def rim_quarter(cylinder: Solid, end: Floats, down: Floats, across: Floats, quarter: int, x: Floats) -> None:
    """The point of the rim about ``end`` after so many quarter turns from the lowest."""
    for i in range(3):
        x[i] = end[i] + cylinder.size[0] * (_COS[quarter] * down[i] + _SIN[quarter] * across[i])


@compiled
def distance_from(solid: Solid, solids: Polytopes, p: Floats, n: Floats) -> float:
    """Signed distance of a point from the solid; n (3,) becomes the normal into it."""
    x, out = np.empty(3), np.empty(3)
    for j in range(3):
        x[j] = 0.0
        for i in range(3):
            x[j] += solid.axes[j, i] * (p[i] - solid.centre[i])
    distance = distance_to(solid.kind, solid.size, solids, 0, x, out)
    for i in range(3):
        n[i] = 0.0
        for j in range(3):
            n[i] -= solid.axes[j, i] * out[j]
    return distance

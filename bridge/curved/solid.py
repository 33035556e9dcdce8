"""Cylinders and ellipsoids: their lowest points, and how far points are from them, in anyone's frame; compiled."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bridge.curved.distances import CYLINDER, distance_to
from bridge.curved.manifold_points import Rows3, dot
from bridge.curved.polytopes import Polytopes
from recursive_dyn.codegen.compiled import Floats, compiled

_TINY = 1e-300


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

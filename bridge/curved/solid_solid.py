"""Cylinders and ellipsoids against each other: the direction in which the two are farthest apart; compiled.

Over unit vectors n the gap min n . a - max n . b is largest where both nearest points are on a line along n, or at a
kink: along an axis, where a cap lies on something, and across one, where a barrel does. Everything is in B's frame.
"""

from __future__ import annotations

import numpy as np

from bridge.curved.cylinder_cylinder import cylinder_cylinder
from bridge.curved.distances import CYLINDER
from bridge.curved.gap_along import gap_along, keep_better
from bridge.curved.gap_ascent import ascend
from bridge.curved.manifold_points import Found, crossed, normalized, put
from bridge.curved.solid import Solid
from recursive_dyn.codegen.compiled import compiled

_LEAST = 1e-6  # sine of an angle between two axes, from which on it says what is across both


@compiled
def solid_solid(one: Solid, other: Solid, margin: float, found: Found) -> None:
    """The nearest point, if it is nearer than ``margin``, and of two cylinders those that carry together with it."""
    best, n, point = np.full(4, -np.inf), np.empty(3), np.empty(3)  # normal, gap
    for i in range(3):
        n[i] = one.centre[i] - other.centre[i]
    if normalized(n) == 0.0:
        n[0] = 1.0
    keep_better(one, other, n, best)
    for side in range(2):
        solid = one if side == 0 else other
        for axis in range(3):
            for sign in range(2):
                for i in range(3):
                    n[i] = (2.0 * sign - 1.0) * solid.axes[axis, i]
                keep_better(one, other, n, best)
    if one.kind == CYLINDER and other.kind == CYLINDER:
        crossed(one.axes[2], other.axes[2], n)
        for _ in range(2 if normalized(n) > _LEAST else 0):  # where barrels cross
            for i in range(3):
                n[i] = -n[i]
            keep_better(one, other, n, best)
    ascend(one, other, margin, best)
    if best[3] < margin and one.kind == CYLINDER and other.kind == CYLINDER:
        n[:] = best[:3]
        cylinder_cylinder(one, other, n, best[3], margin, found)
    elif best[3] < margin:
        a, b = np.empty(3), np.empty(3)
        for i in range(3):
            n[i] = best[i]
        gap_along(one, other, n, a, b)
        for i in range(3):
            point[i] = a[i] - best[3] * n[i] if other.kind == CYLINDER else b[i]
        put(found, point, n, best[3])

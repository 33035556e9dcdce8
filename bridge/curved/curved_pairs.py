"""Contacts of two shapes of which one is curved, whatever they are; compiled."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from bridge.curved.distances import BOX, FACETS, HULL, ROUND, TORUS
from bridge.curved.manifold_points import Found, InWorld, dot, turned
from bridge.curved.polytopes import Polytopes
from bridge.curved.rings import ring_meets
from bridge.curved.round_box import round_box
from bridge.curved.round_shapes import round_round
from bridge.curved.rounded_curves import Curve, Target, segment_meets
from bridge.curved.solid import Solid
from bridge.curved.solid_polytope import solid_polytope
from bridge.curved.solid_solid import solid_solid
from recursive_dyn.codegen.compiled import Floats, Integers, compiled

POINTS = 16  # of a pair, at most


@compiled
def is_known(one: int, other: int) -> bool:
    """Whether contacts of two kinds of shapes are known: unless both are boxes, all of whose points Bullet tells, or
    surfaces of triangles."""
    return one != other or (one != BOX and one != FACETS)


@compiled
def meet_curved(
    kinds: Integers, hulls: Integers, placed: InWorld, solids: Polytopes, a: int, b: int, margin: float, found: Found
) -> None:
    """Points of shapes a and b nearer than ``margin``, of kinds that are known to each other, but two polytopes."""
    found.size[0] = 0
    if _leads(kinds[a], kinds[b]):
        _meet(kinds, hulls, placed, solids, a, b, margin, found)
    else:
        _meet(kinds, hulls, placed, solids, b, a, margin, found)
        turned(found)


@compiled
def _leads(one: int, other: int) -> bool:
    """Whether a shape of the first kind is A in a pair with one of the other."""
    if one == other:
        return True
    if one == TORUS or other == TORUS:
        return one == TORUS
    if one == ROUND or other == ROUND:
        return one == ROUND
    return one > other  # solids: ellipsoids before cylinders before boxes and other polytopes


@compiled
def _meet(
    kinds: Integers, hulls: Integers, placed: InWorld, solids: Polytopes, a: int, b: int, margin: float, found: Found
) -> None:
    if kinds[a] == ROUND and kinds[b] == ROUND:
        round_round(placed, a, b, margin, found)
    elif kinds[a] == ROUND and kinds[b] == BOX:
        round_box(placed, a, b, margin, found)
    else:
        centre, axes = np.empty(3), np.empty((3, 3))
        seen(placed, a, b, centre, axes)
        if kinds[a] == TORUS or kinds[a] == ROUND:
            curve = Curve(kinds[a], centre, axes, placed.sizes[a])
            target = Target(kinds[b], placed.sizes[b], solids, hulls[b])
            if kinds[a] == TORUS:
                ring_meets(curve, target, margin, found)
            else:
                segment_meets(curve, target, margin, found)
        elif BOX <= kinds[b] <= HULL:
            solid_polytope(Solid(kinds[a], centre, axes, placed.sizes[a]), solids, hulls[b], margin, found)
        else:
            other = Solid(kinds[b], np.zeros(3), np.zeros((3, 3)), placed.sizes[b])
            for i in range(3):
                other.axes[i, i] = 1.0
            solid_solid(Solid(kinds[a], centre, axes, placed.sizes[a]), other, margin, found)
        into_world(placed, b, found)


@compiled
def seen(placed: InWorld, a: int, b: int, centre: Floats, axes: Annotated[np.ndarray, float, 3]) -> None:
    """A's centre and axes in B's frame."""
    for i in range(3):
        centre[i] = 0.0
        for j in range(3):
            centre[i] += placed.axes[b, i, j] * (placed.centers[a, j] - placed.centers[b, j])
            axes[j, i] = dot(placed.axes[a, j], placed.axes[b, i])


@compiled
def into_world(placed: InWorld, b: int, found: Found) -> None:
    """Points and normals in B's frame as those in the world."""
    x, n = np.empty(3), np.empty(3)
    for k in range(found.size[0]):
        row = found.rows[k]
        for i in range(3):
            x[i], n[i] = placed.centers[b, i], 0.0
            for j in range(3):
                x[i] += placed.axes[b, j, i] * row[j]
                n[i] += placed.axes[b, j, i] * row[3 + j]
        for i in range(3):
            row[i], row[3 + i] = x[i], n[i]

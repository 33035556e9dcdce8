"""Contacts on the true surfaces of Bullet's bodies, which Bullet found near each other; compiled."""

from __future__ import annotations

import math

import numpy as np

from bridge.bodies.true_shapes import CURVED, UNKNOWN, TrueShapes
from bridge.convex.hull_hull import hull_hull
from bridge.curved.curved_pairs import is_known, meet_curved
from bridge.curved.distances import BOX, ELLIPSOID, FACETS, HULL, ROUND, distance_to
from bridge.curved.manifold_points import Poses, clamped, dot, put_in_world, written
from bridge.faceted.polytope_on_facets import polytope_on_facets
from bridge.faceted.round_on_facets import round_on_facets
from bridge.planes.half_spaces import MARGIN
from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable

_REMEMBERED = 1e-3  # of a shape's size: how far within its surface a point gets as it turns, before Bullet forgets it


@compiled
def is_true(shapes: TrueShapes, poses: Poses, first: int, second: int) -> bool:
    """Whether contacts of two of Bullet's bodies are found on their true surfaces: unless one is within a shell."""
    if len(shapes.kinds) == 0 or shapes.sorts[first] == UNKNOWN or shapes.sorts[second] == UNKNOWN:
        return False
    for i in range(shapes.firsts[first], shapes.lasts[first]):
        for j in range(shapes.firsts[second], shapes.lasts[second]):
            if not is_known(shapes.kinds[i], shapes.kinds[j]) or (shapes.shells[j] and _is_within(shapes, poses, i, j)):
                return False
    return True


@compiled
def _is_within(shapes: TrueShapes, poses: Poses, i: int, j: int) -> bool:
    """Whether the middle of the i-th shape is inside of the j-th, a polytope."""
    place_shape(shapes, poses, i)
    place_shape(shapes, poses, j)
    return _distance(shapes, j, shapes.placed.centers[i]) < 0.0


@compiled
def true_points(
    shapes: TrueShapes, poses: Poses, first: int, second: int, table: ContactTable, row: int, room: int
) -> int:
    """Write the contacts of A, the first, and B from a row on, points and gaps alone, as far as there is room; how many
    there are."""
    count = 0
    for i in range(shapes.firsts[first], shapes.lasts[first]):
        place_shape(shapes, poses, i)
    for j in range(shapes.firsts[second], shapes.lasts[second]):
        place_shape(shapes, poses, j)
    for i in range(shapes.firsts[first], shapes.lasts[first]):
        for j in range(shapes.firsts[second], shapes.lasts[second]):
            if shapes.kinds[j] == FACETS:
                _meet_facets(shapes, i, j)
            elif BOX <= shapes.kinds[i] <= HULL and BOX <= shapes.kinds[j] <= HULL:
                one, other = shapes.hulls[i], shapes.hulls[j]
                hull_hull(shapes.placed, shapes.solids, one, other, i, j, MARGIN, shapes.found)
            else:
                meet_curved(shapes.kinds, shapes.hulls, shapes.placed, shapes.solids, i, j, MARGIN, shapes.found)
            for k in range(shapes.found.size[0]):
                if row + count < room:
                    written(shapes.found, k, table, row + count)
                count += 1
    return count


@compiled
def _meet_facets(shapes: TrueShapes, i: int, j: int) -> None:
    """Points of the i-th shape on the j-th, a surface of triangles."""
    k, kind, placed, solids, facets = shapes.hulls[j], shapes.kinds[i], shapes.placed, shapes.solids, shapes.facets
    if BOX <= kind <= HULL:
        polytope_on_facets(placed, solids, shapes.hulls[i], facets, k, i, j, MARGIN, shapes.found)
    else:
        round_on_facets(kind, placed, solids, facets, k, i, j, MARGIN, shapes.found)


@compiled
def glides(shapes: TrueShapes, first: int, second: int) -> bool:
    """Whether one of Bullet's bodies is an ellipsoid alone."""
    for one in (first, second):
        k = shapes.firsts[one]
        if shapes.lasts[one] == k + 1 and shapes.kinds[k] == ELLIPSOID:
            return True
    return False


@compiled
def ball_radius(shapes: TrueShapes, one: int) -> float:
    """That of one of Bullet's bodies which is a ball alone, m; 0 of others."""
    if len(shapes.kinds) == 0 or shapes.sorts[one] != CURVED:
        return 0.0
    k = shapes.firsts[one]
    alone = shapes.lasts[one] == k + 1 and shapes.kinds[k] == ROUND and shapes.placed.sizes[k, 1] == 0.0
    return shapes.placed.sizes[k, 0] if alone else 0.0


@compiled
def touch_smoothly(shapes: TrueShapes, poses: Poses, first: int, second: int, table: ContactTable, row: int) -> None:
    """Have a row's point on a ball, a capsule or an ellipsoid, A or B, where its surface has the row's normal; of the
    other body nothing is known.

    A normal that misses the middle of a ball would spin it, without friction too. Bullet remembers a point as long
    as a body goes on by less than 2 % of its size, from another triangle perhaps: the gap is to the plane of the normal
    through the point on the other body. And at an edge it tells a triangle's normal, and how far off the edge is.
    """
    for side in range(2):
        one = second if side == 1 else first
        if len(shapes.kinds) > 0 and shapes.sorts[one] == CURVED:
            k = _nearest(shapes, poses, one, table.points[row, side])
            if shapes.kinds[k] == ROUND or shapes.kinds[k] == ELLIPSOID:
                _touch_plane(shapes, k, side, table, row)
                return


@compiled
def _nearest(shapes: TrueShapes, poses: Poses, one: int, point: Floats) -> int:
    """Which shape of one of Bullet's bodies has its surface nearest to a point, m in the world."""
    nearest, least = shapes.firsts[one], np.inf
    place_shape(shapes, poses, nearest)
    if shapes.lasts[one] == nearest + 1:
        return nearest
    for k in range(shapes.firsts[one], shapes.lasts[one]):
        place_shape(shapes, poses, k)
        apart = abs(_distance(shapes, k, point))
        if apart < least:
            nearest, least = k, apart
    return nearest


@compiled
def _distance(shapes: TrueShapes, k: int, point: Floats) -> float:
    """How far a point is from the surface of a placed shape, negative inside."""
    x, n, placed = np.empty(3), np.empty(3), shapes.placed
    for i in range(3):
        x[i] = dot(placed.axes[k, i], point) - dot(placed.axes[k, i], placed.centers[k])
    return distance_to(shapes.kinds[k], placed.sizes[k], shapes.solids, shapes.hulls[k], x, n)


@compiled
def _touch_plane(shapes: TrueShapes, k: int, side: int, table: ContactTable, row: int) -> None:
    n, own, other = table.normals[row], table.points[row, side], table.points[row, 1 - side]
    center, axes, size = shapes.placed.centers[k], shapes.placed.axes[k], shapes.placed.sizes[k]
    outward, inside, extent, square, reach = 2.0 * side - 1.0, 0.0, 0.0, 0.0, np.zeros(3)
    if shapes.kinds[k] == ELLIPSOID:
        for i in range(3):
            reach[i] = outward * size[i] * size[i] * dot(axes[i], n)
            square += (reach[i] / size[i]) * (reach[i] / size[i])
        for i in range(3):
            reach[i] /= math.sqrt(square)
    else:
        for i in range(3):
            reach[i] = outward * size[0] * dot(axes[i], n)
        reach[2] += clamped(dot(axes[2], other) - dot(axes[2], center), -size[1], size[1])
    for j in range(3):
        way = axes[0, j] * reach[0] + axes[1, j] * reach[1] + axes[2, j] * reach[2]
        extent += outward * n[j] * way
        inside += outward * n[j] * (center[j] + way - own[j])
        own[j] = center[j] + way
    if inside <= _REMEMBERED * extent:
        table.gaps[row] -= inside
    for j in range(3):
        other[j] = own[j] + outward * table.gaps[row] * n[j]


@compiled
def is_new(done: Integers, pair: int) -> bool:
    """Whether a pair is told the first time; done (2^k,): those that were, in places that most are free of."""
    last = len(done) - 1
    place = (pair * 7919 + (pair >> 24) * 31) & last
    while done[place] >= 0:
        if done[place] == pair:
            return False
        place = (place + 1) & last
    done[place] = pair
    return True


@compiled
def place_shape(shapes: TrueShapes, poses: Poses, k: int) -> None:
    """Where a shape is."""
    put_in_world(shapes.bodies[k], shapes.at[k], poses, shapes.placed.centers[k], shapes.placed.axes[k])

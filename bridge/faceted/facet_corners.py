"""Corners of a surface that stick out, at faces of a convex polytope; compiled. All is in the polytope's frame."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bridge.curved.distances import is_over
from bridge.curved.manifold_points import Found, Rows3, dot, normalized
from bridge.curved.polytopes import Polytopes
from bridge.curved.solid import Solid
from bridge.faceted.facet_edges import LEAN
from bridge.faceted.facet_sides import FLAT, beside, corner_at, corners_of_own, normal_of
from bridge.faceted.facets import Facets
from bridge.faceted.fewest_points import put_nearest
from bridge.faceted.shared_sides import BORDER
from recursive_dyn.codegen.compiled import Floats, compiled

_WITHIN = 1e-9  # m beyond a side that still is over a face
_TRIES = 3  # faces of a polytope in which a corner may be, the nearest first
AROUND = 64  # triangles at a corner
_RISE = 1e-9  # sine of an angle by which a side may rise over a corner that is the highest
_TURNS = 8  # of a normal, until nothing rises
_EVEN = math.sqrt(1.0 - FLAT * FLAT)  # cosine between normals of one plane
_ELSEWHERE = 1e-7  # m from a corner to a triangle's that is another one


class Rim(NamedTuple):
    """Around a corner: ways (2 n, 3) along sides of the n triangles there, and their unit normals (n, 3)."""

    ways: Rows3
    normals: Rows3


@compiled
def corner_on_polytope(
    solid: Solid, facets: Facets, k: int, t: int, c: int, own: Rows3, solids: Polytopes, hull: int, margin: float,
    deep: float, up: Floats, found: Found,
) -> None:  # fmt: skip
    """Add the point of the c-th corner of triangle t, which is ``own`` in the polytope's frame; deep, m: up to where it
    is looked for overlaps; up (3,): as of ``edge_on_polytope``."""
    x, first, last, below, n = own[c], solids.ranges[hull, 4], solids.ranges[hull, 5], math.inf, np.empty(3)
    if BORDER < beside(facets, k, t, c) < t or BORDER < beside(facets, k, t, (c + 2) % 3) < t:
        return
    for f in range(first, last):
        out = dot(solids.normals[f], x) - solids.offsets[f]
        if out >= margin or (out > 0.0 and not is_over(solids, f, x, _WITHIN)):
            return
    rim, count = Rim(np.zeros((2 * AROUND, 3)), np.empty((AROUND, 3))), 0
    for tried in range(_TRIES):
        face, most = -1, -math.inf
        for f in range(first, last):
            gap = dot(solids.normals[f], x) - solids.offsets[f]
            if most < gap < below:
                face, most = f, gap
        if face < 0 or most < -deep:
            return
        if tried == 0:
            count = around(solid, facets, k, t, x, rim)
        if count == 0:
            return
        for i in range(3):
            n[i] = -solids.normals[face, i]
        if carries(rim, count, n) and not goes_on(rim, count) and dot(n, up) >= 0.0:
            put_nearest(found, x, n, -most * dot(solids.normals[face], n))
            return
        if most > 0.0:
            return
        below = most


@compiled
def carries(rim: Rim, count: int, n: Floats) -> bool:
    """Whether a surface is nowhere higher along n than a corner with so many triangles; where by a little, n is turned
    until it is not."""
    for _ in range(_TURNS):
        steepest, rise = 0, -1.0
        for r in range(2 * count):
            along = dot(rim.ways[r], n)
            if along > rise:
                steepest, rise = r, along
        if rise > LEAN:
            return False
        if rise <= _RISE:
            return True
        for i in range(3):
            n[i] -= rise * rim.ways[steepest, i]
        normalized(n)
    return False


@compiled
def goes_on(rim: Rim, count: int) -> bool:
    """Whether two sides at a corner are in one line: what carries there, carries at both ends of that, too."""
    for r in range(2 * count):
        for s in range(r):
            if dot(rim.ways[r], rim.ways[s]) < -_EVEN:
                return True
    return False


@compiled
def around(solid: Solid, facets: Facets, k: int, t: int, x: Floats, rim: Rim) -> int:
    """Write what is around a corner of triangle t; how many triangles, or 0 where all is flat or t is not the first of
    them, by which alone the corner is looked at."""
    own, count, sharp, closed = np.empty((3, 3)), 0, False, False
    for turn in range(2):
        if closed:
            break
        facet, before = t, BORDER
        while count < AROUND:
            corners_of_own(solid, facets, k, facet, own)
            at = corner_at(own, x)
            if turn == 0 or facet != t:
                if not _note(own, at, x, rim, count):
                    sharp = sharp or _turns(rim, count)
                    break
                sharp = sharp or _turns(rim, count)
                count += 1
            one, other = beside(facets, k, facet, (at + 2) % 3), beside(facets, k, facet, at)
            following = one if (turn == 0 and facet == t) or (facet != t and one != before) else other
            before, facet = facet, following
            sharp, closed = sharp or facet == BORDER, facet == t
            if BORDER < facet < t:
                return 0
            if facet <= t:
                break
    return count if sharp else 0


@compiled
def _turns(rim: Rim, k: int) -> bool:
    """Whether the k-th triangle is not in the plane of the first."""
    return abs(dot(rim.normals[k], rim.normals[0])) < _EVEN


@compiled
def _note(own: Rows3, at: int, x: Floats, rim: Rim, k: int) -> bool:
    """Write the k-th triangle's normal, and its ways from a corner, if it has that, and not ends a side there."""
    away = 0.0
    normal_of(own, rim.normals[k])
    for i in range(3):
        away = max(away, abs(own[at, i] - x[i]))
    if away > _ELSEWHERE:
        return False
    for side in range(2):
        way = rim.ways[2 * k + side]
        for i in range(3):
            way[i] = own[(at + 1 + side) % 3, i] - x[i]
        normalized(way)
    return True

"""The nearest points of two convex polytopes that are apart; compiled.

The difference a - b nearest to the origin is found from simplices of differences, each with the farthest one against it
added (Gilbert, Johnson and Keerthi, A Fast Procedure for Computing the Distance Between Complex Objects, 1988).
"""

from __future__ import annotations

import math

import numpy as np

from bridge.convex.hulls import Hull, highest_corner, lowest_corner
from bridge.curved.manifold_points import Rows3, dot
from bridge.faceted.nearest_on_facet import nearest_to_origin
from recursive_dyn.codegen.compiled import Floats, Integers, compiled

_ITERATIONS = 60
_CLOSE = 1e-13  # share of a square by which what is nearer is not worth another simplex
_FIRST, _SECOND, _THIRD = (0, 0, 0, 1), (1, 1, 2, 2), (2, 3, 3, 3)  # corners of the sides of a tetrahedron


@compiled
def hull_distance(A: Hull, B: Hull, n: Floats, point: Floats) -> float:
    """How far the two are apart, m, looked for along n (3,), which becomes the direction from B to A at their nearest
    points, and point (3,) the one on B; 0 where they overlap, and n is of no use."""
    simplex, on_b, weights = np.empty((4, 3)), np.empty((4, 3)), np.zeros(4)
    v, w, size, square = np.empty(3), np.empty(3), 0, np.inf
    v[:] = n
    for _ in range(_ITERATIONS):
        p, q = A.corners[lowest_corner(A, v)], B.corners[highest_corner(B, v)]
        for i in range(3):
            w[i] = p[i] - q[i]
        if size > 0 and square - dot(v, w) <= _CLOSE * square:
            break
        simplex[size], on_b[size] = w, q
        size = _nearest(simplex, on_b, weights, size + 1)
        _combined(simplex, weights, size, w)
        after = dot(w, w)
        if after >= square or after == 0.0:
            square = min(square, after)
            break
        square = after
        v[:] = w
        _combined(on_b, weights, size, point)
        if size == 4:
            break
    distance = math.sqrt(square)
    for i in range(3):
        n[i] = v[i] / distance if distance > 0.0 else n[i]
    return distance


@compiled
def _combined(rows: Rows3, weights: Floats, size: int, result: Floats) -> None:
    for i in range(3):
        result[i] = 0.0
        for k in range(size):
            result[i] += weights[k] * rows[k, i]


@compiled
def _nearest(simplex: Rows3, on_b: Rows3, weights: Floats, size: int) -> int:
    """Keep of a simplex's points those that the one nearest to the origin is made of; how many, and by what weights."""
    own, share, best, best_share, at = np.empty((3, 3)), np.empty(3), np.inf, np.zeros(3), np.zeros(3, dtype=np.int64)
    x, kept = np.empty(3), 0
    for side in range(4 if size == 4 else 1):
        _of_side(simplex, side, size, at, own)
        nearest_to_origin(own, share)
        _combined(own, share, 3, x)
        if dot(x, x) < best:
            best, kept = dot(x, x), side
            best_share[:] = share
    _of_side(simplex, kept, size, at, own)
    held, many = np.empty((3, 3)), 0
    for k in range(3):
        held[k] = on_b[at[k]]
    for k in range(3):
        if best_share[k] > 0.0:
            simplex[many], on_b[many] = own[k], held[k]
            weights[many] = best_share[k]
            many += 1
    return many


@compiled
def _of_side(simplex: Rows3, side: int, size: int, at: Integers, own: Rows3) -> None:
    """Write which points (3,) a side has, and them, the last one again where there are fewer."""
    at[0], at[1], at[2] = _FIRST[side], min(_SECOND[side], size - 1), min(_THIRD[side], size - 1)
    for k in range(3):
        own[k] = simplex[at[k]]

"""Along which axis two convex polytopes are farthest apart, or overlap least: faces and pairs of edges; compiled.

Over unit vectors n the gap min n . a - max n . b is largest at a face's normal or across two edges, unless corners are
nearest to each other. No gap is larger than that of any points of the two along the same n: most faces and edges are
left out by a few points that are known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bridge.convex.hulls import Hull, lowest_corner
from bridge.curved.manifold_points import Rows3, closest, crossed, dot, normalized
from bridge.curved.polytopes import Polytopes
from recursive_dyn.codegen.compiled import Floats, Integers, compiled

_SEEN = 4  # corners that are remembered
_PARALLEL = 1e-6  # sine between two edges below which they say no more than the faces do
NONE = -1
KNOWN = 3  # points of either that leave out edges


class CrossedEdges(NamedTuple):
    """Edges of A and B, NONE where there are none, and the gap across them, m."""

    one: int
    other: int
    gap: float


@compiled
def widest_face(own: Hull, other: Hull, least: float, margin: float) -> tuple[int, float]:
    """The face from whose plane the other polytope is farthest, by more than ``least``, or NONE; and by how much. Where
    that is ``margin`` no farther one is looked for."""
    first, most = 0, -np.inf
    for f in range(len(own.offsets)):
        out = dot(own.normals[f], other.middle) - own.offsets[f]
        if out > most:
            first, most = f, out
    face, gap, points, known = NONE, least, np.empty((_SEEN, 3)), 0
    for k in range(-1, len(own.offsets)):
        f, bound = first if k < 0 else k, np.inf
        n = own.normals[f]
        for w in range(min(known, _SEEN)):
            bound = min(bound, dot(n, points[w]))
        if bound - own.offsets[f] > gap:
            c = lowest_corner(other, n)
            points[known % _SEEN] = other.corners[c]
            known += 1
            apart = dot(n, other.corners[c]) - own.offsets[f]
            if apart > gap:
                face, gap = f, apart
                if gap >= margin:
                    break
    return face, gap


@compiled
def widest_crossing(
    solids: Polytopes, A: Hull, B: Hull, on_a: Rows3, on_b: Rows3, least: float, n: Floats
) -> CrossedEdges:
    """The edges across which the two are farthest apart, by more than ``least``; n (3,) becomes that direction, from B
    to A. on_a, on_b (3, 3): points of theirs, the nearer to the other the fewer edges are looked at."""
    ones = np.empty(solids.ranges[A.number, 3] - solids.ranges[A.number, 2], dtype=np.int64)
    others = np.empty(solids.ranges[B.number, 3] - solids.ranges[B.number, 2], dtype=np.int64)
    many, more = _edges_beyond(solids, A, on_b, least, ones), 0
    if many > 0:
        more = _edges_beyond(solids, B, on_a, least, others)
    one, other, most, axis = NONE, NONE, least, np.empty(3)
    p, u, q, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for i in range(many):
        edge_of(solids, A, ones[i], p, u)
        for j in range(more):
            edge_of(solids, B, others[j], q, w)
            crossed(u, w, axis)
            if normalized(axis) <= _PARALLEL * math.sqrt(dot(u, u) * dot(w, w)):
                continue
            side = _side(solids, B, others[j], axis)
            if side == 0.0 or _side(solids, A, ones[i], axis) != -side:
                continue
            gap = side * (dot(axis, p) - dot(axis, q))
            if gap > most:
                one, other, most = ones[i], others[j], gap
                for k in range(3):
                    n[k] = side * axis[k]
    return CrossedEdges(one, other, most)


@compiled
def meet_edges(solids: Polytopes, A: Hull, B: Hull, crossing: CrossedEdges, point: Floats) -> float:
    """How far the two edges are from each other; point (3,) becomes the one on B's."""
    p, u, q, w = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    edge_of(solids, A, crossing.one, p, u)
    edge_of(solids, B, crossing.other, q, w)
    s, t = closest(p, u, q, w)
    square = 0.0
    for i in range(3):
        point[i] = q[i] + t * w[i]
        square += (p[i] + s * u[i] - point[i]) ** 2
    return math.sqrt(square)


@compiled
def edge_of(solids: Polytopes, hull: Hull, e: int, start: Floats, along: Floats) -> None:
    """Where an edge starts, and the way to its end."""
    first = solids.ranges[hull.number, 0]
    p, q = hull.corners[solids.edges[e, 0] - first], hull.corners[solids.edges[e, 1] - first]
    for i in range(3):
        start[i], along[i] = p[i], q[i] - p[i]


@compiled
def _side(solids: Polytopes, hull: Hull, e: int, axis: Floats) -> float:
    """1 if an axis across an edge is between the normals of its faces, -1 if the opposite one is, else 0."""
    first = solids.ranges[hull.number, 4]
    one, other = hull.normals[solids.edges[e, 2] - first], hull.normals[solids.edges[e, 3] - first]
    c, x, y = dot(one, other), dot(one, axis), dot(other, axis)
    if x >= c * y and y >= c * x:
        return 1.0
    return -1.0 if x <= c * y and y <= c * x else 0.0


@compiled
def _edges_beyond(solids: Polytopes, own: Hull, points: Rows3, least: float, kept: Integers) -> int:
    """Edges over which the other polytope may be farther away than ``least``, for all that is known of its points; how
    many they are."""
    many, first, gaps = 0, solids.ranges[own.number, 4], np.empty((len(own.offsets), KNOWN))
    for f in range(len(own.offsets)):
        for k in range(KNOWN):
            gaps[f, k] = dot(own.normals[f], points[k]) - own.offsets[f]
    for e in range(solids.ranges[own.number, 2], solids.ranges[own.number, 3]):
        f, g, bound = solids.edges[e, 2] - first, solids.edges[e, 3] - first, np.inf
        c = dot(own.normals[f], own.normals[g])
        for k in range(KNOWN):
            x, y = gaps[f, k], gaps[g, k]
            if x >= c * y and y >= c * x and c * c < 1.0:  # between the faces: away from the edge itself
                bound = min(bound, math.sqrt(max(x * x + y * y - 2.0 * c * x * y, 0.0) / (1.0 - c * c)))
            else:
                bound = min(bound, max(x, y))
        if bound > least:
            kept[many] = e
            many += 1
    return many

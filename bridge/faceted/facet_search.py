"""Triangles of a surface near a place, one after the other, and where a point is below a grid; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bridge.curved.manifold_points import Rows3
from bridge.faceted.facets import LEAF, Facets
from recursive_dyn.codegen.compiled import Floats, compiled

NONE = -1


class Near(NamedTuple):
    """What is in a box, low (3,) to high (3,), and no farther than ``reach`` from a point ``middle`` (3,), m."""

    low: Floats
    high: Floats
    middle: Floats
    reach: float


@compiled
def next_facet(facets: Facets, k: int, near: Near, after: int) -> int:
    """The next triangle of the k-th surface that may be near, in its frame; after: the last one, NONE at first, as what
    is told at the end."""
    if facets.ranges[k, 1] > 0:
        return _next_of_grid(facets, k, near, after)
    return _next_of_tree(facets, k, near, after)


@compiled
def corners_of(facets: Facets, k: int, facet: int, corners: Rows3) -> None:
    """Write the corners of a triangle, wound upwards in a grid."""
    rows, columns = facets.ranges[k, 1], facets.ranges[k, 2]
    if rows == 0:
        own = facets.corners[facets.ranges[k, 3] + facet]
        for c in range(3):
            for i in range(3):
                corners[c, i] = own[c, i]
        return
    cell, upper = facet // 2, facet % 2
    i, j = cell // (columns - 1), cell % (columns - 1)
    _sample(facets, k, i + upper, j, corners[0])
    _sample(facets, k, i + 1, j + upper, corners[1])
    _sample(facets, k, i, j + 1, corners[2])


@compiled
def is_below(facets: Facets, k: int, x: Floats) -> bool:
    """Whether a point (3,) is below a grid, along its z axis. Of a mesh no side is below."""
    return facets.ranges[k, 1] > 0 and sunk_below(facets, k, x) > 0.0


@compiled
def sunk_below(facets: Facets, k: int, x: Floats) -> float:
    """How far below a grid a point (3,) is, along its z axis, m; negative above it, and beyond its borders."""
    rows, columns = facets.ranges[k, 1], facets.ranges[k, 2]
    u = x[0] / facets.spacing[k, 0] + 0.5 * (rows - 1)
    v = x[1] / facets.spacing[k, 1] + 0.5 * (columns - 1)
    if not (0.0 <= u <= rows - 1 and 0.0 <= v <= columns - 1):
        return -np.inf
    i, j = min(int(np.floor(u)), rows - 2), min(int(np.floor(v)), columns - 2)
    first = facets.ranges[k, 0] + i * columns + j
    near, right, left = facets.heights[first], facets.heights[first + columns], facets.heights[first + 1]
    s, t = u - i, v - j
    if s + t <= 1.0:
        return near + s * (right - near) + t * (left - near) - x[2]
    far = facets.heights[first + columns + 1]
    return far + (1.0 - s) * (left - far) + (1.0 - t) * (right - far) - x[2]


@compiled
def _sample(facets: Facets, k: int, i: int, j: int, point: Floats) -> None:
    rows, columns = facets.ranges[k, 1], facets.ranges[k, 2]
    point[0] = (i - 0.5 * (rows - 1)) * facets.spacing[k, 0]
    point[1] = (j - 0.5 * (columns - 1)) * facets.spacing[k, 1]
    point[2] = facets.heights[facets.ranges[k, 0] + i * columns + j]


@compiled
def _cell(at: float, spacing: float, samples: int) -> int:
    """Which cell of a row of samples a coordinate is in, or would be just beyond its ends."""
    return int(np.floor(max(-1.0, min(at / spacing + 0.5 * (samples - 1), samples - 1.0))))


@compiled
def _next_of_grid(facets: Facets, k: int, near: Near, after: int) -> int:
    low, high = near.low, near.high
    rows, columns = facets.ranges[k, 1], facets.ranges[k, 2]
    first, last = _cell(low[0], facets.spacing[k, 0], rows), _cell(high[0], facets.spacing[k, 0], rows)
    begin, end = _cell(low[1], facets.spacing[k, 1], columns), _cell(high[1], facets.spacing[k, 1], columns)
    first, last, begin, end = max(first, 0), min(last, rows - 2), max(begin, 0), min(end, columns - 2)
    if after != NONE and after % 2 == 0:
        return after + 1
    i, j = first, begin
    if after != NONE:
        i, j = (after // 2) // (columns - 1), (after // 2) % (columns - 1) + 1
    while i <= last:
        while j <= end:
            if _has_cell(facets, k, i, j, near):
                return 2 * (i * (columns - 1) + j)
            j += 1
        i, j = i + 1, begin
    return NONE


@compiled
def _has_cell(facets: Facets, k: int, i: int, j: int, near: Near) -> bool:
    columns, box = facets.ranges[k, 2], np.empty(6)
    first = facets.ranges[k, 0] + i * columns + j
    a, b = facets.heights[first], facets.heights[first + 1]
    c, d = facets.heights[first + columns], facets.heights[first + columns + 1]
    box[0] = (i - 0.5 * (facets.ranges[k, 1] - 1)) * facets.spacing[k, 0]
    box[1] = (j - 0.5 * (columns - 1)) * facets.spacing[k, 1]
    box[2], box[5] = min(min(a, b), min(c, d)), max(max(a, b), max(c, d))
    box[3], box[4] = box[0] + facets.spacing[k, 0], box[1] + facets.spacing[k, 1]
    return _meets(box, near)


@compiled
def _next_of_tree(facets: Facets, k: int, near: Near, after: int) -> int:
    count, tree = facets.ranges[k, 4], facets.ranges[k, 5]
    if after != NONE and (after + 1) % LEAF != 0 and after + 1 < count:
        return after + 1
    leaves = 1
    while leaves * LEAF < count:
        leaves *= 2
    node = 1 if after == NONE else _beside(leaves + after // LEAF)
    while node > 0:
        if not _meets(facets.boxes[tree + node], near):
            node = _beside(node)
        elif node >= leaves:
            return (node - leaves) * LEAF
        else:
            node = 2 * node
    return NONE


@compiled
def _beside(node: int) -> int:
    """The next node that is neither below this one nor above, or 0."""
    while node % 2 == 1:
        node = node // 2
    return node + 1 if node > 0 else 0


@compiled
def _meets(box: Floats, near: Near) -> bool:
    apart, square = False, 0.0
    for i in range(3):
        apart = apart or box[i] > near.high[i] or box[3 + i] < near.low[i]
        way = max(box[i] - near.middle[i], near.middle[i] - box[3 + i])
        if way > 0.0:
            square += way * way
    return not apart and square <= near.reach * near.reach

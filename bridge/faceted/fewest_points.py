"""Of many points of a pair the few that hold as all of them do; compiled."""

from __future__ import annotations

import numpy as np

from bridge.curved.manifold_points import Found
from recursive_dyn.codegen.compiled import Floats, compiled

MANY = 96  # points of a pair before the fewest are kept
_SAME = 1e-8  # m between points that are one
_ALIKE = 1e-5  # between their normals
_TOUCHING = 0.02  # of the margin: how much higher than the deepest what carries together with it is


@compiled
def put_nearest(found: Found, point: Floats, normal: Floats, gap: float) -> None:
    """One more point, unless it is there; where there is no room, in the place of the one with the largest gap."""
    place = found.size[0]
    for r in range(found.size[0]):
        if _is_same(found.rows[r], point, normal):
            found.rows[r, 6] = min(found.rows[r, 6], gap)
            return
    if place == len(found.rows):
        place = 0
        for r in range(1, len(found.rows)):
            if found.rows[r, 6] > found.rows[place, 6]:
                place = r
        if found.rows[place, 6] <= gap:
            return
    else:
        found.size[0] = place + 1
    for i in range(3):
        found.rows[place, i], found.rows[place, 3 + i] = point[i], normal[i]
    found.rows[place, 6] = gap


@compiled
def _is_same(row: Floats, point: Floats, normal: Floats) -> bool:
    apart, turned = 0.0, 0.0
    for i in range(3):
        apart, turned = max(apart, abs(row[i] - point[i])), max(turned, abs(row[3 + i] - normal[i]))
    return apart < _SAME and turned < _ALIKE


@compiled
def keep_fewest(many: Found, size: float, margin: float, found: Found) -> None:
    """Write as many as there is room for: the deepest, and one by one what is farthest, in place and in normal, from
    those there are; what is as deep as the deepest counts more. size, m: that of the body."""
    count, room = many.size[0], len(found.rows)
    found.size[0] = min(count, room)
    if count <= room:
        found.rows[:count] = many.rows[:count]
        return
    away, following = np.full(count, np.inf), 0
    for r in range(1, count):
        if many.rows[r, 6] < many.rows[following, 6]:
            following = r
    deepest = many.rows[following, 6]
    for place in range(room):
        found.rows[place] = many.rows[following]
        last, most = following, -1.0
        for r in range(count):
            square = 0.0
            for i in range(3):
                way, turn = many.rows[r, i] - many.rows[last, i], many.rows[r, 3 + i] - many.rows[last, 3 + i]
                square += way * way / (size * size) + turn * turn
            away[r] = min(away[r], square)
            higher = (many.rows[r, 6] - deepest) / (_TOUCHING * margin)
            worth = away[r] / ((1.0 + higher) * (1.0 + higher))
            if worth > most:
                following, most = r, worth

"""Bullet's contact points as contacts that a solve takes: bodies by number, no skins, materials; compiled.

Wherever the points come from, from Bullet's memory or through PyBullet, the same lines make contacts of them.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from bridge.bodies.true_shapes import TrueShapes
from bridge.collision.point_order import in_order
from bridge.collision.raw_points import BITS, SURE, RawPoints
from bridge.collision.true_points import ball_radius, glides, is_new, is_true, touch_smoothly, true_points
from bridge.curved.manifold_points import Poses
from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import STATIC

_DIGITS = 1e14  # in a metre: Bullet's last ones differ from run to run
_SAME = 1e-6  # m, and of normals, up to which points are one
NOBODY = -1  # Bullet's id of what is no body: a free place of a table, the ground of a plane in closed form
DROPPED = -2  # a place of a table that was taken by what is gone

NO_ROOM, NEW_PAIRS = -1, -2  # what ``gathered`` says instead of a number


class Known(NamedTuple):
    """What each of Bullet's ids is: numbers (n,): of a body of the scene, of one of the free ones behind these, or
    STATIC; ranks (n,): its place among the mirror's bodies, or behind these, whatever ids they have in a connection;
    skins (n,), m: by how much it is larger than its shapes; foreign (n,): whether it is not the mirror's; boxy (n,):
    whether it is of nothing but boxes, of which Bullet finds all points at once; gathering (n,): whether it has other
    points, which Bullet gathers while bodies move, as the last look says; together (n,): the same number for free
    ones that touch each other as the step begins, by which Bullet's own step goes. scene, free (1,): how many bodies
    there are of both kinds."""

    numbers: Integers
    ranks: Integers
    skins: Floats
    foreign: Flags
    boxy: Flags
    gathering: Flags
    together: Integers
    scene: Integers
    free: Integers


class PairFrictions(NamedTuple):
    """Materials by pair of Bullet's ids, in a table with free places: keys (2^k,), rows (2^k, 5)."""

    keys: Integers
    rows: Annotated[np.ndarray, float, 5]


class Aside(NamedTuple):
    """What contacts do not tell: others (n,): Bullet's id of each contact's B; wanted (n,): pairs whose materials are
    not known; drifting (n, 2): contacts with a STATIC B that is not the mirror's, and its link.
    sizes (3,): of contacts found, of pairs wanted, of those that drift."""

    others: Integers
    wanted: Integers
    drifting: Annotated[np.ndarray, int, 2]
    sizes: Integers


@compiled
def place_of(keys: Integers, key: int) -> int:
    """Where a pair stands in a table, or would; the table must have free places."""
    last = len(keys) - 1
    place = ((key >> BITS) * 7919 + key * 31) & last
    while keys[place] != key and keys[place] != NOBODY:
        place = (place + 1) & last
    return place


@compiled
def insert(keys: Integers, rows: Annotated[np.ndarray, float, 5], pairs: PairFrictions) -> None:
    """Put materials (n, 5) of pairs (n,), but for NOBODY's, into a table."""
    for k in range(len(keys)):
        if keys[k] != NOBODY:
            place = place_of(pairs.keys, keys[k])
            pairs.keys[place] = keys[k]
            pairs.rows[place] = rows[k]


@compiled
def gathered(
    raw: RawPoints, known: Known, pairs: PairFrictions, shapes: TrueShapes, poses: Poses, table: ContactTable,
    aside: Aside,
) -> int:  # fmt: skip
    """Make contacts of points, as the first rows of a table; how many are in ``aside.drifting``.

    Points of curved shapes with bodies at ``poses`` (nb, 4, 4) are found anew on the true surfaces.
    NEW_PAIRS if materials are wanting, NO_ROOM if there is too little anywhere: then nothing counts but what is aside.
    """
    count, scene = raw.found[0], known.scene[0]
    aside.sizes[0] = aside.sizes[1] = aside.sizes[2] = 0
    if count > len(raw.ids):
        return NO_ROOM
    reached, order, done = _reached(count, raw.ids, known), _ordered(count, raw, known.ranks), _room_for(count, shapes)
    known.gathering[:] = False
    row, pair, place, room = 0, NOBODY, 0, min(len(table.gaps), len(aside.others))
    for k in range(count):
        i = order[k]
        first, second = raw.ids[i, 0], raw.ids[i, 1]
        a, b = known.numbers[first], known.numbers[second]
        if a == b:
            continue
        flip = a == STATIC or STATIC < b < a
        if flip:
            first, second, a, b = second, first, b, a
        if not _takes_part(a, scene, reached):
            continue
        true = is_true(shapes, poses, first, second)
        if true:
            raw.ids[i, 2] = SURE
            first, second = shapes.leaders[first], shapes.leaders[second]
            if not is_new(done, (first << BITS) + second):
                continue
        elif raw.ids[i, 2] == SURE or _is_repeated(raw, order, k):
            continue
        elif not (known.boxy[first] and known.boxy[second]):
            known.gathering[first] = known.gathering[second] = True
        more = true_points(shapes, poses, first, second, table, row, room) if true else 1
        if more == 0:
            continue
        if pair != (first << BITS) + second:
            pair = (first << BITS) + second
            place = _place_asked_for(pairs.keys, pair, aside)
        if not true and row < room:
            _write(row, raw.values[i], flip, known.skins[first], known.skins[second], table)
            touch_smoothly(shapes, poses, first, second, table, row)
        key, link = (known.ranks[first] << BITS) + known.ranks[second], raw.ids[i, 2] if flip else raw.ids[i, 3]
        for r in range(row, min(row + more, room)):
            table.a[r], table.b[r], table.keys[r], table.frictions[r] = a, b, key, pairs.rows[place]
            aside.others[r] = second
            _note_round(shapes, true, first, second, table, r)
            if b == STATIC and known.foreign[second]:
                _let_drift(aside, r, link)
        row += more
    aside.sizes[0], wanting = row, aside.sizes[1] > 0
    if wanting or row > room:
        return NEW_PAIRS if wanting else NO_ROOM
    table.size[0] = row
    return aside.sizes[2]


@compiled
def _place_asked_for(keys: Integers, pair: int, aside: Aside) -> int:
    """Where the materials of a pair stand, which are asked for where they are not known."""
    place, wanted = place_of(keys, pair), aside.sizes[1]
    if keys[place] == NOBODY and wanted < len(aside.wanted):
        aside.wanted[wanted] = pair
        aside.sizes[1] = wanted + 1
    return place


@compiled
def _note_round(shapes: TrueShapes, true: bool, first: int, second: int, table: ContactTable, row: int) -> None:
    table.gliding[row] = 1 if true and glides(shapes, first, second) else 0
    table.balls[row, 0], table.balls[row, 1] = ball_radius(shapes, first), ball_radius(shapes, second)


@compiled
def _let_drift(aside: Aside, row: int, link: int) -> None:
    """A contact's B may be a belt."""
    k = aside.sizes[2]
    aside.drifting[k, 0], aside.drifting[k, 1] = row, link
    aside.sizes[2] = k + 1


@compiled
def _room_for(count: int, shapes: TrueShapes) -> Integers:
    """A table of pairs that were found on true surfaces, twice as large as it may get full."""
    size = 1
    while len(shapes.kinds) > 0 and size < 2 * count:
        size *= 2
    return np.full(size, NOBODY)


@compiled
def _reached(count: int, ids: Annotated[np.ndarray, int, 4], known: Known) -> Flags:
    """Which free bodies (n,) touch one of the scene's, or one that does, here or as the step begins.

    So what is solved for, and what is Bullet's alone, do not touch: neither is pushed by two.
    """
    scene = known.scene[0]
    reached = np.zeros(known.free[0], dtype=np.bool_)
    more = known.free[0] > 0
    while more:
        more = False
        for i in range(count):
            a, b = known.numbers[ids[i, 0]], known.numbers[ids[i, 1]]
            if _takes_part(a, scene, reached) or _takes_part(b, scene, reached):
                more = _brought(a - scene, reached) or more
                more = _brought(b - scene, reached) or more
        more = _joined(known, reached) or more
    return reached


@compiled
def _joined(known: Known, reached: Flags) -> bool:
    """Let all take part that are together with one that does; whether any did not before."""
    scene, more = known.scene[0], False
    joined = np.zeros(len(known.numbers), dtype=np.bool_)
    for i in range(len(known.numbers)):
        if known.numbers[i] >= scene and reached[known.numbers[i] - scene]:
            joined[known.together[i]] = True
    for i in range(len(known.numbers)):
        if known.numbers[i] >= scene and joined[known.together[i]]:
            more = _brought(known.numbers[i] - scene, reached) or more
    return more


@compiled
def _takes_part(number: int, scene: int, reached: Flags) -> bool:
    return number != STATIC and (number < scene or reached[number - scene])


@compiled
def _brought(k: int, reached: Flags) -> bool:
    """Let a free body take part; whether it did not before."""
    if k < 0 or reached[k]:
        return False
    reached[k] = True
    return True


@compiled
def _ordered(count: int, raw: RawPoints, ranks: Integers) -> Integers:
    """Rows of points, rounded, in order."""
    order = np.empty(count, dtype=np.int64)
    _rounded(raw.values, count)
    in_order(count, raw.ids, raw.values, ranks, order)
    return order


@compiled
def _rounded(values: Annotated[np.ndarray, float, 10], count: int) -> None:
    for i in range(count):
        for k in range(10):
            values[i, k] = np.rint(values[i, k] * _DIGITS) / _DIGITS


@compiled
def _is_repeated(raw: RawPoints, order: Integers, k: int) -> bool:
    """Whether the k-th in order is the same as one before: a capsule and the ball at its end report some twice."""
    i = order[k]
    for before in range(k - 1, -1, -1):
        j = order[before]
        if raw.ids[j, 0] != raw.ids[i, 0] or raw.ids[j, 1] != raw.ids[i, 1]:
            return False
        apart = 0.0
        for c in range(9):
            apart = max(apart, abs(raw.values[i, c] - raw.values[j, c]))
        if apart < _SAME:
            return True
    return False


@compiled
def _write(row: int, values: Floats, flip: bool, skin_a: float, skin_b: float, table: ContactTable) -> None:
    """A point as a row of the table, on the surfaces under the skins."""
    sign, on_a, on_b = 1.0, 0, 3
    if flip:
        sign, on_a, on_b = -1.0, 3, 0
    for k in range(3):
        normal = sign * values[6 + k]
        table.normals[row, k] = normal
        table.points[row, 0, k] = values[on_a + k] + normal * skin_a
        table.points[row, 1, k] = values[on_b + k] - normal * skin_b
        table.drift[row, k] = table.impulses[row, k] = table.moments[row, k] = 0.0
    table.gaps[row] = values[9] + skin_a + skin_b

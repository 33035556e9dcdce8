"""What a step asks of Bullet, compiled: one call where Bullet's own functions are within reach, else parts of one."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from bridge.bodies.true_shapes import TrueShapes
from bridge.collision.bullet_calls import GONE, Census, Functions, detect, handle_of, is_unchanged, place, regroup, tell
from bridge.collision.contact_points import NO_ROOM, Aside, Known, PairFrictions, gathered
from bridge.collision.near_seekers import add_neighbours
from bridge.collision.placing import Placement, has_moved, note_dormant, note_due
from bridge.collision.raw_points import SURE, RawPoints
from bridge.curved.moving_boxes import HALF
from bridge.planes.plane_contacts import PlaneTable, plane_contacts
from recursive_dyn.codegen.compiled import Compiled, Floats, Integers, compiled
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.contact.contact_buffer import ContactTable

UNSEEN = -3  # what is said instead of a number where the connection is gone, or somebody came or went

_KEPT = 4  # tuples that a compiled function stays bound to
ALL, THE_REST = 0, 1  # stages of a look: anew, and after a detection that has been made


class Look(NamedTuple):
    """What it takes to find contacts: who is there, where they belong, and where to write.

    asleep (nb,): 1 for bodies whose contacts with each other and with what stands still are left out; parted: as
    ``add_neighbours`` has it. stage (1,): ALL, or THE_REST after a look that said NO_ROOM or NEW_PAIRS.
    """

    census: Census
    placement: Placement
    asleep: Integers
    raw: RawPoints
    known: Known
    frictions: PairFrictions
    shapes: TrueShapes
    parted: Integers
    planes: PlaneTable
    table: ContactTable
    aside: Aside
    stage: Integers


@compiled
def look(bullet: Functions, client: int, given: Look) -> int:
    """Write the contacts where bodies belong; how many of them drift, UNSEEN, NO_ROOM or NEW_PAIRS."""
    handle = handle_of(bullet, client)
    if handle == GONE:
        return UNSEEN
    if given.stage[0] == ALL:
        if not is_unchanged(bullet, handle, given.census):
            return UNSEEN
        note_due(given.placement)
        place(bullet, handle, given.placement.placing)
        awake = note_dormant(given.placement.placing, given.asleep, given.known.gathering)
        regroup(bullet, handle, given.placement.placing)
        if not awake:
            given.table.size[0] = given.aside.sizes[0] = given.aside.sizes[1] = given.aside.sizes[2] = 0
            return 0
        if looks_twice(given):
            detect(bullet, handle)
        detect(bullet, handle)
    if not tell(bullet, handle, bullet.completed, given.raw):
        return UNSEEN
    return written(given)


@compiled
def looks_twice(given: Look) -> bool:
    """Whether one detection is not enough, by what was found last: all are seen where they are then.

    That Bullet has bodies of its own says nothing, or points that it remembers would go by who else is there; but once
    they touch the scene's nobody knows how they have moved.
    """
    raw, known, placing = given.raw, given.known, given.placement.placing
    most = len(known.numbers)
    touched, twice = np.zeros(most, dtype=np.bool_), False
    for i in range(min(raw.found[0], len(raw.ids))):
        a, b = raw.ids[i, 0], raw.ids[i, 1]
        if raw.ids[i, 2] != SURE and a < most and b < most:
            touched[a] = touched[b] = True
            twice = twice or ((known.foreign[a] or known.foreign[b]) and known.numbers[a] != known.numbers[b])
    if raw.found[0] > len(raw.ids):  # who touched is not known
        touched[:] = True
    twice = twice or has_moved(placing, touched)
    if twice:
        placing.seen[:] = placing.poses
    return twice


@compiled
def written(given: Look) -> int:
    """Make contacts of the points that were told, and add those with planes; as ``look`` says."""
    known = given.known
    add_neighbours(
        given.shapes, given.placement.poses, known.numbers, known.ranks, given.asleep, given.parted, given.raw
    )
    drifting = gathered(
        given.raw, given.known, given.frictions, given.shapes, given.placement.poses, given.table, given.aside
    )
    if drifting >= 0:
        if len(given.table.gaps) - given.table.size[0] < len(given.planes.found.whole):
            drifting = NO_ROOM
        else:
            plane_contacts(given.planes, given.placement.poses, given.asleep, given.table)
    given.stage[0] = ALL if drifting >= 0 else THE_REST
    return drifting


@compiled
def put(bullet: Functions, client: int, placement: Placement) -> int:
    """Put bodies where they belong; how many moved, or UNSEEN."""
    handle = handle_of(bullet, client)
    if handle == GONE:
        return UNSEEN
    count = note_due(placement)
    place(bullet, handle, placement.placing)
    return count


class Haste(NamedTuple):
    """What it takes to see who is too fast: a census of who is there; twists (nb, 6) where the flight of a step ends,
    starts (nb, 6) where it began; h (1,): its length, s; reach (nb, 3), m: inner radius, how far a turn of 1 rad moves
    the surface, how far the body extends."""

    census: Census
    twists: Annotated[np.ndarray, float, 6]
    starts: Annotated[np.ndarray, float, 6]
    reach: Annotated[np.ndarray, float, 3]
    h: Floats


@compiled
def hurrying(haste: Haste) -> int:
    """How many bodies get further in a step than half the least inner radius; none if a velocity is out of all
    bounds."""
    count, deepest = 0, HALF * least_radius(haste)
    for k in range(len(haste.twists)):
        way = way_of(haste, k)
        if not np.isfinite(way):
            return 0
        if way > deepest:
            count += 1
    return count


@compiled
def least_radius(haste: Haste) -> float:
    """The least inner radius of all bodies, m."""
    least = np.inf
    for k in range(len(haste.reach)):
        least = min(least, haste.reach[k, 0])
    return least


@compiled
def way_of(haste: Haste, k: int) -> float:
    """How far a body's surface gets in a step, at most, m."""
    (spin, speed), (turn, push) = squares(haste.twists[k]), squares(haste.starts[k])
    return haste.h[0] * (math.sqrt(max(speed, push)) + math.sqrt(max(spin, turn)) * haste.reach[k, 1])


@compiled
def squares(twist: Floats) -> tuple[float, float]:
    """Of a twist's angular and linear velocity."""
    return (
        twist[0] * twist[0] + twist[1] * twist[1] + twist[2] * twist[2],
        twist[3] * twist[3] + twist[4] * twist[4] + twist[5] * twist[5],
    )


@compiled
def hurry(bullet: Functions, client: int, haste: Haste) -> int:
    """The same, or UNSEEN."""
    handle = handle_of(bullet, client)
    if handle == GONE or not is_unchanged(bullet, handle, haste.census):
        return UNSEEN
    return hurrying(haste)


class KeptCall:
    """A compiled function whose last argument is one of a few tuples of arrays time and again."""

    def __init__(self, function: Compiled[..., Any], *fixed: Any) -> None:
        self._function, self._fixed = function, fixed
        self._kept: list[tuple[Any, Bound]] = []

    def __call__(self, given: Any) -> int:
        for known, call in self._kept:
            if known is given:
                return int(call())
        call = self._function.bind(*self._fixed, given).holding()
        self._kept = [(given, call), *self._kept[: _KEPT - 1]]
        return int(call())

"""Contacts of all shapes that are near each other, and how finely a step must be cut; compiled."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from bridge.closed_form.box_box import box_box
from bridge.closed_form.near_pairs import APART, PairRoom, Rules, near_pairs, rule_of
from bridge.closed_form.solids import BOX, Solids, overlap, place_solids
from bridge.curved.manifold_points import Found, InWorld, Poses, turned, written
from bridge.curved.moving_boxes import HALF, Mover, move_twist, parts_between, reached
from bridge.curved.round_box import round_box
from bridge.curved.round_shapes import round_round
from bridge.planes.half_spaces import MARGIN
from bridge.planes.plane_contacts import PlaneTable, plane_contacts
from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import STATIC

NO_PAIRS, NO_ROWS = 1, 2  # what ``look_closed`` says where there is too little room for pairs, or for contacts
BITS = 24  # numbers of shapes fit into as many
POINTS = 9  # of a pair, at most


class ClosedLook(NamedTuple):
    """What it takes to find contacts. frictions (m, 5): rows of rules, behind those of pairs of materials, of which
    there are ``materials``; found: room for one pair; asleep (nb,): 1 for bodies whose contacts with each other and
    with what stands still are left out."""

    solids: Solids
    placed: InWorld
    pairs: PairRoom
    rules: Rules
    materials: int
    frictions: Annotated[np.ndarray, float, 5]
    found: Found
    planes: PlaneTable
    poses: Poses
    asleep: Integers
    table: ContactTable


class Speeds(NamedTuple):
    """twists (nb, 6) where the flight of a step ends, starts (nb, 6) where it began; reach (nb, 3): as ``reaches`` has
    it; h (1,): its length, s."""

    twists: Annotated[np.ndarray, float, 6]
    starts: Annotated[np.ndarray, float, 6]
    reach: Annotated[np.ndarray, float, 3]
    h: Floats


@compiled
def look_closed(given: ClosedLook) -> int:
    """Write the contacts of bodies where they are; 0, NO_PAIRS or NO_ROWS."""
    solids, placed, pairs, found, table = given.solids, given.placed, given.pairs, given.found, given.table
    place_solids(solids, given.poses, MARGIN, placed)
    if not near_pairs(solids, placed, given.asleep, pairs):
        return NO_PAIRS
    row = 0
    for first in range(len(solids.bodies)):
        at = pairs.heads[first]
        while at >= 0:
            other = pairs.others[at]
            rule = rule_of(given.rules, first, other)
            if rule != APART:
                if rule < 0:
                    rule = solids.materials[first] * given.materials + solids.materials[other]
                flip = solids.bodies[first] == STATIC or STATIC < solids.bodies[other] < solids.bodies[first]
                a, b = (other, first) if flip else (first, other)
                meet(solids, placed, a, b, MARGIN, found)
                if row + found.size[0] > len(table.gaps):
                    return NO_ROWS
                for k in range(found.size[0]):
                    _write(given, row, a, b, rule, k)
                    row += 1
            at = pairs.following[at]
    table.size[0] = row
    if len(table.gaps) - row < len(given.planes.found.whole):
        return NO_ROWS
    plane_contacts(given.planes, given.poses, given.asleep, table)
    return 0


@compiled
def meet(solids: Solids, placed: InWorld, a: int, b: int, margin: float, found: Found) -> None:
    """Points of two shapes nearer than ``margin``."""
    found.size[0] = 0
    if solids.kinds[a] == BOX:
        if solids.kinds[b] == BOX:
            box_box(placed, a, b, margin, found)
        else:
            round_box(placed, b, a, margin, found)
            turned(found)
    elif solids.kinds[b] == BOX:
        round_box(placed, a, b, margin, found)
    else:
        round_round(placed, a, b, margin, found)


@compiled
def _write(given: ClosedLook, row: int, a: int, b: int, rule: int, k: int) -> None:
    table, solids = given.table, given.solids
    table.a[row], table.b[row] = solids.bodies[a], solids.bodies[b]
    table.keys[row] = (a << BITS) + b
    written(given.found, k, table, row)
    table.frictions[row], table.gliding[row] = given.frictions[rule], 0
    table.balls[row, 0], table.balls[row, 1] = _ball(given, a), _ball(given, b)


@compiled
def _ball(given: ClosedLook, k: int) -> float:
    """The radius of a shape, if it is a ball."""
    size = given.solids.sizes[k]
    return size[0] if given.solids.kinds[k] != BOX and size[1] == 0.0 else 0.0


@compiled
def cuts_closed(given: ClosedLook, speeds: Speeds) -> int:
    """Parts but one of a step in which nothing gets further into what is near than half its inner radius, or that of
    what it meets; asked where the flight of the step ends."""
    most, placed_yet, least, widest, low, high = 1, False, np.inf, 0.0, np.empty(3), np.empty(3)
    solids, placed = given.solids, given.placed
    for k in range(len(speeds.reach)):
        if np.isfinite(speeds.reach[k, 0]):
            least, widest = min(least, speeds.reach[k, 0]), max(widest, _way(speeds, k))
    if not np.isfinite(widest) or not widest > HALF * least:
        return 0
    for own in range(len(solids.bodies)):
        body = solids.bodies[own]
        if body == STATIC or not _way(speeds, body) > HALF * least:
            continue
        if not placed_yet:
            place_solids(solids, given.poses, 0.0, placed)
            placed_yet = True
        mover = _mover(given, speeds, own)
        reached(mover, speeds.h[0], widest, low, high)
        for k in range(len(solids.bodies)):
            if overlap(low, high, placed.low[k], placed.high[k]) and rule_of(given.rules, own, k) != APART:
                most = max(most, _parts_towards(given, speeds, mover, own, k))
    return most - 1


@compiled
def _way(speeds: Speeds, k: int) -> float:
    """How far a body's surface gets in a step, at most, m."""
    start, end = _speed(speeds.starts[k], speeds.reach[k, 1]), _speed(speeds.twists[k], speeds.reach[k, 1])
    return speeds.h[0] * max(start, end)


@compiled
def _speed(twist: Floats, arm: float) -> float:
    """Of a body's surface, at most, m/s."""
    spin, speed = 0.0, 0.0
    for i in range(3):
        spin += twist[i] * twist[i]
        speed += twist[3 + i] * twist[3 + i]
    return math.sqrt(speed) + math.sqrt(spin) * arm


@compiled
def _parts_towards(given: ClosedLook, speeds: Speeds, mover: Mover, own: int, other: int) -> int:
    """Parts of a step in which one shape, a mover, gets no deeper into another than half the inner radius of both
    bodies."""
    bodies = given.solids.bodies
    deepest = HALF * speeds.reach[bodies[own], 0]
    if bodies[other] != STATIC:
        deepest = min(deepest, HALF * speeds.reach[bodies[other], 0])
    return parts_between(mover, _mover(given, speeds, other), speeds.h[0], deepest)


@compiled
def _mover(given: ClosedLook, speeds: Speeds, k: int) -> Mover:
    """A shape where it is placed, as a box on its way."""
    body, size, middle = given.solids.bodies[k], given.solids.sizes[k], given.placed.centers[k]
    half, round, ends, starts = size.copy(), np.zeros(3), np.zeros(6), np.zeros(6)
    if given.solids.kinds[k] != BOX:
        half[:], round[:] = size[0], size[0]
        half[2] += size[1]
    if body != STATIC:
        ends[:], starts[:] = speeds.twists[body], speeds.starts[body]
        arm = np.empty(3)
        for i in range(3):
            arm[i] = middle[i] - given.poses[body, i, 3]
        move_twist(ends, arm)
        move_twist(starts, arm)
    return Mover(middle, given.placed.axes[k], half, round, ends, starts)

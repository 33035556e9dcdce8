"""Contacts of all shapes that are near each other, and how finely a step must be cut; compiled."""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from bridge.closed_form.box_box import box_box
from bridge.closed_form.near_pairs import APART, PairRoom, Rules, near_pairs, rule_of
from bridge.closed_form.solids import BOX, Poses, Solids, overlap, place_solids
from bridge.curved.manifold_points import Found, InWorld, turned, written
from bridge.curved.round_box import round_box
from bridge.curved.round_shapes import round_round
from bridge.planes.half_spaces import MARGIN
from bridge.planes.plane_contacts import PlaneTable, plane_contacts
from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import STATIC

NO_PAIRS, NO_ROWS = 1, 2  # what ``look_closed`` says where there is too little room for pairs, or for contacts
BITS = 24  # numbers of shapes fit into as many
HALF = 0.5  # of a body's inner radius: how far it may get in one part of a step
MOST_PARTS = 1e9  # parts of a step: no whole number holds those of any speed
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
    most, placed_yet, least = 1, False, np.inf
    for k in range(len(speeds.reach)):
        least = min(least, speeds.reach[k, 0])
    for k in range(len(speeds.twists)):
        start, end = _speed(speeds.starts[k], speeds.reach[k, 1]), _speed(speeds.twists[k], speeds.reach[k, 1])
        way = speeds.h[0] * max(start, end)
        if not np.isfinite(way):
            return 0
        if way > HALF * least:
            if not placed_yet:
                place_solids(given.solids, given.poses, 0.0, given.placed)
                placed_yet = True
            deepest = HALF * _smallest_met(given, speeds, k, start > end)
            if way > deepest:
                most = max(most, int(min(-np.floor(-way / deepest), MOST_PARTS)))
    return most - 1


@compiled
def _speed(twist: Floats, arm: float) -> float:
    """Of a body's surface, at most, m/s."""
    spin, speed = 0.0, 0.0
    for i in range(3):
        spin += twist[i] * twist[i]
        speed += twist[3 + i] * twist[3 + i]
    return math.sqrt(speed) + math.sqrt(spin) * arm


@compiled
def _smallest_met(given: ClosedLook, speeds: Speeds, body: int, from_start: bool) -> float:
    """The least inner radius of a body, which flies at its start's speed or its end's, and of all that it may touch and
    that is where it gets in the step; infinite if nothing is."""
    low, high, solids, placed, least = np.empty(3), np.empty(3), given.solids, given.placed, np.inf
    for own in range(len(solids.bodies)):
        if solids.bodies[own] == body:
            for i in range(3):
                middle, size = given.poses[body, i, 3], speeds.reach[body, 2]
                way = speeds.h[0] * (speeds.starts[body, 3 + i] if from_start else speeds.twists[body, 3 + i])
                low[i], high[i] = middle - size - max(way, 0.0), middle + size - min(way, 0.0)
            for k in range(len(solids.bodies)):
                if overlap(low, high, placed.low[k], placed.high[k]) and rule_of(given.rules, own, k) != APART:
                    least = min(least, speeds.reach[body, 0])
                    if solids.bodies[k] != STATIC:
                        least = min(least, speeds.reach[solids.bodies[k], 0])
            return least
    return least

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
from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.contacts import STATIC

NO_PAIRS, NO_ROWS = 1, 2  # what ``look_closed`` says where there is too little room for pairs, or for contacts
BITS = 24  # numbers of shapes fit into as many
HALF = 0.5  # of a body's inner radius: how far it may get in one part of a step
MOST_PARTS = 1e9  # parts of a step: no whole number holds those of any speed
POINTS = 9  # of a pair, at most


class ClosedLook(NamedTuple):
    """What it takes to find contacts. frictions (m, 5): rows of rules, behind those of pairs of materials, of which
    there are ``materials``; found: room for one pair; speeds: see ``Speeds``."""

    solids: Solids
    placed: InWorld
    pairs: PairRoom
    rules: Rules
    materials: int
    frictions: Annotated[np.ndarray, float, 5]
    found: Found
    planes: PlaneTable
    poses: Poses
    table: ContactTable


class Speeds(NamedTuple):
    """twists (nb, 6); reach (nb, 3): as ``reaches`` has it; h (1,): length of a step, s."""

    twists: Annotated[np.ndarray, float, 6]
    reach: Annotated[np.ndarray, float, 3]
    h: Floats


@compiled
def look_closed(given: ClosedLook) -> int:
    """Write the contacts of bodies where they are; 0, NO_PAIRS or NO_ROWS."""
    solids, placed, pairs, found, table = given.solids, given.placed, given.pairs, given.found, given.table
    place_solids(solids, given.poses, MARGIN, placed)
    if not near_pairs(solids, placed, pairs):
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
    plane_contacts(given.planes, given.poses, table)
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
    table.frictions[row] = given.frictions[rule]


@compiled
def cuts_closed(given: ClosedLook, speeds: Speeds) -> int:
    """Parts but one of a step in which nothing gets further than half its inner radius into what is near."""
    most, placed_yet = 1, False
    for k in range(len(speeds.twists)):
        twist, spin, speed = speeds.twists[k], 0.0, 0.0
        for i in range(3):
            spin += twist[i] * twist[i]
            speed += twist[3 + i] * twist[3 + i]
        way = speeds.h[0] * (math.sqrt(speed) + math.sqrt(spin) * speeds.reach[k, 1])
        if not np.isfinite(way):
            return 0
        deepest = HALF * speeds.reach[k, 0]
        if way > deepest:
            if not placed_yet:
                place_solids(given.solids, given.poses, 0.0, given.placed)
                placed_yet = True
            parts = int(min(-np.floor(-way / deepest), MOST_PARTS))
            if parts > most and _meets(given, speeds, k):
                most = parts
    return most - 1


@compiled
def _meets(given: ClosedLook, speeds: Speeds, body: int) -> bool:
    """Whether anything that a body may touch is where it gets in the step."""
    low, high, solids, placed = np.empty(3), np.empty(3), given.solids, given.placed
    for own in range(len(solids.bodies)):
        if solids.bodies[own] == body:
            for i in range(3):
                middle, size = given.poses[body, i, 3], speeds.reach[body, 2]
                way = speeds.h[0] * speeds.twists[body, 3 + i]
                low[i], high[i] = middle - size + min(way, 0.0), middle + size + max(way, 0.0)
            for k in range(len(solids.bodies)):
                if overlap(low, high, placed.low[k], placed.high[k]) and rule_of(given.rules, own, k) != APART:
                    return True
            return False
    return False

"""What blows throw bodies into that nothing was known of: contacts are looked for where a flight ends, not there.

A heavy thing that comes down on a light one turns it by a tenth of a radian in the step: other corners of it go into
the ground by centimetres, though they were above it where the flight ended. So where a solve leads bodies farther from
there than the gap up to which contacts are told, and boxes about them say that something is in something else, pairs
are looked for there too (``looked_after_blows``).
"""

from __future__ import annotations

import math

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.simulation.bounds import Bounds, depth, depth_below, is_apart
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

STRUCK = -7  # of a stage of a step: it is to be looked for what blows led into
LOOKS = 3  # of a step, at most: what is found there throws bodies into other things
DEEP = 1e-3  # m, up to which overlaps of boxes are no matter
_MOVED = 2e-3  # m or rad, of a coordinate: what moves less leads no surface into anything new
_FAR = (
    5e-3 + DEEP
)  # m, of two surfaces together: what is nearer where the flight ends than by that is told as a contact
_DEEPER = 0.5 * _FAR  # m, of boxes along one of their axes, of what comes in somewhere between these
_NEAR = 1e-2  # m: how far a point on something may be from the box about it, as that is not its surface


@compiled
def note_flown(s: StepArrays) -> bool:
    """Note where a flight ended, if what was solved for leads any coordinate away from there; whether it does."""
    it, way, most = s.led, s.impulses.changes.q, 0.0
    for k in range(len(way)):
        most = max(most, abs(way[k]))
    if not most > _MOVED or s.into[3] == 0:
        return False
    it.q[:] = s.q
    it.v[:] = s.v
    it.way[:] = way
    it.poses[:] = s.present.poses
    return True


@compiled
def strikes_into(s: StepArrays, contacts: ContactTable, bounds: Bounds) -> bool:
    """Whether it is to be looked for what a solve's blows led into, where they did."""
    start, end, some, ways = s.led.poses, s.present.poses, False, np.empty(len(s.frames.links))
    if len(bounds.boxes) == 0:  # nothing is known
        return False
    for k in range(len(ways)):
        ways[k] = 0.0
        if bounds.gaps[k] < 0.0:  # it meets nothing
            continue
        box, shift, turn, size, at = bounds.boxes[k], 0.0, 0.0, 0.0, 16 * k
        for i in range(3):
            moved = end[at + 4 * i + 3] - start[at + 4 * i + 3]
            for j in range(3):
                change = end[at + 4 * i + j] - start[at + 4 * i + j]
                moved += box[j] * change
                turn += change * change
            shift += moved * moved
            size += box[3 + i] * box[3 + i]
        # a ball about its centre goes nowhere as it turns; of a turn the matrix changes by the root of 2 times as much
        ways[k] = math.sqrt(shift) + (0.0 if bounds.arms[k] == 0.0 else math.sqrt(0.5 * turn * size))
        some = some or ways[k] > 0.5 * _FAR
    return some and _sinks(contacts, bounds, ways, start, end)


@compiled
def _sinks(contacts: ContactTable, bounds: Bounds, ways: Floats, start: Floats, end: Floats) -> bool:
    """Whether bodies, whose surfaces went by ways (nb,), m, from poses to others (16 nb, each), may be in anything that
    they did not touch at places known."""
    count, still = len(bounds.boxes), np.zeros(16)
    still[0] = still[5] = still[10] = 1.0
    for k in range(count):
        if not ways[k] > 0.0 or bounds.gaps[k] < 0.0:
            continue
        X, Y, own, ball = start[16 * k : 16 * k + 16], end[16 * k : 16 * k + 16], bounds.boxes[k], bounds.arms[k] == 0.0
        if ways[k] > _FAR and not is_apart(bounds, k, count):
            for i in range(len(bounds.planes)):
                plane = bounds.planes[i]
                there = depth_below(Y, own, ball, plane)
                if there > DEEP and _comes_in(
                    contacts, bounds, start, end, k, -1, plane, i, there - depth_below(X, own, ball, plane)
                ):
                    return True
            for i in range(len(bounds.walls)):
                wall = bounds.walls[i]
                there = depth(Y, own, ball, still, wall, False)
                if there > DEEP and _comes_in(
                    contacts, bounds, start, end, k, -1, wall, -1, there - depth(X, own, ball, still, wall, False)
                ):
                    return True
        for j in range(count):
            if j == k or bounds.gaps[j] < 0.0 or (ways[j] > 0.0 and j < k) or ways[k] + ways[j] <= _FAR:
                continue
            other, its = bounds.boxes[j], bounds.arms[j] == 0.0
            there = depth(Y, own, ball, end[16 * j : 16 * j + 16], other, its)
            if there > DEEP and not is_apart(bounds, k, j):
                deeper = there - depth(X, own, ball, start[16 * j : 16 * j + 16], other, its)
                if _comes_in(contacts, bounds, start, end, k, j, other, -1, deeper):
                    return True
    return False


@compiled
def _comes_in(
    contacts: ContactTable, bounds: Bounds, start: Floats, end: Floats, k: int, j: int, other: Floats, plane: int,
    deeper: float,
) -> bool:  # fmt: skip
    """Whether body k may be at a new place in body j, or, if that is -1, in a wall or in a plane: it did not touch it,
    and boxes get ``deeper`` into each other, m, or some corner of the smaller one comes in along the normal of a place
    where it did."""
    known = False
    for c in range(contacts.size[0]):
        a, b = contacts.a[c], contacts.b[c]
        if not ((a == k and b == j) or (a == j and b == k)):
            continue
        if j < 0 and not _is_on(contacts, c, other, plane):
            continue
        known = True
        if bounds.arms[k] == 0.0 or (j >= 0 and bounds.arms[j] == 0.0):  # of a ball it is known how deep it is
            return j >= 0
        own, its = k, j
        if j >= 0 and other[3] * other[4] * other[5] < bounds.boxes[k, 3] * bounds.boxes[k, 4] * bounds.boxes[k, 5]:
            own, its = j, k
        out = 1.0 if a == own else -1.0
        if _any_corner_in(bounds.boxes[own], start, end, own, its, contacts.normals[c], out, contacts.points[c, 1]):
            return True
    return not known and deeper > _DEEPER


@compiled
def _is_on(contacts: ContactTable, c: int, other: Floats, plane: int) -> bool:
    """Whether a contact with what stands still is on a plane, or if that is -1, on a wall's box."""
    p, height, n, aside = contacts.points[c, 1], 0.0, contacts.normals[c], 0.0
    for i in range(3):
        if plane >= 0:
            height += other[3 + i] * (p[i] - other[i])
            aside += (n[i] - other[3 + i]) ** 2
        else:
            height = max(height, abs(p[i] - other[i]) - other[3 + i])
    return abs(height) < _NEAR and aside < _NEAR


@compiled
def _any_corner_in(box: Floats, start: Floats, end: Floats, k: int, j: int, n: Floats, out: float, at: Floats) -> bool:
    """Whether a corner of body k's box gets below the plane through a place with the normal n times ``out``, and comes
    in far there: by what it goes from poses to others (16 nb, each) beyond what it would on body j, -1 for none."""
    p = np.empty(3)
    for corner in range(8):
        x = box[0] + box[3] * (1.0 - 2.0 * (corner & 1))
        y = box[1] + box[4] * (1.0 - 1.0 * (corner & 2))
        z = box[2] + box[5] * (1.0 - 0.5 * (corner & 4))
        height = 0.0
        for i in range(3):
            p[i] = _place(start, k, i, x, y, z)
            height += out * n[i] * (p[i] - at[i])
        way = out * (_way(start, end, k, p, n) - (_way(start, end, j, p, n) if j >= 0 else 0.0))
        if way < -_FAR and height + way < -DEEP:
            return True
    return False


@compiled
def _place(poses: Floats, k: int, i: int, x: float, y: float, z: float) -> float:
    at = 16 * k + 4 * i
    return float(poses[at] * x + poses[at + 1] * y + poses[at + 2] * z + poses[at + 3])


@compiled
def _way(start: Floats, end: Floats, k: int, p: Floats, n: Floats) -> float:
    """What a point p of the world goes along n on a body that goes from poses to others."""
    at, result = 16 * k, 0.0
    x, y, z = p[0] - start[at + 3], p[1] - start[at + 7], p[2] - start[at + 11]
    a = start[at] * x + start[at + 4] * y + start[at + 8] * z
    b = start[at + 1] * x + start[at + 5] * y + start[at + 9] * z
    c = start[at + 2] * x + start[at + 6] * y + start[at + 10] * z
    for i in range(3):
        result += n[i] * (_place(end, k, i, a, b, c) - p[i])
    return float(result)

"""Bullet's own C functions, called by address from compiled loops: as PyBullet calls them, without an object a contact.

What a handle, a command, a status is, is Bullet's (examples/SharedMemory/PhysicsClientC_API.h, SharedMemoryPublic.h).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bridge.collision.placing import Placement, Placing, groups_of, note_due
from bridge.collision.raw_points import RawPoints
from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.intrinsics import floats_at, foreign, foreign_int, int32s_at, integers_at

INT = 0xFFFFFFFF  # what counts of a register with a C int
_INTS, _FLOATS = 44, 22  # numbers of either kind in a contact's 176 bytes
_BODIES, _POINT = 1, 3  # where they stand in it: ids of bodies and links, points, normal and distance

GONE = -1  # what is said instead of a handle


class Functions(NamedTuple):
    """Addresses of Bullet's functions, and handles: of a table of all clients', and how many it has room for.

    completed: the type of the status that comes with contact points.
    """

    handles: int
    clients: int
    completed: int
    b3CanSubmitCommand: int
    b3SubmitClientCommandAndWaitStatus: int
    b3GetStatusType: int
    b3GetNumBodies: int
    b3GetBodyUniqueId: int
    b3GetUserData: int
    b3CreatePoseCommandInit: int
    b3CreatePoseCommandSetBasePosition: int
    b3CreatePoseCommandSetBaseOrientation: int
    b3CreatePoseCommandSetBaseLinearVelocity: int
    b3CreatePoseCommandSetBaseAngularVelocity: int
    b3InitPerformCollisionDetectionCommand: int
    b3InitRequestContactPointInformation: int
    b3GetContactPointInformation: int
    b3InitAABBOverlapQuery: int
    b3GetAABBOverlapResults: int
    b3CollisionFilterCommandInit: int
    b3SetCollisionFilterGroupMask: int


class Census(NamedTuple):
    """Who is in a connection: ids (n,), in Bullet's order; marks (m,): of user data of the mirror's bodies, which all
    say ``text`` (k,), 8 bytes in each."""

    ids: Integers
    marks: Integers
    text: Integers


class ProbeBox(NamedTuple):
    """A box from low (3,) to high (3,); size (1,), objects (n,): how many links Bullet finds in it, their bodies and
    numbers in turn."""

    low: Floats
    high: Floats
    size: Integers
    objects: Integers


def nobody() -> Census:
    """The census of a connection in which there is nobody."""
    return Census(*np.zeros((3, 0), dtype=np.int64))


@compiled
def handle_of(bullet: Functions, client: int) -> int:
    """The handle of a client that takes commands, or GONE."""
    handles = integers_at(bullet.handles, bullet.clients)
    handle = handles[client]
    if handle == 0 or foreign_int(bullet.b3CanSubmitCommand, handle) & INT == 0:
        return GONE
    return handle


@compiled
def body_ids(bullet: Functions, client: int, ids: Integers) -> int:
    """Write the ids of all bodies, in Bullet's order; how many there are, also beyond the room for them, or GONE."""
    handle = handle_of(bullet, client)
    if handle == GONE:
        return GONE
    count = foreign_int(bullet.b3GetNumBodies, handle) & INT
    for k in range(min(count, len(ids))):
        ids[k] = foreign_int(bullet.b3GetBodyUniqueId, handle, k) & INT
    return count


@compiled
def is_as_many(bullet: Functions, handle: int, census: Census) -> bool:
    """Whether there are as many bodies as in the census."""
    return foreign_int(bullet.b3GetNumBodies, handle) & INT == len(census.ids)


@compiled
def is_unchanged(bullet: Functions, handle: int, census: Census) -> bool:
    """Whether the bodies are those of the census, in number, order and mark: what Bullet tells without a command."""
    if not is_as_many(bullet, handle, census):
        return False
    for k in range(len(census.ids)):
        if foreign_int(bullet.b3GetBodyUniqueId, handle, k) & INT != census.ids[k]:
            return False
    value = np.zeros(2, dtype=np.int64)  # type and length, address
    for k in range(len(census.marks)):
        if foreign_int(bullet.b3GetUserData, handle, census.marks[k], value) & INT == 0:
            return False
        if value[0] >> 32 != 8 * len(census.text):
            return False
        text = integers_at(value[1], len(census.text))
        for i in range(len(census.text)):
            if text[i] != census.text[i]:
                return False
    return True


@compiled
def place(bullet: Functions, handle: int, placing: Placing) -> None:
    """Put the bodies that are due where they are to be, with their velocities."""
    for n in range(placing.waiting[0]):
        k = placing.due[n]
        X, q, twist = placing.poses[k], placing.quaternions[k], placing.twists[k]
        command = foreign_int(bullet.b3CreatePoseCommandInit, handle, placing.ids[k])
        if command != 0:
            foreign(bullet.b3CreatePoseCommandSetBasePosition, command, X[0, 3], X[1, 3], X[2, 3])
            foreign(bullet.b3CreatePoseCommandSetBaseOrientation, command, q[0], q[1], q[2], q[3])
            foreign(bullet.b3CreatePoseCommandSetBaseLinearVelocity, command, twist[3:6])
            foreign(bullet.b3CreatePoseCommandSetBaseAngularVelocity, command, twist[:3])
            foreign(bullet.b3SubmitClientCommandAndWaitStatus, handle, command)


@compiled
def regroup(bullet: Functions, handle: int, placing: Placing) -> None:
    """Let the bodies that are due meet whom those that sleep, or those that do not, are to meet."""
    for n in range(placing.waiting[0]):
        k = placing.due[n]
        command = foreign_int(bullet.b3CollisionFilterCommandInit, handle)
        if command != 0:
            group, mask = groups_of(placing, k)
            foreign(bullet.b3SetCollisionFilterGroupMask, command, placing.ids[k], -1, group, mask)
            foreign(bullet.b3SubmitClientCommandAndWaitStatus, handle, command)


@compiled
def detect(bullet: Functions, handle: int) -> None:
    """Let Bullet find contacts where its bodies are."""
    command = foreign_int(bullet.b3InitPerformCollisionDetectionCommand, handle)
    if command != 0:
        foreign(bullet.b3SubmitClientCommandAndWaitStatus, handle, command)


@compiled
def tell(bullet: Functions, handle: int, completed: int, raw: RawPoints) -> bool:
    """Write down the points that Bullet has found, as many as there is room for; False if it gives no answer."""
    status = _asked_for_points(bullet, handle)
    if status == 0 or foreign_int(bullet.b3GetStatusType, status) & INT != completed:
        return False
    found = np.zeros(2, dtype=np.int64)  # how many, where
    foreign(bullet.b3GetContactPointInformation, handle, found)
    count = found[0] & INT
    raw.found[0] = count
    ints, floats = int32s_at(found[1], _INTS * count), floats_at(found[1], _FLOATS * count)
    for k in range(min(count, len(raw.ids))):
        for i in range(4):
            raw.ids[k, i] = ints[_INTS * k + _BODIES + i]
        for i in range(10):
            raw.values[k, i] = floats[_FLOATS * k + _POINT + i]
    return True


@compiled
def _asked_for_points(bullet: Functions, handle: int) -> int:
    """The status that comes with contact points; 0 for none."""
    command = foreign_int(bullet.b3InitRequestContactPointInformation, handle)
    if command == 0:
        return 0
    return foreign_int(bullet.b3SubmitClientCommandAndWaitStatus, handle, command)


@compiled
def overlapped(bullet: Functions, handle: int, low: Floats, high: Floats, found: Integers) -> int:
    """How many links have boxes that meet that from low (3,) to high (3,); found (2,) says behind that number where ids
    of bodies and links are, as 32-bit integers in turn."""
    found[0] = 0
    command = foreign_int(bullet.b3InitAABBOverlapQuery, handle, low, high)
    if command != 0:
        foreign(bullet.b3SubmitClientCommandAndWaitStatus, handle, command)
        foreign(bullet.b3GetAABBOverlapResults, handle, found)
    return found[0] & INT


@compiled
def probe(bullet: Functions, client: int, census: Census, placement: Placement, raw: RawPoints, box: ProbeBox) -> int:
    """Do all of it once; the type of the status that comes with points, or GONE."""
    handle = handle_of(bullet, client)
    if handle == GONE or not is_unchanged(bullet, handle, census):
        return GONE
    note_due(placement)
    place(bullet, handle, placement.placing)
    detect(bullet, handle)
    status = _asked_for_points(bullet, handle)
    if status == 0:
        return GONE
    completed = foreign_int(bullet.b3GetStatusType, status) & INT
    tell(bullet, handle, completed, raw)
    found = np.zeros(2, dtype=np.int64)
    count = overlapped(bullet, handle, box.low, box.high, found)
    objects = int32s_at(found[1], 2 * count)
    for k in range(min(2 * count, len(box.objects))):
        box.objects[k] = int(objects[k])
    box.size[0] = count
    return completed

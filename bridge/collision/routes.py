"""Two ways to the same answers: Bullet's own functions by address, and PyBullet, which serves everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import pybullet

from bridge.collision.bullet_calls import Functions, body_ids
from bridge.collision.looking import (
    ALL,
    UNSEEN,
    Haste,
    KeptCall,
    Look,
    hurry,
    hurrying,
    look,
    looks_twice,
    put,
    written,
)
from bridge.collision.placing import Placement, Placing, groups_of, note_dormant, note_due
from bridge.collision.raw_points import RawPoints
from bridge.collision.sweeping import Sweep, cuts
from bridge.connection import Connection
from recursive_dyn.codegen.loops.calling import Arena, Packed
from recursive_dyn.simulation.bounds import Bounds
from recursive_dyn.simulation.surroundings import Lookout


class Route(Protocol):
    """What is asked of Bullet in a step; whatever is UNSEEN was not done."""

    def lookout(self, sweep: Sweep, given: Look, bounds: Callable[[], Bounds]) -> Lookout | None:
        """``cuts`` and ``look`` as calls that machine code may make, with bounds; None if Python must."""
        ...

    def ids(self) -> list[int]:
        """Those of all bodies, in Bullet's order; none once the connection is gone."""
        ...

    def put(self, placement: Placement) -> int:
        """Put bodies where they belong."""
        ...

    def hurry(self, haste: Haste) -> int:
        """How many bodies are too fast for a step; UNSEEN if somebody came or went."""
        ...

    def look(self, given: Look) -> int:
        """Write the contacts where bodies belong, as ``looking.look`` does, of which this may be a slower text."""
        ...


class DirectRoute:
    """By address, each in one call."""

    def __init__(self, bullet: Functions, client: int) -> None:
        self._bullet, self._client = Packed(bullet), client
        self._put, self._hurry, self._look = (KeptCall(f, self._bullet, client) for f in (put, hurry, look))
        self._arenas: tuple[Arena | None, Arena | None] = (None, None)  # of the lookout given last, the only one in use
        self._ids, self._room = KeptCall(body_ids, self._bullet, client), np.zeros(64, dtype=np.int64)

    def lookout(self, sweep: Sweep, given: Look, bounds: Callable[[], Bounds]) -> Lookout | None:
        haste = cuts.bind(self._bullet, self._client, sweep, arena=self._arenas[0]).holding()
        looked = look.bind(self._bullet, self._client, given, arena=self._arenas[1]).holding()
        self._arenas = haste.arena, looked.arena
        return Lookout(haste, looked, bounds)

    def ids(self) -> list[int]:
        count = self._ids(self._room)
        if count > len(self._room):
            self._room = np.zeros(2 * count, dtype=np.int64)
            return self.ids()
        return self._room[: max(count, 0)].tolist()

    def put(self, placement: Placement) -> int:
        return self._put(placement)

    def hurry(self, haste: Haste) -> int:
        return self._hurry(haste)

    def look(self, given: Look) -> int:
        return self._look(given)


class OrdinaryRoute:
    """Through PyBullet. Raises StateError once the connection is gone."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._client = connection, connection.id
        self._note_due, self._looks_twice = KeptCall(note_due), KeptCall(looks_twice)
        self._hurrying, self._written = KeptCall(hurrying), KeptCall(written)

    def lookout(self, sweep: Sweep, given: Look, bounds: Callable[[], Bounds]) -> Lookout | None:
        return None

    def ids(self) -> list[int]:
        client = self._client
        return [pybullet.getBodyUniqueId(k, client) for k in range(pybullet.getNumBodies(client))]

    def put(self, placement: Placement) -> int:
        with self._connection.guard():
            return self._put(placement)

    def hurry(self, haste: Haste) -> int:
        with self._connection.guard():
            return self._hurrying(haste) if self.ids() == haste.census.ids.tolist() else UNSEEN

    def look(self, given: Look) -> int:
        with self._connection.guard():
            if given.stage[0] == ALL:
                if self.ids() != given.census.ids.tolist() or not self._connection.is_whole():
                    return UNSEEN
                self._put(given.placement)
                if not self._regroup(given):
                    given.table.size[0], given.aside.sizes[:] = 0, 0
                    return 0
                if self._looks_twice(given):
                    self.detect()
                self.detect()
            self._tell(given.raw)
            return self._written(given)

    def place(self, placing: Placing) -> None:
        """Put the bodies that are due where they are to be, with their velocities."""
        for k in placing.due[: placing.waiting[0]].tolist():
            body, twist = int(placing.ids[k]), placing.twists[k].tolist()
            position, turn = placing.poses[k, :3, 3].tolist(), placing.quaternions[k].tolist()
            pybullet.resetBasePositionAndOrientation(body, position, turn, self._client)
            pybullet.resetBaseVelocity(body, twist[3:], twist[:3], self._client)  # after the pose, which zeroes it

    def detect(self) -> None:
        """Let Bullet find contacts where its bodies are."""
        pybullet.performCollisionDetection(physicsClientId=self._client)

    def _put(self, placement: Placement) -> int:
        count = self._note_due(placement)
        if count:
            self.place(placement.placing)
        return count

    def _regroup(self, given: Look) -> bool:
        """Let bodies meet whom those that sleep, or do not, are to meet; whether any does not."""
        placing = given.placement.placing
        awake = note_dormant(placing, given.asleep, given.known.gathering)
        for k in placing.due[: placing.waiting[0]].tolist():
            group, mask = groups_of.python(placing, k)
            pybullet.setCollisionFilterGroupMask(int(placing.ids[k]), -1, int(group), int(mask), self._client)
        return awake

    def _tell(self, raw: RawPoints) -> None:
        # Asked for one body's contacts, Bullet may exchange A and B and turn the normal, not the friction directions
        points = pybullet.getContactPoints(physicsClientId=self._client)
        raw.found[0] = len(points)
        room = points[: len(raw.ids)]
        if room:
            raw.ids[: len(room)] = [point[1:5] for point in room]
            raw.values[: len(room)] = [(*point[5], *point[6], *point[7], point[8]) for point in room]

"""What it takes to make contacts of what Bullet finds: room for it, and materials of the pairs that touch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pybullet

from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.collision.contact_points import (
    DROPPED,
    NOBODY,
    Aside,
    PairFrictions,
    insert,
)
from bridge.collision.free_bodies import velocity_of
from bridge.collision.raw_points import BITS, LOW, RawPoints
from bridge.connection import Connection
from bridge.outsiders import WORLD, of_bullet
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.material import Material, combined
from scene.pairs import Pair

_ROOM = 64  # points, contacts and pairs at first


class BulletContacts:
    """What is needed to make contacts of Bullet's points, and made larger when there are more: ``raw``, ``frictions``,
    ``aside``."""

    def __init__(self, connection: Connection, bodies: MirroredBodies, pairs: Mapping[frozenset[str], Pair]) -> None:
        self._connection, self._client = connection, connection.id
        self._bodies, self._pairs = bodies, pairs
        self._known_frictions: dict[int, tuple[float, ...]] = {}
        self._dropped = 0  # pairs whose places in the table are taken for nothing
        self.raw, self.aside = _raw(_ROOM), _aside(_ROOM)
        self.frictions = _frictions(4 * _ROOM)
        self._keys, self._rows = np.zeros(_ROOM, dtype=np.int64), np.zeros((_ROOM, 5))  # of pairs to be put in there
        self._insert = insert.bind(self._keys, self._rows, self.frictions)

    def others(self, keys: np.ndarray, ids: np.ndarray, ranks: np.ndarray) -> list[str]:
        """What each B of contacts with these keys (n,) is called where nothing moves it; ids: of Bullet's bodies;
        ranks: by id."""
        number = {rank: k for k, rank in zip(ids.tolist(), ranks[ids].tolist(), strict=True)}
        found = [number.get(key & LOW, NOBODY) if key >= 0 else NOBODY for key in keys.tolist()]
        names = self._connection.bodies
        return [WORLD if k == NOBODY else names.get(k) or of_bullet(k) for k in found]

    def forget(self) -> None:
        """Materials, pairs or ids were changed: combine materials anew."""
        self._known_frictions.clear()
        self.frictions.keys[:], self._dropped = NOBODY, 0

    def drop(self, gone: Collection[int]) -> None:
        """These ids were others' so far."""
        if gone:
            known, away = self._known_frictions, {*gone}
            lost = [pair for pair in known if pair >> BITS in away or pair & LOW in away]
            if lost:
                self.frictions.keys[np.isin(self.frictions.keys, lost)] = DROPPED
            for pair in lost:
                del known[pair]
            self._dropped += len(lost)

    def make_room(self, buffer: ContactBuffer, more: int) -> None:
        """For all points that Bullet has found, for all contacts among them, and ``more`` contacts."""
        if int(self.raw.found[0]) > len(self.raw.ids):
            self.raw = _raw(2 * int(self.raw.found[0]))
        buffer.grow(int(self.aside.sizes[0]) + more)
        if len(self.aside.others) < buffer.capacity:
            self.aside = _aside(buffer.capacity)

    def drift(self, count: int, buffer: ContactBuffer) -> None:
        """Give contacts with immovable bodies that Bullet owns the velocities of their points, as of a belt's."""
        for row, link in self.aside.drifting[:count].tolist():
            body = int(self.aside.others[row])
            buffer.table.drift[row] = velocity_of(body, link, buffer.table.points[row, 1], self._client)

    def learn(self) -> None:
        """Combine the materials of pairs that were not met before."""
        known, wanted = self._known_frictions, self.aside.wanted[: int(self.aside.sizes[1])].tolist()
        fresh = {pair: self._friction(pair >> BITS, pair & LOW) for pair in wanted}
        known |= fresh
        if 2 * (len(known) + self._dropped) > len(self.frictions.keys):
            room = len(self.frictions.keys)
            self.frictions, fresh = _frictions(4 * room if 2 * len(known) > room else room), known
            self._dropped = 0
            self._insert = insert.bind(self._keys, self._rows, self.frictions)
        keys, rows = [*fresh], [*fresh.values()]
        for begin in range(0, len(keys), _ROOM):
            some = slice(begin, min(begin + _ROOM, len(keys)))
            self._keys[:] = NOBODY
            self._keys[: some.stop - begin], self._rows[: some.stop - begin] = keys[some], rows[some]
            self._insert()

    def _friction(self, a: int, b: int) -> tuple[float, ...]:
        names = self._connection.bodies
        pair = self._pairs.get(frozenset((names.get(a, ""), names.get(b, ""))))
        own = pair.material if pair and pair.material else combined(self._material(a), self._material(b))
        return own.row

    def _material(self, body: int) -> Material:
        own = self._bodies.materials.get(body)
        if own is not None:
            return own
        facts: Any = pybullet.getDynamicsInfo(body, -1, physicsClientId=self._client)
        return Material(facts[1], None, max(facts[6], 0.0), max(facts[7], 0.0), min(max(facts[5], 0.0), 1.0))


def _raw(room: int) -> RawPoints:
    return RawPoints(np.zeros((room, 4), dtype=np.int64), np.zeros((room, 10)), np.zeros(1, dtype=np.int64))


def _aside(room: int) -> Aside:
    others, wanted = np.zeros((2, room), dtype=np.int64)
    return Aside(others, wanted, np.zeros((room, 2), dtype=np.int64), np.zeros(3, dtype=np.int64))


def _frictions(room: int) -> PairFrictions:
    return PairFrictions(np.full(room, NOBODY, dtype=np.int64), np.zeros((room, 5)))

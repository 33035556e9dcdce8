"""Bullet's contact points as contacts that a solve takes: bodies by number, surfaces without skins, materials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pybullet

from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.collision.free_bodies import velocity_of
from bridge.connection import Connection
from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.contact.material import Material, combined
from scene.pairs import Pair

Point = tuple[Any, ...]  # as pybullet.getContactPoints has them

_DIGITS = 14  # m: Bullet's last ones differ from run to run
_SAME = 1e-6  # m, and of normals, up to which points are one
_BITS = 24  # Bullet's ids fit into as many


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Points of interest: which, whether Bullet has A and B the other way round, ids of A, of B, numbers (2, n)."""

    rows: np.ndarray
    flip: np.ndarray
    ids: list[list[int]]
    numbers: np.ndarray


class BulletContacts:
    """What Bullet finds in a connection."""

    def __init__(
        self, connection: Connection, bodies: MirroredBodies, pairs: Mapping[frozenset[str], Pair], count: int
    ) -> None:
        self._connection, self._client = connection, connection.id
        self._bodies, self._pairs, self._count = bodies, pairs, count
        self._frictions: dict[tuple[int, int], tuple[float, ...]] = {}

    def forget(self) -> None:
        """Materials, pairs or ids were changed: combine materials anew."""
        self._frictions.clear()

    def found(self, numbers: np.ndarray, free_names: Sequence[str]) -> tuple[Contacts, list[int]]:
        """Contacts where Bullet's bodies are, and Bullet's id of each contact's B.

        numbers (largest id + 1,): what each of Bullet's ids is to a solve; free_names: of those beyond the scene's.
        """
        points = self._points()
        if not points:
            return Contacts.none(), []
        ids = np.array([point[1:3] for point in points], dtype=np.int64)
        values = np.round([(*point[5], *point[6], *point[7], point[8]) for point in points], _DIGITS)
        chosen = _choose(ids, numbers[ids], _first(ids, values), self._count)
        if not len(chosen.rows):
            return Contacts.none(), []
        values = values[chosen.rows]
        flip = chosen.flip[:, None]
        normal = np.where(flip, -values[:, 6:9], values[:, 6:9])
        skins = self._bodies.skins
        skin_a, skin_b = (np.array([skins.get(k, 0.0) for k in side]) for side in chosen.ids)
        on_a = np.where(flip, values[:, 3:6], values[:, :3]) + normal * skin_a[:, None]
        on_b = np.where(flip, values[:, :3], values[:, 3:6]) - normal * skin_b[:, None]
        contacts = Contacts(
            chosen.numbers[0],
            chosen.numbers[1],
            on_a,
            on_b,
            normal,
            values[:, 9] + skin_a + skin_b,
            np.array([self._friction(a, b) for a, b in zip(*chosen.ids, strict=True)]),
            np.array([(a << _BITS) + b for a, b in zip(*chosen.ids, strict=True)]),
            drift=self._drifts(points, chosen, on_b),
            free_names=free_names,
            trusted=True,
        )
        return contacts, chosen.ids[1]

    def _points(self) -> list[Point]:
        # twice, as a body that moved by more than some mm has lost corners from Bullet's memory of contacts by then
        pybullet.performCollisionDetection(physicsClientId=self._client)
        pybullet.performCollisionDetection(physicsClientId=self._client)
        # Asked for one body's contacts, Bullet may exchange A and B and turn the normal, not the friction directions
        found: list[Point] = pybullet.getContactPoints(physicsClientId=self._client)
        return found

    def _drifts(self, points: Sequence[Point], chosen: _Chosen, on_b: np.ndarray) -> np.ndarray:
        """Velocities (n, 3) of the points of immovable bodies that Bullet owns, as of a conveyor's belt."""
        drifts = np.zeros((len(on_b), 3))
        for k, (body, number) in enumerate(zip(chosen.ids[1], chosen.numbers[1].tolist(), strict=True)):
            if number == STATIC and body not in self._connection.bodies:
                point = points[chosen.rows[k]]
                link = point[3] if chosen.flip[k] else point[4]
                drifts[k] = velocity_of(body, link, on_b[k], self._client)
        return drifts

    def _friction(self, a: int, b: int) -> tuple[float, ...]:
        known = self._frictions.get((a, b))
        if known is None:
            names = self._connection.bodies
            pair = self._pairs.get(frozenset((names.get(a, ""), names.get(b, ""))))
            own = pair.material if pair and pair.material else combined(self._material(a), self._material(b))
            known = self._frictions[a, b] = own.row
        return known

    def _material(self, body: int) -> Material:
        own = self._bodies.materials.get(body)
        if own is not None:
            return own
        facts = pybullet.getDynamicsInfo(body, -1, physicsClientId=self._client)
        return Material(facts[1], None, max(facts[6], 0.0), max(facts[7], 0.0), min(max(facts[5], 0.0), 1.0))


def _choose(ids: np.ndarray, numbers: np.ndarray, distinct: np.ndarray, count: int) -> _Chosen:
    """Who touches whom, the scene's ``count`` bodies first, and which points matter to them; distinct is (n,)."""
    a, b = numbers.T
    flip = (a == STATIC) | ((b != STATIC) & (b < a))
    rows = np.flatnonzero(distinct & (a != b) & _concerns(np.sort(numbers, axis=1), count))
    order = np.where(flip[:, None], (1, 0), (0, 1))
    ids, numbers = (np.take_along_axis(x, order, axis=1)[rows].T for x in (ids, numbers))
    return _Chosen(rows, flip[rows], ids.tolist(), numbers)


def _concerns(numbers: np.ndarray, count: int) -> np.ndarray:
    """Which pairs (n, 2), the lower number first, concern the scene's ``count`` bodies.

    Those of its own, and those of a free body that touches one of them, or touches one that does.
    """
    own = np.asarray(((numbers >= 0) & (numbers < count)).any(axis=1))
    if numbers.max(initial=STATIC) < count:
        return own
    while True:
        reached = np.unique(numbers[own])
        more = own | np.isin(numbers, reached[reached >= count]).any(axis=1)
        if np.array_equal(more, own):
            return own
        own = more


@compiled
def _first(ids: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which points (n, 10) are not the same as one before: a capsule and the ball at its end report some twice."""
    keep = np.ones(len(ids), dtype=np.bool_)
    for i in range(len(ids)):
        for j in range(i - 1, -1, -1):
            if ids[j, 0] != ids[i, 0] or ids[j, 1] != ids[i, 1]:
                break
            apart = 0.0
            for k in range(9):
                apart = max(apart, abs(values[i, k] - values[j, k]))
            if apart < _SAME:
                keep[i] = False
                break
    return keep

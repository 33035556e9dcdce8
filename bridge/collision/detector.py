"""The detector that a mirror gives to its simulation: Bullet finds the contacts, names and materials are ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pybullet

from bridge.collision.bullet_bodies import Bodies
from bridge.collision.contact_record import WORLD, Contact, records
from bridge.collision.free_bodies import Crowd, velocity_of
from bridge.collision.plane_contacts import Ground
from bridge.collision.population import Population
from bridge.connection import Connection
from bridge.quaternion import Array
from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.contact.material import Material, combined
from recursive_dyn.simulation.surroundings import Surrounded

Pairs = Mapping[frozenset[str], Any]
_DIGITS = 14  # m: Bullet's last ones differ from run to run
_SAME = 1e-6  # m, and of normals, up to which points are one
_BITS = 24  # Bullet's ids fit into as many


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Of the points chosen: whether Bullet has them the other way round, ids of A, of B, ranks (2, n)."""

    chosen: Array
    flip: Array
    ids: list[list[int]]
    ranks: Array


class Collisions:
    """Surroundings of a simulation: what Bullet finds about the scene's bodies, its own free bodies included.

    place: gives Bullet's mirrors poses (nb, 4, 4) and twists (nb, 6), if anything is to be pushed by them. Raises
    StateError where a mirrored body was removed from Bullet.
    """

    def __init__(
        self,
        connection: Connection,
        bodies: Bodies,
        ranks: Mapping[str, int],
        pairs: Pairs,
        ground: Ground,
        place: Callable[[Array, Array | None], None],
    ) -> None:
        self._connection, self._client = connection, connection.id
        self._bodies, self._ranks, self._place, self._pairs = bodies, ranks, place, pairs
        self._ground = ground
        self._names = tuple(ranks)
        self._population = Population(self._client, bodies, ranks)
        self._numbers = np.zeros(0, dtype=int)
        self._frictions: dict[tuple[int, int], tuple[float, ...]] = {}
        self._others: list[str] = []
        self._crowd = Crowd((), self._client)  # the free bodies of the last detection

    def forget_pairs(self) -> None:
        """Materials or pairs were changed: combine them anew."""
        self._frictions.clear()
        self._ground.forget_pairs()

    def detect(self, simulation: Surrounded) -> Contacts:
        """Contacts at the simulation's state, which is where its step leads if nothing touches."""
        with self._connection.guard():
            return self._detected(simulation)

    def _detected(self, simulation: Surrounded) -> Contacts:
        self._census()
        h = simulation.step_size
        poses, twists = simulation.frames()
        self._place(poses, twists if self._population.lively else None)
        self._crowd = crowd = self._numbered(Crowd(self._population.near(twists, h), self._client))
        free = crowd.place(h, simulation.position_share) if crowd else None
        found = self._found(poses, crowd)
        if free is not None:
            found.free = free
            crowd.back()
        return found

    def look(self, poses: Array, twists: Array) -> tuple[Contact, ...]:
        """Contacts where the bodies are now; Bullet's own bodies stay where they are."""
        self._census()
        self._place(poses, twists)
        return self.named(self._found(poses, self._numbered(Crowd(self._population.free, self._client))))

    def _numbered(self, crowd: Crowd) -> Crowd:
        """Let the bodies of this crowd, and no other of Bullet's own, count as movable."""
        self._numbers = self._population.numbers(crowd.bodies)
        return crowd

    def _census(self, thorough: bool = True) -> None:
        if self._population.renewed(thorough):
            self._frictions.clear()

    def _found(self, poses: Array, crowd: Crowd) -> Contacts:
        """What Bullet finds, and what the planes do."""
        found, ground = self._contacts(self._points(), crowd), self._ground.contacts(poses)
        if ground is None:
            return found
        found = found.joined(ground) if len(found) else ground
        self._others = self._others + [WORLD] * len(ground)
        return found

    def named(self, contacts: Contacts) -> tuple[Contact, ...]:
        """The contacts of the last detection by name."""
        others = self._others if len(self._others) == len(contacts) else [WORLD] * len(contacts)
        found = records(contacts, self._names, others)
        return tuple(c for c, a in zip(found, contacts.a.tolist(), strict=True) if a < len(self._names))

    def _points(self) -> list[tuple[Any, ...]]:
        # twice, as a body that moved by more than some mm has lost corners from Bullet's memory of contacts by then
        pybullet.performCollisionDetection(physicsClientId=self._client)
        pybullet.performCollisionDetection(physicsClientId=self._client)
        # Asked for one body's contacts, Bullet may exchange A and B and turn the normal, not the friction directions
        found: list[tuple[Any, ...]] = pybullet.getContactPoints(physicsClientId=self._client)
        return found

    def _contacts(self, points: list[tuple[Any, ...]], crowd: Crowd) -> Contacts:
        self._others = []
        if not points:
            return Contacts.none()
        ids = np.array([point[1:3] for point in points], dtype=np.int64)
        numbers = np.round([(*point[5], *point[6], *point[7], point[8]) for point in points], _DIGITS)
        pairs = self._pairs_of(ids, _first(ids, numbers))
        if not len(pairs.chosen):
            return Contacts.none()
        numbers = numbers[pairs.chosen]
        flip = pairs.flip[:, None]
        normal = np.where(flip, -numbers[:, 6:9], numbers[:, 6:9])
        skins = self._bodies.skins
        skin_a, skin_b = (np.array([skins.get(k, 0.0) for k in side]) for side in pairs.ids)
        on_a = np.where(flip, numbers[:, 3:6], numbers[:, :3]) + normal * skin_a[:, None]
        on_b = np.where(flip, numbers[:, :3], numbers[:, 3:6]) - normal * skin_b[:, None]
        names = self._bodies.names
        self._others = [names.get(k) or f"bullet:{k}" for k in pairs.ids[1]]
        return Contacts(
            pairs.ranks[0],
            pairs.ranks[1],
            on_a,
            on_b,
            normal,
            numbers[:, 9] + skin_a + skin_b,
            np.array([self._friction(a, b) for a, b in zip(*pairs.ids, strict=True)]),
            np.array([(a << _BITS) + b for a, b in zip(*pairs.ids, strict=True)]),
            drift=self._drifts(points, pairs, on_b),
            free_names=crowd.names,
            trusted=True,
        )

    def _pairs_of(self, ids: Array, distinct: Array) -> _Pairs:
        """Who touches whom, the scene's bodies first, and which points matter to the scene."""
        ranks = self._numbers[ids]
        a, b = ranks.T
        flip = (a == STATIC) | ((b != STATIC) & (b < a))
        chosen = np.flatnonzero(distinct & (a != b) & _concerns(np.sort(ranks, axis=1), len(self._names)))
        order = np.where(flip[:, None], (1, 0), (0, 1))
        ids, ranks = (np.take_along_axis(x, order, axis=1)[chosen].T for x in (ids, ranks))
        return _Pairs(chosen, flip[chosen], ids.tolist(), ranks)

    def _drifts(self, points: list[tuple[Any, ...]], pairs: _Pairs, on_b: Array) -> Array:
        """Velocities (n, 3) of the points of immovable bodies that Bullet owns, as of a conveyor's belt."""
        drifts = np.zeros((len(on_b), 3))
        for k, (body, rank) in enumerate(zip(pairs.ids[1], pairs.ranks[1].tolist(), strict=True)):
            if rank == STATIC and body not in self._bodies.names:
                point = points[pairs.chosen[k]]
                link = point[3] if pairs.flip[k] else point[4]
                drifts[k] = velocity_of(body, link, on_b[k], self._client)
        return drifts

    def _friction(self, a: int, b: int) -> tuple[float, ...]:
        known = self._frictions.get((a, b))
        if known is None:
            names = self._bodies.names
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

    def advance(self, simulation: Surrounded, contacts: Contacts, h: float) -> None:
        """Let Bullet move its own bodies on, then give those that the solve moved its answer."""
        if self._population.lively:
            with self._connection.guard():
                self._stepped(h, self._crowd, contacts)

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Left by an exception, Bullet's bodies go back to where they were."""
        if not self._population.lively:
            yield
            return
        saved = pybullet.saveState(self._client)
        try:
            yield
        except BaseException:
            if pybullet.isConnected(self._client):
                pybullet.restoreState(stateId=saved, physicsClientId=self._client)
            raise
        finally:
            if pybullet.isConnected(self._client):
                pybullet.removeState(saved, self._client)

    def _stepped(self, h: float, crowd: Crowd, contacts: Contacts) -> None:
        client, count = self._client, len(self._names)
        before = pybullet.getPhysicsEngineParameters(client)["fixedTimeStep"]
        if before != h:
            pybullet.setTimeStep(h, physicsClientId=client)
        pybullet.stepSimulation(physicsClientId=client)
        if before != h:
            pybullet.setTimeStep(before, physicsClientId=client)
        if not crowd:
            return
        solved, pushed = np.zeros(len(crowd), dtype=bool), np.zeros(len(crowd), dtype=bool)
        for side in (contacts.a, contacts.b):
            solved[side[side >= count] - count] = True
        numbers = {body.id: k for k, body in enumerate(crowd.bodies)}
        for point in pybullet.getContactPoints(physicsClientId=client):
            for free, other in ((point[1], point[2]), (point[2], point[1])):
                if free in numbers and self._bodies.names.get(other, WORLD) != WORLD:
                    pushed[numbers[free]] = True
        crowd.finish(contacts.free, solved, pushed & ~solved)

    def substeps(self, simulation: Surrounded, h: float) -> int:
        """Parts of a step in which nothing gets further than half its inner radius into what is near."""
        with self._connection.guard():
            self._census(thorough=False)
            return self._population.parts(*simulation.frames(), h)


def _concerns(ranks: Array, count: int) -> Array:
    """Which pairs (n, 2), the lower rank first, concern the scene's ``count`` bodies.

    Those of its own, and those of a free body that touches one of them, or touches one that does.
    """
    own = np.asarray(((ranks >= 0) & (ranks < count)).any(axis=1))
    if ranks.max(initial=STATIC) < count:
        return own
    while True:
        reached = np.unique(ranks[own])
        more = own | np.isin(ranks, reached[reached >= count]).any(axis=1)
        if np.array_equal(more, own):
            return own
        own = more


@compiled
def _first(ids: Array, numbers: Array) -> Array:
    """Which points (n, 10) are not the same as one before: a capsule and the ball at its end report some twice."""
    keep = np.ones(len(ids), dtype=np.bool_)
    for i in range(len(ids)):
        for j in range(i - 1, -1, -1):
            if ids[j, 0] != ids[i, 0] or ids[j, 1] != ids[i, 1]:
                break
            apart = 0.0
            for k in range(9):
                apart = max(apart, abs(numbers[i, k] - numbers[j, k]))
            if apart < _SAME:
                keep[i] = False
                break
    return keep

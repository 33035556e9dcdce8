"""The detector that a mirror gives to its simulation: Bullet finds the contacts, names and materials are ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import pybullet

from bridge.bodies import Bodies
from bridge.connection import Connection
from bridge.contacts import WORLD, Contact, records
from bridge.free import Crowd, FreeBody
from bridge.quaternion import Array
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.contact.material import Material, combined
from recursive_dyn.errors import StateError

Pairs = Mapping[frozenset[str], Any]
_HALF = 0.5  # of a body's inner radius: how far it may get in one part of a step
_BITS = 24  # Bullet's ids fit into as many


class Moving(Protocol):
    """What a detector needs of a simulation."""

    def frames(self) -> tuple[Array, Array]: ...

    @property
    def interaction(self) -> Any: ...


class Collisions:
    """detect(simulation): contacts of the scene's bodies at the simulation's state, Bullet's free bodies included.

    place: gives Bullet's mirrors poses (nb, 4, 4) and twists (nb, 6). Raises StateError where a mirrored body was
    removed from Bullet.
    """

    def __init__(
        self,
        connection: Connection,
        bodies: Bodies,
        ranks: Mapping[str, int],
        pairs: Pairs,
        place: Callable[[Array, Array], None],
    ) -> None:
        self._connection, self._client = connection, connection.id
        self._bodies, self._ranks, self._place, self._pairs = bodies, ranks, place, pairs
        self._names = tuple(ranks)
        self._known: set[int] = set()
        self._free: list[FreeBody] = []
        self._lively = False
        self._frictions: dict[tuple[int, int], tuple[float, ...]] = {}
        self._others: list[str] = []

    def forget_pairs(self) -> None:
        """Materials or pairs were changed: combine them anew."""
        self._frictions.clear()

    def __call__(self, simulation: Moving) -> Contacts:
        """Contacts at the simulation's state, which is where its step leads if nothing touches."""
        with self._connection.guard():
            return self._detected(simulation)

    def _detected(self, simulation: Moving) -> Contacts:
        self._census()
        h = simulation.interaction.step_size
        self._place(*simulation.frames())
        crowd = Crowd(self._free, self._client)
        free = crowd.place(h) if crowd else None
        points = self._points()
        found = self._contacts(points, crowd)
        if free is not None:
            found.free = free
            crowd.back()
        if self._lively:
            found.accept = lambda step: self._bullet_step(step, crowd, found)
        return found

    def look(self, poses: Array, twists: Array) -> tuple[Contact, ...]:
        """Contacts where the bodies are now; Bullet's own bodies stay where they are."""
        self._census()
        self._place(poses, twists)
        found = self._contacts(self._points(), Crowd(self._free, self._client))
        return self.named(found)

    def named(self, contacts: Contacts) -> tuple[Contact, ...]:
        """The contacts of the last detection by name."""
        others = self._others if len(self._others) == len(contacts) else [WORLD] * len(contacts)
        found = records(contacts, self._names, others)
        return tuple(c for c, a in zip(found, contacts.a.tolist(), strict=True) if a < len(self._names))

    def _points(self) -> list[tuple[Any, ...]]:
        # twice, as a body that moved by more than some mm has lost corners from Bullet's memory of contacts by then
        pybullet.performCollisionDetection(physicsClientId=self._client)
        pybullet.performCollisionDetection(physicsClientId=self._client)
        # Asked for one body's contacts, Bullet may exchange A and B and turn the normal, but not the friction directions
        found: list[tuple[Any, ...]] = pybullet.getContactPoints(physicsClientId=self._client)
        return found

    def _contacts(self, points: list[tuple[Any, ...]], crowd: Crowd) -> Contacts:
        count = len(self._names)
        numbers = {body.id: count + k for k, body in enumerate(self._free)}
        names = self._bodies.names
        ranks = self._ranks
        rows = []
        for point in points:
            a, b = point[1], point[2]
            rank_a, rank_b = ranks.get(names.get(a, ""), numbers.get(a, STATIC)), ranks.get(
                names.get(b, ""), numbers.get(b, STATIC)
            )
            if rank_a == rank_b:
                continue
            flip = rank_a == STATIC or (rank_b != STATIC and rank_b < rank_a)
            rows.append((rank_b, rank_a, b, a, point, True) if flip else (rank_a, rank_b, a, b, point, False))
        rows = _touching_ours(rows, count)
        self._others = [names.get(row[3]) or f"bullet:{row[3]}" for row in rows]
        if not rows:
            return Contacts.none()
        skins = self._bodies.skins
        sign = np.array([-1.0 if row[5] else 1.0 for row in rows])[:, None]
        normal = sign * np.array([row[4][7] for row in rows])
        skin_a, skin_b = (np.array([skins.get(row[k], 0.0) for row in rows]) for k in (2, 3))
        on_a = np.array([row[4][6] if row[5] else row[4][5] for row in rows]) + normal * skin_a[:, None]
        on_b = np.array([row[4][5] if row[5] else row[4][6] for row in rows]) - normal * skin_b[:, None]
        return Contacts(
            np.array([row[0] for row in rows]),
            np.array([row[1] for row in rows]),
            on_a,
            on_b,
            normal,
            np.array([row[4][8] for row in rows]) + skin_a + skin_b,
            np.array([self._friction(row[2], row[3]) for row in rows]),
            np.array([(row[2] << _BITS) + row[3] for row in rows]),
            drift=np.array([self._drift(row) for row in rows]),
            free_names=crowd.names,
        )

    def _drift(self, row: tuple[Any, ...]) -> tuple[float, ...]:
        """Velocity of the contact point of an immovable body that Bullet owns, as a conveyor's belt."""
        body = row[3]
        if row[1] != STATIC or body in self._bodies.names:
            return (0.0, 0.0, 0.0)
        link, point = row[4][3] if row[5] else row[4][4], row[4][5] if row[5] else row[4][6]
        if link < 0:
            velocity, omega = pybullet.getBaseVelocity(body, physicsClientId=self._client)
            center = pybullet.getBasePositionAndOrientation(body, physicsClientId=self._client)[0]
        else:
            state = pybullet.getLinkState(body, link, computeLinkVelocity=1, physicsClientId=self._client)
            center, velocity, omega = state[0], state[6], state[7]
        return tuple(np.add(velocity, np.cross(omega, np.subtract(point, center))).tolist())

    def _friction(self, a: int, b: int) -> tuple[float, ...]:
        known = self._frictions.get((a, b))
        if known is None:
            names = self._bodies.names
            pair = self._pairs.get(frozenset((names.get(a, ""), names.get(b, ""))))
            m = pair.material if pair and pair.material else combined(self._material(a), self._material(b))
            known = (m.sticking, m.friction, m.rolling_friction, m.spinning_friction, m.restitution)
            self._frictions[a, b] = known
        return known

    def _material(self, body: int) -> Material:
        own = self._bodies.materials.get(body)
        if own is not None:
            return own
        facts = pybullet.getDynamicsInfo(body, -1, physicsClientId=self._client)
        return Material(facts[1], None, max(facts[6], 0.0), max(facts[7], 0.0), min(max(facts[5], 0.0), 1.0))

    def _census(self) -> None:
        """Who there is in Bullet, looked at anew when their number changes."""
        client = self._client
        if pybullet.getNumBodies(physicsClientId=client) == len(self._known):
            return
        now = {pybullet.getBodyUniqueId(k, physicsClientId=client) for k in range(pybullet.getNumBodies(client))}
        lost = sorted(self._bodies.names.keys() - now)
        if lost:
            raise StateError(
                f"Bullet's body {lost[0]} of '{self._bodies.names[lost[0]]}' was removed behind the mirror's back; close"
                " this mirror and create a new PyBulletMirror"
            )
        self._known = now
        own = self._bodies.names.keys()
        others = sorted(now - own)
        self._free = [body for body in (FreeBody.of(k, client) for k in others) if body is not None]
        self._lively = bool(self._free) or any(_articulated(k, client) for k in others)
        self._frictions.clear()

    def _bullet_step(self, h: float, crowd: Crowd, contacts: Contacts) -> None:
        """Let Bullet move its own bodies on, then give those that the solve moved its answer."""
        with self._connection.guard():
            self._stepped(h, crowd, contacts)

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
        numbers = {body.id: k for k, body in enumerate(self._free)}
        for point in pybullet.getContactPoints(physicsClientId=client):
            for free, other in ((point[1], point[2]), (point[2], point[1])):
                if free in numbers and self._bodies.names.get(other, WORLD) != WORLD:
                    pushed[numbers[free]] = True
        crowd.finish(contacts.free, solved, pushed & ~solved)

    def substeps(self, simulation: Moving, h: float) -> int:
        """Parts of a step in which nothing gets further than half its inner radius into what is near."""
        with self._connection.guard():
            return self._parts(simulation, h)

    def _parts(self, simulation: Moving, h: float) -> int:
        self._census()
        poses, twists = simulation.frames()
        reach = self._bodies.reach
        way = h * (np.linalg.norm(twists[:, 3:], axis=1) + np.linalg.norm(twists[:, :3], axis=1) * reach[:, 1])
        parts = 1
        for k in np.flatnonzero(way > _HALF * reach[:, 0]):
            if self._near(int(k), poses, twists, h):
                parts = max(parts, int(np.ceil(way[k] / (_HALF * reach[k, 0]))))
        for body in self._free:
            velocity = pybullet.getBaseVelocity(body.id, physicsClientId=self._client)[0]
            moved = h * float(np.linalg.norm(velocity))
            if moved > _HALF * body.radius:
                low, high = pybullet.getAABB(body.id, -1, physicsClientId=self._client)
                if self._others_in(low, high, np.multiply(h, velocity), {body.id}):
                    parts = max(parts, int(np.ceil(moved / (_HALF * body.radius))))
        return parts

    def _near(self, k: int, poses: Array, twists: Array, h: float) -> bool:
        """Whether body k may meet something in the step that does not move along with it."""
        name = self._names[k]
        own = self._bodies.of[name]
        size = self._bodies.reach[k, 2]
        low, high = poses[k, :3, 3] - size, poses[k, :3, 3] + size
        return self._others_in(low, high, h * twists[k, 3:], set(own) | self._bodies.ignored(name))

    def _others_in(self, low: Any, high: Any, way: Array, own: set[int]) -> bool:
        low, high = np.minimum(low, np.add(low, way)), np.maximum(high, np.add(high, way))
        found = pybullet.getOverlappingObjects(low.tolist(), high.tolist(), physicsClientId=self._client) or ()
        return any(body not in own for body, _ in found)


def _articulated(body: int, client: int) -> bool:
    joints = pybullet.getNumJoints(body, physicsClientId=client)
    return joints > 0 and any(
        pybullet.getDynamicsInfo(body, link, physicsClientId=client)[0] > 0.0 for link in range(-1, joints)
    )


def _touching_ours(rows: list[tuple[Any, ...]], count: int) -> list[tuple[Any, ...]]:
    """Contacts that involve the scene, at first or fifth hand: a free body that touches it may press on another."""
    reached: set[int] = set()
    while True:
        more = {
            k
            for row in rows
            if (0 <= row[0] < count or 0 <= row[1] < count or row[0] in reached or row[1] in reached)
            for k in row[:2]
            if k >= count
        }
        if more <= reached:
            break
        reached |= more
    return [row for row in rows if 0 <= row[0] < count or 0 <= row[1] < count or row[0] in reached]

"""The detector that a mirror gives to its simulation: Bullet finds the contacts, names and materials are ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pybullet

from bridge.bodies import Bodies
from bridge.connection import Connection
from bridge.contacts import WORLD, Contact, records
from bridge.free import Crowd, FreeBody, articulated, velocity_of
from bridge.ground import Ground
from bridge.quaternion import Array
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.contact.material import Material, combined
from recursive_dyn.errors import StateError

Pairs = Mapping[frozenset[str], Any]
_HALF = 0.5  # of a body's inner radius: how far it may get in one part of a step
_AROUND = 0.05  # m besides a step's motion within which a free body of Bullet's takes part
_BITS = 24  # Bullet's ids fit into as many


class Moving(Protocol):
    """What a detector needs of a simulation."""

    def frames(self) -> tuple[Array, Array]: ...

    @property
    def interaction(self) -> Any: ...


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Of the points chosen: whether Bullet has them the other way round, ids of A and of B, ranks (2, n)."""

    chosen: Array
    flip: Array
    ids: list[list[int]]
    ranks: Array


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
        ground: Ground,
        place: Callable[[Array, Array], None],
    ) -> None:
        self._connection, self._client = connection, connection.id
        self._bodies, self._ranks, self._place, self._pairs = bodies, ranks, place, pairs
        self._ground = ground
        self._names = tuple(ranks)
        self._known: list[int] = []
        self._free: list[FreeBody] = []
        self._lively = False
        self._frictions: dict[tuple[int, int], tuple[float, ...]] = {}
        self._others: list[str] = []

    def forget_pairs(self) -> None:
        """Materials or pairs were changed: combine them anew."""
        self._frictions.clear()
        self._ground.forget_pairs()

    def __call__(self, simulation: Moving) -> Contacts:
        """Contacts at the simulation's state, which is where its step leads if nothing touches."""
        with self._connection.guard():
            return self._detected(simulation)

    def _detected(self, simulation: Moving) -> Contacts:
        self._census()
        h = simulation.interaction.step_size
        self._place(*simulation.frames())
        crowd = Crowd(self._near_bodies(simulation, h), self._client)
        free = crowd.place(h, simulation.interaction.machine.share) if crowd else None
        found = self._found(simulation.frames()[0], self._numbered(crowd))
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
        return self.named(self._found(poses, self._numbered(Crowd(self._free, self._client))))

    def _near_bodies(self, simulation: Moving, h: float) -> list[FreeBody]:
        """Bullet's free bodies that a step may bring near the scene's, or near one that it brings there.

        The others are left where they are: moving them to look would make Bullet forget what they touch.
        """
        if not self._free:
            return []
        speed = float(np.abs(simulation.frames()[1][:, 3:]).max(initial=0.0))
        around = _AROUND + h * min(speed, 1e3)
        mirrors = {k for k, name in self._bodies.names.items() if name != WORLD}
        free = {body.id: body for body in self._free}
        meets = {k: self._overlapped(k, around, h) for k in free}
        near = [k for k, others in meets.items() if others & mirrors]
        for k in near:  # grows while it is gone through
            near += [other for other in meets[k] if other in free and other not in near]
        return [free[k] for k in near]

    def _overlapped(self, body: int, around: float, h: float) -> set[int]:
        low, high = pybullet.getAABB(body, -1, physicsClientId=self._client)
        way = np.multiply(h, pybullet.getBaseVelocity(body, physicsClientId=self._client)[0])
        low, high = np.subtract(np.minimum(low, low + way), around), np.add(np.maximum(high, high + way), around)
        found = pybullet.getOverlappingObjects(low.tolist(), high.tolist(), physicsClientId=self._client) or ()
        return {other for other, _ in found if other != body}

    def _numbered(self, crowd: Crowd) -> Crowd:
        """Let the bodies of this crowd, and no other of Bullet's own, count as movable."""
        for body in self._free:
            self._ranks_of[body.id] = STATIC
        for k, body in enumerate(crowd.bodies):
            self._ranks_of[body.id] = len(self._names) + k
        return crowd

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
        pairs = self._pairs_of(points)
        if not len(pairs.chosen):
            return Contacts.none()
        rows = [points[k] for k in pairs.chosen]
        numbers = np.array([(*row[5], *row[6], *row[7], row[8]) for row in rows])
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
            drift=self._drifts(rows, pairs, on_b),
            free_names=crowd.names,
        )

    def _pairs_of(self, points: list[tuple[Any, ...]]) -> _Pairs:
        """Who touches whom, the scene's bodies first, and which points matter to the scene."""
        ids = np.array([point[1:3] for point in points], dtype=np.int64).reshape(-1, 2)
        ranks = self._ranks_of[ids]
        a, b = ranks.T
        flip = (a == STATIC) | ((b != STATIC) & (b < a))
        chosen = np.flatnonzero((a != b) & _concerns(np.sort(ranks, axis=1), len(self._names)))
        order = np.where(flip[:, None], (1, 0), (0, 1))
        ids, ranks = (np.take_along_axis(x, order, axis=1)[chosen].T for x in (ids, ranks))
        return _Pairs(chosen, flip[chosen], ids.tolist(), ranks)

    def _drifts(self, rows: list[tuple[Any, ...]], pairs: _Pairs, on_b: Array) -> Array:
        """Velocities (n, 3) of the points of immovable bodies that Bullet owns, as of a conveyor's belt."""
        drifts = np.zeros((len(rows), 3))
        for k, (body, rank) in enumerate(zip(pairs.ids[1], pairs.ranks[1].tolist(), strict=True)):
            if rank == STATIC and body not in self._bodies.names:
                link = rows[k][3] if pairs.flip[k] else rows[k][4]
                drifts[k] = velocity_of(body, link, on_b[k], self._client)
        return drifts

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
        """Who there is in Bullet, looked at anew when someone came or went."""
        client = self._client
        ids = [pybullet.getBodyUniqueId(k, client) for k in range(pybullet.getNumBodies(client))]
        if ids == self._known and self._bodies.marked():
            return
        now = {k for k in ids if k not in self._bodies.names or self._bodies.is_marked(k)}
        lost = sorted(self._bodies.names.keys() - now)
        if lost:
            raise StateError(
                f"Bullet's body {lost[0]} of '{self._bodies.names[lost[0]]}' was removed behind the mirror's back;"
                " close this mirror and create a new PyBulletMirror"
            )
        self._known = ids
        self._ranks_of = np.full(max(now, default=0) + 1, STATIC)
        for body, name in self._bodies.names.items():
            self._ranks_of[body] = self._ranks.get(name, STATIC)
        own = self._bodies.names.keys()
        others = sorted(now - own)
        self._free = [body for body in (FreeBody.of(k, client) for k in others) if body is not None]
        self._lively = bool(self._free) or any(articulated(k, client) for k in others)
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
        numbers = {body.id: k for k, body in enumerate(crowd.bodies)}
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
        with np.errstate(over="ignore", invalid="ignore"):
            way = h * (np.linalg.norm(twists[:, 3:], axis=1) + np.linalg.norm(twists[:, :3], axis=1) * reach[:, 1])
        if not np.isfinite(way).all():
            return 1
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


def _concerns(ranks: Array, count: int) -> Array:
    """Which pairs (n, 2), the lower rank first, concern the scene's ``count`` bodies.

    Those of its own, and those of a free body that touches one of them, or touches one that does.
    """
    own = np.any((ranks >= 0) & (ranks < count), axis=1, keepdims=False)
    if ranks.max(initial=STATIC) < count:
        return np.asarray(own)
    while True:
        reached = np.unique(ranks[own])
        more = own | np.isin(ranks, reached[reached >= count]).any(axis=1)
        if np.array_equal(more, own):
            return np.asarray(own)
        own = more

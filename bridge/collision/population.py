"""Who there is in a Bullet connection: the scene's mirrors and scenery, and bodies that Bullet has from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pybullet

from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.collision.free_bodies import FreeBody, articulated
from bridge.connection import Connection
from bridge.outsiders import WORLD
from recursive_dyn.contact.contacts import STATIC
from recursive_dyn.errors import StateError

_AROUND = 0.05  # m besides a step's motion within which a free body of Bullet's takes part
_HALF = 0.5  # of a body's inner radius: how far it may get in one part of a step


class Population:
    """``free``: single bodies of Bullet's own with mass; ``lively``: whether Bullet has anything to move at all."""

    def __init__(self, connection: Connection, bodies: MirroredBodies, names: Sequence[str]) -> None:
        self._connection, self._client = connection, connection.id
        self._bodies, self._names = bodies, names
        self._ranks = {name: k for k, name in enumerate(names)}
        self._ids: list[int] = []
        self._numbers = np.zeros(0, dtype=int)
        self.free: list[FreeBody] = []
        self.lively = False

    def renewed(self, thorough: bool = True) -> bool:
        """Look again; True if someone came or went. Raises StateError where a body of the mirror's was removed.

        thorough: also whether an id now belongs to another body.
        """
        client, names = self._client, self._connection.bodies
        ids = [pybullet.getBodyUniqueId(k, client) for k in range(pybullet.getNumBodies(client))]
        if ids == self._ids and not (thorough and not self._connection.is_whole()):
            return False
        now = {k for k in ids if k not in names or self._connection.is_own(k)}
        lost = sorted(names.keys() - now)
        if lost:
            raise StateError(
                f"Bullet's body {lost[0]} of '{names[lost[0]]}' was removed behind the mirror's back; close this mirror"
                " and create a new PyBulletMirror"
            )
        self._ids = ids
        others = sorted(now - names.keys())
        self.free = [body for body in (FreeBody.of(k, client) for k in others) if body is not None]
        self.lively = bool(self.free) or any(articulated(k, client) for k in others)
        self._numbers = np.full(max(now, default=0) + 1, STATIC)
        for body, name in names.items():
            self._numbers[body] = self._ranks.get(name, STATIC)
        return True

    def numbers(self, movable: Sequence[FreeBody]) -> np.ndarray:
        """What each of Bullet's ids is to a solve: a body of the scene, one of those ``movable``, or STATIC."""
        numbers = self._numbers.copy()
        for k, body in enumerate(movable):
            numbers[body.id] = len(self._names) + k
        return numbers

    def near(self, twists: np.ndarray, h: float) -> list[FreeBody]:
        """Free bodies that a step of length h may bring near the scene's, or near one that it brings there.

        The others are left where they are: moving them to look would make Bullet forget what they touch.
        """
        if not self.free:
            return []
        speed = float(np.abs(twists[:, 3:]).max(initial=0.0))
        around = _AROUND + h * min(speed, 1e3)
        mirrors = {k for k, name in self._connection.bodies.items() if name != WORLD}
        free = {body.id: body for body in self.free}
        meets = {k: self._overlapped(k, around, h) for k in free}
        near = [k for k, others in meets.items() if others & mirrors]
        for k in near:  # grows while it is gone through
            near += [other for other in meets[k] if other in free and other not in near]
        return [free[k] for k in near]

    def parts(self, poses: np.ndarray, twists: np.ndarray, h: float) -> int:
        """Parts of a step in which nothing gets further than half its inner radius into what is near."""
        reach = self._bodies.reach
        with np.errstate(over="ignore", invalid="ignore"):
            way = h * (np.linalg.norm(twists[:, 3:], axis=1) + np.linalg.norm(twists[:, :3], axis=1) * reach[:, 1])
        if not np.isfinite(way).all():
            return 1
        parts = 1
        for k in np.flatnonzero(way > _HALF * reach[:, 0]).tolist():
            name, size = self._names[k], reach[k, 2]
            own = set(self._bodies.of[name]) | self._bodies.ignored(name)
            if self._swept(poses[k, :3, 3] - size, poses[k, :3, 3] + size, h * twists[k, 3:]) - own:
                parts = max(parts, int(np.ceil(way[k] / (_HALF * reach[k, 0]))))
        for body in self.free:
            velocity = np.array(pybullet.getBaseVelocity(body.id, physicsClientId=self._client)[0])
            moved = h * float(np.linalg.norm(velocity))
            if moved > _HALF * body.radius and self._overlapped(body.id, 0.0, h):
                parts = max(parts, int(np.ceil(moved / (_HALF * body.radius))))
        return parts

    def _overlapped(self, body: int, around: float, h: float) -> set[int]:
        low, high = pybullet.getAABB(body, -1, physicsClientId=self._client)
        way = np.multiply(h, pybullet.getBaseVelocity(body, physicsClientId=self._client)[0])
        return self._swept(np.subtract(low, around), np.add(high, around), way) - {body}

    def _swept(self, low: Any, high: Any, way: np.ndarray) -> set[int]:
        """Bullet's ids in a box that moves along ``way``."""
        low, high = np.minimum(low, low + way), np.maximum(high, high + way)
        found = pybullet.getOverlappingObjects(low.tolist(), high.tolist(), physicsClientId=self._client) or ()
        return {body for body, _ in found}

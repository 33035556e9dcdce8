"""Two ways to the same answers: Bullet's own functions by address, and PyBullet, which serves everywhere."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pybullet

from bridge.collision import bullet_calls as calls
from bridge.collision.bullet_calls import FAILED, Census, Functions
from bridge.collision.contact_points import RawPoints
from bridge.collision.placing import Placing
from bridge.connection import Connection
from recursive_dyn.codegen.compiled import Compiled
from recursive_dyn.errors import StateError


class Route(Protocol):
    """What is asked of Bullet in a step."""

    def is_unchanged(self, census: Census, thorough: bool) -> bool:
        """Whether the bodies are those of the census, by ids and, where that is cheap or wanted, by marks."""
        ...

    def place(self, placing: Placing, count: int) -> None:
        """Put the first ``count`` bodies that are due where they are to be, with their velocities."""
        ...

    def detect(self) -> None:
        """Let Bullet find contacts where its bodies are."""
        ...

    def tell(self, raw: RawPoints) -> int:
        """How many points Bullet has found, and as many of them as there is room for. Raises StateError."""
        ...


class DirectRoute:
    """By address. Raises StateError once the connection is gone."""

    def __init__(self, bullet: Functions, connection: Connection) -> None:
        self.bullet, self._connection = bullet, connection

    def is_unchanged(self, census: Census, thorough: bool) -> bool:
        return bool(_held(calls.is_unchanged, self.bullet, self._handle(), census))

    def place(self, placing: Placing, count: int) -> None:
        _held(calls.place, self.bullet, self._handle(), placing, count)

    def detect(self) -> None:
        _held(calls.detect, self.bullet, self._handle())

    def tell(self, raw: RawPoints) -> int:
        count = int(_held(calls.tell, self.bullet, self._handle(), raw))
        if count == FAILED:
            raise silent()
        return count

    def _handle(self) -> int:
        self._connection.check()
        handle = int(_held(calls.handle_of, self.bullet, self._connection.id))
        if handle == calls.GONE:
            raise silent()
        return handle


class OrdinaryRoute:
    """Through PyBullet."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._client = connection, connection.id

    def is_unchanged(self, census: Census, thorough: bool) -> bool:
        client = self._client
        ids = [pybullet.getBodyUniqueId(k, client) for k in range(pybullet.getNumBodies(client))]
        return ids == census.ids.tolist() and not (thorough and not self._connection.is_whole())

    def place(self, placing: Placing, count: int) -> None:
        for k in placing.due[:count].tolist():
            body, twist = int(placing.ids[k]), placing.twists[k].tolist()
            position, turn = placing.poses[k, :3, 3].tolist(), placing.quaternions[k].tolist()
            pybullet.resetBasePositionAndOrientation(body, position, turn, self._client)
            pybullet.resetBaseVelocity(body, twist[3:], twist[:3], self._client)  # after the pose, which zeroes it

    def detect(self) -> None:
        pybullet.performCollisionDetection(physicsClientId=self._client)

    def tell(self, raw: RawPoints) -> int:
        # Asked for one body's contacts, Bullet may exchange A and B and turn the normal, not the friction directions
        points = pybullet.getContactPoints(physicsClientId=self._client)
        room = points[: len(raw.ids)]
        if room:
            raw.ids[: len(room)] = [point[1:5] for point in room]
            raw.values[: len(room)] = [(*point[5], *point[6], *point[7], point[8]) for point in room]
        return len(points)


def _held(function: Compiled[..., Any], *arguments: Any) -> Any:
    """Call Bullet as PyBullet does: one thread of Python's at a time."""
    return function.bind(*arguments).holding()()


def silent() -> StateError:
    """Bullet gave no answer."""
    return StateError("Bullet gives no answer; close this mirror and create a new PyBulletMirror")


def nobody() -> Census:
    """A census of a connection in which there is nobody."""
    return Census(*np.zeros((3, 0), dtype=np.int64))

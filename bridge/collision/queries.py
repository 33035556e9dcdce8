"""Questions about where things are, answered by Bullet in the names of the scene's bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pybullet

from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.collision.ray_targets import SceneRays
from bridge.collision.whereabouts import Whereabouts
from bridge.connection import Connection
from bridge.outsiders import WORLD, of_bullet
from recursive_dyn.errors import ModelError, StateError, listed

Point = tuple[float, float, float]
RAYS = pybullet.MAX_RAY_INTERSECTION_BATCH_SIZE - 1  # in one call
_BEHIND = 1e-6  # m behind what Bullet told, where a ray goes on


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a ray meets a body first; lengths in m, world axes.

    body: of the scene, "world" for scenery and ground, or "bullet:<id>". normal (3,): a unit vector out of the surface.
    fraction: of the way from start to end, distance: from the start.
    """

    body: str
    point: Point
    normal: Point
    fraction: float
    distance: float


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest points of two bodies, in m and world axes.

    normal (3,), a unit vector, points from B to A; distance is that of the points along it, negative where the bodies
    overlap, by about as much where they do so deeply.
    """

    point_on_a: Point
    point_on_b: Point
    normal: Point
    distance: float


class Queries:
    """Rays, boxes and distances among the bodies of a Bullet connection.

    of: Bullet's ids of each name, which may change later; catch_up: puts Bullet's bodies where they are to be asked
    for; scene: shapes that rays meet in closed form, so that Bullet is asked about all else. Raises StateError once the
    connection is gone.
    """

    def __init__(
        self,
        connection: Connection,
        of: Mapping[str, Sequence[int]],
        catch_up: Callable[[], None] = lambda: None,
        scene: SceneRays | None = None,
    ) -> None:
        self._connection, self._client, self._of, self._catch_up = connection, connection.id, of, catch_up
        self._scene = scene

    def ray(self, start: Sequence[float] | np.ndarray, end: Sequence[float] | np.ndarray) -> Hit | None:
        """The first surface between two points (3,), or None. What a ray starts inside of, it does not see."""
        return self.rays([_vector("a ray's start", start)], [_vector("a ray's end", end)])[0]

    def rays(self, starts: object, ends: object) -> list[Hit | None]:
        """``ray`` for starts (n, 3) and ends (n, 3) at once. Raises StateError for other shapes and no way to go."""
        begin, stop = _points("the rays' starts", starts), _points("the rays' ends", ends)
        if begin.shape != stop.shape:
            raise StateError(f"rays need as many starts as ends, not {len(begin)} and {len(stop)}")
        lengths = np.linalg.norm(stop - begin, axis=1)
        if (lengths == 0.0).any():
            raise StateError(f"ray {int(lengths.argmin())} starts where it ends; give two different points")
        self._connection.check()
        if self._scene is None:
            return self._told(begin, stop, lengths)
        met = self._scene.cast(begin, stop - begin)
        points = begin + met.fractions[:, None] * (stop - begin)
        names = [*self._scene.among.names, WORLD]  # STATIC is the last one
        hits = [
            Hit(names[body], tuple(point), tuple(normal), fraction, fraction * length) if fraction <= 1.0 else None
            for body, point, normal, fraction, length in zip(
                met.bodies.tolist(), points.tolist(), met.normals.tolist(), met.fractions.tolist(), lengths.tolist(),
                strict=True,
            )
        ]  # fmt: skip
        if self._scene.among.others or pybullet.getNumBodies(self._client) > len(self._connection.bodies):
            self._before(hits, begin, stop, lengths)
        return hits

    def _before(self, hits: list[Hit | None], begin: np.ndarray, stop: np.ndarray, lengths: np.ndarray) -> None:
        """Put into ``hits`` what rays meet before these that Bullet alone knows. Of what is known it tells too, and now
        and then where there is nothing: behind that it is asked again."""
        assert self._scene is not None
        known, left, after, behind = self._scene.among.known, np.arange(len(begin)), np.zeros(len(begin)), _BEHIND
        while len(left):
            start = begin[left] + after[left, None] * (stop[left] - begin[left])
            again = []
            for k, (body, _, fraction, point, normal) in zip(left.tolist(), self._cast(start, stop[left]), strict=True):
                share, hit = after[k] + fraction * (1.0 - after[k]), hits[k]
                if body < 0 or (hit is not None and hit.fraction <= share):
                    continue
                if body not in known:
                    hits[k] = Hit(self._name(body), point, normal, share, share * lengths[k])
                    continue
                after[k] = share + behind / lengths[k]
                again += [k] if after[k] < 1.0 else []
            left, behind = np.array(again, dtype=int), 2.0 * behind  # it may tell of the same again and again

    def _told(self, begin: np.ndarray, stop: np.ndarray, lengths: np.ndarray) -> list[Hit | None]:
        """What Bullet tells."""
        return [
            Hit(self._name(body), point, normal, fraction, fraction * length) if body >= 0 else None
            for (body, _, fraction, point, normal), length in zip(
                self._cast(begin, stop), lengths.tolist(), strict=True
            )
        ]

    def _cast(self, begin: np.ndarray, stop: np.ndarray) -> list[tuple[int, int, float, Point, Point]]:
        """Bullet's answers."""
        found = list[tuple[int, int, float, Point, Point]]()
        self._catch_up()
        with self._connection.guard():
            for k in range(0, len(begin), RAYS):
                part = slice(k, k + RAYS)
                found += pybullet.rayTestBatch(begin[part].tolist(), stop[part].tolist(), physicsClientId=self._client)
        return found

    def overlapping(self, low: Sequence[float] | np.ndarray, high: Sequence[float] | np.ndarray) -> tuple[str, ...]:
        """Bodies whose own boxes along the world's axes meet that from low (3,) to high (3,), sorted by name."""
        corners = _vector("the box's low", low), _vector("the box's high", high)
        if (corners[0] > corners[1]).any():
            raise StateError(f"the box's low {corners[0].tolist()} must not lie above its high {corners[1].tolist()}")
        self._catch_up()
        with self._connection.guard():
            found = pybullet.getOverlappingObjects(*(c.tolist() for c in corners), physicsClientId=self._client) or ()
        return tuple(sorted({self._name(body) for body, _ in found}))

    def closest(self, a: str, b: str, distance: float) -> Nearest | None:
        """The nearest points of two bodies by name, or None if they are more than ``distance`` m apart.

        Filters of collisions do not count. Raises ModelError for unknown names, StateError for a bad distance.
        """
        if not 0.0 <= distance < math.inf:
            raise StateError(f"the distance to look within must be finite and not negative, in m, not {distance!r}")
        self._catch_up()
        with self._connection.guard():
            points = [
                point
                for i, j in product(self._ids(a), self._ids(b))
                if i != j
                for point in pybullet.getClosestPoints(i, j, distance, physicsClientId=self._client)
                if point[8] <= distance  # Bullet adds its margins to what it is asked for
            ]
        if not points:
            return None
        nearest = min(points, key=lambda point: point[8])
        return Nearest(*nearest[5:9])

    def _name(self, body: int) -> str:
        return self._connection.bodies.get(body) or of_bullet(body)

    def _ids(self, name: str) -> list[int]:
        names = self._connection.bodies
        ids = list(self._of.get(name, ())) or [body for body, known in names.items() if known == name]
        kind, _, number = name.partition(":")
        if not ids and kind == "bullet" and number.isdecimal():
            bodies = range(pybullet.getNumBodies(self._client))
            ids = [int(number)] if int(number) in {pybullet.getBodyUniqueId(k, self._client) for k in bodies} else []
        if not ids and name not in self._of:
            known = listed([f"'{body}'" for body in sorted({*self._of, *names.values()})])
            raise ModelError(f"there is no body '{name}'; the bodies are {known}, and Bullet's own 'bullet:<id>'")
        return ids


def queries_of(connection: Connection, bodies: MirroredBodies, whereabouts: Whereabouts) -> Queries:
    """Queries among the bodies of a scene where a simulation has them."""
    return Queries(connection, bodies.of, whereabouts.catch_up, SceneRays(bodies, lambda: whereabouts.poses))


def _vector(what: str, value: object) -> np.ndarray:
    return _points(what, [value])[0]


def _points(what: str, value: object) -> np.ndarray:
    """Finite points (n, 3). Raises StateError."""
    try:
        points = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise StateError(f"{what} must be numbers, not {value!r}") from None
    if points.size == 0 and points.ndim <= 2:
        points = points.reshape(0, 3)
    if points.ndim != 2 or points.shape[1] != 3:
        raise StateError(f"{what} must be of shape (3,), or (n, 3) for many, not {points.shape}")
    if not np.isfinite(points).all():
        raise StateError(f"{what} must be finite; a coordinate is NaN or infinite")
    return points

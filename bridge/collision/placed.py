"""The scene's bodies in Bullet, put where they are: those that moved, and only those that something can meet or see."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.collision.placing import Placing, has_moved, note_due
from bridge.collision.routes import Route

# Bullet drops a point that has drifted by this share of the smaller body's radius (its contactBreakingThreshold); a
# detection replaces it, but not all of several at once. Two bodies may have moved towards each other.
_FORGIVEN = 0.5 * 0.02


class Placed:
    """rows: of all Bullet bodies with shapes; bare: of those without, which serve only who asks Bullet for their poses.

    ``shared``: whether Bullet's contacts may change by what others move, so that nothing is known of them.
    """

    def __init__(self, bodies: MirroredBodies) -> None:
        self._bodies, self._version = bodies, -1
        self.shared = False
        self._rows = self._bare = _placing(bodies, ())

    @property
    def rows(self) -> Placing:
        """As things are; other arrays once bodies came or went."""
        if self._version != self._bodies.version:
            bodies = self._bodies
            all_ids = [body for ids in bodies.of.values() for body in ids]
            self._rows = _placing(bodies, (body for body in all_ids if body not in bodies.bare))
            self._bare = _placing(bodies, (body for body in all_ids if body in bodies.bare))
            self._version = bodies.version
        self._rows.forgiven[0] = -1.0 if self.shared else _FORGIVEN * self._bodies.smallest
        return self._rows

    def forget(self) -> None:
        """Bullet's bodies may be anywhere: all are put where they belong next time."""
        for placing in (self.rows, self._bare):
            placing.poses[:] = placing.seen[:] = np.nan

    def put(self, route: Route, poses: np.ndarray, twists: np.ndarray) -> None:
        """Let bodies with shapes stand at poses (nb, 4, 4), with twists (nb, 6)."""
        _put(route, self.rows, poses, twists)

    def put_bare(self, route: Route, poses: np.ndarray, twists: np.ndarray) -> None:
        """Let bodies without shapes stand there too."""
        _ = self.rows
        _put(route, self._bare, poses, twists)

    def moved(self) -> bool:
        """Whether a body went farther since this was asked last than what Bullet remembers of it can bear."""
        return has_moved(self.rows)


def _put(route: Route, placing: Placing, poses: np.ndarray, twists: np.ndarray) -> None:
    count = note_due(placing, poses, twists)
    if count:
        route.place(placing, count)


def _placing(bodies: MirroredBodies, ids: Iterable[int]) -> Placing:
    number = {body: k for k, own in enumerate(bodies.of.values()) for body in own}
    kept = np.array([*ids], dtype=np.int64)
    own, n = np.array([number[body] for body in kept.tolist()], dtype=np.int64), len(kept)
    unknown, extent = np.full((n, 4, 4), np.nan), np.append(bodies.reach[:, 2], 0.0)[own]
    return Placing(
        kept, own, unknown, np.zeros((n, 4)), np.zeros((n, 6)), np.zeros(n, dtype=np.int64), unknown.copy(),
        np.ascontiguousarray(extent), np.zeros(1),
    )  # fmt: skip

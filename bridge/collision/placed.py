"""The scene's bodies in Bullet, put where they are: those that moved, and only those that something can meet or see."""

from __future__ import annotations

import numpy as np

from bridge.bodies.mirrored_bodies import MirroredBodies
from bridge.collision.placing import Placement, Placing, placing_of

# Bullet drops a point that has drifted by this share of the smaller body's radius (its contactBreakingThreshold); a
# detection replaces it, but not all of several at once. Two bodies may have moved towards each other.
_FORGIVEN = 0.5 * 0.02


class Placed:
    """Where Bullet's bodies belong: ``solid``, those with shapes, and ``bare``, whose poses only Bullet can tell."""

    def __init__(self, bodies: MirroredBodies) -> None:
        self._bodies, self._version = bodies, -1
        self._shared = True
        nowhere = np.zeros((0, 4, 4)), np.zeros((0, 6))
        self.solid = self.bare = Placement(placing_of((), (), ()), *nowhere)

    def at(self, poses: np.ndarray, twists: np.ndarray) -> Placement:
        """Let bodies belong where poses (nb, 4, 4) and twists (nb, 6) say, also when these arrays change: ``solid``."""
        bodies = self._bodies
        if self._version != bodies.version:
            ids = [body for own in bodies.of.values() for body in own]
            self.solid = Placement(self._placing([k for k in ids if k not in bodies.bare]), poses, twists)
            self.bare = Placement(self._placing([k for k in ids if k in bodies.bare]), poses, twists)
            self._version = bodies.version
            self.share(self._shared)
        elif poses is not self.solid.poses or twists is not self.solid.twists:
            self.solid = self.solid._replace(poses=poses, twists=twists)
            self.bare = self.bare._replace(poses=poses, twists=twists)
        return self.solid

    def forget(self) -> None:
        """Bullet's bodies may be anywhere: all are put where they belong next time, and looked at twice."""
        for placement in (self.solid, self.bare):
            placement.placing.poses[:] = np.nan
        self.forget_seen()

    def forget_seen(self) -> None:
        """Bullet must look twice next time."""
        self.solid.placing.seen[:] = np.nan

    def share(self, shared: bool) -> None:
        """Whether Bullet's contacts may change by what others move, so that it must always look twice."""
        self._shared = shared
        self.solid.placing.forgiven[0] = -1.0 if shared else _FORGIVEN * self._bodies.smallest

    def _placing(self, ids: list[int]) -> Placing:
        number = {body: k for k, own in enumerate(self._bodies.of.values()) for body in own}
        own = [number[body] for body in ids]
        return placing_of(ids, own, self._bodies.reach[own, 2].tolist())

"""Bullet's bodies where a simulation's are: at once where someone may see them, else when they are asked for."""

from __future__ import annotations

import numpy as np

from bridge.collision.bullet_surroundings import BulletSurroundings
from bridge.connection import Connection
from recursive_dyn.simulation.moving import Moving
from recursive_dyn.simulation.surroundings import Surrounded


class Whereabouts:
    """``poses`` (nb, 4, 4) of the simulation's bodies at its present state, and Bullet's bodies there.

    A look for contacts puts Bullet's bodies where it needs them. So they are put where a step ended only if someone may
    see them there without a word to the mirror: in a connection that is the caller's, or whose number was told, in a
    window, or beside bodies that Bullet has of its own. Those without shapes nothing can meet or see: they follow where
    Bullet may be asked for them by number. Else ``catch_up`` puts them there, and where they are once somebody wrote to
    the state.

    behind: whether the simulation went on, and where it got to is yet to be read.
    """

    def __init__(self, sim: Moving, connection: Connection, surroundings: BulletSurroundings) -> None:
        self._sim, self._connection = sim, connection
        self._feeling = sim if isinstance(sim, Surrounded) else None
        self._told, self._seen = not connection.owned, connection.window or not connection.owned
        self._surroundings = surroundings
        self.renew()

    def renew(self) -> None:
        """There are other bodies now."""
        count = len(self._sim.dynamics.bodies)
        self._numbers = np.empty(22 * count)
        self._poses = self._numbers[: 16 * count].reshape(count, 4, 4)
        self._twists = self._numbers[16 * count :].reshape(count, 6)
        self.behind = True

    @property
    def watched(self) -> bool:
        """Whether someone may look at Bullet's bodies at any time."""
        return self._seen or self._surroundings.shared

    @property
    def poses(self) -> np.ndarray:
        """Poses at the simulation's present state; Bullet's bodies are late where they were mirrored elsewhere."""
        if self.behind or self._feeling is None or not np.array_equal(self._numbers, self._feeling.present.frames):
            self._read()
        return self._poses

    def tell(self) -> None:
        """Someone learns by which numbers Bullet can be asked."""
        if not self._told:
            self._told = self._seen = True
            with self._connection.guard():
                self._surroundings.place(self.poses, self._twists)

    def present(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses and twists at the simulation's present state, in arrays that stay where they are."""
        self._read()
        if self._feeling is None:
            return self._poses, self._twists
        present = self._feeling.present
        return present.poses, present.twists

    def went_on(self) -> None:
        """The simulation's bodies are elsewhere: Bullet's are put there when someone asks."""
        self._surroundings.late = self.behind = True

    def _read(self) -> None:
        self._surroundings.late = True
        if self._feeling is None:
            self._poses[:], self._twists[:] = self._sim.frames()
        else:
            np.copyto(self._numbers, self._feeling.present.frames)
        self.behind = False

    def follow(self, anew: bool = False) -> None:
        """Put Bullet's bodies where the simulation's are: those that moved, or all of them ``anew``."""
        self._read()
        self._surroundings.place(self._poses, self._twists, self._told or anew, anew)

    def catch_up(self) -> None:
        """Put Bullet's bodies where the simulation has them, if that is yet to be done."""
        poses = self.poses
        if self._surroundings.late:
            with self._connection.guard():
                self._surroundings.place(poses, self._twists, self._told)

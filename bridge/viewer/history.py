"""States that a simulation went through, to go back to."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from bridge.collision.bullet_surroundings import BulletSurroundings
from recursive_dyn.simulation.moving import Moving
from recursive_dyn.simulation.surroundings import PlainDetector

LONGEST = 20_000  # states kept; the oldest half goes when there are more
ROOM = 200e6  # bytes that they may take
FEWEST = 100


@runtime_checkable
class Playable(Moving, Protocol):
    """What a viewer shows: a Simulation, or a motion on a manifold."""

    q: np.ndarray
    v: np.ndarray
    time: float
    timestep: float

    def snapshot(self) -> Any:
        """A copy of the whole state."""
        ...

    def restore(self, snapshot: Any) -> None:
        """Return to it."""
        ...


class Timeline(Protocol):
    """States by number, ``at`` the present one's: of a simulation's past, or of a recording."""

    @property
    def at(self) -> int: ...

    def note(self) -> None:
        """Go on from the present state."""
        ...

    def seek(self, number: int) -> None:
        """Return to a state by its number, or the nearest there is."""
        ...

    def __len__(self) -> int: ...


class _Bare(NamedTuple):
    """A state without what the solver and Bullet remember of contacts; others: those of Bullet's own free bodies."""

    q: np.ndarray
    v: np.ndarray
    time: float
    others: Sequence[tuple[Any, ...]]


class History:
    """States by number, and the number ``at`` of the present one.

    What follows a state that was returned to is the same to the last bit, unless a mirror lets the simulation feel
    Bullet's bodies: whole snapshots would make Bullet forget its contacts in every step, so that of such a one the
    state alone is kept, q, v and time, and where Bullet's own free bodies were.
    """

    def __init__(self, moving: Playable) -> None:
        self._moving = moving
        self._dynamics = moving.dynamics
        self._states: list[Any] = []
        self.times: list[float] = []
        self.at = -1
        self._most = int(min(LONGEST, max(FEWEST, ROOM / len(pickle.dumps(self._kept())))))
        self.note()

    def note(self) -> None:
        """The simulation has gone on to its present state; what had followed the last one is forgotten."""
        if self._moving.dynamics is not self._dynamics:  # the scene was edited: earlier states are of another
            self._dynamics, self.at = self._moving.dynamics, -1
        del self._states[self.at + 1 :], self.times[self.at + 1 :]
        if len(self._states) >= self._most:
            del self._states[1 : self._most // 2], self.times[1 : self._most // 2]  # the first is what reset returns to
        self._states.append(self._kept())
        self.times.append(self._moving.time)
        self.at = len(self._states) - 1

    def seek(self, number: int) -> None:
        """Return to a state by its number, or the nearest there is; where the scene was edited since, to none."""
        if self._moving.dynamics is not self._dynamics:
            self.note()
            return
        self.at = max(0, min(number, len(self._states) - 1))
        state = self._states[self.at]
        if isinstance(state, _Bare):
            self._moving.q, self._moving.v = state.q, state.v
            self._moving.time = state.time
            if isinstance(around := self._around, BulletSurroundings):
                around.return_to(state.others)
        else:
            self._moving.restore(state)

    def __len__(self) -> int:
        return len(self._states)

    @property
    def _around(self) -> object:
        return getattr(self._moving, "surroundings", None)

    def _kept(self) -> Any:
        around = self._around
        if isinstance(around, PlainDetector | None):
            return self._moving.snapshot()
        others = around.free_states() if isinstance(around, BulletSurroundings) else ()
        return _Bare(self._moving.q.copy(), self._moving.v.copy(), self._moving.time, others)

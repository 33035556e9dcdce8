"""A simulation by the clock: running or paused, faster or slower, a step ahead or back."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from bridge.viewer.history import History, Playable, Timeline
from recursive_dyn.errors import StateError

LONGEST = 0.1  # s that pass at most between two frames: after a pause of the machine nothing is made up for
BUSY = 0.08  # s of computing a frame; what is not done by then is left out, and time goes slower
SLOWEST, FASTEST = 1 / 64, 64.0


class Playback:
    """Steps a simulation as time passes; ``before`` are called ahead of every timestep, ``step`` takes one.

    speed: 1 for real time; behind: whether the last frame could not keep up. Each step's state is in ``history``.
    live: whether bodies can be pushed and coordinates set, unlike those of a recording.
    """

    live = True

    def __init__(
        self, moving: Playable, step: Callable[[], object] | None = None, history: Timeline | None = None
    ) -> None:
        self.moving = moving
        self.before: list[Callable[[], object]] = []
        self._step = moving.step if step is None else step
        self.history = History(moving) if history is None else history
        self.paused, self.behind = False, False
        self._speed, self._owed = 1.0, 0.0

    @property
    def speed(self) -> float:
        """Simulated seconds a second, within SLOWEST and FASTEST."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        if not (isinstance(value, (int, float)) and 0.0 < value < math.inf):
            raise StateError(f"speed is a number of simulated seconds a second, above 0, not {value!r}")
        self._speed = min(max(float(value), SLOWEST), FASTEST)

    def advance(self, elapsed: float) -> int:
        """Take the steps of ``elapsed`` s of real time, unless paused; their number. Longer times count as LONGEST.

        Raises StateError for a time that is negative or not finite.
        """
        check_elapsed(elapsed)
        self.behind = False
        if self.paused:
            return 0
        self._owed += min(elapsed, LONGEST) * self._speed
        due = int(self._owed / self.moving.timestep + 1e-9)
        start = time.perf_counter()
        for done in range(due):
            if time.perf_counter() - start > BUSY:
                self.behind, self._owed = True, 0.0
                return done
            self.one()
        self._owed = max(0.0, self._owed - due * self.moving.timestep)
        return due

    def one(self) -> None:
        """One timestep ahead."""
        for act in self.before:
            act()
        self._step()
        self.history.note()

    def back(self) -> None:
        """One timestep back; at the first one kept, nothing."""
        self.seek(self.history.at - 1)

    def reset(self) -> None:
        """To the state at the start."""
        self.seek(0)

    def seek(self, number: int) -> None:
        """To a state of the history, by its number."""
        self.history.seek(number)
        self._owed = 0.0

    @property
    def share(self) -> float:
        """Where in the history it is, from 0 to 1."""
        return self.history.at / max(1, len(self.history) - 1)

    def scrub(self, share: float) -> None:
        """To a place in the history, from 0 to 1."""
        self.seek(round(share * (len(self.history) - 1)))


def check_elapsed(elapsed: float) -> None:
    """Raise StateError for a time between frames that is negative or not finite."""
    if not (isinstance(elapsed, (int, float)) and 0.0 <= elapsed < math.inf):
        raise StateError(f"frame time must be a finite number of seconds that is not negative, not {elapsed!r}")

"""Fixed timesteps out of frames of any length."""

from __future__ import annotations

import math
import warnings

from recursive_dyn.errors import StateError
from recursive_dyn.simulation.state import checked_timestep, real, whole

MUCH = 1.0  # s that a frame leaves out: who gives milliseconds, or stood still, wonders where the time went


class FrameClock:
    """How many timesteps are due, s: what frames brought is kept until it makes a step.

    most_steps: a frame; what would take more is left out, and ``dropped`` (s of simulated time) counts it, so that a
    slow machine shows slow motion rather than frames that take ever longer; a frame that leaves out more than MUCH is
    told of, once, in a warning. paused: nothing is due. time_scale:
    simulated seconds a second.
    """

    def __init__(self, timestep: float, most_steps: int) -> None:
        self.timestep = checked_timestep(timestep)
        try:
            self.most_steps = whole(most_steps)
        except StateError:
            self.most_steps = 0
        if not self.most_steps:
            raise StateError(
                f"most_steps is the whole number of steps a frame may take, at least 1: not {most_steps!r}"
            )
        self.paused, self.dropped = False, 0.0
        self._scale, self._owed, self._told = 1.0, 0.0, False

    @property
    def time_scale(self) -> float:
        """Simulated seconds a second: 1 for real time, 0 stands still."""
        return self._scale

    @time_scale.setter
    def time_scale(self, value: float) -> None:
        scale = real(value)
        if not 0.0 <= scale < math.inf:
            raise StateError(f"time_scale is a finite number of simulated seconds a second, not below 0: not {value!r}")
        self._scale = scale

    @property
    def fraction(self) -> float:
        """How far now is from the last step to the next one, 0 to 1."""
        return min(self._owed / self.timestep, 1.0)

    def due(self, frame_time: float) -> int:
        """The timesteps that a frame of so many seconds brings; StateError unless that is finite and not negative."""
        elapsed = real(frame_time)
        if not 0.0 <= elapsed < math.inf:
            raise StateError(f"frame time must be a finite number of seconds that is not negative, not {frame_time!r}")
        if self.paused:
            return 0
        owed = self._owed + elapsed * self._scale
        if not owed < math.inf:
            raise StateError(f"a frame of {frame_time!r} s at a time_scale of {self._scale:g} has no end")
        count = int(owed / self.timestep + 1e-9)
        self._owed = max(0.0, owed - count * self.timestep)
        if self._owed > self.timestep:  # of so long a frame that rounding is longer than a step
            self._owed = 0.0
        taken = min(count, self.most_steps)
        left = (count - taken) * self.timestep
        self.dropped += left
        if left > MUCH and not self._told:
            self._told = True
            warnings.warn(
                f"a frame of {elapsed:g} s leaves out {left:.3g} s of simulated time, as it takes most_steps="
                f"{self.most_steps} at most; frames are in seconds, 1 / 60 where there are 60 a second. plugin.dropped"
                " counts what frames leave out; this is told once",
                stacklevel=3,
            )
        return taken

    def restart(self) -> None:
        """Nothing is owed: now is the last step."""
        self._owed = 0.0

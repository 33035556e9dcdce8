"""A recording by the clock: running or paused, faster or slower, anywhere in it."""

from __future__ import annotations

from bridge.viewer.playback import LONGEST, Playback, check_elapsed
from recursive_dyn.simulation.recording import Recording, Replay
from scene import Scene


class RecordedFrames:
    """The frames of a recording as a playback's history; there is nothing to add to them."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay

    @property
    def at(self) -> int:
        """The frame that is shown, or the last one before it."""
        return self._replay.frame

    def note(self) -> None:
        """A recording stays as it is."""

    def seek(self, number: int) -> None:
        """To a frame, or the nearest there is."""
        self._replay.seek(float(self._replay.recording.time[max(0, min(number, len(self) - 1))]))

    def __len__(self) -> int:
        return len(self._replay.recording)


class Replaying(Playback):
    """Plays a recording as time passes, between its frames too; at its end it pauses, and then starts over."""

    live = False

    def __init__(self, replay: Replay) -> None:
        super().__init__(replay.simulation, replay.step, RecordedFrames(replay))
        self._replay = replay
        self._start, self._end = replay.recording.time[[0, -1]].tolist()

    def advance(self, elapsed: float) -> int:
        """Show what was ``elapsed`` s of real time later, unless paused; by how many frames."""
        check_elapsed(elapsed)
        if self.paused:
            return 0
        if self._replay.time >= self._end:
            self._replay.seek(self._start)
        before = self._replay.frame
        self._replay.seek(self._replay.time + min(elapsed, LONGEST) * self.speed)
        self.paused = self._replay.time >= self._end
        return self._replay.frame - before

    def one(self) -> None:
        """One frame ahead."""
        self._replay.step()

    @property
    def share(self) -> float:
        """Where in the recording it is, from 0 to 1."""
        return (self._replay.time - self._start) / max(self._end - self._start, 1e-12)

    def scrub(self, share: float) -> None:
        """To a time in the recording, from 0 to 1."""
        self._replay.seek(self._start + share * (self._end - self._start))


def replaying(scene: Scene, recording: Recording) -> Replaying:
    """A playback of the recording, by bodies of the scene. ModelError where the recording is of another one."""
    return Replaying(Replay(recording, scene.compile()))

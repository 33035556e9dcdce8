"""A recorded motion gone through again, between its frames too."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.kept.memory import Memory
from recursive_dyn.simulation.recording.pose_track import PoseTrack
from recursive_dyn.simulation.recording.recording import Recording
from recursive_dyn.simulation.simulation import Simulation
from recursive_dyn.simulation.state import Snapshot, checked_time, whole


class Replay:
    """A recording in bodies that somebody compiled: ``simulation`` is where the recording was at ``time``.

    dynamics: of the recorded scene, ``scene.compile()``; ModelError, which names the first difference, for another one.
    Between two frames q follows the tangent from one to the next, q0 + s (q1 - q0) on the space that it lives on, and
    v is a weighted mean; across a change of parameters, a chart's among them, the earlier frame stays. ``simulation``
    knows the contacts and impulses of the last frame. Nothing is computed anew, so that this takes the place of a
    simulation in pictures: ``step`` goes on by frames.
    """

    def __init__(self, recording: Recording, dynamics: Dynamics) -> None:
        for given, kind in ((recording, Recording), (dynamics, Dynamics)):
            if not isinstance(given, kind):
                raise ModelError(f"a replay is of a Recording and scene.compile(), not of {type(given).__name__}")
        names = recording.names
        for what, known, own in (
            ("bodies", names.bodies, dynamics.bodies), ("coordinates", names.coordinates, dynamics.coordinates),
            ("parameters", names.parameters, tuple(dynamics.parameters)),
        ):  # fmt: skip
            if known != own:
                pairs = zip((*known, "nothing"), (*own, "nothing"), strict=False)
                first = next(((a, b) for a, b in pairs if a != b), ("", ""))
                raise ModelError(f"the recording is of another scene: of its {what} '{first[0]}' is '{first[1]}' here")
        self.recording = recording
        self.simulation = Simulation(dynamics, recording.timestep)
        self._frame = 0
        self.seek(float(recording.time[0]))

    @property
    def dynamics(self) -> Dynamics:
        """Of the simulation."""
        return self.simulation.dynamics

    @property
    def time(self) -> float:
        """Where the recording is, s; assign to go there."""
        return self.simulation.time

    @time.setter
    def time(self, value: float) -> None:
        self.seek(value)

    @property
    def frame(self) -> int:
        """Number of the frame that is shown, or of the last one before the time."""
        return self._frame

    def seek(self, time: float) -> None:
        """Go to a time, s, or to the first or last frame for one beyond. StateError for what is no finite number."""
        given = checked_time(time)
        r, sim = self.recording, self.simulation
        at = np.clip(given, r.time[:1], r.time[-1:])
        self._frame = r.frame_at(float(at[0]))
        q, v = self.states(at)
        memory = Memory(sim.dynamics)
        contacts = r.contacts(self._frame)
        memory.contacts.fill(contacts)
        for told in (memory.contacts.table.impulses, memory.contacts.table.felt):
            told[: len(contacts)] = contacts.impulse
        parameters = r.parameters[self._frame].copy()
        sim.restore(Snapshot(q[0], v[0], np.zeros(len(v[0])), float(at[0]), 0.0, parameters, (), memory, ()))

    def step(self, count: int = 1) -> None:
        """Go on by so many frames, at most to the last."""
        self.seek(float(self.recording.time[min(self._frame + whole(count), len(self.recording) - 1)]))

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses (nb, 4, 4) and twists (nb, 6) of all bodies, as ``Simulation.frames``."""
        return self.simulation.frames()

    def states(self, times: Any) -> tuple[np.ndarray, np.ndarray]:
        """q (k, nq) and v (k, nv) at times (k,), s, of the recording's first and last frame where they are beyond.

        Raises StateError for what are no finite numbers (k,).
        """
        r, d = self.recording, self.simulation.dynamics
        times = self._within(times)
        k = np.maximum(np.searchsorted(r.time, times + 1e-12, side="right") - 1, 0)
        after = np.minimum(k + 1, len(r) - 1)
        span = r.time[after] - r.time[k]
        share = np.clip((times - r.time[k]) / np.where(span > 0.0, span, 1.0), 0.0, 1.0)
        share[(r.parameters[k] != r.parameters[after]).any(axis=1)] = 0.0
        q, v = r.q[k].copy(), r.v[k] + share[:, None] * (r.v[after] - r.v[k])
        for parameters, own in self._alike(k, share > 1e-9):
            d.parameters.values_array[:] = parameters
            q[own] = d.integrate(q[own], d.difference(q[own], r.q[after[own]]), share[own])
        return q, v

    def track(self, times: Any = None) -> PoseTrack:
        """Poses of all bodies at times (k,), s, that increase, or at every frame; StateError for other times."""
        r, d = self.recording, self.simulation.dynamics
        times = r.time if times is None else self._within(times)
        q, poses = self.states(times)[0], np.empty((len(times), len(d.bodies), 4, 4))
        k = np.maximum(np.searchsorted(r.time, times + 1e-12, side="right") - 1, 0)
        for parameters, own in self._alike(k, np.ones(len(times), dtype=bool)):
            d.parameters.values_array[:] = parameters
            poses[own] = d.poses(q[own])
        self.seek(self.time)
        return PoseTrack(d.bodies, times, poses)

    def _within(self, times: Any) -> np.ndarray:
        """Times (k,), those beyond the recording at its ends."""
        try:
            given = np.asarray(times, dtype=float)
        except (TypeError, ValueError):
            given = np.array(np.nan)
        if given.ndim != 1 or not np.isfinite(given).all():
            raise StateError(f"times are finite numbers (k,) of seconds, not {times!r}")
        return np.clip(given, self.recording.time[0], self.recording.time[-1])

    def _alike(self, frames: np.ndarray, chosen: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Each set of parameters among chosen frames, and which of them have it."""
        if not chosen.any():
            return []
        rows = np.flatnonzero(chosen)
        values, kind = np.unique(self.recording.parameters[frames[rows]], axis=0, return_inverse=True)
        return [(values[j], rows[kind.reshape(-1) == j]) for j in range(len(values))]

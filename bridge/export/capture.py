"""What a mirror shows over time: the scene's bodies, Bullet's own, and what was drawn."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np

from bridge.picture.shown import Shown, View
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.moving import Moving
from recursive_dyn.simulation.recording import PoseTrack


@runtime_checkable
class Mirror(View, Protocol):
    """Whoever shows a simulation, or what else moves."""

    @property
    def sim(self) -> Moving:
        """What moves."""
        ...


class Capture:
    """Keeps all that a mirror shows whenever ``note`` is called: of it ``export_gltf`` and ``Player`` make a film.

        capture = bridge.Capture(mirror)
        for _ in range(150):
            mirror.step(8)
            capture.note()
        bridge.Player(scene, capture).save("motion.html")

    Bodies that come later stand at first where they came; raises StateError where one goes, and for what is no mirror.
    """

    def __init__(self, mirror: Mirror) -> None:
        if not isinstance(mirror, Mirror):
            raise StateError(f"a capture keeps what a mirror shows, not {type(mirror).__name__}")
        self._mirror = mirror
        self._times: list[float] = []
        self._poses: list[np.ndarray] = []
        self.note()

    def note(self) -> None:
        """Keep the present moment; nothing if time has not gone on since the last one."""
        sim = self._mirror.sim
        if self._times and sim.time <= self._times[-1]:
            return
        shown = self._mirror.shown(sim.frames()[0])
        if self._poses and len(shown.poses) < len(self._poses[-1]):
            raise StateError("a body of Bullet's went while it was captured; make another Capture")
        self.seen: Shown = shown
        self._times.append(sim.time)
        self._poses.append(np.array(shown.poses))

    def track(self) -> PoseTrack:
        """Where all that is seen was, over time; Bullet's bodies are named "bullet 1" and so on."""
        known = tuple(self._mirror.sim.dynamics.bodies)
        last = self._poses[-1].copy()
        whole = []
        for poses in reversed(self._poses):
            last[: len(poses)] = poses
            whole.append(last.copy())
        names = known + tuple(f"bullet {k + 1}" for k in range(len(last) - len(known)))
        return PoseTrack(names, np.array(self._times), np.array(whole[::-1]))

"""What a panel plots: energies and coordinates of the last steps, and how long frames took."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from bridge.viewer.playback import Playback
from bridge.viewer.sliders import Slider
from recursive_dyn.simulation.simulation import Simulation

SAMPLES = 240  # of a curve


class LastMoments:
    """The last SAMPLES values of each, by name: energy in J, coordinates, frames in ms."""

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self.energy: dict[str, deque[float]] = {name: deque(maxlen=SAMPLES) for name in ("kinetic", "potential", "all")}
        self.coordinates: dict[str, deque[float]] = {}
        self.frames: deque[float] = deque(maxlen=SAMPLES)
        self._noted = np.nan

    def note(self, times: Sequence[float], plotted: Sequence[Slider]) -> None:
        """Another point of each, once a moment; times: of the last frames, s."""
        if len(times) > 1:
            self.frames.append(1e3 * (times[-1] - times[-2]))
        moving = self._playback.moving
        if not isinstance(moving, Simulation) or moving.time == self._noted:
            return
        d, q, v = moving.dynamics, moving.q, moving.v
        kinetic, potential = float(d.kinetic_energy(q, v)), float(d.potential_energy(q) + d.elastic_energy(q))
        for name, value in (("kinetic", kinetic), ("potential", potential), ("all", kinetic + potential)):
            self.energy[name].append(value)
        self.coordinates = {s.caption: self.coordinates.get(s.caption, deque(maxlen=SAMPLES)) for s in plotted}
        for slider in plotted:
            self.coordinates[slider.caption].append(slider.read())
        self._noted = moving.time

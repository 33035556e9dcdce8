"""A state that is given by where a body is and how it moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.simulation.edits.joint_edits import put
from recursive_dyn.simulation.flying.chart_switching import Charts
from recursive_dyn.simulation.saved.snapshots import Snapshots
from recursive_dyn.simulation.state import State


class PlacedState(Snapshots):
    """A simulation whose bodies can be put somewhere."""

    _charts: Charts | None

    def place(self, body: Any, pose: Any = None, velocity: Any = None) -> None:
        """Let a body, or the one of that name, be at ``pose`` (4, 4) of the world and move with ``velocity`` (6,).

        q and v become the nearest, in the metric of M, that do this, meet the constraints and keep to limits.
        velocity: [omega; v] of the body's origin, world axes; NaN where any number will do. ModelError for an unknown
        body; StateError naming it where its joints, limits or the constraints do not let it be there, or move so; then
        nothing has changed. Where it comes to a pole of a joint's chart it may be expressed in another one.
        """
        memory, values = self._timesteps.memory.arrays, self._dynamics.parameters.values_array
        kept = values.copy(), self._tau.copy()
        try:
            put(self._dynamics, self._state, memory.joints, body, pose, velocity, self._rechart)
        except BaseException:
            values[:], self._tau[:] = kept
            raise
        if (values != kept[0]).any():
            memory.acted[:] = 0.0

    def _rechart(self, q: np.ndarray, v: np.ndarray) -> bool:
        """Express joint coordinates, in place, in better charts; whether there are any."""
        if self._charts is None:
            return False
        tau = self._tau if len(self._tau) == len(v) else np.zeros(len(v))
        return Charts.improve(self._charts, State(q, v, self.time), tau)  # of joints, between free bodies, too

"""A state that is given by where a body is and how it moves."""

from __future__ import annotations

from typing import Any

from recursive_dyn.simulation.edits.joint_edits import put
from recursive_dyn.simulation.saved.snapshots import Snapshots


class PlacedState(Snapshots):
    """A simulation whose bodies can be put somewhere."""

    def place(self, body: Any, pose: Any = None, velocity: Any = None) -> None:
        """Let a body, or the one of that name, be at ``pose`` (4, 4) of the world and move with ``velocity`` (6,).

        q and v become the nearest, in the metric of M, that do this, meet the constraints and keep to limits.
        velocity: [omega; v] of the body's origin, world axes; NaN where any number will do. ModelError for an unknown
        body; StateError naming it where its joints, limits or the constraints do not let it be there, or move so; then
        nothing has changed.
        """
        put(self._dynamics, self._state, self._timesteps.memory.arrays.joints, body, pose, velocity)

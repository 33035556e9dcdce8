"""Where a simulation's bodies are at its present state, in arrays that stay where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics


class Present:
    """poses (nb, 4, 4), twists (nb, 6): of all bodies at the last state given to ``update``, as ``Dynamics`` has them;
    start_twists (nb, 6): those at the start of the step, or part of one, that is being taken. To be read only.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        count = len(dynamics.bodies)
        self.poses, self.twists, self.start_twists = np.zeros((count, 4, 4)), np.zeros((count, 6)), np.zeros((count, 6))
        self._dynamics = dynamics
        self._state: bytes | None = None

    def __reduce__(self) -> Any:
        return Present, (self._dynamics,)

    def update(self, q: np.ndarray, v: np.ndarray) -> None:
        """Be at q (nq,), v (nv,) and the dynamics' present parameters."""
        state = q.tobytes() + v.tobytes() + self._dynamics.parameters.values_array.tobytes()
        if state != self._state:
            self.poses[:], self.twists[:] = self._dynamics.poses(q), self._dynamics.velocities(q, v)
            self._state = state

    def begin(self, q: np.ndarray, v: np.ndarray) -> None:
        """A step starts at q, v."""
        self.update(q, v)
        self.start_twists[:] = self.twists

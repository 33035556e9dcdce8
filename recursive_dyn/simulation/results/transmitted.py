"""What the scene's constraints transmit, under all that acts beside them."""

from __future__ import annotations

import numpy as np

from recursive_dyn.simulation.results.acting_forces import acting
from recursive_dyn.simulation.results.step_results import StepResults


class Transmitted(StepResults):
    """What a simulation tells of its constraints."""

    @property
    def multipliers(self) -> np.ndarray:
        """Lagrange multipliers (m,) of the scene's constraints at the present state: M a + bias = forces + C^T these.

        N, or N m, where a row measures m, or rad. The forces are ``tau`` as it is now, those of joints' springs and
        dampers and of force elements, and of the last step, as it ended (impulses over the step's length): what motors,
        dry friction, limits and contacts gave, and ``apply_force`` and hands; as ``sensors`` have them.
        """
        now = acting(self, self._tau)
        pushed = now.dynamics.call("external_forces", now.q, now.wrenches.reshape(-1)) if now.wrenches.any() else 0.0
        return now.dynamics.multipliers(now.q, now.v, now.tau + pushed)

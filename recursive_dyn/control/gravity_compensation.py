"""Gravity compensation: the forces that hold a configuration still."""

from __future__ import annotations

import numpy as np

from recursive_dyn.control.controller import Controller

Array = np.ndarray


class GravityCompensation(Controller):
    """tau = dU/dq of gravity; joint springs are left to do what they do.

    On a floating base it is what the joints would need if the base were held.
    """

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        return self.dynamics.gravity(q)

"""Computed torque control: inverse dynamics of the acceleration with which the error decays as designed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.control.controller import ConfigurationController
from recursive_dyn.control.driven_acceleration import DrivenAcceleration
from recursive_dyn.control.gains import decay_gains
from recursive_dyn.control.tracking_error import Tracking
from recursive_dyn.dynamics.dynamics import Dynamics

Array = np.ndarray


class ComputedTorque(ConfigurationController):
    """tau with which e'' = -kd e' - kp e exactly, for e = difference(q, q of the target), rotations included.

    Luh, Walker & Paul 1980, Resolved-acceleration control of mechanical manipulators. kp, 1/s^2, kd, 1/s: numbers or
    (nv,); what is None follows from a frequency, Hz (2), and a damping ratio (1). The joints' dampers and springs are
    taken off, dry friction is not; a step of length h follows that to O(h).

    What is not driven cannot be told where to go: it moves as it must while the driven coordinates do exactly as
    designed (partial feedback linearisation: Spong 1994). ``uncontrolled`` names those coordinates, ``shortfall`` (nv,)
    is the acceleration that was wanted and is not had, at the last call. What time or a prescription leads is neither:
    its acceleration is known, and taken off. With constraints, what these leave is done.
    """

    def __init__(
        self, dynamics: Dynamics, q: Any = None, v: Any = None, a: Any = None, *, kp: Any = None, kd: Any = None,
        frequency: Any = None, damping_ratio: Any = None, actuated: Iterable[str] | None = None, limits: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(dynamics, q, v, a, actuated, limits)
        self.kp, self.kd = decay_gains(dynamics.nv, kp, kd, frequency, damping_ratio)
        self._tracking, self._driven = Tracking(dynamics), DrivenAcceleration(dynamics, self.drives)
        self.shortfall = np.zeros(dynamics.nv)

    @property
    def uncontrolled(self) -> tuple[str, ...]:
        """Names of the velocity coordinates that neither are driven nor move as told."""
        return self.drives.idle

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        seen = self._tracking.look(q, v, self.target.at(time))
        wanted = seen.accelerations(-self.kd * seen.rate - self.kp * seen.error)
        tau, a = self._driven.forces(q, v, wanted)
        self.shortfall = np.where(self.drives.led.mask, 0.0, wanted - a)
        return tau

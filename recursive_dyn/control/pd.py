"""Proportional-derivative control: a spring and a damper between a configuration and the one to follow."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.control.controller import ConfigurationController
from recursive_dyn.control.gains import spring_gains
from recursive_dyn.control.held_gains import LARGEST, asked_too_much
from recursive_dyn.control.tracking_error import Tracking
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError

Array = np.ndarray


class PD(ConfigurationController):
    """tau = A^T (kp e + kd e'), with e = difference(q, q of the target) and A = -de/dq, which is 1 but for rotations.

    kp e'e / 2 is then the energy of a spring on manifolds too: with gravity compensated no target that stands still can
    take up energy (Takegaki & Arimoto 1981, A new feedback method for dynamic control of manipulators; Bullo & Murray
    1995). kp, kd: N/m or N m/rad, N s/m or N m s/rad, numbers or (nv,), which may be changed; what is None is
    ``natural_gains`` of a frequency, Hz (10), and damping ratio (1), at the target of time 0. Follows the target by
    its velocity, not its acceleration.

    Held over a timestep h it is stable for h kd + h^2 kp / 2 < 2 M only, of the least inertia M that any motion of
    these coordinates has, which may be far below what each carries alone; ``StablePD`` has no such bound. A simulation
    whose timestep is longer gets a StateError, or a RuntimeWarning if both gains were given: contacts may hold what
    the model alone does not. Raises StateError for gains that are negative or given twice.
    """

    def __init__(
        self, dynamics: Dynamics, q: Any = None, v: Any = None, *, kp: Any = None, kd: Any = None,
        frequency: Any = None, damping_ratio: Any = None, actuated: Iterable[str] | None = None, limits: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(dynamics, q, v, None, actuated, limits)
        self.kp, self.kd = spring_gains(dynamics, self.target.at(0.0)[0], kp, kd, frequency, damping_ratio)
        self._tracking, self._given, self._held = Tracking(dynamics), kp is not None and kd is not None, 0.0

    def held_for(self, timestep: float) -> None:
        if timestep == self._held:
            return
        q, kp, kd = self.target.at(0.0)[0], *(np.where(self.drives.mask, gain, 0.0) for gain in (self.kp, self.kd))
        share, slot = asked_too_much(self.dynamics, q, kp, kd, timestep)
        if share >= LARGEST:
            message = (
                f"PD is not stable in timesteps of {timestep:.4g} s: at its target, h kd + h^2 kp / 2 is {share:.3g}"
                f" times the inertia of a motion, mostly of '{self.dynamics.velocity_coordinates[slot]}', and must stay"
                f" below {LARGEST:g}; take control.StablePD(dynamics, q, timestep={timestep:.4g}), which is stable with"
                " any gains, or smaller gains, or shorter timesteps"
            )
            if not self._given:
                raise StateError(message)
            warnings.warn(message, RuntimeWarning, stacklevel=2)
        self._held = timestep

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        seen = self._tracking.look(q, v, self.target.at(time))
        return seen.pulled(self.kp * seen.error + self.kd * seen.rate)

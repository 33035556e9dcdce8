"""Proportional-derivative control of any stiffness: its spring and damper act as at the end of the timestep.

    tau = kp (e - h v') + kd (v_d - v'),   v' = v + h a,   (M + h kd + h^2 kp) a = kp (e - h v) + kd (v_d - v) - bias

with e the error to the target of the step's end: Tan, Liu & Turk 2011, Stable proportional-derivative controllers, IEEE
Computer Graphics and Applications 31, with the spring at the step's end too. The solve is forward dynamics with h kd +
h^2 kp added to the diagonal of M, O(n), and includes the joints' own dampers and springs.

An integrator of higher order has them as the inertia that they are in this step, so that they fit whatever it finds:

    tau(a') = tau - (h kd + h^2 kp) (a' - a),   (M(Q) + h kd + h^2 kp) a' = kp (e - h v) + kd (v_d - v) - bias(Q, V)

at each of its stages Q, V. That is the same to first order, and stable as well; a force held as it is would meet other
inertias there than those it was made with. Contacts and limits meet that inertia too: their impulses change velocities
by (M + h kd + h^2 kp)^-1, as they do with motors, so that a robot stands on the ground as its springs hold it, which
the law, that knows nothing of the ground, foresees falling.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from recursive_dyn.control.controller import ConfigurationController
from recursive_dyn.control.gains import spring_gains
from recursive_dyn.control.joint_springs import JointSprings
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError

Array = np.ndarray


class StablePD(ConfigurationController):
    """As ``PD``, but stable for every kp and kd in steps of ``timestep`` s, which must be the simulation's.

    A semi-implicit Euler step of a simulation then ends at the velocity v' that the law foresees: as kp grows, at the
    target. In steps of the default rule springs and dampers of the law are of first order in the timestep, all else is
    of the rule's; the other rules hold the force, which bounds the gains as those of ``PD``. In a sum of controllers it
    knows what the others give. Contacts and stops of joints it answers at the step's end; limits of its own take it off
    that, not beyond its springs. The simulation's tau is, after a step, what it gave in the mean.
    On manifolds the way left is e - h v', so that a ball joint's kp should be the same in all directions.
    Raises StateError as PD does, and for a timestep that is not positive.
    """

    implicit = True

    def __init__(
        self, dynamics: Dynamics, q: Any = None, v: Any = None, *, timestep: float, kp: Any = None, kd: Any = None,
        frequency: Any = None, damping_ratio: Any = None, actuated: Iterable[str] | None = None, limits: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(dynamics, q, v, None, actuated, limits)
        if not (np.isreal(timestep) and 0.0 < timestep < np.inf):
            raise StateError(f"timestep must be a positive number of seconds, not {timestep!r}")
        self.timestep = float(timestep)
        self.kp, self.kd = spring_gains(dynamics, self.target.at(0.0)[0], kp, kd, frequency, damping_ratio)
        self._springs = JointSprings(dynamics.model)

    def forces(self, q: Array, v: Array, time: float, beside: Array) -> Array:
        h = self.timestep
        target, velocity, _ = self.target.at(time + h)
        kp, kd = np.where(self.drives.mask, self.kp, 0.0), np.where(self.drives.mask, self.kd, 0.0)
        tau = kp * (self.dynamics.difference(q, target) - h * v) + kd * (velocity - v)
        own, stiffening = self._springs.of_step(q, v, h)
        own += beside
        soft = h * kd + h * h * kp
        a = self.dynamics.call("loaded_accelerations", q, v, tau + own, soft + stiffening)
        self.load = soft, a
        return tau - soft * a

"""A hand on a point of a body: it leads the point to a target, softly, as hard as it may.

The point is to move as a damped spring would have it, x'' = -w^2 (x - target) - 2 z w x', whatever mass it finds there.
Taken at the step's end, so that no stiffness is too much for a step h, with all that the hand has to carry made up for,
which would have the point arrive at a velocity x'_0 (gravity, motion and other forces):

    (1 + 2 z w h + w^2 h^2) x'_1 = x' - w^2 h (x - target),    f = A^-1 (x'_1 - x'_0) / h,    A = J M^-1 J^T.

Directions in which the point gives way much less than in others are held with the mass of those that do. A target far
away pulls as one does towards which the spring would go at the greatest speed, w |x - target| / (2 z + w h).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.applied_forces import AppliedForce
from recursive_dyn.simulation.state import State, numbers, real

FREQUENCY, DAMPING, MAX_SPEED = 4.0, 1.0, 6.0  # Hz of the spring, of critical damping, m/s
_STIFFEST = 1e-3  # of the mobility of the direction that gives way most: less counts as that


class Grab:
    """A hand on ``point`` (3,) of a body's frame, as ``Simulation.grab`` makes one.

    target (3,): where it leads the point, m, world axes; force (3,): that it gave in the last step, N; frequency, Hz,
    damping, 1 is critical, max_force, N, and max_speed, m/s, may be changed while it holds. held: until ``release``, or
    until the body is no more.
    """

    def __init__(self, dynamics: Dynamics, state: State, body: Any, point: Any, **settings: Any) -> None:
        self.body = dynamics.bodies[dynamics.model.body_index(body)]
        self.point = numbers(dynamics, "point", point, 3)
        for name, value in settings.items():
            if not real(value) > 0.0:
                raise StateError(f"a grab of '{self.body}' has a {name} above 0, not {value!r}")
        self.frequency, self.damping = real(settings["frequency"]), real(settings["damping"])
        self.max_force, self.max_speed = real(settings["max_force"]), real(settings["max_speed"])
        self.held = True
        self.force = np.zeros(3)
        self._dynamics = dynamics
        self.target = self._place(dynamics, state.q)

    def move(self, target: Any) -> None:
        """Lead the point to another place (3,), m, world axes. StateError for anything else."""
        self.target = numbers(self._dynamics, "target", target, 3)

    def release(self) -> None:
        """Let go; harmless when repeated."""
        self.held = False
        self.force = np.zeros(3)

    def pull(self, dynamics: Dynamics, state: State, tau: np.ndarray, h: float) -> np.ndarray:
        """Generalized forces (nv,) for the next step, of length h, of the hand alone; tau: of all others."""
        q, v = state.q, state.v
        J = dynamics.jacobian(q, self.body, self.point)[3:]
        pushed = tau + dynamics.passive_forces(q, v)
        a = dynamics.forward_dynamics(q, v, np.concatenate([pushed[None], pushed + J]))
        mobility = J @ (a[1:] - a[0]).T
        w, now, arriving = 2.0 * math.pi * self.frequency, J @ v, J @ (v + h * a[0])
        away = self._place(dynamics, q) - self.target
        most = self.max_speed * (2.0 * self.damping + w * h) / w
        away *= min(1.0, most / max(float(np.linalg.norm(away)), 1e-300))
        wanted = (now - w * w * h * away) / (1.0 + 2.0 * self.damping * w * h + w * w * h * h)
        values, axes = np.linalg.eigh(0.5 * (mobility + mobility.T))
        least = _STIFFEST * values[-1]
        if not values[-1] > 0.0:
            self.force = np.zeros(3)
            return np.zeros(dynamics.nv)
        force = axes @ ((axes.T @ (wanted - arriving)) / (h * np.maximum(values, least)))
        size = float(np.linalg.norm(force))
        self.force = force * min(1.0, self.max_force / size) if size > 0.0 else force
        result: np.ndarray = J.T @ self.force
        return result

    def acting(self, dynamics: Dynamics) -> AppliedForce:
        """The force as one that a person applies."""
        return dynamics.bodies.index(self.body), np.zeros(3), self.force, self.point

    def _place(self, dynamics: Dynamics, q: np.ndarray) -> np.ndarray:
        """Where the point is (3,), world axes."""
        X = dynamics.poses(q)[dynamics.bodies.index(self.body)]
        result: np.ndarray = X[:3, :3] @ self.point + X[:3, 3]
        return result


class Hands(list[Grab]):
    """All that hold something, each after the others: who comes later finds the point as they leave it."""

    def pull(self, dynamics: Dynamics, state: State, tau: np.ndarray, h: float) -> np.ndarray:
        """tau (nv,) with all of them; who holds nothing that is there lets go."""
        for grab in self:
            if grab.body not in dynamics.bodies:
                grab.release()
        self[:] = [grab for grab in self if grab.held]
        for grab in self:
            tau = tau + grab.pull(dynamics, state, tau, h)
        return tau

"""A hand on a body: a spring that pulls a point of it, or turns it, as hard as what it moves can bear."""

from __future__ import annotations

import math

import numpy as np

from recursive_dyn.simulation.simulation import Simulation
from recursive_dyn.spatial.rotations import rotation_log

FREQUENCY = 2.0 * math.pi * 1.5  # rad/s of the spring with the effective mass, which it damps critically
MOST = 40.0  # m/s^2 that a push gives the effective mass at most
MOST_TURNING = 200.0  # rad/s^2, likewise
ROUNDING = 1e-9  # mobility below which nothing moves


class Push:
    """A spring between ``point`` (3,) of a body's frame and ``target`` (3,) in the world; a turn if ``turning``.

    A turn's target is a rotation vector (3,), world axes, from how the body was at first; the spring sees how far it is
    from that. Forces are bounded by the effective mass: the least that any direction has at the point.
    """

    def __init__(self, simulation: Simulation, body: str, point: np.ndarray, turning: bool = False) -> None:
        self._simulation, self.body, self.turning = simulation, body, turning
        self._index = simulation.dynamics.bodies.index(body)
        self.point = np.asarray(point, dtype=float)
        pose = simulation.present.poses[self._index]
        self.start = pose[:3, :3].copy()
        self.target = np.zeros(3) if turning else self.held()

    def held(self) -> np.ndarray:
        """Where the point is now (3,), world axes."""
        X = self._simulation.present.poses[self._index]
        result: np.ndarray = X[:3, :3] @ self.point + X[:3, 3]
        return result

    def effective_mass(self) -> float:
        """kg at the point in the direction that gives way most, or kg m^2 about the axis that does; 0 if none does.

        The greatest eigenvalue of J M^-1 J^T, whose columns are accelerations under unit wrenches less those without.
        """
        sim = self._simulation
        dynamics, q = sim.dynamics, sim.q
        rows = slice(0, 3) if self.turning else slice(3, 6)
        J = dynamics.jacobian(q, self.body, self.point)[rows]
        a = dynamics.forward_dynamics(q, sim.v, np.concatenate([np.zeros((1, dynamics.nv)), J]))
        mobility = float(np.linalg.eigvalsh(J @ (a[1:] - a[0]).T)[-1])
        return 1.0 / mobility if mobility > ROUNDING else 0.0

    def load(self) -> np.ndarray:
        """The force (3,), N, or the moment, N m, that the spring gives now."""
        X, twist = (part[self._index] for part in (self._simulation.present.poses, self._simulation.present.twists))
        mass = self.effective_mass()
        if self.turning:
            away, rate, most = self.target - rotation_log(X[:3, :3] @ self.start.T), twist[:3], MOST_TURNING
        else:
            arm = X[:3, :3] @ self.point
            away, rate, most = self.target - self.held(), twist[3:] + np.cross(twist[:3], arm), MOST
        wanted = mass * (FREQUENCY**2 * away - 2.0 * FREQUENCY * rate)
        size = float(np.linalg.norm(wanted))
        result: np.ndarray = wanted * min(1.0, most * mass / size) if size > 0.0 else wanted
        return result

    def act(self) -> None:
        """Push during the next step."""
        if self.turning:
            self._simulation.apply_torque(self.body, self.load())
        else:
            self._simulation.apply_force(self.body, self.load(), self.point)

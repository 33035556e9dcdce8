"""What twins of a simulation in Bullet have in common: a connection, what is read of them, and steps under forces."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np
import pybullet

from bridge.connection import Connection
from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.control.joint_springs import JointSprings
from recursive_dyn.dynamics.turn_rows import turn_gaps
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.simulation import Simulation

Array = np.ndarray

_BEYOND = 1e-3  # m, rad beyond a limit, which a simulation never is
FASTEST = 1e9  # m/s and rad/s: Bullet cuts velocities off at 100 unless it is told otherwise


class Twin(ABC):
    """Bullet's bodies of a simulation, from its state on; client and at as of ``ForceTwin``."""

    def __init__(self, sim: Simulation, client: int | None, at: Sequence[float]) -> None:
        place = real_array(at)
        if place is None or place.shape != (3,) or not np.isfinite(place).all():
            raise StateError(f"'at' must be three finite numbers of metres, not {at!r}")
        self.dynamics, self.timestep = sim.dynamics.view(), sim.timestep
        self.time = 0.0  # s since the start, of what was pushed for
        self._told = False  # whether it was said that bodies are beyond limits
        self.gap = 0.0  # m by which bodies were off their joints when they were read last
        self._place, self._q, self._springs = place, sim.q.copy(), JointSprings(self.dynamics.model)
        self._connection = Connection(client, gui=False, holder=type(self).__name__)

    @contextmanager
    def _building(self, **engine: Any) -> Iterator[None]:
        """Bullet's bodies are made in this, and its engine gets gravity, timestep and other parameters."""
        down = self.dynamics.model.gravity_at(self.dynamics.parameters.values_array).tolist()
        try:
            with self._connection.guard(), self._connection.paused():
                pybullet.setGravity(*down, physicsClientId=self.client)
                pybullet.setPhysicsEngineParameter(
                    fixedTimeStep=self.timestep, numSubSteps=0, physicsClientId=self.client, **engine
                )
                yield
        except BaseException:
            self._connection.close()
            raise

    @property
    def client(self) -> int:
        """Bullet's connection, the physicsClientId of its functions."""
        return self._connection.id

    def frames(self) -> tuple[Array, Array]:
        """Poses (nb, 4, 4) and velocities [omega; v] (nb, 6) of the bodies where Bullet has them, world axes at their
        origins, as the simulation's would be: less ``at``."""
        with self._connection.guard():
            return self._read()

    def state(self) -> tuple[Array, Array]:
        """(q (nq,), v (nv,)) nearest to where Bullet has the bodies; ``gap`` is then by how much joints are open, m."""
        X, V = self.frames()
        self._q, missed = self.dynamics.generalized_positions(self._q, X)
        self.gap = float(np.linalg.norm(missed[:, 3:], axis=1).max(initial=0.0))
        self._look_at_limits()
        return self._q.copy(), self.dynamics.generalized_velocities(self._q, V)[0]

    def _look_at_limits(self) -> None:
        """Warn once where the bodies go on beyond limits, as no simulation does."""
        if self._told:
            return
        for row, (_, gap, _) in turn_gaps(self.dynamics, self._q).items():
            if gap < -_BEYOND:
                self._warn(f"the {row} is passed by {-gap:.4g} rad")
                return
        for place, slot in self.dynamics.model.plain_slots:
            low, high = self.dynamics.limits[slot]
            if not low - _BEYOND <= self._q[place] <= high + _BEYOND:
                name = self.dynamics.velocity_coordinates[slot]
                self._warn(f"'{name}' is {self._q[place]:.4g}, beyond its limits [{low:.4g}, {high:.4g}]")
                return

    def _warn(self, what: str) -> None:
        self._told = True
        warnings.warn(
            f"{what}; {type(self).__name__} has no limits: from here on it goes another way than a simulation, which"
            " stops there",
            RuntimeWarning, stacklevel=5,
        )  # fmt: skip

    @abstractmethod
    def push(self, tau: Any = None, **choice: Any) -> None:
        """Apply what the next step of Bullet's needs, for whoever takes it.

        tau: generalized forces (nv,), or a function of (q, v, time) that gives them, as a controller; time counts from
        0. choice: of ``Dynamics.cartesian_forces``. StateError for a tau that is none.
        """

    def step(self, tau: Any = None, count: int = 1, **choice: Any) -> None:
        """Take ``count`` timesteps under forces as of ``push``; everything in the connection moves along."""
        for _ in range(count):
            self.push(tau, **choice)
            with self._connection.guard():
                pybullet.stepSimulation(physicsClientId=self.client)

    def close(self) -> None:
        """Remove the twin's bodies, and the connection if it is its own; harmless when repeated."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def _read(self) -> tuple[Array, Array]:
        """Poses and velocities as of ``frames``."""

    def _forces(self, tau: Any, q: Array, v: Array) -> Array:
        """All generalized forces (nv,) of a step from a state under tau, the joints' own as at the step's end."""
        d = self.dynamics
        wanted = tau(q, v, self.time) if callable(tau) else tau
        given = np.zeros(d.nv) if wanted is None else real_array(wanted)
        if given is None or given.shape != (d.nv,) or not np.isfinite(given).all():
            raise StateError(f"'tau' must be {d.nv} finite numbers, one a velocity coordinate, not {wanted!r}")
        if d.constraints:
            return np.asarray(given + d.passive_forces(q, v))
        own, added = self._springs.of_step(q, v, self.timestep)
        return np.asarray(given + own - added * d.call("loaded_accelerations", q, v, given + own, added))

"""A robot twice: ours from its URDF file, and Bullet's multibody from the same file, driven by our generalized forces.

Bullet moves it by its own reduced coordinates (Featherstone's algorithm, semi-implicit Euler). Forces act as Cartesian
wrenches on links, or as torques in joints: the motion is the same, and that of a simulation of ours is its reference.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np
import pybullet

from bridge.bodies.visuals import rgba
from bridge.connection import Connection
from bridge.twin.multibody import Multibody
from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.control.joint_springs import JointSprings
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.simulation import Simulation
from scene import Scene

Array = np.ndarray
WRENCHES, TORQUES = "wrenches", "torques"


class MultibodyTwin:
    """Bullet's own multibody of a robot file, starting where a simulation is and moving under its generalized forces.

    scene: with the robot that ``Scene.from_urdf`` or ``add_urdf`` read from ``path``, its names behind ``prefix``.
    forces: "wrenches", pairs of them in the world on links, as ``Dynamics.cartesian_forces`` has them, or "torques", in
    joints. client, at, color: as of ``ForceTwin``.

    Joints' damping and springs act as they are at each step's end, so that none is too stiff. Limits, dry friction,
    motors and contacts are not the twin's. ModelError names what Bullet has otherwise: joints that are not hinges,
    slides, balls or fixed, followers, rotors, masses, constraints; and links that the scene does not have. StateError
    once the connection is gone.
    """

    def __init__(
        self,
        scene: Scene,
        sim: Simulation,
        path: str | os.PathLike[str],
        prefix: str = "",
        client: int | None = None,
        forces: str = WRENCHES,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        color: Sequence[float] | None = None,
    ) -> None:
        if forces not in (WRENCHES, TORQUES):
            raise StateError(f"forces are '{WRENCHES}' or '{TORQUES}', not {forces!r}")
        place = real_array(at)
        if place is None or place.shape != (3,) or not np.isfinite(place).all():
            raise StateError(f"'at' must be three finite numbers of metres, not {at!r}")
        self.dynamics, self.timestep, self.forces = sim.dynamics.view(), sim.timestep, forces
        if self.dynamics.constraints:
            raise ModelError(f"constraint '{self.dynamics.constraints[0]}' is none that Bullet reads from a robot file")
        self._springs = JointSprings(self.dynamics.model)
        self.time = 0.0  # s since the start, of what was pushed for
        self._q = sim.q.copy()
        self._connection = Connection(client, gui=False, holder="MultibodyTwin")
        try:
            with self._connection.guard(), self._connection.paused():
                looks = None if color is None else rgba(color)
                self._robot = Multibody(scene, self.dynamics, self._connection, os.fspath(path), prefix, place, looks)
                pybullet.setGravity(*self.dynamics.model.gravity, physicsClientId=self.client)
                pybullet.setPhysicsEngineParameter(
                    fixedTimeStep=self.timestep, numSubSteps=0, physicsClientId=self.client
                )
                self._robot.place(sim.q, sim.v)
        except BaseException:
            self._connection.close()
            raise

    @property
    def client(self) -> int:
        """Bullet's connection, the physicsClientId of its functions."""
        return self._connection.id

    @property
    def bullet_body(self) -> int:
        """Bullet's id of the robot."""
        return self._robot.id

    def frames(self) -> tuple[Array, Array]:
        """Poses (nb, 4, 4) and velocities [omega; v] (nb, 6) of the bodies where Bullet has them, world axes at their
        origins, as the simulation's would be: less ``at``."""
        with self._connection.guard():
            return self._robot.read()

    def state(self) -> tuple[Array, Array]:
        """(q (nq,), v (nv,)) of where Bullet has the links."""
        X, V = self.frames()
        self._q = self.dynamics.generalized_positions(self._q, X)[0]
        return self._q.copy(), self.dynamics.generalized_velocities(self._q, V)[0]

    def push(self, tau: Any = None, **choice: Any) -> None:
        """Apply what the next step of Bullet's needs, for whoever takes it.

        tau: generalized forces (nv,), or a function of (q, v, time) that gives them, as a controller; time counts from
        0. choice: of ``Dynamics.cartesian_forces``, for wrenches. StateError for a tau that is none, and for forces of
        a floating base as torques.
        """
        if choice and self.forces == TORQUES:
            raise StateError(f"'{next(iter(choice))}' is for wrenches; this twin is driven by torques in its joints")
        d = self.dynamics
        q, v = self.state()
        given = real_array(tau(q, v, self.time) if callable(tau) else np.zeros(d.nv) if tau is None else tau)
        if given is None or given.shape != (d.nv,) or not np.isfinite(given).all():
            raise StateError(f"'tau' must be {d.nv} finite numbers, one a velocity coordinate, not {tau!r}")
        own, added = self._springs.of_step(q, v, self.timestep)
        total = given + own - added * d.call("loaded_accelerations", q, v, given + own, added)
        with self._connection.guard():
            if self.forces == TORQUES:
                self._robot.torques(total)
            else:
                self._robot.wrenches(d.cartesian_forces(q, total, **choice))
        self.time += self.timestep

    def step(self, tau: Any = None, count: int = 1, **choice: Any) -> None:
        """Take ``count`` timesteps under forces as of ``push``; everything in the connection moves along."""
        for _ in range(count):
            self.push(tau, **choice)
            with self._connection.guard():
                pybullet.stepSimulation(physicsClientId=self.client)

    def close(self) -> None:
        """Remove the robot, and the connection if it is the twin's own; harmless when repeated."""
        self._connection.close()

    def __enter__(self) -> MultibodyTwin:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

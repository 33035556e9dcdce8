"""A robot twice: ours from its URDF file, and Bullet's multibody from the same file, driven by our generalized forces.

Bullet moves it by its own reduced coordinates (Featherstone's algorithm, semi-implicit Euler). Forces act as Cartesian
wrenches on links, or as torques in joints: the motion is the same, and that of a simulation of ours is its reference.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from bridge.bodies.visuals import rgba
from bridge.twin.multibody import Multibody
from bridge.twin.twin import Twin
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.simulation.simulation import Simulation
from scene import Scene

Array = np.ndarray
WRENCHES, TORQUES = "wrenches", "torques"


class MultibodyTwin(Twin):
    """Bullet's own multibody of a robot file, starting where a simulation is and moving under its generalized forces.

    scene: with the robot that ``Scene.from_urdf`` or ``add_urdf`` read from ``path``, its names behind ``prefix``.
    forces: "wrenches", pairs of them in the world on links, as ``Dynamics.cartesian_forces`` has them, or "torques", in
    joints. client, at, color: as of ``ForceTwin``.

    Joints' damping and springs act as they are at each step's end, so that none is too stiff. Limits (a RuntimeWarning
    names the first that is passed), dry friction, motors and contacts are not the twin's. ModelError names what Bullet
    has otherwise: joints that are not hinges, slides, balls or fixed, followers, rotors, masses, constraints; and links
    that the scene does not have. StateError once the connection is gone.
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
        if sim.dynamics.constraints:
            raise ModelError(f"constraint '{sim.dynamics.constraints[0]}' is none that Bullet reads from a robot file")
        super().__init__(sim, client, at)
        self.forces = forces
        with self._building():
            looks = None if color is None else rgba(color)
            self._robot = Multibody(scene, self.dynamics, self._connection, os.fspath(path), prefix, self._place, looks)
            self._robot.place(sim.q, sim.v)

    @property
    def bullet_body(self) -> int:
        """Bullet's id of the robot."""
        return self._robot.id

    def push(self, tau: Any = None, **choice: Any) -> None:
        """Apply what the next step of Bullet's needs, for whoever takes it.

        tau: generalized forces (nv,), or a function of (q, v, time) that gives them, as a controller; time counts from
        0. choice: of ``Dynamics.cartesian_forces``, for wrenches. StateError for a tau that is none, and for forces of
        a floating base as torques.
        """
        if choice and self.forces == TORQUES:
            raise StateError(f"'{next(iter(choice))}' is for wrenches; this twin is driven by torques in its joints")
        q, v = self.state()
        total = self._forces(tau, q, v)
        with self._connection.guard():
            if self.forces == TORQUES:
                self._robot.torques(total)
            else:
                self._robot.wrenches(self.dynamics.cartesian_forces(q, total, **choice))
        self.time += self.timestep

    def _read(self) -> tuple[Array, Array]:
        return self._robot.read()

"""The twin: a simulation's bodies once more, each free, driven in Bullet by the simulation's generalized forces.

Liu & Jain ask how control forces in generalized coordinates drive engines of maximal coordinates: before every step the
state of the coordinates is read off the free bodies, forces become wrenches, and the engine takes its step under them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bridge.bodies.visuals import rgba
from bridge.twin.assemblies import Assemblies
from bridge.twin.bullet_constraint import BulletConstraint
from bridge.twin.holds import all_holds
from bridge.twin.twin import Twin
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.model.model import WORLD
from recursive_dyn.simulation.simulation import Simulation
from scene import Scene

Array = np.ndarray

_ITERATIONS = 200  # of Bullet's solver: chains of ten bodies are then held as well as ever


class ForceTwin(Twin):
    """Free bodies of Bullet's that start where a simulation is, and move under generalized forces made Cartesian.

    constrained: Bullet's own constraints hold the joints, which are balls, hinges, slides, free and fixed ones
    (ModelError names any other), and tau acts as pairs of wrenches. Otherwise nothing holds them: ``joint_wrenches``,
    with all that the joints transmit, lead the bodies on as every kind of joint would. client: a Bullet connection,
    which stays the caller's, or None for one of its own; it gets the scene's gravity and the simulation's timestep. at
    (3,): where the twin stands, in m; color: red, green, blue, alpha of all bodies, or their own.

    Joints' damping and springs act as they are at each step's end, so that none is too stiff, with constraints of the
    scene at its start. Limits, dry friction, motors and contacts are not the twin's; constraints of the scene only of
    one that nothing holds. What is fixed together is one body.
    StateError once the connection is gone, and where a step leads to a singular joint.
    """

    def __init__(
        self,
        scene: Scene,
        sim: Simulation,
        client: int | None = None,
        constrained: bool = True,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        color: Sequence[float] | None = None,
    ) -> None:
        if constrained and sim.dynamics.constraints:
            raise ModelError(
                f"constraint '{sim.dynamics.constraints[0]}' is between coordinates, and none of Bullet's; use"
                " constrained=False"
            )
        super().__init__(sim, client, at)
        self.constrained = constrained
        with self._building(numSolverIterations=_ITERATIONS, solverResidualThreshold=0.0):
            holds = all_holds(self.dynamics, self._q) if constrained else []
            looks = None if color is None else rgba(color)
            self._bodies = Assemblies(scene, self.dynamics, self._connection, self._place, looks)
            self._bodies.place(self._q, sim.v)
            self._constraints = [BulletConstraint(hold, self._bodies, self.dynamics.poses(self._q)) for hold in holds]

    @property
    def bullet_bodies(self) -> dict[str, int]:
        """Bullet's id of each moving part, by the name of the body that it moves by."""
        return {link.name: made for link, made in zip(self.dynamics.model.links, self._bodies.ids, strict=True)}

    def push(self, tau: Any = None, **choice: Any) -> None:
        """Apply what the next step of Bullet's needs, for whoever takes it.

        tau: generalized forces (nv,), or a function of (q, v, time) that gives them, as a controller; time counts from
        0. choice: of ``Dynamics.cartesian_forces``, for a constrained twin. StateError for a tau that is none.
        """
        d = self.dynamics
        if choice and not self.constrained:
            raise StateError(
                f"'{next(iter(choice))}' is for a twin whose joints are held; here each has its one wrench"
            )
        q, v = self.state()
        forces = self._forces(tau, q, v)
        X = d.poses(q)
        if self.constrained:
            wrenches = d.cartesian_forces(q, forces, **choice)
            places = X[:, :3, 3] + np.einsum("bij,bj->bi", X[:, :3, :3], self._bodies.centers)
        else:
            wrenches = self._by_joints(X, d.joint_wrenches(q, v, d.forward_dynamics(q, v, forces)))
            places = X[:, :3, 3]
        with self._connection.guard():
            principal = self._bodies.principal()
            for constraint in self._constraints:
                constraint.aim(principal)
            self._bodies.push(X, wrenches, places)
        self.time += self.timestep

    def close(self) -> None:
        """Remove the twin's bodies, and the connection if it is its own; harmless when repeated."""
        super().close()
        self._bodies.close()

    def _read(self) -> tuple[Array, Array]:
        return self._bodies.read()

    def _by_joints(self, X: Array, wrenches: Array) -> Array:
        """What each joint transmits, on its child and against its parent, about the origins (nb, 6)."""
        total = np.zeros_like(wrenches)
        for k, body in enumerate(self.dynamics.model.bodies):
            if body.jointed:
                total[k] += wrenches[k]
                if body.parent != WORLD:
                    arm = X[k, :3, 3] - X[body.parent, :3, 3]
                    total[body.parent, 3:] -= wrenches[k, 3:]
                    total[body.parent, :3] -= wrenches[k, :3] + np.cross(arm, wrenches[k, 3:])
        return total

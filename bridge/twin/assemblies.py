"""The moving parts of a scene as free bodies of Bullet's: one for each link, with all that is fixed to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pybullet

from bridge.bodies.bullet_shapes import COMPOUND, visual_shape
from bridge.bodies.visuals import PALETTE, Visual, visuals
from bridge.connection import Connection
from bridge.drawing.pieces import Color
from bridge.meshes.files import MeshFiles
from bridge.twin.twin import FASTEST
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.model.model import WORLD, Link
from recursive_dyn.spatial.algebra import inverse_pose
from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_to_matrix
from scene import Scene

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Mass:
    """Mass, X_BC (4, 4) of the principal axes at its centre, and the moments (3,) about them."""

    mass: float
    principal: Array
    moments: Array


class Assemblies:
    """Bullet's bodies, one a link, in the links' order; poses and velocities are those of the scene's bodies.

    at (3,): where the twin of the world's origin is. Bullet's frame of a body is that of its principal axes, at its
    centre of mass. ModelError for what no free body can be: a moving part without mass or inertia of its own.
    """

    def __init__(
        self, scene: Scene, dynamics: Dynamics, connection: Connection, at: Array, color: Color | None
    ) -> None:
        self.dynamics, self.client, self.at = dynamics, connection.id, at
        self._files = MeshFiles()
        model = dynamics.model
        carriers = {body.link: k for k, body in enumerate(model.bodies) if body.jointed}
        self._carriers = [carriers[i] for i in range(len(model.links))]  # the bodies that links move by
        self._moving = [k for k, body in enumerate(model.bodies) if body.link != WORLD]
        self._links = [model.bodies[k].link for k in self._moving]
        poses = np.array([_values(dynamics, body.pose) for body in model.bodies]).reshape(-1, 4, 4)
        self._offsets = poses.copy()  # of every body against the one that its link moves by, or the world
        for k, link in zip(self._moving, self._links, strict=True):
            self._offsets[k] = inverse_pose(poses[carriers[link]]) @ poses[k]
        masses = [_mass(dynamics, link, poses[carriers[i]]) for i, link in enumerate(model.links)]
        self._principal = np.array([mass.principal for mass in masses]).reshape(-1, 4, 4)
        self._back = np.array([inverse_pose(X) for X in self._principal]).reshape(-1, 4, 4)
        self.ids = [self._made(scene, connection, i, masses[i], color) for i in range(len(model.links))]
        self.centers = np.array([_values(dynamics, body.center) for body in model.bodies]).reshape(-1, 3)

    def _made(self, scene: Scene, connection: Connection, link: int, own: Mass, color: Color | None) -> int:
        model = self.dynamics.model
        looks: list[Visual] = []
        for k, body in enumerate(model.bodies):
            if body.link == link:
                place = self._back[link] @ self._offsets[k]
                for shape in scene[body.name].shapes:
                    for seen in visuals(shape, color or PALETTE[k % len(PALETTE)], self._files):
                        looks.append(Visual(seen.mesh, color or seen.color, place @ seen.at))
        look = visual_shape(looks[:COMPOUND], self.client)  # Bullet draws no more of one body
        made: int = pybullet.createMultiBody(own.mass, -1, look, physicsClientId=self.client)
        pybullet.changeDynamics(
            made, -1, localInertiaDiagonal=own.moments.tolist(), linearDamping=0.0, angularDamping=0.0,
            maxJointVelocity=FASTEST, activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
            physicsClientId=self.client,
        )  # fmt: skip
        connection.add(made, model.links[link].name)
        return made

    def place(self, q: Array, v: Array) -> None:
        """Put Bullet's bodies where a state has them."""
        X, V = self.dynamics.poses(q)[self._carriers], self.dynamics.velocities(q, v)[self._carriers]
        C = X @ self._principal
        velocities = V[:, 3:] + np.cross(V[:, :3], C[:, :3, 3] - X[:, :3, 3])
        positions, turns = (C[:, :3, 3] + self.at).tolist(), matrix_to_quaternion(C[:, :3, :3]).tolist()
        for k, made in enumerate(self.ids):
            pybullet.resetBasePositionAndOrientation(made, positions[k], turns[k], self.client)
            pybullet.resetBaseVelocity(made, velocities[k].tolist(), V[k, :3].tolist(), self.client)

    def principal(self) -> Array:
        """Bullet's poses (links, 4, 4) of its bodies, in Bullet's world."""
        told = [pybullet.getBasePositionAndOrientation(made, self.client) for made in self.ids]
        C = np.tile(np.eye(4), (len(told), 1, 1))
        C[:, :3, 3] = np.array([position for position, _ in told]).reshape(-1, 3)
        C[:, :3, :3] = quaternion_to_matrix(np.array([turn for _, turn in told]).reshape(-1, 4))
        return C

    def read(self) -> tuple[Array, Array]:
        """Poses (nb, 4, 4) and velocities [omega; v] (nb, 6) of the scene's bodies, world axes at their origins."""
        C = self.principal()
        told = [pybullet.getBaseVelocity(made, self.client) for made in self.ids]
        v, omega = np.array(told).reshape(-1, 2, 3).swapaxes(0, 1)
        X, V = self._offsets.copy(), np.zeros((len(self._offsets), 6))
        X[self._moving] = (C @ self._back)[self._links] @ X[self._moving]
        V[self._moving, :3] = omega[self._links]
        arm = X[self._moving, :3, 3] - C[self._links, :3, 3]
        V[self._moving, 3:] = v[self._links] + np.cross(omega[self._links], arm)
        X[self._moving, :3, 3] -= self.at
        return X, V

    def push(self, X: Array, wrenches: Array, places: Array) -> None:
        """Let wrenches (nb, 6), world axes, act on bodies at poses X (nb, 4, 4) at ``places`` (nb, 3) in the world,
        until the next step of Bullet's is over."""
        own, arm = wrenches[self._moving], places[self._moving] - self._centers(X)[self._links]
        total = np.zeros((len(self.ids), 6))
        np.add.at(total, self._links, own)
        np.add.at(total[:, :3], self._links, np.cross(arm, own[:, 3:]))
        for made, wrench in zip(self.ids, total.tolist(), strict=True):
            position = pybullet.getBasePositionAndOrientation(made, self.client)[0]
            pybullet.applyExternalForce(
                made, -1, wrench[3:], position, pybullet.WORLD_FRAME, physicsClientId=self.client
            )
            pybullet.applyExternalTorque(made, -1, wrench[:3], pybullet.WORLD_FRAME, physicsClientId=self.client)

    def _centers(self, X: Array) -> Array:
        """Centres of mass (links, 3) where the scene's bodies are at X."""
        found: Array = (X[self._carriers] @ self._principal)[:, :3, 3]
        return found

    def close(self) -> None:
        """Remove the files of what is seen."""
        self._files.close()


def _mass(dynamics: Dynamics, link: Link, X_LB: Array) -> Mass:
    """Of a link, in the frame of the body that it moves by, which is at X_LB."""
    mass, inertia = float(_values(dynamics, np.array([link.mass]))[0]), _values(dynamics, link.inertia)
    moments, axes = np.linalg.eigh(inertia)
    if not (mass > 0.0 and moments[0] > 0.0):
        raise ModelError(
            f"body '{link.name}' with what is fixed to it has no mass of its own, or no inertia about one of its"
            " axes, as no free body of Bullet's can; give it some"
        )
    C = np.eye(4)
    C[:3, :3], C[:3, 3] = axes * np.sign(np.linalg.det(axes)), _values(dynamics, link.center)
    return Mass(mass, inverse_pose(X_LB) @ C, moments)


def _values(dynamics: Dynamics, scalars: Array) -> Array:
    """Scalars of the model at the parameters' present values."""
    values = {("parameter", name): float(x) for name, x in dynamics.parameters.items()}
    return np.array(evaluate(list(scalars.flat), values), dtype=float).reshape(scalars.shape)

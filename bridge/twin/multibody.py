"""A robot file as Bullet's multibody: which bodies of a scene its links are, where they are, what acts on them."""

from __future__ import annotations

import numpy as np
import pybullet

from bridge.connection import Connection
from bridge.drawing.pieces import Color
from bridge.orientations import pose_of
from bridge.twin.twin import FASTEST
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.model.model import WORLD
from recursive_dyn.spatial.algebra import inverse_pose
from recursive_dyn.spatial.rotations import matrix_to_quaternion
from scene import Scene
from scene.urdf.joint_tree import root_of
from scene.urdf.xml_text import read

Array = np.ndarray

_SAME = 1e-6  # share by which masses and moments may differ: Bullet turns inertias to their axes by Jacobi's sweeps
_SLOTS = {pybullet.JOINT_REVOLUTE: 1, pybullet.JOINT_PRISMATIC: 1, pybullet.JOINT_SPHERICAL: 3, pybullet.JOINT_FIXED: 0}


class Multibody:
    """Bullet's robot ``id``; of each link, the root's first, the number of its body in the dynamics, ``bodies``.

    at (3,): where the world's origin is in Bullet's. ModelError names what the scene does not have, or has differently.
    """

    def __init__(
        self, scene: Scene, dynamics: Dynamics, connection: Connection, path: str, prefix: str, at: Array,
        color: Color | None,
    ) -> None:  # fmt: skip
        self.scene, self.dynamics, self.client, self.at = scene, dynamics, connection.id, at
        root = self._number(prefix + root_of(path, read(path)[0]))
        self._fixed = dynamics.model.bodies[root].link == WORLD
        try:
            self.id: int = pybullet.loadURDF(
                path, useFixedBase=self._fixed, flags=pybullet.URDF_USE_INERTIA_FROM_FILE, physicsClientId=self.client
            )
        except pybullet.error as error:
            raise ModelError(f"Bullet does not read the robot file {path!r}: {error}") from None
        connection.add(self.id, dynamics.bodies[root])
        count = pybullet.getNumJoints(self.id, physicsClientId=self.client)
        infos = [pybullet.getJointInfo(self.id, j, physicsClientId=self.client) for j in range(count)]
        self._kinds = [info[2] for info in infos]
        self.bodies = [root, *(self._number(prefix + info[12].decode()) for info in infos)]
        self._slots = [self._slots_of(body, kind) for body, kind in zip(self.bodies[1:], self._kinds, strict=True)]
        for link, body in enumerate(self.bodies, -1):
            self._check_mass(link, dynamics.bodies[body])
        facts = [pybullet.getDynamicsInfo(self.id, j, physicsClientId=self.client) for j in range(-1, count)]
        self._center = pose_of(facts[0][3], facts[0][4])  # of the root link's mass, and its principal axes
        self._free(color)

    def _number(self, name: str) -> int:
        if name not in self.dynamics.bodies:
            raise ModelError(f"link '{name}' of the robot file is no body of the scene; see 'prefix'")
        return self.dynamics.model.body_index(name)

    def _slots_of(self, body: int, kind: int) -> list[int]:
        """The velocity coordinates of a link's joint."""
        model, name = self.dynamics.model, self.dynamics.bodies[body]
        frame = model.bodies[body]
        slots = list(model.links[frame.link].slots) if frame.jointed else []
        shared = frame.jointed and any(frame.link in group and len(group) > 1 for group in model.sharing)
        if _SLOTS.get(kind) != len(slots) or shared or (frame.jointed and model.links[frame.link].drive is not None):
            raise ModelError(
                f"the joint of '{name}' is none that Bullet has as we do: a hinge, a slide, a ball, or fixed, and no"
                " follower; use ForceTwin with constrained=False, which takes every joint"
            )
        for slot in slots:
            if model.coordinates[slot].armature:
                raise ModelError(
                    f"'{model.coordinates[slot].name}' has a rotor's inertia (armature), as none of Bullet's"
                )
        return slots

    def _check_mass(self, link: int, name: str) -> None:
        """ModelError where Bullet moves another mass; what has none here has none there."""
        told = pybullet.getDynamicsInfo(self.id, link, physicsClientId=self.client)
        properties = self.scene[name].properties
        if link < 0 and self._fixed:
            return
        if not isinstance(properties.mass, float) or properties.inertia.dtype == object:
            raise ModelError(f"the mass of '{name}' is a parameter of the scene; Bullet has that of the robot file")
        if properties.mass == 0.0 and told[0] != 0.0:  # Bullet's 1 kg for a link that has no <inertial>
            pybullet.changeDynamics(
                self.id, link, mass=0.0, localInertiaDiagonal=[0.0, 0.0, 0.0], physicsClientId=self.client
            )
            return
        ours, theirs = np.linalg.eigvalsh(properties.inertia), np.sort(told[2])
        off = np.abs(np.array(told[3]) - properties.center_of_mass).max()
        if (
            abs(told[0] - properties.mass) > _SAME * properties.mass or off > _SAME
            or np.abs(ours - theirs).max() > _SAME * ours.max()
        ):  # fmt: skip
            raise ModelError(
                f"link '{name}' is {properties.mass:.6g} kg with moments {ours} kg m^2 in the scene, and"
                f" {told[0]:.6g} kg with {theirs} in Bullet, which drops inertias that no body has; change the file"
                " or the scene"
            )

    def _free(self, color: Color | None) -> None:
        """Switch off what Bullet adds to the mechanics: damping, braking motors, limits, contact, sleep."""
        for link in range(-1, len(self._kinds)):
            pybullet.changeDynamics(
                self.id,
                link,
                linearDamping=0.0,
                angularDamping=0.0,
                maxJointVelocity=FASTEST,
                physicsClientId=self.client,
            )
            pybullet.setCollisionFilterGroupMask(self.id, link, 0, 0, physicsClientId=self.client)
            if color is not None:
                pybullet.changeVisualShape(self.id, link, rgbaColor=list(color), physicsClientId=self.client)
        pybullet.changeDynamics(
            self.id, -1, activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING, physicsClientId=self.client
        )
        for joint, kind in enumerate(self._kinds):
            # in a call of its own, without the root link: Bullet leaves it as it was otherwise
            pybullet.changeDynamics(self.id, joint, jointDamping=0.0, physicsClientId=self.client)
            if kind == pybullet.JOINT_SPHERICAL:
                pybullet.setJointMotorControlMultiDof(
                    self.id, joint, pybullet.POSITION_CONTROL, targetPosition=[0, 0, 0, 1], positionGain=0,
                    velocityGain=0, force=[0, 0, 0], physicsClientId=self.client,
                )  # fmt: skip
            elif kind != pybullet.JOINT_FIXED:
                pybullet.setJointMotorControl2(
                    self.id, joint, pybullet.VELOCITY_CONTROL, force=0.0, physicsClientId=self.client
                )
                # a lower limit above the upper one, which a file's frees a joint by, changes nothing here
                pybullet.changeDynamics(self.id, joint, jointLimitForce=0.0, physicsClientId=self.client)

    def place(self, q: Array, v: Array) -> None:
        """Put the robot where a state (nq,), (nv,) has it."""
        d, at = self.dynamics, {slot: place for place, slot in self.dynamics.model.plain_slots}
        X, V = d.poses(q), d.velocities(q, v)
        root = self.bodies[0]
        C = X[root] @ self._center
        velocity = V[root, 3:] + np.cross(V[root, :3], C[:3, 3] - X[root, :3, 3])
        turn = matrix_to_quaternion(C[:3, :3]).tolist()
        pybullet.resetBasePositionAndOrientation(self.id, (C[:3, 3] + self.at).tolist(), turn, self.client)
        pybullet.resetBaseVelocity(self.id, velocity.tolist(), V[root, :3].tolist(), self.client)
        for joint, (kind, slots) in enumerate(zip(self._kinds, self._slots, strict=True)):
            if kind == pybullet.JOINT_SPHERICAL:
                body = self.bodies[joint + 1]
                parent = d.model.bodies[body].parent
                base = np.eye(4) if parent == WORLD else X[parent]
                frame = inverse_pose(base @ self.scene[d.bodies[body]].place) @ X[body]
                pybullet.resetJointStateMultiDof(
                    self.id, joint, matrix_to_quaternion(frame[:3, :3]).tolist(), v[slots].tolist(), self.client
                )
            elif slots:
                pybullet.resetJointState(self.id, joint, q[at[slots[0]]], v[slots[0]], self.client)

    def read(self) -> tuple[Array, Array]:
        """Poses (nb, 4, 4) and velocities [omega; v] (nb, 6) of the scene's bodies, world axes at their origins."""
        X, V = self.dynamics.poses(self.dynamics.neutral()), np.zeros((self.dynamics.model.nb, 6))
        states = pybullet.getLinkStates(
            self.id, list(range(len(self._kinds))), computeLinkVelocity=1, computeForwardKinematics=1,
            physicsClientId=self.client,
        )  # fmt: skip
        position, turn = pybullet.getBasePositionAndOrientation(self.id, self.client)
        root = self.bodies[0]
        if not self._fixed:
            C = pose_of(position, turn)
            X[root] = C @ inverse_pose(self._center)
            X[root, :3, 3] -= self.at
            linear, V[root, :3] = pybullet.getBaseVelocity(self.id, self.client)
            V[root, 3:] = linear + np.cross(V[root, :3], X[root, :3, 3] + self.at - C[:3, 3])
        for body, state in zip(self.bodies[1:], states, strict=True):
            X[body] = pose_of(state[4], state[5])
            V[body, :3] = state[7]
            V[body, 3:] = state[6] + np.cross(V[body, :3], X[body, :3, 3] - state[0])
            X[body, :3, 3] -= self.at
        return X, V

    def wrenches(self, wrenches: Array) -> None:
        """Let wrenches (nb, 6), world axes at the centres of mass, act until the next step is over."""
        for link, body in enumerate(self.bodies, -1):
            if wrenches[body].any() and not (link < 0 and self._fixed):
                place = (
                    pybullet.getBasePositionAndOrientation(self.id, self.client)[0]
                    if link < 0
                    else pybullet.getLinkState(self.id, link, physicsClientId=self.client)[0]
                )
                moment, force, world = wrenches[body, :3].tolist(), wrenches[body, 3:].tolist(), pybullet.WORLD_FRAME
                pybullet.applyExternalForce(self.id, link, force, place, world, self.client)
                pybullet.applyExternalTorque(self.id, link, moment, world, self.client)

    def torques(self, tau: Array) -> None:
        """Let tau (nv,) act in the joints until the next step is over; StateError for what moves none of them."""
        left = tau.copy()
        for joint, (kind, slots) in enumerate(zip(self._kinds, self._slots, strict=True)):
            own, left[slots] = tau[slots].tolist(), 0.0
            if kind == pybullet.JOINT_SPHERICAL:
                pybullet.setJointMotorControlMultiDof(
                    self.id, joint, pybullet.TORQUE_CONTROL, force=own, physicsClientId=self.client
                )
            elif slots:
                pybullet.setJointMotorControl2(
                    self.id, joint, pybullet.TORQUE_CONTROL, force=own[0], physicsClientId=self.client
                )
        if left.any():
            name = self.dynamics.velocity_coordinates[int(np.argmax(left != 0.0))]
            raise StateError(f"tau at '{name}' is no torque of a joint of Bullet's; use forces='wrenches'")

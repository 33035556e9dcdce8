"""PyBullet: stepSimulation for forward dynamics; calculateInverseDynamics and calculateMassMatrix."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from demos.benchmark.cases import GRAVITY, Case
from demos.benchmark.peers.peer import Peer, Run, times

STEP = 1e-3  # s: the velocity gained in one such step gives the acceleration to about 1e-13
TIMED_STEP = 1e-12  # s: the state stays what it is however many steps are timed


class PybulletPeer(Peer):
    """Timed: a whole stepSimulation, since PyBullet gives accelerations no other way; no contact, limit or motor acts.

    The two others take their arguments as Python lists and answer with tuples: that is PyBullet's interface.
    """

    label = "PyBullet"
    module = "pybullet"

    def load(self, case: Case, urdf: str, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        import pybullet

        self.fixed_base, self.client = case.fixed_base, _Client(pybullet)
        self.q, self.v, self.tau = q, v, tau
        turning = urdf.replace('type="revolute"', 'type="continuous"')  # a limit costs a constraint row, met or not
        with tempfile.TemporaryDirectory() as folder:  # a new path each time: PyBullet remembers files by name
            path = Path(folder) / "case.urdf"
            path.write_text(turning)
            flags = pybullet.URDF_USE_INERTIA_FROM_FILE
            self.body = self.client.loadURDF(str(path), useFixedBase=case.fixed_base, flags=flags)
        self.client.setGravity(*GRAVITY)
        joints = [self.client.getJointInfo(self.body, j) for j in range(self.client.getNumJoints(self.body))]
        numbers = {joint[1].decode(): joint[0] for joint in joints}
        self.hinges = [numbers[name] for name in case.hinges]
        self.slots = [joints[i][4] - 6 * case.fixed_base for i in self.hinges]  # PyBullet counts a fixed base too
        self.has_balls = any(joint[2] == pybullet.JOINT_SPHERICAL for joint in joints)
        self._free(joints)
        self._reset()

    def forward_dynamics(self) -> Run | None:
        return times(self.client.stepSimulation) if self.loaded else None

    def inverse_dynamics(self) -> Run | None:
        if not self.loaded:
            return None
        if not self.fixed_base:
            self.reason = "PyBullet's calculateInverseDynamics overruns its memory on a free base"
            return None
        q, v, a = self.q.tolist(), self.v.tolist(), self.acceleration().tolist()
        return times(self.client.calculateInverseDynamics, self.body, q, v, a)

    def mass_matrix(self) -> Run | None:
        if not self.loaded:
            return None
        if self.has_balls:
            self.reason = "PyBullet's calculateMassMatrix leaves out what hangs on a ball joint"
            return None
        return times(self.client.calculateMassMatrix, self.body, self.q.tolist())

    def acceleration(self) -> np.ndarray:
        self._reset()
        self.client.setTimeStep(STEP)
        torque = self.client.TORQUE_CONTROL
        self.client.setJointMotorControlArray(self.body, self.hinges, torque, forces=self.tau.tolist())
        self.client.stepSimulation()
        states = self.client.getJointStates(self.body, self.hinges)
        self._reset()
        return (np.array([state[1] for state in states]) - self.v) / STEP

    def torque(self) -> np.ndarray:
        state = (x.tolist() for x in (self.q, self.v, self.acceleration()))
        return np.array(self.client.calculateInverseDynamics(self.body, *state))

    def mass(self) -> np.ndarray:
        full = np.array(self.client.calculateMassMatrix(self.body, self.q.tolist()))
        return full[np.ix_(self.slots, self.slots)]

    def _free(self, joints: list[tuple]) -> None:
        """Switch off what PyBullet adds to the mechanics: damping, a bound on speeds, a braking motor in each joint."""
        client, body = self.client, self.body
        for link in range(-1, len(joints)):
            none = {"linearDamping": 0, "angularDamping": 0, "jointDamping": 0}
            client.changeDynamics(body, link, maxJointVelocity=1e9, **none)
        for joint in joints:
            if joint[2] == client.JOINT_SPHERICAL:
                still = {"targetPosition": [0, 0, 0, 1], "force": [0, 0, 0]}
                client.setJointMotorControlMultiDof(body, joint[0], client.POSITION_CONTROL, **still)
            elif joint[2] == client.JOINT_REVOLUTE:
                client.setJointMotorControl2(body, joint[0], client.VELOCITY_CONTROL, force=0)

    def _reset(self) -> None:
        """Back to the case's state, with the timed step."""
        client, body = self.client, self.body
        client.setTimeStep(TIMED_STEP)
        if not self.fixed_base:
            client.resetBasePositionAndOrientation(body, (0, 0, 0), (0, 0, 0, 1))
            client.resetBaseVelocity(body, (0, 0, 0), (0, 0, 0))
        for i in range(client.getNumJoints(body)):
            if client.getJointInfo(body, i)[2] == client.JOINT_SPHERICAL:
                client.resetJointStateMultiDof(body, i, [0, 0, 0, 1], [0, 0, 0])
        client.resetJointStatesMultiDof(body, self.hinges, self.q[:, None].tolist(), self.v[:, None].tolist())


class _Client:
    """PyBullet's functions on a connection of its own (pybullet_utils' BulletClient prints a line for each)."""

    def __init__(self, pybullet) -> None:
        self.pybullet, self.number = pybullet, pybullet.connect(pybullet.DIRECT)

    def __getattr__(self, name: str):
        attribute = getattr(self.pybullet, name)
        return partial(attribute, physicsClientId=self.number) if callable(attribute) else attribute

    def __del__(self) -> None:
        self.pybullet.disconnect(physicsClientId=self.number)

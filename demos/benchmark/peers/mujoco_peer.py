"""MuJoCo: mj_forward, recursive Newton-Euler and the composite inertia, constraints and contacts switched off."""

from collections.abc import Callable

import numpy as np

from demos.benchmark.cases import GRAVITY, Case
from demos.benchmark.peers.peer import Peer, Run, times


class MujocoPeer(Peer):
    """Timed: mj_forward (Newton-Euler, inertia, its sparse factor, solve); the least calls for torques and for M.

    Newton-Euler and the inertia each need the kinematics at q first; M stays in MuJoCo's sparse form.
    """

    label = "MuJoCo"
    module = "mujoco"

    def load(self, case: Case, urdf: str, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        import mujoco

        spec = mujoco.MjSpec.from_string(urdf)
        spec.compiler.balanceinertia = False
        spec.compiler.boundmass = spec.compiler.boundinertia = 0
        spec.option.gravity = GRAVITY
        off = mujoco.mjtDisableBit
        spec.option.disableflags = int(off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT | off.mjDSBL_SENSOR)
        if not case.fixed_base:
            spec.worldbody.first_body().add_freejoint()
        self.mujoco, self.model = mujoco, spec.compile()
        self.data = mujoco.MjData(self.model)
        joints = [self.model.joint(name) for name in case.hinges]
        self.slots = [joint.dofadr[0] for joint in joints]
        self.data.qpos[[joint.qposadr[0] for joint in joints]] = q
        self.data.qvel[self.slots] = v
        self.data.qfrc_applied[self.slots] = tau
        mujoco.mj_forward(self.model, self.data)

    def forward_dynamics(self) -> Run | None:
        return times(self.mujoco.mj_forward, self.model, self.data) if self.loaded else None

    def inverse_dynamics(self) -> Run | None:
        return times(self._newton_euler(np.zeros(self.model.nv))) if self.loaded else None

    def mass_matrix(self) -> Run | None:
        return times(self._inertia()) if self.loaded else None

    def acceleration(self) -> np.ndarray:
        self.mujoco.mj_forward(self.model, self.data)
        return self.data.qacc[self.slots].copy()

    def torque(self) -> np.ndarray:
        torque = np.zeros(self.model.nv)
        self._newton_euler(torque)()
        return torque[self.slots]

    def mass(self) -> np.ndarray:
        self._inertia()()
        full = np.zeros((self.model.nv, self.model.nv))
        self.mujoco.mj_fullM(self.model, self.data, full)
        return full[np.ix_(self.slots, self.slots)]

    def _newton_euler(self, torque: np.ndarray) -> Callable[[], None]:
        model, data, mj = self.model, self.data, self.mujoco
        kinematics, com, velocities, newton_euler = mj.mj_kinematics, mj.mj_comPos, mj.mj_comVel, mj.mj_rne

        def evaluate() -> None:
            kinematics(model, data)
            com(model, data)
            velocities(model, data)
            newton_euler(model, data, 1, torque)

        return evaluate

    def _inertia(self) -> Callable[[], None]:
        model, data, mj = self.model, self.data, self.mujoco
        kinematics, com, inertia = mj.mj_kinematics, mj.mj_comPos, mj.mj_makeM

        def evaluate() -> None:
            kinematics(model, data)
            com(model, data)
            inertia(model, data)

        return evaluate

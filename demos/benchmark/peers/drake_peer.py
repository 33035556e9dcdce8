"""Drake: a MultibodyPlant in continuous time."""

import logging
import xml.etree.ElementTree as ET

import numpy as np

from demos.benchmark.cases import GRAVITY, Case, root_link
from demos.benchmark.peers.peer import Peer, Run, times


class DrakePeer(Peer):
    """Timed: SetPositions, which makes Drake forget what it computed before, then one evaluation."""

    label = "Drake"
    module = "pydrake"

    def load(self, case: Case, urdf: str, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.multibody.tree import MultibodyForces

        logging.getLogger("drake").setLevel(logging.ERROR)
        self.plant = MultibodyPlant(time_step=0.0)
        robot = ET.fromstring(urdf)
        Parser(self.plant).AddModelsFromString(_with_balls(robot), "urdf")
        if case.fixed_base:
            base = self.plant.GetFrameByName(root_link(robot))
            self.plant.WeldFrames(self.plant.world_frame(), base)
        self.plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
        self.plant.Finalize()
        joints = [self.plant.GetJointByName(name) for name in case.hinges]
        self.slots = [joint.velocity_start() for joint in joints]
        self.context = self.plant.CreateDefaultContext()
        self.q = self.plant.GetPositions(self.context)
        self.q[[joint.position_start() for joint in joints]] = q
        velocities, torques = np.zeros((2, self.plant.num_velocities()))
        velocities[self.slots], torques[self.slots] = v, tau
        self.plant.SetPositions(self.context, self.q)
        self.plant.SetVelocities(self.context, velocities)
        self.plant.get_applied_generalized_force_input_port().FixValue(self.context, torques)
        self.forces = MultibodyForces(self.plant)
        self.a = self._forward().get_generalized_velocity().CopyToVector()

    def forward_dynamics(self) -> Run | None:
        return times(self._forward) if self.loaded else None

    def inverse_dynamics(self) -> Run | None:
        return times(self._inverse) if self.loaded else None

    def mass_matrix(self) -> Run | None:
        return times(self._mass) if self.loaded else None

    def acceleration(self) -> np.ndarray:
        return self._forward().get_generalized_velocity().CopyToVector()[self.slots]

    def torque(self) -> np.ndarray:
        return self._inverse()[self.slots]

    def mass(self) -> np.ndarray:
        return self._mass()[np.ix_(self.slots, self.slots)]

    def _forward(self):
        self.plant.SetPositions(self.context, self.q)
        return self.plant.EvalTimeDerivatives(self.context)

    def _inverse(self) -> np.ndarray:
        self.plant.SetPositions(self.context, self.q)
        self.plant.CalcForceElementsContribution(self.context, self.forces)  # gravity is one of these
        return self.plant.CalcInverseDynamics(self.context, self.a, self.forces)

    def _mass(self) -> np.ndarray:
        self.plant.SetPositions(self.context, self.q)
        return self.plant.CalcMassMatrix(self.context)


def _with_balls(robot: ET.Element) -> str:
    """The URDF with ball joints in Drake's own dialect."""
    for joint in robot.iter("joint"):
        if joint.get("type") == "spherical":
            joint.tag, joint.attrib["type"] = "{http://drake.mit.edu}joint", "ball"
    ET.register_namespace("drake", "http://drake.mit.edu")
    return ET.tostring(robot, encoding="unicode")

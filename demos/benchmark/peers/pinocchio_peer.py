"""Pinocchio: aba, rnea, crba and derivatives, from Python and, for aba, in the library's own C++ loop."""

import xml.etree.ElementTree as ET

import numpy as np

from demos.benchmark.cases import GRAVITY, Case
from demos.benchmark.peers.peer import Peer, Run, times

BLOCK = 256  # states per call: enough to hide the call, few enough to stay in the cache


class PinocchioPeer(Peer):
    """Timed: one pin.aba, pin.rnea or pin.crba per evaluation, q and v given, results left in `data`."""

    label = "Pinocchio"
    module = "pinocchio"

    def load(self, case: Case, urdf: str, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        import pinocchio as pin

        self.pin, self.model = pin, model_of(pin, ET.fromstring(urdf), case.fixed_base)
        self.model.gravity.linear = np.array(GRAVITY)
        self.data = self.model.createData()
        joints = [self.model.joints[self.model.getJointId(name)] for name in case.hinges]
        self.slots = [joint.idx_v for joint in joints]
        self.q, self.v, self.tau = pin.neutral(self.model), np.zeros(self.model.nv), np.zeros(self.model.nv)
        self.q[[joint.idx_q for joint in joints]] = q
        self.v[self.slots], self.tau[self.slots] = v, tau
        self.a = pin.aba(self.model, self.data, self.q, self.v, self.tau).copy()

    def forward_dynamics(self) -> Run | None:
        return times(self.pin.aba, self.model, self.data, self.q, self.v, self.tau) if self.loaded else None

    def forward_dynamics_loop(self) -> Run | None:
        """aba over a matrix of BLOCK equal states per call: what is left when Python's part is gone."""
        if not self.loaded:
            return None
        if not hasattr(self.pin, "abaInParallel"):
            self.reason = "this Pinocchio was built without OpenMP: no abaInParallel"
            return None
        pool = self.pin.ModelPool(self.model, 1)
        states = [np.tile(x[:, None], BLOCK).copy(order="F") for x in (self.q, self.v, self.tau)]
        self.accelerations = np.zeros_like(states[1])  # (nv, BLOCK), what the loop writes

        def run(count: int) -> None:
            for done in range(0, count, BLOCK):
                self.pin.abaInParallel(1, pool, *(x[:, : count - done] for x in (*states, self.accelerations)))

        return run

    def inverse_dynamics(self) -> Run | None:
        return times(self.pin.rnea, self.model, self.data, self.q, self.v, self.a) if self.loaded else None

    def mass_matrix(self) -> Run | None:
        return times(self.pin.crba, self.model, self.data, self.q) if self.loaded else None

    def derivatives(self, function: str) -> Run:
        """Of inverse or forward dynamics by q, v and a or tau: computeRNEADerivatives, computeABADerivatives."""
        if function == "inverse_dynamics":
            return times(self.pin.computeRNEADerivatives, self.model, self.data, self.q, self.v, self.a)
        return times(self.pin.computeABADerivatives, self.model, self.data, self.q, self.v, self.tau)

    def acceleration(self) -> np.ndarray:
        return self.pin.aba(self.model, self.data, self.q, self.v, self.tau)[self.slots]

    def torque(self) -> np.ndarray:
        return self.pin.rnea(self.model, self.data, self.q, self.v, self.a)[self.slots]

    def mass(self) -> np.ndarray:
        upper = np.triu(self.pin.crba(self.model, self.data, self.q))
        return (upper + np.triu(upper, 1).T)[np.ix_(self.slots, self.slots)]


def model_of(pin, robot: ET.Element, fixed_base: bool):
    """Pinocchio's URDF reader knows no ball joints: read them as hinges, then build the tree again with balls."""
    balls = [joint for joint in robot.iter("joint") if joint.get("type") == "spherical"]
    for joint in balls:
        joint.set("type", "continuous")
    root = [] if fixed_base else [pin.JointModelFreeFlyer()]
    read = pin.buildModelFromXML(ET.tostring(robot, encoding="unicode"), *root)
    names = {joint.get("name") for joint in balls}
    if not names:
        return read
    model = pin.Model()
    for i in range(1, read.njoints):
        joint = pin.JointModelSpherical() if read.names[i] in names else read.joints[i]
        model.addJoint(read.parents[i], joint, read.jointPlacements[i], read.names[i])
        model.appendBodyToJoint(i, read.inertias[i], pin.SE3.Identity())
    for frame in read.frames:
        if frame.type == pin.FrameType.BODY:
            model.addFrame(pin.Frame(frame.name, frame.parentJoint, frame.placement, frame.type))
    return model

"""Pinocchio on a robot that is held at points: constrainedDynamics as rigid constraints, and its derivatives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demos.benchmark.peers.peer import Run, times
from demos.benchmark.peers.pinocchio_peer import PinocchioPeer

Points = Sequence[tuple[str, tuple[float, float, float]]]  # (body, point in its frame, m)


class PinocchioHeld:
    """Rigid constraints of points of bodies to where they are; ``found`` (nv,): the accelerations."""

    def __init__(self, peer: PinocchioPeer, points: Points) -> None:
        pin = peer.pin
        self.peer, self._models, self._datas = peer, pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for body, point in points:
            frame = peer.model.frames[peer.model.getFrameId(body)]
            place = frame.placement * pin.SE3(np.eye(3), np.array(point))
            where = frame.parentJoint, place, pin.ReferenceFrame.LOCAL
            self._models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, peer.model, *where))
            self._datas.append(self._models[-1].createData())
        self._settings = pin.ProximalSettings(1e-14, 0.0, 1)
        pin.initConstraintDynamics(peer.model, peer.data, self._models, self._datas)
        self._state = peer.model, peer.data, peer.q, peer.v, peer.tau
        self.found = pin.constraintDynamics(*self._state, self._models, self._datas, self._settings).copy()

    def dynamics(self) -> Run:
        """Accelerations alone, which derivatives need."""
        return times(self.peer.pin.constraintDynamics, *self._state, self._models, self._datas, self._settings)

    def derivatives(self) -> Run:
        """Of accelerations by q, v and tau, after ``dynamics``; left in the peer's data."""
        derive, places = self.peer.pin.computeConstraintDynamicsDerivatives, (self.peer.model, self.peer.data)
        return times(derive, *places, self._models, self._datas, self._settings)

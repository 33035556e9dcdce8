"""DART: a Skeleton's forward dynamics, inverse dynamics and mass matrix."""

from itertools import cycle

import numpy as np

from demos.benchmark.cases import GRAVITY, Case
from demos.benchmark.peers.peer import Peer, Run, times

NUDGE = 1e-13  # rad or m between one evaluation and the next: DART ignores positions that it already has


class DartPeer(Peer):
    """Timed: setPositions to a state 1e-13 away, which makes DART forget what it computed, then one evaluation."""

    label = "DART"
    module = "dartpy"

    def load(self, case: Case, urdf: str, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        import dartpy

        if 'type="spherical"' in urdf:
            raise ValueError("its URDF reader knows no ball joints")
        loader, roots = dartpy.utils.DartLoader(), dartpy.utils.DartLoaderRootJointType
        root = roots.FIXED if case.fixed_base else roots.FLOATING
        loader.setOptions(dartpy.utils.DartLoaderOptions(defaultRootJointType=root))
        self.skeleton = loader.parseSkeletonString(urdf, dartpy.common.Uri())
        self.skeleton.setGravity(GRAVITY)
        self.slots = [self.skeleton.getDof(name).getIndexInSkeleton() for name in case.hinges]
        positions, velocities, torques = np.zeros((3, self.skeleton.getNumDofs()))
        positions[self.slots], velocities[self.slots], torques[self.slots] = q, v, tau
        self.positions, self.nudged = positions, cycle((positions, positions + NUDGE))
        self.skeleton.setVelocities(velocities)
        self.skeleton.setForces(torques)
        self._forward()

    def forward_dynamics(self) -> Run | None:
        return times(self._forward) if self.loaded else None

    def inverse_dynamics(self) -> Run | None:
        return times(self._inverse) if self.loaded else None

    def mass_matrix(self) -> Run | None:
        return times(self._mass) if self.loaded else None

    def acceleration(self) -> np.ndarray:
        self.skeleton.setPositions(self.positions)
        self.skeleton.computeForwardDynamics()
        return self.skeleton.getAccelerations()[self.slots]

    def torque(self) -> np.ndarray:
        self.acceleration()
        given = self.skeleton.getForces()
        self.skeleton.computeInverseDynamics()  # leaves its answer in the skeleton's forces
        found = self.skeleton.getForces()
        self.skeleton.setForces(given)
        return found[self.slots]

    def mass(self) -> np.ndarray:
        return self._mass()[np.ix_(self.slots, self.slots)]

    def _forward(self) -> None:
        self.skeleton.setPositions(next(self.nudged))
        self.skeleton.computeForwardDynamics()

    def _inverse(self) -> None:
        self.skeleton.setPositions(next(self.nudged))
        self.skeleton.computeInverseDynamics()

    def _mass(self) -> np.ndarray:
        self.skeleton.setPositions(next(self.nudged))
        return self.skeleton.getMassMatrix()

"""What drives a step: the forces that were given, and in maximal coordinates those of joints with them."""

from __future__ import annotations

import numpy as np

from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.layout import body_links
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.maximal.held_joints import HeldJoints
from recursive_dyn.maximal.joint_action import EXPLICIT, JointAction
from recursive_dyn.maximal.joint_step import joint_action_of
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.simulation.state import State


class StepForces:
    """Of one simulation. rule: the integrator that its bodies fly by; joints: what they do, in maximal coordinates;
    bounded: whether these have limits or dry friction; constrained: whether the model has constraints; singly: whether
    every step is followed by more than the next one.
    """

    def __init__(self, dynamics: Dynamics, integrator: str) -> None:
        self.joints: JointAction | None = None
        self.rule = integrator
        if isinstance(dynamics, MaximalDynamics):
            self.joints, self.rule = joint_action_of(dynamics, integrator), EXPLICIT
        self.bounded = self.joints is not None and self.joints.bounded
        self._links = None if self.joints is None else body_links(dynamics.model)
        self.constrained = bool(dynamics.model.constraints)
        self.singly = self.constrained or self.joints is not None

    def forces(self, state: State, tau: np.ndarray, h: float) -> np.ndarray:
        """tau (nv,) with what joints between free bodies do in a step of h from here."""
        return tau if self.joints is None else tau + self.joints.over_step(state.q, state.v, tau, h)

    def held(self, state: State, buffer: ContactBuffer, h: float) -> HeldJoints | None:
        """Rows of joints between free bodies, for the impulses of a step of h that flew to this state."""
        if self.joints is None or self._links is None:
            return None
        known, n = buffer.table, buffer.count
        bodies = np.concatenate([known.a[:n], known.b[:n]])
        links = self._links[bodies[(bodies >= 0) & (bodies < len(self._links))]]
        return self.joints.held(state.q, state.v, h, links[links >= 0])

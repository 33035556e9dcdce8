"""Forces and torques that a person applies to bodies for the length of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.simulation.state import numbers

# body, torque and force in world axes, point of the body's frame
AppliedForce = tuple[int, np.ndarray, np.ndarray, np.ndarray]


class Acted(NamedTuple):
    """What the user had act in a step: tau (nv,), and forces on bodies."""

    tau: np.ndarray
    forces: Sequence[AppliedForce]


def applied(dynamics: Dynamics, body: Any, torque: Any, force: Any, point: Any) -> AppliedForce:
    """A checked one; ModelError for an unknown body, StateError for anything but three finite numbers each."""
    torque, force, point = (
        numbers(dynamics, name, value, 3) for name, value in (("torque", torque), ("force", force), ("point", point))
    )
    return dynamics.model.body_index(body), torque, force, point


def world_wrenches(dynamics: Dynamics, q: np.ndarray, forces: Sequence[AppliedForce]) -> np.ndarray:
    """Wrenches (nb, 6) of applied forces at q (nq,), world axes at the bodies' origins."""
    poses = dynamics.poses(q)
    wrenches = np.zeros((len(dynamics.bodies), 6))
    for index, torque, force, point in forces:
        wrenches[index, :3] += torque + np.cross(poses[index, :3, :3] @ point, force)
        wrenches[index, 3:] += force
    return wrenches


def generalized(dynamics: Dynamics, q: np.ndarray, forces: Sequence[AppliedForce]) -> np.ndarray:
    """Generalized forces (nv,) of applied forces at q (nq,)."""
    return dynamics.call("external_forces", q, world_wrenches(dynamics, q, forces).reshape(-1))

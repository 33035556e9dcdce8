"""What joints between free bodies do by themselves, along their rows: rotors, dampers and springs of coordinates."""

from __future__ import annotations

import numpy as np

from recursive_dyn.integrators.integrator import joint_forces
from recursive_dyn.maximal.joint_rows.joint_rows import JointRows
from recursive_dyn.maximal.kinds.springs_found import hardness, pull
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics

Array = np.ndarray


def passive_rows(d: MaximalDynamics, rows: JointRows) -> Array:
    """Forces (n, 6) of the joints' own dampers and springs along their rows."""
    model = d.jointed.model
    return -d.in_rows(joint_forces(model).damping * rows.v + pull(model, rows.q))


def coordinate_rows(d: MaximalDynamics, rows: JointRows, h: float, everything: bool = True) -> tuple[Array, Array]:
    """(compliance, wanted rate), each (n, 6), with which rotors, dampers and springs of joint coordinates are rows of a
    step of h; infinite compliance where there are none. Not everything: rotors alone."""
    model, share = d.jointed.model, h if everything else 0.0
    w = d.rotors + d.in_rows(share * joint_forces(model).damping + share * share * hardness(model))
    push = d.rotors * d.in_rows(rows.v) - d.in_rows(share * pull(model, rows.q))
    soft = w > 0.0
    return (
        np.divide(1.0, w, out=np.full_like(w, np.inf), where=soft),
        np.divide(push, w, out=np.zeros_like(w), where=soft),
    )

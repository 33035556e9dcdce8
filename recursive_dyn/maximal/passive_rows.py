"""What joints between free bodies do by themselves, along their rows: rotors, dampers and springs of coordinates."""

from __future__ import annotations

import numpy as np

from recursive_dyn.integrators.integrator import joint_forces, plain_positions
from recursive_dyn.maximal.joint_rows import JointRows
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.turn_springs import turn_pull, turn_springs
from recursive_dyn.model.model import Model

Array = np.ndarray


def hardness(model: Model) -> Array:
    """Stiffness (nv,) of every coordinate of a reduced model, of those of balls too."""
    return joint_forces(model).stiffness + np.array([c.torsion for c in model.coordinates], dtype=float)


def pull(model: Model, q: Array) -> Array:
    """What springs take (nv,) at coordinates q (nq,): the gradient of their energy."""
    own, turns, out = joint_forces(model), turn_springs(model), np.zeros(6)
    result: Array = own.stiffness * (plain_positions(model, q) - own.rest)
    for k, slot in enumerate(turns.slots.tolist()):
        turn_pull(turns, k, q, out)
        count = 6 if turns.free[k] else 3
        result[slot : slot + count] = out[:count]
    return result


def passive_rows(d: MaximalDynamics, rows: JointRows) -> Array:
    """Forces (n, 6) of the joints' own dampers and springs along their rows."""
    model = d.reduced.model
    return -d.in_rows(joint_forces(model).damping * rows.v + pull(model, rows.q))


def coordinate_rows(d: MaximalDynamics, rows: JointRows, h: float, everything: bool = True) -> tuple[Array, Array]:
    """(compliance, wanted rate), each (n, 6), with which rotors, dampers and springs of joint coordinates are rows of a
    step of h; infinite compliance where there are none. Not everything: rotors alone."""
    model, share = d.reduced.model, h if everything else 0.0
    w = d.rotors + d.in_rows(share * joint_forces(model).damping + share * share * hardness(model))
    push = d.rotors * d.in_rows(rows.v) - d.in_rows(share * pull(model, rows.q))
    soft = w > 0.0
    return (
        np.divide(1.0, w, out=np.full_like(w, np.inf), where=soft),
        np.divide(push, w, out=np.zeros_like(w), where=soft),
    )

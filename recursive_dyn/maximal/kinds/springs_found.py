"""Springs of joints between free bodies, of those of balls too, at the coordinates found."""

from __future__ import annotations

import numpy as np

from recursive_dyn.integrators.integrator import joint_forces, plain_positions
from recursive_dyn.maximal.kinds.turn_springs import turn_energy, turn_pull, turn_springs
from recursive_dyn.model.model import Model, once

Array = np.ndarray


@once
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


def spring_energy(model: Model, q: Array) -> Array:
    """Of all of them (...,), at coordinates q (..., nq)."""
    own, turns = joint_forces(model), turn_springs(model)
    result = np.zeros(q.shape[:-1])
    for one in np.ndindex(result.shape):
        stretched = plain_positions(model, q[one]) - own.rest
        result[one] = 0.5 * own.stiffness @ stretched**2 + sum(
            turn_energy(turns, k, q[one]) for k in range(len(turns.slots))
        )
    return result

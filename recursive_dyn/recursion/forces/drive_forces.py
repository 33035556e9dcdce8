"""What prescribed motion takes: the force of each coordinate that has one, and of time the power of all it drives.

It is what inverse dynamics asks for beyond all that acts. Energy is a function of q and v, time among them, so that

    d/dt (T + U) = v . (tau + dissipation) + v . drive forces,   of time 1 times its force.
"""

from __future__ import annotations

from collections.abc import Sequence

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.recursion.equations.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.forces.passive import passive_forces
from recursive_dyn.recursion.kinematics import Tree


def drive_forces(tree: Tree, acceleration: Sequence[Scalar], tau: Sequence[Scalar]) -> list[Scalar]:
    """Generalized forces (nv,) of what is prescribed, zeros elsewhere; tau (nv,): all that acts, constraints included,
    but dampers, springs and force elements."""
    result: list[Scalar] = [0.0] * tree.model.nv
    if tree.model.prescribed:
        needed, passive = inverse_dynamics(tree, array(list(acceleration))), passive_forces(tree)
        for s in tree.model.prescribed:
            result[s] = needed[s] - tau[s] - passive[s]
    return result

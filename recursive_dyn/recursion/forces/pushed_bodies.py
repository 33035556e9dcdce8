"""Forces on bodies from outside: constant in world axes, at points that the bodies carry along.

A force F at the point p of a body's frame has the moment R p x F about its origin, R the body's orientation: the
antisymmetric part of R p F^T. So any number of torques and forces on a body is PUSH numbers, wherever it turns,

    torque (3,), force (3,), B = sum of p F^T (3, 3), row by row.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar
from recursive_dyn.recursion.cartesian.cartesian_forces import forces_from_wrenches
from recursive_dyn.recursion.kinematics import Tree

PUSHES, PUSH = "pushes", 15  # the input segment; numbers a body


def pushed_forces(tree: Tree) -> list[Scalar]:
    """tau (nv,) of what the tree is under."""
    if tree.pushes is None:
        return [0.0] * tree.model.nv
    if tree.pushed is None:
        tree.pushed = _forces(tree, tree.pushes)
    return list(tree.pushed)


def _forces(tree: Tree, pushes: np.ndarray) -> list[Scalar]:
    wrenches = np.zeros((len(tree.model.bodies), 6), dtype=object)
    for wrench, push, body in zip(wrenches, pushes, tree.model.bodies, strict=True):
        C = tree.body_pose(body)[0] @ push[6:].reshape(3, 3)
        moment = [C[1, 2] - C[2, 1], C[2, 0] - C[0, 2], C[0, 1] - C[1, 0]]
        wrench[:] = [*(push[:3] + moment), *push[3:6]]
    return forces_from_wrenches(tree, wrenches, at_center=False)

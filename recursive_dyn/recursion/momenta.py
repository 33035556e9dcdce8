"""Generalized momenta and the forces that change them, by one inward recursion.

p = M v and lambda = dL/dq + ad*_v p, so that the motion is p-dot = lambda + tau, with L = T - U in the velocities' own
axes. Of a link with S and twist V, in its axes, P the momentum and G gravity's wrench of all that hangs on it,

    p = S^T P,   lambda = (S-dot + ad_V S)^T P + S^T G

S-dot along q-dot by differentiating the joint; (Marsden & Ratiu 1999, Introduction to Mechanics and Symmetry, 13.5).
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.kinematics import Tree, rates
from recursive_dyn.spatial.algebra import cross, dot


def momenta(tree: Tree) -> tuple[list[Scalar], list[Scalar]]:
    """(p (nv,), lambda (nv,)) of a tree whose q are inputs or expressions, at its v."""
    model = tree.model
    p: list[Scalar] = [c.armature * v for c, v in zip(model.coordinates, tree.v, strict=True)]
    force: list[Scalar] = [0.0] * model.nv
    moving, pulled = [], []
    for k, twist, R in zip(tree.links, tree.twists, tree.rotations, strict=True):
        own, omega, v, down = k.moments, twist[:3], twist[3:], R.T @ tree.gravity
        spin = array(np.eye(3)) * np.trace(own.second) - own.second
        moving.append(np.concatenate([spin @ omega + cross(own.first, v), own.mass * v + cross(omega, own.first)]))
        pulled.append(np.concatenate([cross(own.first, down), own.mass * down]))
    for i in reversed(range(len(tree.links))):
        k, P, (omega, v) = tree.links[i], moving[i], (tree.twists[i][:3], tree.twists[i][3:])
        turned = np.concatenate([cross(P[:3], omega) + cross(P[3:], v), cross(P[3:], omega)]) + pulled[i]
        for (slot, s), rate in zip(k.columns, _subspace_rate(tree, i).T, strict=True):
            p[slot] = p[slot] + dot(s, P)
            force[slot] = force[slot] + dot(s, turned) + dot(rate, P)
        if k.link.parent != WORLD:
            for total in (moving, pulled):
                total[k.link.parent] = total[k.link.parent] + np.concatenate(
                    k.displacement.wrench_inward(total[i][:3], total[i][3:])
                )
    return p, force


def _subspace_rate(tree: Tree, i: int) -> np.ndarray:
    """S-dot (6, d) of a link along q-dot."""
    S = tree.links[i].S
    along = dict(zip(tree.q, rates(tree), strict=True))
    return array(directional_derivative(list(S.flat), along)).reshape(S.shape)

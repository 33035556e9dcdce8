"""Ways on the configuration manifold: every joint's coordinates move along the exponential of their space."""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar
from recursive_dyn.recursion.kinematics import Tree


def integrate(tree: Tree, v: np.ndarray, dt: Scalar) -> list[Scalar]:
    """The configuration (nq,) after moving with constant velocity v (nv,) for dt."""
    result = plain_moved(tree, v, dt)
    for _, factor, q0, v0 in tree.model.owners:
        q = tree.q[q0 : q0 + factor.nq]
        result[q0 : q0 + factor.nq] = list(factor.space.exp(q, v[v0 : v0 + factor.nv] * dt))
    return result


def plain_moved(tree: Tree, v: np.ndarray, dt: Scalar) -> list[Scalar]:
    """The configuration (nq,) after dt of coordinates on flat spaces; the others are left where they are."""
    result: list[Scalar] = list(tree.q)
    for place, slot in tree.model.plain_slots:
        result[place] = tree.q[place] + v[slot] * dt
    return result


def difference(tree: Tree, other: np.ndarray) -> list[Scalar]:
    """The velocity (nv,) that leads from q to ``other`` (nq,) in a unit of time."""
    result: list[Scalar] = [0.0] * tree.model.nv
    for place, slot in tree.model.plain_slots:
        result[slot] = other[place] - tree.q[place]
    for _, factor, q0, v0 in tree.model.owners:
        start, end = tree.q[q0 : q0 + factor.nq], other[q0 : q0 + factor.nq]
        result[v0 : v0 + factor.nv] = list(factor.space.log(start, end))
    return result


def plain_positions(tree: Tree) -> list[Scalar]:
    """The position that belongs to each velocity slot; 0 for slots of a manifold factor, which carry no spring."""
    result: list[Scalar] = [0.0] * tree.model.nv
    for place, slot in tree.model.plain_slots:
        result[slot] = tree.q[place]
    return result

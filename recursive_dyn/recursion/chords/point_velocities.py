"""Velocities of mass points, by which a step along chords sees how far it turns what moves.

A link's second moment about its centre of mass is the sum of l l^T over the columns of its Cholesky factor, so that its
motion is that of its centre and of three lengths l that turn: with w = sqrt(m) c-dot and three of R (omega x l) its
kinetic energy is the sum of |w|^2 / 2.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, combine
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.equations.lagrangian import inverse_or_zero
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import cross, dot

NUMBERS = 12  # a body
_LITTLE = 1e-9  # of a second moment, below which a length is none


def point_velocities(tree: Tree) -> list[Scalar]:
    """w (4, 3) of every body that a link moves by, world axes, of all of the link, zeros of others; then the sum of
    m |g|^2."""
    flat: list[Scalar] = []
    weight: Scalar = 0.0
    for body in tree.model.bodies:
        if not body.jointed or body.link == WORLD:
            flat += [0.0] * NUMBERS
            continue
        k, twist, R = tree.links[body.link], tree.twists[body.link], tree.rotations[body.link]
        flat += list(R @ (twist[3:] + cross(twist[:3], k.center)) * combine("sqrt", [k.mass]))
        for length in _lengths(k.inertia):
            flat += list(R @ cross(twist[:3], length))
        weight = weight + k.mass * dot(tree.gravity, tree.gravity)
    return [*flat, weight]


def _lengths(inertia: np.ndarray) -> list[np.ndarray]:
    """l (3,) of an inertia (3, 3) about the centre of mass."""
    half = (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) * 0.5
    left, least = array(np.eye(3)) * half - inertia, half * _LITTLE
    found: list[np.ndarray] = []
    for j in range(3):
        length = left[j] * combine("sqrt", [inverse_or_zero(left[j, j], least)])
        left = left - np.outer(length, length)
        found.append(length)
    return found

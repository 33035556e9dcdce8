"""Mass matrix: the coefficients of q-double-dot in the inverse dynamics (Guenter & Lee 2009, eq. 14).

Gathering those coefficients link by link gives composite-body inertias: column j of M is the inverse dynamics of a unit
acceleration of coordinate j, in which everything outward of joint j moves as one rigid body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.displacement import Displacement


@dataclass(frozen=True, eq=False)
class CompositeInertia:
    """Rigid inertia about the frame origin: mass, first moment h (3,), moment of inertia I (3, 3)."""

    mass: Scalar
    h: np.ndarray
    I: np.ndarray

    @staticmethod
    def of(k: LinkKinematics) -> CompositeInertia:
        """The link's own inertia."""
        return CompositeInertia(k.moments.mass, k.moments.first, k.moments.inertia)

    def __add__(self, other: CompositeInertia) -> CompositeInertia:
        return CompositeInertia(self.mass + other.mass, self.h + other.h, self.I + other.I)

    def inward(self, X: Displacement) -> CompositeInertia:
        """The same inertia in the parent frame."""
        h, I = self.h, self.I
        for rotation in reversed(X.rotations):
            h, I = rotation.apply(h), rotation.symmetric(I)
        moved = h + self.mass * X.p
        # sum of m (|r|^2 1 - r r^T) with r -> r + p adds tr(Q) 1 - Q, Q = h p^T + p (h + m p)^T
        Q = array([[h[i] * X.p[j] + X.p[i] * moved[j] if j >= i else 0.0 for j in range(3)] for i in range(3)])
        result = I.copy()
        for i in range(3):
            result[i, i] = I[i, i] + (Q[(i + 1) % 3, (i + 1) % 3] + Q[(i + 2) % 3, (i + 2) % 3])
            for j in range(i + 1, 3):
                result[i, j] = result[j, i] = I[i, j] - Q[i, j]
        return CompositeInertia(self.mass, moved, result)

    def momentum(self, twist: np.ndarray) -> np.ndarray:
        """I twist (6,): moment about the origin and force."""
        omega, v = twist[:3], twist[3:]
        return np.concatenate([self.I @ omega + cross(self.h, v), self.mass * v + cross(omega, self.h)])


def composites(
    tree: Tree, own: Callable[[LinkKinematics], CompositeInertia] = CompositeInertia.of
) -> list[CompositeInertia]:
    """Of every link and all that hangs on it, in the link's frame; own: what one link has."""
    result = [own(k) for k in tree.links]
    for i in reversed(range(len(tree.links))):
        k = tree.links[i]
        if k.link.parent != WORLD:
            result[k.link.parent] = result[k.link.parent] + result[i].inward(k.displacement)
    return result


def carried(tree: Tree) -> list[Scalar]:
    """The diagonal of M (nv,): what every coordinate moves, its rotor included."""
    result: list[Scalar] = [coordinate.armature for coordinate in tree.model.coordinates]
    composite = composites(tree)
    for i, k in enumerate(tree.links):
        for slot, s in k.columns:
            result[slot] = result[slot] + dot(s, composite[i].momentum(s))
    return result


def mass_matrix(tree: Tree, diagonal: list[Scalar] | None = None) -> np.ndarray:
    """M (nv, nv), symmetric, exact zeros between coordinates on different branches; rotor inertias included."""
    model = tree.model
    M = np.zeros((model.nv, model.nv), dtype=object)
    M[:] = 0.0
    for slot, coordinate in enumerate(model.coordinates):
        M[slot, slot] = coordinate.armature + (diagonal[slot] if diagonal else 0.0)
    composite = composites(tree)
    for i, k in enumerate(tree.links):
        for j, (slot, s) in enumerate(k.columns):
            _column(tree, M, i, j, slot, composite[i].momentum(s))
    return M


def _column(tree: Tree, M: np.ndarray, i: int, j: int, slot: int, wrench: np.ndarray) -> None:
    """Entries of one column of S against its own joint's columns up to j and against every ancestor's."""
    k = tree.links[i]
    for other, s in k.columns[: j + 1]:
        _accumulate(M, slot, other, dot(s, wrench), same=True)
    while k.link.parent != WORLD:
        wrench = np.concatenate(k.displacement.wrench_inward(wrench[:3], wrench[3:]))
        k = tree.links[k.link.parent]
        for other, s in k.columns:
            _accumulate(M, slot, other, dot(s, wrench), same=False)


def _accumulate(M: np.ndarray, row: int, column: int, value: Scalar, same: bool) -> None:
    """Add a pair of columns' inertia; two joints that share a slot (a coupled coordinate) count both ways."""
    if row == column:
        M[row, row] = M[row, row] + (value if same else value * 2.0)
        return
    M[row, column] = M[column, row] = M[row, column] + value

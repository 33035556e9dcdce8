"""O(n) forward dynamics, Si & Guenter (2011) eq. 18-35, fully symbolic ("Method I").

Recursions 1-3 are the inverse dynamics of the unaccelerated tree. Recursions 4-6 factor M^-1; the d coordinates of a
joint are eliminated one after another, which is Omega^-1 (eq. 28) by its LDL^T factorization. The bias wrench p
(eq. 24) and z (eq. 31) travel the same road inward and are carried as one sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recursive_dyn.displacement import Inertia
from recursive_dyn.expression import Scalar, array, reciprocal
from recursive_dyn.model import WORLD
from recursive_dyn.recursion.inverse_dynamics import motions, required_wrench
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree, zeros
from recursive_dyn.spatial import cross, dot, skew


@dataclass(frozen=True, eq=False)
class Pivot:
    """One eliminated coordinate: its slot, column s of S, w = J s / omega, c / omega (eq. 28-33)."""

    slot: int
    s: np.ndarray
    w: np.ndarray
    rate: Scalar


def forward_dynamics(tree: Tree, tau: Sequence[Scalar], diagonal: Sequence[Scalar] | None = None) -> list[Scalar]:
    """Accelerations (nv,) for generalized forces tau (nv,); ``diagonal`` is added to the rotor inertias."""
    tree.model.refuse_couplings()
    wrenches = [required_wrench(k, m) for k, m in zip(tree.links, motions(tree, None), strict=True)]
    pivots = _inward(tree, [np.concatenate(w) for w in wrenches], tau, _diagonal(tree, diagonal))
    return _outward(tree, pivots)


def _diagonal(tree: Tree, extra: Sequence[Scalar] | None) -> list[Scalar]:
    armature = [c.armature for c in tree.model.coordinates]
    return armature if extra is None else [a + e for a, e in zip(armature, extra, strict=True)]


def rigid_inertia(k: LinkKinematics) -> Inertia:
    """The link's own spatial inertia about its origin (eq. 5), from its moments."""
    moments = k.moments
    return Inertia(moments.inertia, skew(moments.first), array(np.eye(3)) * moments.mass)


def _inward(
    tree: Tree, wrenches: list[np.ndarray], tau: Sequence[Scalar], diagonal: Sequence[Scalar]
) -> list[list[Pivot]]:
    """Recursions 3-5 (eq. 24-33): articulated inertias and reduced forces from the leaves to the root."""
    articulated = [rigid_inertia(k) for k in tree.links]
    pivots: list[list[Pivot]] = [[] for _ in tree.links]
    for i in reversed(range(len(tree.links))):
        k = tree.links[i]
        J, z = articulated[i], wrenches[i]
        for slot, s in k.columns:
            u = J.times(s)
            inverse = reciprocal(dot(s, u) + diagonal[slot])
            w = u * inverse
            c = tau[slot] - dot(s, z)
            pivots[i].append(Pivot(slot, s, w, c * inverse))
            J, z = J.minus_outer(u, w), z + w * c
        parent = k.link.parent
        if parent != WORLD:
            articulated[parent] = articulated[parent] + k.displacement.inertia_inward(J)
            wrenches[parent] = wrenches[parent] + np.concatenate(k.displacement.wrench_inward(z[:3], z[3:]))
    return pivots


def _outward(tree: Tree, pivots: list[list[Pivot]]) -> list[Scalar]:
    """Recursion 6 (eq. 34-35): accelerations from the root to the leaves."""
    acceleration: list[Scalar] = [0.0] * tree.model.nv
    eta: list[np.ndarray] = []
    for k, own in zip(tree.links, pivots, strict=True):
        if k.link.parent == WORLD:
            total = zeros(6)
        else:
            parent = eta[k.link.parent]
            angular, linear = parent[:3], parent[3:] + cross(parent[:3], k.displacement.p)
            total = np.concatenate([k.displacement.outward(angular), k.displacement.outward(linear)])
        for pivot in reversed(own):
            acceleration[pivot.slot] = pivot.rate - dot(pivot.w, total)
            total = total + pivot.s * acceleration[pivot.slot]
        eta.append(total)
    return acceleration

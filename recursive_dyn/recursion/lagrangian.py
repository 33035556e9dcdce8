"""Forward dynamics as M a = tau - c by factorization (Guenter & Lee 2009, eq. 13-14).

M = L^T D L is factored from the leaves inward, so a tree's branches fill nothing in (Featherstone, Rigid Body Dynamics
Algorithms, section 6.5); c is the inverse dynamics with zero acceleration.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.expression import Scalar, combine, reciprocal, select
from recursive_dyn.model import Model
from recursive_dyn.recursion.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.mass_matrix import mass_matrix


def forward_dynamics(tree: Tree, tau: Sequence[Scalar], diagonal: list[Scalar] | None = None) -> list[Scalar]:
    """Accelerations (nv,) for generalized forces tau (nv,); ``diagonal`` is added to the rotor inertias."""
    bias = inverse_dynamics(tree, None)
    return solve(mass_matrix(tree, diagonal), [t - b for t, b in zip(tau, bias, strict=True)])


def solve(M: np.ndarray, b: Sequence[Scalar], singular: float = 0.0) -> list[Scalar]:
    """M^-1 b of a symmetric positive definite scalar matrix; exact zeros are skipped.

    A pivot below ``singular`` times its diagonal entry counts as zero, so that the result is not finite.
    """
    n = len(b)
    L = M.copy()
    x = list(b)
    inverse: list[Scalar] = [0.0] * n
    below = [[j for j in range(k) if _nonzero(M[k, j])] for k in range(n)]
    for k in reversed(range(n)):
        pivot = L[k, k]
        if singular:
            pivot = select(combine("less", [pivot, singular * M[k, k]]), 0.0, pivot)
        inverse[k] = reciprocal(pivot)
        below[k] = [j for j in range(k) if _nonzero(L[k, j])]
        row = L[k].copy()
        for i in below[k]:
            factor = row[i] * inverse[k]
            for j in below[k]:
                if j <= i:
                    L[i, j] = L[i, j] - factor * row[j]
            L[k, i] = factor
            x[i] = x[i] - factor * x[k]
    for k in range(n):
        x[k] = x[k] * inverse[k]
        for j in below[k]:
            x[k] = x[k] - L[k, j] * x[j]
    return x


def _nonzero(value: Scalar) -> bool:
    return not (isinstance(value, float) and value == 0.0)


def minimum_operations(model: Model) -> int:
    """A lower bound on the operations of the factorization alone, from the tree's shape."""
    depth = [0] * model.nv
    total = 0
    for i, link in enumerate(model.links):
        above = sum(model.links[a].joint.nv for a in model.ancestors[i][1:] if model.links[a].coupling is None)
        if link.coupling is None:
            for position, slot in enumerate(link.dof):
                depth[slot] = above + position
    for d in depth:
        total += d * (d + 1) + 5 * d
    return total

"""O(n) forward dynamics, Si & Guenter (2011) eq. 18-35, fully symbolic ("Method I").

Recursions 1-3 are the inverse dynamics of the unaccelerated tree, 4-6 the factors of M^-1 of ``articulated``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.graph.expression import Scalar
from recursive_dyn.recursion.equations.articulated import ArticulatedInertias, Reduction
from recursive_dyn.recursion.equations.balanced_masses import balanced_moments
from recursive_dyn.recursion.equations.inverse_dynamics import motions, wrench_of
from recursive_dyn.recursion.kinematics import Tree


def free_motion(
    tree: Tree, tau: Sequence[Scalar], diagonal: Sequence[Scalar] | None = None
) -> tuple[ArticulatedInertias, list[Scalar]]:
    """(factors of M, L^-T (tau - bias)), which ``expand`` makes accelerations; tau (nv,); ``diagonal`` is added to the
    rotor inertias."""
    wrenches = [wrench_of(own, m) for own, m in zip(balanced_moments(tree), motions(tree, tree.given), strict=True)]
    reduction = Reduction(tree, tau, [np.concatenate(w) for w in wrenches])
    return ArticulatedInertias(tree, diagonal, reduction), reduction.c


def factors(tree: Tree, diagonal: Sequence[Scalar] | None = None) -> ArticulatedInertias:
    """The factors of M, ``diagonal`` added."""
    return ArticulatedInertias(tree, diagonal)

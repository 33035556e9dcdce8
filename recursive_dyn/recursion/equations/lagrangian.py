"""Forward dynamics as M a = tau - c by factorization (Guenter & Lee 2009, eq. 13-14).

M = L^T D L is factored from the leaves inward, so a tree's branches fill nothing in (Featherstone, Rigid Body Dynamics
Algorithms, section 6.5); c is the inverse dynamics with zero acceleration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from recursive_dyn.graph.expression import Scalar, combine, reciprocal, select
from recursive_dyn.model.model import WORLD, Model
from recursive_dyn.recursion.equations.inverse_dynamics import inverse_dynamics
from recursive_dyn.recursion.equations.mass_matrix import mass_matrix
from recursive_dyn.recursion.kinematics import Tree

NOTHING = 1e-200  # of a square, so that there is a reciprocal of none


def free_motion(
    tree: Tree, tau: Sequence[Scalar], diagonal: list[Scalar] | None = None
) -> tuple[FactoredMatrix, list[Scalar]]:
    """(factors of M, L^-T (tau - bias)), which ``expand`` makes accelerations; tau (nv,); ``diagonal`` is added to the
    rotor inertias."""
    bias = inverse_dynamics(tree, tree.given)
    factors = FactoredMatrix(mass_matrix(tree, diagonal), prescribed=tree.model.prescribed)
    return factors, factors.reduce([t - b for t, b in zip(tau, bias, strict=True)])


def factors(tree: Tree, diagonal: list[Scalar] | None = None) -> FactoredMatrix:
    """The factors of M, ``diagonal`` added."""
    return FactoredMatrix(mass_matrix(tree, diagonal), prescribed=tree.model.prescribed)


def solve(
    M: np.ndarray,
    b: Sequence[Scalar],
    singular: float = 0.0,
    dependent: float = 0.0,
    size: Sequence[Scalar] | None = None,
) -> list[Scalar]:
    """M^-1 b of a symmetric positive definite scalar matrix; the options are FactoredMatrix's."""
    factors = FactoredMatrix(M, singular, dependent, size)
    return factors.expand(factors.reduce(b))


class FactoredMatrix:
    """M = L^T D L of a symmetric scalar matrix (n, n), eliminated from the last row up; exact zeros are skipped.

    A pivot below ``singular`` times its diagonal entry, or its ``size``, counts as zero, so that the result is not
    finite; one below ``dependent`` times it leaves its row out, so that the row's unknown is zero. So are those of
    ``prescribed`` rows.
    """

    def __init__(
        self,
        M: np.ndarray,
        singular: float = 0.0,
        dependent: float = 0.0,
        size: Sequence[Scalar] | None = None,
        prescribed: Collection[int] = (),
    ) -> None:
        n = len(M)
        L = M.copy()
        size = M.diagonal().tolist() if size is None else size
        self.inverse: list[Scalar] = [0.0] * n
        self.below: list[list[int]] = [[] for _ in range(n)]
        for k in reversed(range(n)):
            if k in prescribed:
                continue
            pivot = L[k, k]
            if singular:
                pivot = select(combine("less", [pivot, singular * size[k]]), 0.0, pivot)
            self.inverse[k] = inverse_or_zero(pivot, dependent * size[k]) if dependent else reciprocal(pivot)
            self.below[k] = [j for j in range(k) if nonzero(L[k, j])]
            row = L[k].copy()
            for i in self.below[k]:
                factor = row[i] * self.inverse[k]
                for j in self.below[k]:
                    if j <= i:
                        L[i, j] = L[i, j] - factor * row[j]
                L[k, i] = factor
        self.L = L

    def reduce(self, tau: Sequence[Scalar], wrenches: Sequence[np.ndarray] | None = None) -> list[Scalar]:
        """L^-T tau."""
        c = list(tau)
        for k in reversed(range(len(c))):
            for i in self.below[k]:
                c[i] = c[i] - self.L[k, i] * c[k]
        return c

    def expand(self, c: Sequence[Scalar]) -> list[Scalar]:
        """L^-1 D^-1 c."""
        x = list(c)
        for k in range(len(x)):
            x[k] = x[k] * self.inverse[k]
            for j in self.below[k]:
                x[k] = x[k] - self.L[k, j] * x[j]
        return x


def inverse_or_zero(pivot: Scalar, least: Scalar) -> Scalar:
    """1 / pivot, or 0 where the pivot is not above ``least``."""
    above = combine("less", [least, pivot])
    return select(above, reciprocal(select(above, pivot, 1.0)), 0.0)


def nonzero(value: Scalar) -> bool:
    """Whether a scalar is anything but the number 0."""
    return not (isinstance(value, float) and value == 0.0)


def minimum_operations(model: Model) -> int:
    """A lower bound on the operations of the factorization, from the tree's shape; 0 where coordinates are shared."""
    if any(count > 1 for count in Counter(slot for link in model.links for slot in link.slots).values()):
        return 0
    depth = [0] * model.nv
    below: list[int] = []  # of each link, how many slots lie between the world and what hangs on it
    for link in model.links:
        above = 0 if link.parent == WORLD else below[link.parent]
        for position, slot in enumerate(link.slots):
            depth[slot] = above + position
        below.append(above + len(link.slots))
    return sum(d * (d + 1) + 5 * d for d in depth)

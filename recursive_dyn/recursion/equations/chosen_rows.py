"""Solutions of A x = b where rows repeat each other, by the rows that say most at each state.

Symmetric elimination with the largest pivot first (Higham 2002, Accuracy and Stability of Numerical Algorithms, 10.3),
as a program without branches: a pivot is a row e of zeros and a one. A fixed order would be as near to a singular
position as its first rows are, while others are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, less, maximum, reciprocal, select
from recursive_dyn.recursion.equations.lagrangian import NOTHING, inverse_or_zero
from recursive_dyn.spatial.algebra import dot

SPARE = 1e-3  # of a row's size, squared, that is nothing of its own where rows repeat each other everywhere


class _Pivot(NamedTuple):
    """Which row it is, e (m,), what of A is its, u (m,), one by its pivot, and what of b is its."""

    e: np.ndarray
    u: np.ndarray
    inverse: Scalar
    b: Scalar


def solve_by_chosen(
    A: np.ndarray, b: Sequence[Scalar], sizes: Sequence[Scalar], count: int, dependent: float
) -> list[Scalar]:  # fmt: skip
    """x (m,) with A x = b, of A (m, m) positive semidefinite, b within its reach, and 0 in rows that repeat others.

    Row after row that one is taken of which the largest share of its size is left, and none that has no more left than
    ``dependent`` of it; after ``count`` of them none that has no more than ``SPARE``, as rounding, and stages of a step
    that are a little off where rows repeat each other, leave.
    """
    A, left, m = A.copy(), array(list(b)), len(A)
    shares, pivots = array([reciprocal(size + NOTHING) for size in sizes]), list[_Pivot]()
    for k in range(m):
        e = _largest([A[i, i] * shares[i] for i in range(m)])
        u = array([dot(A[i], e) for i in range(m)])
        own = dot(e, u)
        least = (dependent if k < count else max(dependent, SPARE)) * reciprocal(dot(shares, e) + NOTHING)
        pivot = _Pivot(e, u, inverse_or_zero(own, least), dot(e, left))
        for i in range(m):
            factor = u[i] * pivot.inverse
            left[i] = left[i] - factor * pivot.b
            for j in range(i + 1):
                A[i, j] = A[j, i] = A[i, j] - factor * u[j]
        shares = array([select(less(0.5, e[i]), 0.0, shares[i]) for i in range(m)])
        pivots.append(pivot)
    x = array([0.0] * m)
    for pivot in reversed(pivots):
        x = x + pivot.e * ((pivot.b - dot(pivot.u, x)) * pivot.inverse)
    return list(x)


def _largest(values: Sequence[Scalar]) -> np.ndarray:
    """Zeros, and a one where the largest of the values is."""
    most, e = values[0], [1.0] + [0.0] * (len(values) - 1)
    found: list[Scalar] = list(e)
    for k, value in enumerate(values[1:], 1):
        larger = less(most, value)
        found = [*(select(larger, 0.0, x) for x in found[:k]), select(larger, 1.0, 0.0), *found[k + 1 :]]
        most = maximum(most, value)
    return array(found)

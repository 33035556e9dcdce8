"""Vectors and matrices of three, in machine code."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled

Triple = Annotated[np.ndarray, float, 3]
Triples = Annotated[np.ndarray, float, 3]
Matrices = Annotated[np.ndarray, float, 3, 3]


@compiled
def cross(a: Floats, b: Floats, to: Floats) -> None:
    """to <- a x b."""
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    to[0], to[1], to[2] = x, y, z


@compiled
def times(R: Triple, x: Floats, to: Floats) -> None:
    """to <- R x."""
    a, b, c = x[0], x[1], x[2]
    for k in range(3):
        to[k] = R[k, 0] * a + R[k, 1] * b + R[k, 2] * c


@compiled
def times_back(R: Triple, x: Floats, to: Floats) -> None:
    """to <- R^T x."""
    a, b, c = x[0], x[1], x[2]
    for k in range(3):
        to[k] = R[0, k] * a + R[1, k] * b + R[2, k] * c


@compiled
def solve(A: Triple, b: Floats, x: Floats) -> None:
    """x <- A^-1 b by cofactors."""
    columns = np.zeros((3, 3))
    for k in range(3):
        cross(A[(k + 1) % 3], A[(k + 2) % 3], columns[k])
    size = A[0, 0] * columns[0, 0] + A[0, 1] * columns[0, 1] + A[0, 2] * columns[0, 2]
    times_back(columns, b, x)
    for k in range(3):
        x[k] /= size


@compiled
def square(a: Floats) -> float:
    """|a|^2."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@compiled
def add_about(inertia: Triple, m: float, arm: Floats, to: Triple) -> None:
    """Add to a moment of inertia that of a mass m about a point, with its own one about its centre, at this arm."""
    for a in range(3):
        for b in range(3):
            to[a, b] += inertia[a, b] - m * arm[a] * arm[b]
        to[a, a] += m * square(arm)

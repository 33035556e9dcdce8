"""How a body that nothing turns any more turns over a step, at the energy and the angular momentum that it has.

With the moment of inertia I, the angular velocity omega and the momentum L = I omega as they are after all impulses, in
the axes of the step's start, it turns by h w about the mean angular velocity w of the step (Simo & Wong 1991,
Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy and momentum):

    I omega' = exp(h w)^T I omega,   w = (omega + omega') / 2   ->   c I (w - omega) + s w x I w = 0

with c = cos(h |omega| / 2), s = sin(h |omega| / 2) / |omega|: their rule has c = 1, s = h / 2, by which what turns
steadily lags. The energy stays since w is the mean, whatever c and s are. Newton's sweeps find w, in five to rounding,
up to 1.5 rad a step, however long a body is. What turns by more does it about its momentum, without nutation.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, cos, less, reciprocal, select, sin, sqrt
from recursive_dyn.recursion.equations.lagrangian import solve
from recursive_dyn.spatial.algebra import cross, dot, skew
from recursive_dyn.spatial.rotations import normalized, quaternion_to_matrix

_SWEEPS = 5
_FURTHEST = 1.5  # rad a step
_TINY = 1e-300


def free_turn(inertia: np.ndarray, momentum: np.ndarray, h: Scalar) -> tuple[np.ndarray, np.ndarray]:
    """(quaternion of the turn, angular velocity after it (3,), new axes) of momentum (3,), old axes."""
    omega = array(solve(inertia, list(momentum)))
    along = momentum * (dot(omega, momentum) * reciprocal(dot(momentum, momentum) + _TINY))
    swift = less(_FURTHEST * _FURTHEST, dot(omega, omega) * (h * h))
    mean = array([select(swift, fast, slow) for fast, slow in zip(along, omega, strict=True)])
    speed = sqrt(dot(mean, mean) + _TINY)
    s, c = sin(speed * h * 0.5) * reciprocal(speed), cos(speed * h * 0.5)
    w = omega
    for _ in range(_SWEEPS):
        own = inertia @ w
        missed = (own - momentum) * c + cross(w, own) * s
        w = w - _solved(inertia * c + (array(skew(w)) @ inertia - array(skew(own))) * s, missed)
    turn = normalized([*(array([select(swift, a, b) for a, b in zip(mean, w, strict=True)]) * s), c])
    return turn, array(solve(inertia, list(quaternion_to_matrix(turn).T @ momentum)))


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A^-1 b, (3, 3) and (3,)."""
    x, y, z = A.T
    yz = cross(y, z)
    result: np.ndarray = array([dot(b, yz), dot(x, cross(b, z)), dot(x, cross(y, b))]) * reciprocal(dot(x, yz))
    return result

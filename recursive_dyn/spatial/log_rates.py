"""How the logarithm between two moving rotations, or rigid motions, changes: its derivative, exact to rounding at zero.

With R_e = R^T R_d = exp(e) and angular velocities omega of R and omega_d of R_d, each in its own child axes,

    e' = Jr^-1(e) omega_d - Jl^-1(e) omega,   J^-1(e) x = x -+ e x x / 2 + c(|e|^2) e x (e x x)

with c the ``log_coefficient``, - for the left Jacobian and + for the right one (Bullo & Murray 1995, Proportional
derivative control on the Euclidean group; Chirikjian 2011, Stochastic Models, Information Theory, and Lie Groups 2,
section 10.7.4). Functions take one point, of floats or of expressions.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, cos, less, reciprocal, select, sin, sqrt
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.rotations import COTANGENT, log_coefficient

_SMALL = 1.0  # u up to which the series has all digits


def rotation_log_rate(e: np.ndarray, omega: np.ndarray, omega_other: np.ndarray) -> np.ndarray:
    """e' (3,) for the angular velocities of the rotation and of the other one, each in its own child axes."""
    c = log_coefficient(dot(e, e))
    way = omega_other - omega
    return way + cross(e, omega_other + omega) * 0.5 + cross(e, cross(e, way)) * c


def screw_log_rate(e: np.ndarray, e_rate: np.ndarray, way: np.ndarray, way_rate: np.ndarray) -> np.ndarray:
    """The derivative (3,) of ``screw_log(e, way)``, Jl^-1(e) way, where both arguments move."""
    square = dot(e, e)
    c = log_coefficient(square)
    turned, moved = cross(e, way), cross(e_rate, way) + cross(e, way_rate)
    return (
        way_rate
        - moved * 0.5
        + cross(e, turned) * (_slope(square, c) * 2.0 * dot(e, e_rate))
        + (cross(e_rate, turned) + cross(e, moved)) * c
    )


def _slope(u: Scalar, c: Scalar) -> Scalar:
    """dc/du at u = |e|^2 below (2 pi)^2, where c is ``log_coefficient(u)``."""
    small = less(u, _SMALL)
    far = select(small, 1.0, u)  # finite on both ways of the choice
    half = sqrt(far) * 0.5
    cotangent = cos(half) * reciprocal(sin(half))
    closed = ((1.0 + cotangent * cotangent) * 0.125 - cotangent * reciprocal(half) * 0.125 - c) * reciprocal(far)
    near: Scalar = 0.0
    for k in reversed(range(1, len(COTANGENT))):
        near = near * u + k * COTANGENT[k]
    return select(small, near, closed)

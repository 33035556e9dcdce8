"""How the logarithm between two moving rotations, or rigid motions, changes: its derivative, exact to rounding at zero.

With R_e = R^T R_d = exp(e) and angular velocities omega of R and omega_d of R_d, each in its own child axes,

    e' = Jr^-1(e) omega_d - Jl^-1(e) omega,   J^-1(e) x = x -+ e x x / 2 + c(|e|^2) e x (e x x)

with - for the left Jacobian and + for the right one (Bullo & Murray 1995, Proportional derivative control on the
Euclidean group; Chirikjian 2011, Stochastic Models, Information Theory, and Lie Groups 2, section 10.7.4). Functions
take one point, of floats or of expressions.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, cos, less, reciprocal, select, sin, sqrt
from recursive_dyn.spatial.algebra import cross, dot

# c(u) = (1 - h cot h) / u, h = sqrt(u) / 2: |B_2k| / (2k)! for k = 1, 2, ..., each about 1 / 4 pi^2 of the one before
_SERIES = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600)
_SMALL = 0.1  # u up to which the series has all digits; from there on the closed form has lost two


def rotation_log_rate(e: np.ndarray, omega: np.ndarray, omega_other: np.ndarray) -> np.ndarray:
    """e' (3,) for the angular velocities of the rotation and of the other one, each in its own child axes."""
    c, _ = log_coefficient(dot(e, e))
    way = omega_other - omega
    return way + cross(e, omega_other + omega) * 0.5 + cross(e, cross(e, way)) * c


def screw_log_rate(e: np.ndarray, e_rate: np.ndarray, way: np.ndarray, way_rate: np.ndarray) -> np.ndarray:
    """The derivative (3,) of ``screw_log(e, way)``, Jl^-1(e) way, where both arguments move."""
    c, slope = log_coefficient(dot(e, e))
    turned, moved = cross(e, way), cross(e_rate, way) + cross(e, way_rate)
    return (
        way_rate
        - moved * 0.5
        + cross(e, turned) * (slope * 2.0 * dot(e, e_rate))
        + (cross(e_rate, turned) + cross(e, moved)) * c
    )


def log_coefficient(u: Scalar) -> tuple[Scalar, Scalar]:
    """c(u) and dc/du for u = |e|^2 below (2 pi)^2."""
    small = less(u, _SMALL)
    near, near_slope = _polynomial(_SERIES, u), _polynomial([k * b for k, b in enumerate(_SERIES)][1:], u)
    far = select(small, 1.0, u)  # finite on both ways of the choice
    half = sqrt(far) * 0.5
    inverse, cotangent = reciprocal(far), cos(half) * reciprocal(sin(half))
    c = (1.0 - half * cotangent) * inverse
    slope = ((1.0 + cotangent * cotangent) * 0.125 - cotangent * reciprocal(half) * 0.125 - c) * inverse
    return select(small, near, c), select(small, near_slope, slope)


def _polynomial(coefficients: tuple[float, ...] | list[float], u: Scalar) -> Scalar:
    total: Scalar = 0.0
    for coefficient in reversed(coefficients):
        total = total * u + coefficient
    return total

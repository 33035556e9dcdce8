"""Rotations: quaternions x, y, z, w, matrices and rotation vectors, and what leads from one to the other.

A rotation R maps child to parent axes. A rotation vector omega (3,) turns by |omega| rad about its own direction. A
turn of the child frame by omega is multiplied from the right, R exp(omega), where omega is given in child axes, and
from the left, exp(omega) R, where it is given in parent axes. q and -q are one rotation.

Every function takes scalars (floats or expressions) in arrays whose last axis, or last two for matrices, holds the
components; leading axes are any. Arrays of numbers give arrays of floats, object arrays give object arrays of scalars.
Squared angles carry 1e-300 so that sin(a) / a and its kin are right at zero without a branch. Functions named
``*_of_entries`` are the same entry by entry.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Scalar, atan2, cos, less, reciprocal, select, sin, sqrt
from recursive_dyn.spatial.algebra import components, cross, dot, gathered, scaled

_TINY = 1e-300

# (a - sin a) / a^3 and (1 - (a / 2) cot(a / 2)) / a^2 as powers of a^2: sums of (-1)^k / (2 k + 3)! and of
# |B_2k+2| / (2 k + 2)!, B Bernoulli's numbers
_SINE = tuple((-1) ** k / factorial(2 * k + 3) for k in range(9))
COTANGENT = (
    1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600,
    3617 / 10670622842880000, 43867 / 5109094217170944000, 174611 / 802857662698291200000,
    77683 / 14101100039391805440000, 236364091 / 1693824136731743669452800000,
)  # fmt: skip


def quaternion_product(a: Any, b: Any) -> np.ndarray:
    """Hamilton product of quaternions (..., 4): the rotation b, then a."""
    first, second = components(a), components(b)
    return gathered(product_of_entries(*first, *second), first, second)


def product_of_entries(
    ax: Scalar, ay: Scalar, az: Scalar, aw: Scalar, bx: Scalar, by: Scalar, bz: Scalar, bw: Scalar
) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """``quaternion_product`` entry by entry."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def quaternion_conjugate(q: Any) -> np.ndarray:
    """Quaternions (..., 4) of the inverse rotations."""
    own = components(q)
    return gathered([-own[0], -own[1], -own[2], own[3]], own)


def quaternion_rate(q: Any, omega: Any) -> np.ndarray:
    """q-dot = q (omega, 0) / 2 (..., 4) for angular velocities (..., 3) in child axes."""
    first, second = components(q), components(omega)
    (ax, ay, az, aw), (bx, by, bz) = first, (w * 0.5 for w in second)
    product = [
        aw * bx + ay * bz - az * by,
        aw * by - ax * bz + az * bx,
        aw * bz + ax * by - ay * bx,
        -(ax * bx) - ay * by - az * bz,
    ]
    return gathered(product, first, second)


def normalized(q: Any) -> np.ndarray:
    """q / |q| of vectors (..., n) other than zero."""
    own = components(q)
    return scaled(np.asarray(q), reciprocal(sqrt(dot(own, own))))


def quaternion_exp(omega: Any) -> np.ndarray:
    """Unit quaternions (..., 4) of rotation vectors (..., 3), exact to rounding."""
    own = components(omega)
    return gathered(exp_of_entries(*own), own)


def exp_of_entries(x: Scalar, y: Scalar, z: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """``quaternion_exp`` entry by entry."""
    angle = sqrt(x * x + y * y + z * z + _TINY)
    half = angle * 0.5
    scale = sin(half) * reciprocal(angle)
    return x * scale, y * scale, z * scale, cos(half)


def quaternion_log(q: Any) -> np.ndarray:
    """Rotation vectors (..., 3), at most pi long, of quaternions (..., 4) other than zero; exact to rounding."""
    own = components(q)
    sign = select(less(own[3], 0.0), -1.0, 1.0)
    axis, w = [x * sign for x in own[:3]], own[3] * sign
    length = sqrt(dot(axis, axis) + _TINY)
    scale = atan2(length, w) * 2.0 * reciprocal(length)
    return gathered([x * scale for x in axis], own)


def quaternion_to_matrix(q: Any) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4) of any length other than zero."""
    own = components(q)
    flat = gathered(matrix_of_entries(*own), own)
    return flat.reshape(*flat.shape[:-1], 3, 3)


def matrix_of_entries(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> tuple[Scalar, ...]:
    """``quaternion_to_matrix`` entry by entry, row after row."""
    scale = reciprocal(x * x + y * y + z * z + w * w) * 2.0
    xs, ys, zs = x * scale, y * scale, z * scale
    xx, yy, zz, xy, xz, yz = x * xs, y * ys, z * zs, x * ys, x * zs, y * zs
    wx, wy, wz = w * xs, w * ys, w * zs
    return 1.0 - (yy + zz), xy - wz, xz + wy, xy + wz, 1.0 - (xx + zz), yz - wx, xz - wy, yz + wx, 1.0 - (xx + yy)


def matrix_to_quaternion(R: Any) -> np.ndarray:
    """Unit quaternions (..., 4), w >= 0, of rotation matrices (..., 3, 3), exact to rounding at every angle."""
    R = np.asarray(R)
    entries = components(R.reshape(*R.shape[:-2], 9))
    return gathered(quaternion_of_entries(*entries), entries)


def quaternion_of_entries(
    xx: Scalar, xy: Scalar, xz: Scalar, yx: Scalar, yy: Scalar, yz: Scalar, zx: Scalar, zy: Scalar, zz: Scalar
) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """``matrix_to_quaternion`` entry by entry.

    Of the rows of 4 q q^T, four times the quaternion times a component of it, the one with the largest diagonal entry
    keeps all digits (Shepperd 1978, Quaternion from rotation matrix, Journal of Guidance and Control 1 (3)).
    """
    x, y, z, w = zy - yz, xz - zx, yx - xy, 1.0 + xx + yy + zz
    largest = w
    own = 1.0 + xx - yy - zz
    better = less(largest, own)
    x, y, z, w = select(better, own, x), select(better, xy + yx, y), select(better, zx + xz, z), select(better, x, w)
    largest = select(better, own, largest)
    own, real = 1.0 + yy - xx - zz, xz - zx
    better = less(largest, own)
    x, y, z, w = select(better, xy + yx, x), select(better, own, y), select(better, yz + zy, z), select(better, real, w)
    largest = select(better, own, largest)
    own, real = 1.0 + zz - xx - yy, yx - xy
    better = less(largest, own)
    x, y, z, w = select(better, zx + xz, x), select(better, yz + zy, y), select(better, own, z), select(better, real, w)
    scale = reciprocal(sqrt(x * x + y * y + z * z + w * w))
    scale = select(less(w, 0.0), -scale, scale)
    return x * scale, y * scale, z * scale, w * scale


def rotation_exp(omega: Any) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3)."""
    return quaternion_to_matrix(quaternion_exp(omega))


def rotation_log(R: Any) -> np.ndarray:
    """Rotation vectors (..., 3), at most pi long, of rotation matrices (..., 3, 3)."""
    return quaternion_log(matrix_to_quaternion(R))


def rotated(q: Any, x: Any) -> np.ndarray:
    """R x (..., 3) of vectors (..., 3) by quaternions (..., 4) of any length other than zero."""
    q, x = np.asarray(q), np.asarray(x)
    own, axis = components(q), q[..., :3]
    twice = scaled(cross(axis, x), reciprocal(dot(own, own)) * 2.0)
    return x + scaled(twice, own[3]) + cross(axis, twice)


def screw_exp(omega: Any, v: Any) -> np.ndarray:
    """Translations (..., 3), in the start's axes, of frames whose twist [omega; v] in own axes is constant for a unit
    of time: v + (1 - cos a) / a^2 omega x v + (a - sin a) / a^3 omega x (omega x v) with a = |omega|."""
    own = components(omega)
    square = dot(own, own) + _TINY
    angle = sqrt(square)
    inverse = reciprocal(angle)
    half_sinc = sin(angle * 0.5) * inverse * 2.0
    a = half_sinc * half_sinc * 0.5
    b = _with_series(square, _SINE, (1.0 - sin(angle) * inverse) * (inverse * inverse))
    turned = cross(omega, v)
    return np.asarray(v) + scaled(turned, a) + scaled(cross(omega, turned), b)


def screw_log(omega: Any, translation: Any) -> np.ndarray:
    """The velocities v (..., 3) with ``screw_exp(omega, v) = translation``, for |omega| < 2 pi:
    v = p - omega x p / 2 + (1 - (a / 2) cot(a / 2)) / a^2 omega x (omega x p)."""
    own = components(omega)
    turned = cross(omega, translation)
    return np.asarray(translation) - turned * 0.5 + scaled(cross(omega, turned), log_coefficient(dot(own, own)))


def log_coefficient(square: Any) -> Any:
    """(1 - (a / 2) cot(a / 2)) / a^2 of squared angles a^2, for a < 2 pi."""
    square = square + _TINY
    half = sqrt(square) * 0.5
    closed = (1.0 - half * cos(half) * reciprocal(sin(half))) * reciprocal(square)
    return _with_series(square, COTANGENT, closed)


def _with_series(square: Any, coefficients: tuple[float, ...], otherwise: Any) -> Any:
    """A sum of powers of a squared angle below 1 rad, where its closed form, and the form's slope more so, cancel."""
    total: Any = coefficients[-1]
    for x in reversed(coefficients[:-1]):
        total = total * square + x
    return select(less(square, 1.0), total, otherwise)


def nearest_rotation(A: Any) -> np.ndarray:
    """The rotation matrices (..., 3, 3) nearest to matrices of positive determinant, of numbers (polar decomposition).

    One Newton step, R (3 - R^T R) / 2, takes what rounding left of U V^T off 1: products of its columns are then right
    to about the rounding of their own sums.
    """
    U, _, V = np.linalg.svd(np.asarray(A, dtype=float))
    R = U @ V
    return np.asarray(R + 0.5 * R @ (np.eye(3) - np.swapaxes(R, -1, -2) @ R))

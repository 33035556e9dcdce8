"""Rigid motions and twists of many bodies at once, as arrays of numbers with any leading axes."""

from __future__ import annotations

from math import atan2, sqrt
from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_to_matrix

Array = np.ndarray
_SMALL = 1e-2  # rad, below which a series has all digits


def by_body(x: Array, size: int) -> Array:
    """Numbers (..., n, size) of n bodies, of all their numbers one after the other; that of time after them is left
    out."""
    n = x.shape[-1] // size
    return x[..., : n * size].reshape(*x.shape[:-1], n, size)


def flat(x: Array, size: int) -> Array:
    """Numbers (..., size) of x (..., n, m), one after the other, and 0 behind them where there are more."""
    result = np.zeros((*x.shape[:-2], size))
    result[..., : x.shape[-2] * x.shape[-1]] = x.reshape(*x.shape[:-2], -1)
    return result


def poses_of(q: Array) -> Array:
    """X_WB (..., 4, 4) of positions and quaternions (..., 7)."""
    X = np.zeros((*q.shape[:-1], 4, 4))
    X[..., :3, :3], X[..., :3, 3], X[..., 3, 3] = quaternion_to_matrix(q[..., 3:]), q[..., :3], 1.0
    return X


def coordinates_of(X: Array) -> Array:
    """Positions and quaternions (..., 7) of poses (..., 4, 4)."""
    return np.concatenate([X[..., :3, 3], matrix_to_quaternion(X[..., :3, :3])], axis=-1)


def inverse(X: Array) -> Array:
    """Inverses of poses (..., 4, 4)."""
    result, R = np.zeros_like(X), np.swapaxes(X[..., :3, :3], -1, -2)
    result[..., :3, :3], result[..., :3, 3], result[..., 3, 3] = R, -(R @ X[..., :3, 3:])[..., 0], 1.0
    return result


def logarithm(X: Array) -> Array:
    """The twists (..., 6), [omega; v], that lead to poses (..., 4, 4) in a unit of time."""
    found = np.empty((*X.shape[:-2], 6))
    _logarithms(np.ascontiguousarray(X).reshape(-1, 4, 4), found.reshape(-1, 6))
    return found


@compiled
def _logarithms(X: Annotated[np.ndarray, float, 4, 4], found: Annotated[np.ndarray, float, 6]) -> None:
    """``logarithm`` of m poses: ``rotations.matrix_to_quaternion``, ``quaternion_log`` and ``screw_log`` in numbers."""
    for i in range(len(X)):
        R = X[i]
        xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
        x, y, z, w = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 1.0 + xx + yy + zz
        if xx > yy and xx > zz and 1.0 + xx - yy - zz > w:
            x, y, z, w = 1.0 + xx - yy - zz, R[0, 1] + R[1, 0], R[2, 0] + R[0, 2], x
        elif yy > zz and 1.0 + yy - xx - zz > w:
            x, y, z, w = R[0, 1] + R[1, 0], 1.0 + yy - xx - zz, R[1, 2] + R[2, 1], y
        elif 1.0 + zz - xx - yy > w:
            x, y, z, w = R[2, 0] + R[0, 2], R[1, 2] + R[2, 1], 1.0 + zz - xx - yy, z
        side = 1.0 if w >= 0.0 else -1.0
        size = sqrt(x * x + y * y + z * z)
        angle = 2.0 * atan2(size, abs(w))
        # rotation vector over the vector part; where that is 0, 2 / w
        scale = side * (angle / size if size > 0.0 else 2.0 / abs(w))
        a, b, c = x * scale, y * scale, z * scale
        square = angle * angle
        if angle < _SMALL:
            share = 1.0 / 12.0 + square * (1.0 / 720.0 + square / 30240.0)
        else:
            half = 0.5 * angle
            share = (1.0 - half * abs(w) / size) / square
        p, q, r = R[0, 3], R[1, 3], R[2, 3]
        u, v, t = b * r - c * q, c * p - a * r, a * q - b * p
        found[i, 0], found[i, 1], found[i, 2] = a, b, c
        found[i, 3] = p - 0.5 * u + share * (b * t - c * v)
        found[i, 4] = q - 0.5 * v + share * (c * u - a * t)
        found[i, 5] = r - 0.5 * t + share * (a * v - b * u)


def carried_back(X: Array) -> Array:
    """Ad of X^-1 (..., 6, 6) for poses X_AB (..., 4, 4): twists in A's frame as they are in B's."""
    result, R = np.zeros((*X.shape[:-2], 6, 6)), np.swapaxes(X[..., :3, :3], -1, -2)
    x, y, z = np.moveaxis(X[..., :3, 3], -1, 0)
    cross = np.zeros((*X.shape[:-2], 3, 3))
    cross[..., 0, 1], cross[..., 0, 2], cross[..., 1, 2] = -z, y, -x
    cross[..., 1, 0], cross[..., 2, 0], cross[..., 2, 1] = z, -y, x
    result[..., :3, :3] = result[..., 3:, 3:] = R
    result[..., 3:, :3] = -(R @ cross)
    return result


def bracket(a: Array, b: Array) -> Array:
    """ad_a b of twists (..., 6): [omega_a x omega_b; omega_a x v_b + v_a x omega_b]."""
    turn = np.cross(a[..., :3], b[..., :3])
    return np.concatenate([turn, np.cross(a[..., :3], b[..., 3:]) + np.cross(a[..., 3:], b[..., :3])], axis=-1)


def applied(A: Array, x: Array) -> Array:
    """A x of matrices (..., m, n) and vectors (..., n)."""
    return np.asarray((A @ x[..., None])[..., 0])

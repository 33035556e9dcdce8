"""Rigid motions and twists of many bodies at once, as arrays of numbers with any leading axes."""

from __future__ import annotations

import numpy as np

from recursive_dyn.spatial.rotations import matrix_to_quaternion, quaternion_log, quaternion_to_matrix, screw_log

Array = np.ndarray


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
    omega = quaternion_log(matrix_to_quaternion(X[..., :3, :3]))
    return np.concatenate([omega, screw_log(omega, X[..., :3, 3])], axis=-1)


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

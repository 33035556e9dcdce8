"""Orientations of many bodies at once, as Bullet has them: ``spatial.rotations`` as compiled loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen import scalar_overloads  # noqa: F401 (what it holds is told to Numba)
from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.spatial.rotations import (
    exp_of_entries,
    matrix_of_entries,
    product_of_entries,
    quaternion_of_entries,
    quaternion_to_matrix,
)

_exp, _matrix = compiled(exp_of_entries), compiled(matrix_of_entries)
_product, _quaternion = compiled(product_of_entries), compiled(quaternion_of_entries)


@compiled
def quaternions(X: np.ndarray) -> np.ndarray:
    """Unit quaternions (n, 4) of rotation matrices (n, 3, 3), or of poses (n, 4, 4)."""
    result = np.empty((len(X), 4))
    for n in range(len(X)):
        R, q = X[n], result[n]
        q[0], q[1], q[2], q[3] = _quaternion(
            R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2]
        )
    return result


@compiled
def turned(q: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Unit quaternions (n, 4) of bodies turned by rotation vectors (n, 3) in world axes."""
    result = np.empty((len(q), 4))
    for n in range(len(q)):
        x, y, z, w = _exp(turns[n, 0], turns[n, 1], turns[n, 2])
        x, y, z, w = _product(x, y, z, w, q[n, 0], q[n, 1], q[n, 2], q[n, 3])
        length = np.sqrt(x * x + y * y + z * z + w * w)
        result[n, 0], result[n, 1], result[n, 2], result[n, 3] = x / length, y / length, z / length, w / length
    return result


@compiled
def matrices(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (n, 3, 3) of quaternions (n, 4) other than zero."""
    result = np.empty((len(q), 3, 3))
    for n in range(len(q)):
        entries = _matrix(q[n, 0], q[n, 1], q[n, 2], q[n, 3])
        for i in range(3):
            for j in range(3):
                result[n, i, j] = entries[3 * i + j]
    return result


def pose_of(position: Any, q: Any) -> np.ndarray:
    """Pose (4, 4) of a position (3,) and a quaternion (4,), as Bullet tells both."""
    X = np.eye(4)
    X[:3, :3] = quaternion_to_matrix(q)
    X[:3, 3] = position
    return X

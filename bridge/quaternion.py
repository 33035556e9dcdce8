"""Quaternions x, y, z, w, PyBullet's order, of many rotations at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.codegen.compiled import compiled


def from_rotations(R: np.ndarray) -> np.ndarray:
    """Unit quaternions (n, 4) of rotation matrices (n, 3, 3). Shepperd (1978), J. Guidance and Control 1 (3).

    Each row of K = 4 q q^T is the quaternion times one of its components; the largest component's row keeps all digits.
    """
    return _from_rotations(np.ascontiguousarray(R))


@compiled
def _from_rotations(R: np.ndarray) -> np.ndarray:
    result = np.empty((len(R), 4))
    for n in range(len(R)):
        m, q = R[n], result[n]
        trace = m[0, 0] + m[1, 1] + m[2, 2]
        best, largest = 3, 1.0 + trace
        for i in range(3):
            if 1.0 + 2.0 * m[i, i] - trace > largest:
                best, largest = i, 1.0 + 2.0 * m[i, i] - trace
        if best == 3:
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                q[i] = m[k, j] - m[j, k]
            q[3] = largest
        else:
            j, k = (best + 1) % 3, (best + 2) % 3
            q[best], q[j], q[k] = largest, m[j, best] + m[best, j], m[k, best] + m[best, k]
            q[3] = m[k, j] - m[j, k]
        q /= np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return result


def of_poses(poses: Sequence[np.ndarray]) -> list[list[float]]:
    """Unit quaternions of poses (4, 4), as lists, which Bullet takes much faster than arrays."""
    result: list[list[float]] = from_rotations(np.array(poses)[:, :3, :3]).tolist()
    return result


def to_rotation(q: Any) -> np.ndarray:
    """Rotation matrix (3, 3) of one unit quaternion."""
    x, y, z, w = q
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def to_pose(position: Any, q: Any) -> np.ndarray:
    """Pose (4, 4) of a position (3,) and a unit quaternion."""
    X = np.eye(4)
    X[:3, :3] = to_rotation(q)
    X[:3, 3] = position
    return X


def to_rotations(q: np.ndarray) -> np.ndarray:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    x, y, z, w = np.asarray(q, dtype=float).reshape(-1, 4).T
    R = np.empty((len(x), 3, 3))
    for i, (a, b, c) in enumerate(((x, y, z), (y, z, x), (z, x, y))):
        j = (i + 1) % 3
        R[:, i, i] = 1.0 - 2.0 * (b * b + c * c)
        R[:, i, j] = 2.0 * (a * b - w * c)
        R[:, j, i] = 2.0 * (a * b + w * c)
    return R


def turned(q: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Unit quaternions (n, 4) of bodies turned by rotation vectors (n, 3) in world axes."""
    angle = np.linalg.norm(turns, axis=1)
    axis = turns * (0.5 * np.sinc(angle / (2.0 * np.pi)))[:, None]
    s, p = np.cos(0.5 * angle)[:, None], axis
    v, w = q[:, :3], q[:, 3:]
    result = np.concatenate([s * v + w * p + np.cross(p, v), s * w - np.einsum("ni,ni->n", p, v)[:, None]], axis=1)
    unit: np.ndarray = result / np.linalg.norm(result, axis=1)[:, None]
    return unit

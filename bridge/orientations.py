"""Orientations as Bullet has them: what ``spatial.rotations`` says, also within compiled loops."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.spatial.rotations import quaternion_to_matrix


@compiled
def quaternion_of(X: Annotated[np.ndarray, float, 4]) -> tuple[float, float, float, float]:
    """The unit quaternion of a pose (4, 4), as ``matrix_to_quaternion`` has it."""
    xx, yy, zz = X[0, 0], X[1, 1], X[2, 2]
    x, y, z, w = X[2, 1] - X[1, 2], X[0, 2] - X[2, 0], X[1, 0] - X[0, 1], 1.0 + xx + yy + zz
    largest = w
    own = 1.0 + xx - yy - zz
    if largest < own:
        x, y, z, w = own, X[0, 1] + X[1, 0], X[2, 0] + X[0, 2], x
        largest = own
    own = 1.0 + yy - xx - zz
    if largest < own:
        x, y, z, w = X[0, 1] + X[1, 0], own, X[1, 2] + X[2, 1], X[0, 2] - X[2, 0]
        largest = own
    own = 1.0 + zz - xx - yy
    if largest < own:
        x, y, z, w = X[2, 0] + X[0, 2], X[1, 2] + X[2, 1], own, X[1, 0] - X[0, 1]
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    if w < 0.0:
        scale = -scale
    return x * scale, y * scale, z * scale, w * scale


def pose_of(position: Any, q: Any) -> np.ndarray:
    """Pose (4, 4) of a position (3,) and a quaternion (4,), as Bullet tells both."""
    X = np.eye(4)
    X[:3, :3] = quaternion_to_matrix(q)
    X[:3, 3] = position
    return X

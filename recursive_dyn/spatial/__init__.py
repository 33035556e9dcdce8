"""Poses, rotations, twists, wrenches, inertias and the spaces that coordinates live in, over numbers or expressions.

Conventions, written here once and kept everywhere:

- Metres, kilograms, seconds, radians.
- Twists and wrenches are angular first, [omega; v] and [moment; force], as in Si & Guenter (2011).
- A pose named X_AB maps coordinates in B to coordinates in A. A body's frame is its joint's child frame.
- A joint's pose is G(q), its motion subspace S = (G^-1 dG/dq)^vee in the child frame, its bias c = S-dot q-dot. S is
  not constant: the bias enters everywhere, the root included.
- Quaternions are x, y, z, w, PyBullet's order; q and -q are one rotation.
- A joint's coordinates are a point of its ``Space``, which may be more numbers than velocities. On R^n q-dot = v; on
  SO(3) the point is a quaternion and v the angular velocity omega in child axes; on SE(3) it is a position and a
  quaternion, and v the twist [omega; v] in child axes.
- Forces that a user gives are in world axes.

``rotations`` has quaternions, matrices, their exponentials and logarithms; ``spaces`` R^n, S^2, SO(3) and SE(3).
"""

from recursive_dyn.spatial.algebra import inverse_pose, pose
from recursive_dyn.spatial.rotations import (
    matrix_to_quaternion,
    nearest_rotation,
    normalized,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_rate,
    quaternion_to_matrix,
    rotated,
    rotation_exp,
    rotation_log,
    screw_exp,
    screw_log,
)
from recursive_dyn.spatial.spaces import Flat, RigidMotion, Rotation, Space, UnitSphere

__all__ = [
    "Flat",
    "RigidMotion",
    "Rotation",
    "Space",
    "UnitSphere",
    "inverse_pose",
    "matrix_to_quaternion",
    "nearest_rotation",
    "normalized",
    "pose",
    "quaternion_conjugate",
    "quaternion_exp",
    "quaternion_log",
    "quaternion_product",
    "quaternion_rate",
    "quaternion_to_matrix",
    "rotated",
    "rotation_exp",
    "rotation_log",
    "screw_exp",
    "screw_log",
]

"""Bodies' poses and twists from their joints', parents first: what costs as much as there are bodies, however deep."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.maximal.joint_rows.joint_rows import Joints
from recursive_dyn.maximal.poses import applied

Poses = Annotated[np.ndarray, float, 4, 4]
Pose = Annotated[np.ndarray, float, 4]
Sixes = Annotated[np.ndarray, float, 6]


def carried_outward(joints: Joints, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Poses (n, 4, 4) and twists (n, 6), own axes, of the bodies at joint coordinates q (nq,) and rates v (nv,)."""
    in_parents, in_children = joints.frames()
    n, parents = joints.links, joints.parents[: joints.links]
    G, moving, X, V = np.empty((n, 4, 4)), np.zeros((n, 6)), np.zeros((n, 4, 4)), np.zeros((n, 6))
    for kind in joints.kinds:
        now = kind.motion(q[kind.places] + kind.offsets)
        G[kind.numbers], moving[kind.numbers] = now.pose, applied(now.subspace, v[kind.slots])
    outward_poses(parents, in_parents, G, in_children, X)
    outward_twists(parents, X, in_children, moving, V)
    return X, V


@compiled
def outward_poses(parents: Integers, in_parents: Poses, G: Poses, in_children: Poses, X: Poses) -> None:
    """X (n, 4, 4) of bodies: X_WP X_AP G X_CB, with X_WP their parents', -1 for the world; parents come first."""
    first, second = np.empty((4, 4)), np.empty((4, 4))
    for i in range(len(parents)):
        _product(in_parents[i], G[i], first)
        if parents[i] < 0:
            _product(first, in_children[i], X[i])
        else:
            _product(first, in_children[i], second)
            _product(X[parents[i]], second, X[i])


@compiled
def _product(A: Pose, B: Pose, C: Pose) -> None:
    for i in range(4):
        for j in range(4):
            C[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j] + A[i, 3] * B[3, j]


@compiled
def outward_twists(parents: Integers, X: Poses, in_children: Poses, moving: Sixes, V: Sixes) -> None:
    """V (n, 6) of bodies in their own axes at poses X, whose joints move them by twists ``moving`` in child axes."""
    for i in range(len(parents)):
        own, B = moving[i], in_children[i]
        _add_carried(B, own, V[i], 0.0)
        if parents[i] >= 0:
            P, C, before = X[parents[i]], X[i], V[parents[i]]
            relative = np.zeros((4, 4))
            for r in range(3):
                for c in range(3):
                    relative[r, c] = P[0, r] * C[0, c] + P[1, r] * C[1, c] + P[2, r] * C[2, c]
                relative[r, 3] = (
                    P[0, r] * (C[0, 3] - P[0, 3]) + P[1, r] * (C[1, 3] - P[1, 3]) + P[2, r] * (C[2, 3] - P[2, 3])
                )
            _add_carried(relative, before, V[i], 1.0)


@compiled
def _add_carried(X: Pose, V: Floats, to: Floats, share: float) -> None:
    """to <- share to + what a twist V of A's is in B's frame, for X_AB."""
    p0, p1, p2, w0, w1, w2 = X[0, 3], X[1, 3], X[2, 3], V[0], V[1], V[2]
    v0, v1, v2 = V[3] + w1 * p2 - w2 * p1, V[4] + w2 * p0 - w0 * p2, V[5] + w0 * p1 - w1 * p0
    for i in range(3):
        to[i] = share * to[i] + X[0, i] * w0 + X[1, i] * w1 + X[2, i] * w2
        to[3 + i] = share * to[3 + i] + X[0, i] * v0 + X[1, i] * v1 + X[2, i] * v2

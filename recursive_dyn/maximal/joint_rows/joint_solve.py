"""Velocities of bodies, and impulses along the rows of their joints, that meet the rows at once.

    M x - A^T lambda = f,   A x + eps lambda = d

M of blocks one a body, A of rows on bodies, mostly two (Baraff 1996, Linear-time dynamics using Lagrange multipliers).
A row of compliance eps gives way: at eps = 1 / w it adds the inertia, or the damper and spring of an implicit step, w.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.maximal.joint_rows.joint_rows import JointRows, Joints
from recursive_dyn.maximal.poses import applied

Array = np.ndarray


def solved(
    joints: Joints, rows: JointRows, inertias: Array, free: Array, softness: Array, wanted: Array
) -> tuple[Array, Array]:
    """(x (..., nl, 6), lambda (..., n, 6)) with inertias M (nl, 6, 6), free M^-1 f (..., nl, 6), eps and d (..., n, 6);
    rows whose softness is infinite are left out."""
    off = np.isinf(softness)
    lead = np.broadcast_shapes(rows.child.shape[:-3], free.shape[:-2], wanted.shape[:-2], softness.shape[:-2])
    shape = (*lead, len(joints), 6)
    child, parent = (np.where(off[..., None], 0.0, J) for J in (rows.child, rows.parent))
    child, parent = (np.broadcast_to(J, (*shape, 6)) for J in (child, parent))
    more = np.broadcast_to(
        np.where(off[..., joints.more.rows, 0, None], 0.0, rows.more), (*lead, len(joints.more.rows), 6)
    )
    eps, given = np.broadcast_to(np.where(off, 1.0, softness), shape), np.where(off, 0.0, wanted)
    forces = np.broadcast_to(applied(inertias, free), (*lead, joints.links, 6))
    x, multipliers = np.empty(forces.shape), np.empty(shape)
    for one in np.ndindex(*lead):
        joints.equations.factor(inertias, parent[one], child[one], eps[one], more[one])
        x[one], multipliers[one] = joints.equations.solve(forces[one], np.broadcast_to(given, shape)[one])
    return x, multipliers

"""How heavy bodies are against displacements of their joints: what a timestep allows of springs follows from that."""

from __future__ import annotations

import numpy as np

from recursive_dyn.maximal.joint_rows import JointRows, Joints
from recursive_dyn.maximal.poses import carried_back, inverse
from recursive_dyn.model.model import WORLD

Array = np.ndarray


def masses_at_joints(joints: Joints, inertias: Array, rows: JointRows) -> Array:
    """(N, 2): inertia against turns of a joint's frames, and mass against their displacements, the least of any axis,
    both bodies together; of a constraint's row, whatever it measures, the same number twice, with ``rows`` at one
    state. inertias (n, 6, 6): of the bodies.
    """
    in_parents, in_children = joints.frames()
    n, light = joints.links, np.linalg.inv(inertias)
    B, A = carried_back(inverse(in_children)), carried_back(in_parents)
    parents = joints.parents[:n]
    W = np.linalg.eigvalsh(_halves(B @ light @ np.swapaxes(B, -1, -2)))[..., -1]
    others = np.linalg.eigvalsh(_halves(A @ light[parents] @ np.swapaxes(A, -1, -2)))[..., -1]
    own = 1.0 / (W + np.where((parents != WORLD)[:, None], others, 0.0))
    return np.concatenate([own, np.repeat(_of_loops(joints, light, rows, own)[:, None], 2, axis=1)])


def _of_loops(joints: Joints, light: Array, rows: JointRows, own: Array) -> Array:
    """(m,) of constraints' rows: 1 / (J M^-1 J^T), at most what any joint has, as rows may be singular here."""
    n = joints.links
    moved = np.zeros(len(joints) - n)
    for J, links in ((rows.child, joints.children), (rows.parent, joints.parents)):
        side = J[n:, 0] * (links[n:] != WORLD)[:, None]
        moved += np.einsum("ki,kij,kj->k", side, light[links[n:]], side)
    further = np.einsum("ki,kij,kj->k", rows.more, light[joints.more.links], rows.more)
    np.add.at(moved, joints.more.rows - n, further)
    most = own.max(initial=0.0)
    return np.minimum(most, np.divide(1.0, moved, out=np.full_like(moved, np.inf), where=moved > 0.0))


def _halves(W: Array) -> Array:
    """The blocks (..., 2, 3, 3) of rotations and of translations of (..., 6, 6)."""
    return np.stack([W[..., :3, :3], W[..., 3:, 3:]], axis=-3)

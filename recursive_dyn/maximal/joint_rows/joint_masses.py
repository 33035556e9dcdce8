"""How heavy bodies are against displacements of their joints: what a timestep allows of springs follows from that."""

from __future__ import annotations

import numpy as np

from recursive_dyn.maximal.joint_rows.joint_rows import JointRows, Joints
from recursive_dyn.maximal.poses import carried_back, inverse
from recursive_dyn.model.model import WORLD

Array = np.ndarray

# (omega h)^2 of the springs that joints are where nobody said how stiff, at their own bodies: explicit ones gain energy
# beyond 4 where all bodies hang together, implicit ones never
_EXPLICIT, _IMPLICIT = 0.1, 100.0
_DAMPED = 1.0  # damping of explicit springs, 2 for the critical one of a single joint


def springs_of(
    masses: Array, stiffness: Array | None, damping: Array | None, h: float, implicit: bool
) -> tuple[Array, Array]:
    """(stiffness, damping), each (N, 6), of springs that hold masses (N, 2) in a timestep of h; those given are as they
    are, (2,), for rotations and translations."""
    k = np.repeat((_IMPLICIT if implicit else _EXPLICIT) / (h * h) * masses, 3, axis=-1)
    if stiffness is not None:
        k = np.broadcast_to(np.repeat(stiffness, 3), k.shape)
    d = h * k if implicit else _DAMPED * np.sqrt(k * np.repeat(masses, 3, axis=-1))
    if damping is not None:
        d = np.broadcast_to(np.repeat(damping, 3), d.shape)
    return k, d


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
    if joints.loops is not None:  # rows of a group turn among themselves
        np.maximum.at(moved, joints.loops.groups, moved.copy())
        moved = moved[joints.loops.groups]
    most = own.max(initial=0.0)
    return np.minimum(most, np.divide(1.0, moved, out=np.full_like(moved, np.inf), where=moved > 0.0))


def _halves(W: Array) -> Array:
    """The blocks (..., 2, 3, 3) of rotations and of translations of (..., 6, 6)."""
    return np.stack([W[..., :3, :3], W[..., 3:, 3:]], axis=-3)

"""Free bodies put onto joints that are new to them, each from where its parent is: no program of a whole tree is made,
so that it takes as long as there are such joints."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from recursive_dyn.maximal.joint_rows.joint_rows import Joints
from recursive_dyn.maximal.kinds.joint_kinds import JointKind
from recursive_dyn.maximal.poses import applied, carried_back, coordinates_of, inverse, logarithm, poses_of
from recursive_dyn.model.model import WORLD

Array = np.ndarray

_OPEN = 1e-6  # m or rad: a joint that is open by more was hung where its body was not


def put_on_joints(joints: Joints, came: Collection[int], anew: Collection[int], q: Array, v: Array, own: Array) -> None:
    """Put links that ``came`` where their joints begin, moving along with their parents, and those hung ``anew`` where
    their joints come nearest to where they are, moving as they did, with all that hangs on them.

    q (n, 7), v (n, 6): of all links; own (reduced.nq,): the joints' coordinates. All three are written.
    """
    in_parents, in_children = joints.frames()
    clock = joints.reduced.model.clock
    time = np.array(0.0 if clock is None else own[clock[0]])
    X, moved = poses_of(q), set[int]()
    for i, parent in enumerate(joints.parents[: joints.links].tolist()):
        if not (i in came or i in anew or parent in moved):
            continue
        before = np.eye(4) if parent == WORLD else X[parent]
        place, (kind, k) = before @ in_parents[i], _joint(joints, i)
        found = own[kind.places[k]] + kind.offsets[k]
        if i in anew:
            wanted = inverse(place) @ X[i] @ inverse(in_children[i])
            found = kind.located(wanted[None], None, time, slice(k, k + 1))[0]
            own[kind.places[k]] = found - kind.offsets[k]
        pose = place @ kind.motion(found[None]).pose[0] @ in_children[i]
        if i in came:
            v[i] = 0.0 if parent == WORLD else applied(carried_back(inverse(before) @ pose), v[parent])
            if kind.time >= 0:
                pace = kind.motion(found[None]).subspace[0, :, kind.time]
                v[i] += applied(carried_back(in_children[i]), pace)
        elif i in anew and np.abs(logarithm(inverse(pose) @ X[i])).max() <= _OPEN:
            continue
        else:
            moved.add(i)
            v[i] = applied(pose[:3, :3].T @ X[i, :3, :3], v[i].reshape(2, 3)).reshape(-1)
        X[i], q[i] = pose, coordinates_of(pose)


def _joint(joints: Joints, link: int) -> tuple[JointKind, int]:
    """The kind of the joint that moves a link, and which of these it is."""
    for kind in joints.kinds:
        at = np.flatnonzero(kind.numbers == link)
        if len(at):
            return kind, int(at[0])
    raise KeyError(link)

"""What joints transmit: inverse dynamics in maximal coordinates (Liu & Jain, section 7; Si & Guenter eq. 13-14).

The wrench on a body by its joint is what everything from the body outwards needs for its motion, in all six directions,
those of the motors and those of the constraints. Masses are the bodies' own, not regrouped.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.model.model import WORLD, BodyFrame, MassMoments
from recursive_dyn.recursion.equations.inverse_dynamics import LinkMotion, motions, wrench_of
from recursive_dyn.recursion.kinematics import Tree, zeros
from recursive_dyn.spatial.algebra import cross

Wrench = np.ndarray  # [moment about the link's origin; force] (6,) in link axes, in the world's for what stands


def joint_wrenches(tree: Tree, acceleration: np.ndarray) -> list[Scalar]:
    """[moment; force] on every body by its joint, world axes at the body's origin, for accelerations (nv,)."""
    model = tree.model
    moving = motions(tree, acceleration)
    root = -tree.gravity
    still = LinkMotion(zeros(3), zeros(3), root, np.outer(zeros(3), zeros(3)))
    needed = [
        np.concatenate(wrench_of(MassMoments.of(k.mass, k.center, k.inertia), m))
        for k, m in zip(tree.links, moving, strict=True)
    ]
    for i in reversed(range(len(tree.links))):
        parent = tree.links[i].link.parent
        if parent != WORLD:
            needed[parent] = needed[parent] + _inward(tree, i, needed[i])
    carried: list[Wrench] = [array(np.zeros(6))] * len(model.bodies)  # what hangs on a body needs
    result: list[list[Scalar]] = [[] for _ in model.bodies]
    for index in reversed(range(len(model.bodies))):
        body = model.bodies[index]
        if body.jointed:
            total = needed[body.link]
            handed = _inward(tree, body.link, total)
        else:
            motion = still if body.link == WORLD else moving[body.link]
            handed = total = carried[index] + np.concatenate(wrench_of(_moments(tree, body), motion))
        if body.parent != WORLD:
            carried[body.parent] = carried[body.parent] + handed
        result[index] = _at_origin(tree, body, total)
    return [x for wrench in result for x in wrench]


def _inward(tree: Tree, link: int, wrench: Wrench) -> Wrench:
    return np.concatenate(tree.links[link].displacement.wrench_inward(wrench[:3], wrench[3:]))


def _moments(tree: Tree, body: BodyFrame) -> MassMoments:
    """Of a body that is fixed to another: about its link's origin in link axes."""
    assert body.mass is not None and body.inertia is not None
    pose = tree.scalars(body.pose)
    R = pose[:3, :3]
    center, inertia = tree.scalars(body.center), tree.scalars(body.inertia)
    return MassMoments.of(tree.scalar(body.mass), pose[:3, 3] + R @ center, R @ inertia @ R.T)


def _at_origin(tree: Tree, body: BodyFrame, wrench: Wrench) -> list[Scalar]:
    """A wrench about the link's origin moved to the body's, in world axes."""
    moment, force = wrench[:3] - cross(tree.scalars(body.pose)[:3, 3], wrench[3:]), wrench[3:]
    if body.link != WORLD:
        R = tree.rotations[body.link]
        moment, force = R @ moment, R @ force
    return [*moment, *force]

"""Generalized velocities from those of bodies (Liu & Jain, section 6.1), the way to poses, and the wrenches of both.

Where bodies move as no v of the joints does, v is what comes nearest: sum of e^T D e is least, e the twists that are
missed, D = diag(a, a, a, b, b, b). Over the whole tree that is J^T D J v = J^T D V, the dynamics of bodies of mass b
and moment of inertia a about their origins, at rest and without gravity, under the wrenches D V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.model.model import WORLD, BodyFrame, MassMoments, Model
from recursive_dyn.recursion.cartesian.cartesian_forces import (
    JointAtPoint,
    forces_from_wrenches,
    joints_at_points,
    solved,
)
from recursive_dyn.recursion.kinematics import Tree, velocities
from recursive_dyn.spatial.algebra import cross, dot
from recursive_dyn.spatial.rotations import rotation_log


def joint_velocities(tree: Tree, twists: np.ndarray, weights: np.ndarray) -> list[Scalar]:
    """v (nv,) with which each joint for itself moves its body against the parent, as twists (nb, 6) do; joints that
    share coordinates together. weights (nb, 2): of angular and linear velocity."""
    joints = joints_at_points(tree, weights, None)
    v: list[Scalar] = [0.0] * tree.model.nv if tree.pace is None else list(tree.pace)
    for group in tree.model.sharing:
        own = [joints[i] for i in group]
        right: dict[int, Scalar] = {}
        for joint in own:
            relative = _relative_twist(tree, joint, twists)
            for slot, column in zip(joint.slots, joint.weighed.T, strict=True):
                right[slot] = right.get(slot, 0.0) + dot(column, relative)
        for slot, value in solved(own, right).items():
            v[slot] = value
    return v


def _relative_twist(tree: Tree, joint: JointAtPoint, twists: np.ndarray) -> np.ndarray:
    """Of a joint's child against its parent, at the child's origin in link axes."""
    bodies = tree.model.bodies
    body, twist = bodies[joint.body], twists[joint.body]
    if body.parent != WORLD and bodies[body.parent].link != WORLD:
        carried = twists[body.parent]
        arm = tree.body_pose(body)[1] - tree.body_pose(bodies[body.parent])[1]
        twist = twist - np.concatenate([carried[:3], carried[3:] + cross(carried[:3], arm)])
    RT, k = tree.rotations[joint.link].T, tree.links[joint.link]
    relative = np.concatenate([RT @ twist[:3], RT @ twist[3:]])
    if (pace := tree.pace) is not None:
        for slot, s in k.columns:
            relative = relative - np.concatenate([s[:3], s[3:] + cross(s[:3], joint.point)]) * pace[slot]
    return relative


def twists_to(tree: Tree, poses: np.ndarray) -> np.ndarray:
    """[rotation vector; displacement] (nb, 6), world axes, that lead every body to ``poses`` (nb, 4, 4)."""
    result = []
    for body, there in zip(tree.model.bodies, poses, strict=True):
        R, p = tree.body_pose(body)
        result.append(np.concatenate([rotation_log(there[:3, :3] @ R.T), there[:3, 3] - p]))
    return array(result).reshape(len(result), 6)


def weighed_tree(tree: Tree, weights: np.ndarray, given: np.ndarray | None = None) -> Tree:
    """The tree at rest, its bodies of mass and moment of inertia as weights (nb, 2) say, without anything else; given:
    accelerations (nv,) of what is prescribed, None for none."""
    model = tree.model
    plain = tuple(replace(c, armature=0.0) for c in model.coordinates)
    other = model.changed(coordinates=plain, gravity=(0.0, 0.0, 0.0), constraints=())
    result = Tree(other, tree.graph, q=tree.q, v=array(np.zeros(model.nv)))
    result.given = given
    carried = [MassMoments(0.0, array(np.zeros(3)), array(np.zeros((3, 3)))) for _ in model.links]
    for body, (angular, linear) in zip(model.bodies, weights, strict=True):
        if body.link != WORLD:
            carried[body.link] = _sum(carried[body.link], _moments(tree, body, angular, linear))
    result.links = [replace(k, moments=own) for k, own in zip(result.links, carried, strict=True)]
    return result


def _moments(tree: Tree, body: BodyFrame, inertia: Scalar, mass: Scalar) -> MassMoments:
    return MassMoments.of(mass, tree.scalars(body.pose)[:3, 3], array(np.eye(3)) * inertia)


def _sum(a: MassMoments, b: MassMoments) -> MassMoments:
    return MassMoments(a.mass + b.mass, a.first + b.first, a.second + b.second)


def momenta(tree: Tree, twists: np.ndarray, weights: np.ndarray) -> list[Scalar]:
    """J^T D V (nv,) of twists V (nb, 6)."""
    return forces_from_wrenches(tree, _weighed(twists, weights), at_center=False)


def _weighed(twists: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.concatenate([twists[:, :3] * weights[:, :1], twists[:, 3:] * weights[:, 1:]], axis=1)


def wrenches_of_velocities(tree: Tree, v: Sequence[Scalar], weights: np.ndarray) -> list[Scalar]:
    """D J v (nb, 6), world axes at each body's centre of mass; with J^T D J v = tau the least of all wrenches that act
    as tau."""
    model: Model = tree.model
    moving = Tree(model, tree.graph, q=tree.q, v=array(list(v)))
    twists = array(velocities(moving)).reshape(len(model.bodies), 6)
    result: list[Scalar] = []
    for body, wrench in zip(model.bodies, _weighed(twists, weights), strict=True):
        arm = tree.body_pose(body)[0] @ tree.scalars(body.center)
        result += [*(wrench[:3] - cross(arm, wrench[3:])), *wrench[3:]]
    return result

"""Generalized forces as wrenches on bodies, and back (Liu & Jain, section 6.2, for a general joint).

A wrench F with S^T F = tau on a joint's child, and -F on its parent at the same world point, acts as tau and as nothing
else. F is not unique: the least one by weights (a, b) of moment and force, D = diag(a, a, a, b, b, b), is
F = D S (S^T D S)^-1 tau. A pure couple has b = 0, a force through the point at which S is taken has a = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.graph.traversal import evaluate, reachable
from recursive_dyn.joint.joint_program import JointProgram
from recursive_dyn.model.model import WORLD, Link
from recursive_dyn.recursion.equations.inverse_dynamics import project
from recursive_dyn.recursion.equations.lagrangian import FactoredMatrix
from recursive_dyn.recursion.kinematics import Tree, zeros
from recursive_dyn.spatial.algebra import cross, dot

# Squared sine between columns of S at which rounding hides whether they differ, and squared size, against that of the
# whole motion with lengths in m, at which it hides whether a column moves what is weighed.
SINGULAR = 1e-14


def forces_from_wrenches(tree: Tree, wrenches: np.ndarray, at_center: bool) -> list[Scalar]:
    """tau = sum of J^T wrench (nb, 6), world axes, at each body's centre of mass or origin."""
    local = [(zeros(3), zeros(3)) for _ in tree.links]
    for wrench, body in zip(wrenches, tree.model.bodies, strict=True):
        if body.link == WORLD:
            continue
        pose, RT = tree.scalars(body.pose), tree.rotations[body.link].T
        point = pose[:3, 3] + (pose[:3, :3] @ tree.scalars(body.center) if at_center else zeros(3))
        moment, force = RT @ wrench[:3], RT @ wrench[3:]
        total = local[body.link]
        local[body.link] = (total[0] + moment + cross(point, force), total[1] + force)
    return project(tree, local)


@dataclass(frozen=True, eq=False)
class JointAtPoint:
    """A link's joint at a point of the body that moves by it: the body's number, the point in link axes, S (6, d) there
    in link axes and its slots, less what is prescribed, the weights of moment and force."""

    body: int
    link: int
    point: np.ndarray
    S: np.ndarray
    slots: tuple[int, ...]
    moment: Scalar
    force: Scalar

    @property
    def weighed(self) -> np.ndarray:
        """D S."""
        return np.concatenate([self.S[:3] * self.moment, self.S[3:] * self.force])


def joints_at_points(tree: Tree, weights: np.ndarray | None, points: np.ndarray | None) -> list[JointAtPoint]:
    """The joint of every link. weights (nb, 2) of moment and force: None for couples, or lengths of 1 m where a couple
    cannot do; points (nb, 3) in each body's own frame: None for its origin."""
    result: dict[int, JointAtPoint] = {}
    for index, body in enumerate(tree.model.bodies):
        if not body.jointed:
            continue
        k, pose = tree.links[body.link], tree.scalars(body.pose)
        point = pose[:3, 3] if points is None else pose[:3, 3] + pose[:3, :3] @ points[index]
        columns = [(slot, s) for slot, s in k.columns if slot not in tree.model.prescribed]
        S = array([[*s[:3], *(s[3:] + cross(s[:3], point))] for _, s in columns]).reshape(-1, 6).T
        moment, force = (1.0, float(not turns_freely(k.link))) if weights is None else weights[index]
        result[body.link] = JointAtPoint(
            index, body.link, point, S, tuple([slot for slot, _ in columns]), moment, force
        )
    return [result[i] for i in range(len(tree.links))]


def pairs(tree: Tree, tau: np.ndarray, joints: Sequence[JointAtPoint], partial: bool) -> tuple[np.ndarray, np.ndarray]:
    """(wrenches (nb, 6), world axes at each body's centre of mass, that act as tau; what of tau (nv,) they leave).

    partial: leave what a singular joint cannot reach; otherwise results there are not finite. What acts on a coordinate
    that joints share acts through the first joint that it moves, if each can do all of its own, else through all.
    """
    model = tree.model
    result = np.zeros((len(model.bodies), 6), dtype=object)
    result[:] = 0.0
    left = array(list(tau))
    for group in model.sharing:
        for own, wanted in _solvable(group, [joints[i] for i in group], tree, tau):
            reaction = _least(own, wanted, partial)
            for joint, wrench in zip(own, reaction, strict=True):
                _act(tree, result, joint, wrench)
                for j, slot in enumerate(joint.slots):
                    left[slot] = left[slot] - dot(joint.S[:, j], wrench)
    return result, left


Wanted = dict[int, Scalar]  # a generalized force by its slot


def _solvable(
    group: Sequence[int], joints: Sequence[JointAtPoint], tree: Tree, tau: np.ndarray
) -> list[tuple[list[JointAtPoint], Wanted]]:
    """Joints to be solved for together, with what they shall act as."""
    if any(len(joint.slots) > tree.links[joint.link].link.joint.nv for joint in joints):
        return [(list(joints), {slot: tau[slot] for joint in joints for slot in joint.slots})]
    result, reached = [], set[int]()
    for joint in joints:
        if not reached.issuperset(joint.slots):
            result.append(([joint], {slot: 0.0 if slot in reached else tau[slot] for slot in joint.slots}))
            reached.update(joint.slots)
    return result


def _least(joints: Sequence[JointAtPoint], wanted: Wanted, partial: bool) -> list[np.ndarray]:
    """The least wrenches (6,) of joints that act as wanted: F_i = D_i S_i x, (sum of S_i^T D_i S_i) x = tau."""
    solution = solved(joints, wanted, partial)
    return [
        array([dot(row, array([solution[slot] for slot in joint.slots])) for row in joint.weighed]) for joint in joints
    ]


def solved(joints: Sequence[JointAtPoint], right: Wanted, partial: bool = False) -> Wanted:
    """x of (sum of S_i^T D_i S_i) x = right, by slot; partial: 0 where a row is a multiple of others."""
    place = {slot: n for n, slot in enumerate(sorted(right))}
    A = array(np.zeros((len(place), len(place))))
    size: list[Scalar] = [0.0] * len(place)
    for joint in joints:
        weighed = joint.weighed
        for j, slot in enumerate(joint.slots):
            own = joint.S[:, j]
            size[place[slot]] = size[place[slot]] + (joint.moment + joint.force) * dot(own, own)
            for i, other in enumerate(joint.slots):
                A[place[slot], place[other]] = A[place[slot], place[other]] + dot(own, weighed[:, i])
    options: dict[str, Any] = {"dependent": SINGULAR} if partial else {"singular": SINGULAR}
    factors = FactoredMatrix(A, **options, size=size)
    x = factors.expand(factors.reduce([right[slot] for slot in sorted(right)]))
    return dict(zip(sorted(right), x, strict=True))


def _act(tree: Tree, result: np.ndarray, joint: JointAtPoint, wrench: np.ndarray) -> None:
    """Add a joint's wrench, in link axes at its point, to its body and against the body's parent."""
    R = tree.rotations[joint.link]
    moment, force = R @ wrench[:3], R @ wrench[3:]
    place = tree.positions[joint.link] + R @ joint.point
    body = tree.model.bodies[joint.body]
    for index, sign in ((joint.body, 1.0), (body.parent, -1.0)):
        if index != WORLD:
            arm = place - tree.body_center(tree.model.bodies[index])
            result[index, :3] = result[index, :3] + (moment + cross(arm, force)) * sign
            result[index, 3:] = result[index, 3:] + force * sign


def turns_freely(link: Link) -> bool:
    """True when a couple on the link can act as any forces of its joint's coordinates, at a generic configuration."""
    return _reaches(link, np.eye(3, 6))


def pushes_freely(link: Link) -> bool:
    """True when a force at a generic point of the link can, at a generic configuration."""
    x, y, z = 0.37, -0.61, 0.83
    arm = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])  # v + omega x point
    return _reaches(link, np.hstack([arm, np.eye(3)]))


def _reaches(link: Link, rows: np.ndarray) -> bool:
    joint: JointProgram = link.joint
    if joint.nv > 3 or len(link.slots) > joint.nv:
        return False
    S = joint.kinematics().subspace
    names = {n.args[0] for n in reachable(S.flat) if n.op == "input"}
    rng = np.random.default_rng(11)
    values = np.array(evaluate(list(S.flat), {n: float(rng.uniform(0.3, 1.1)) for n in names}), dtype=float)
    if not np.all(np.isfinite(values)):
        return False
    return bool(np.linalg.matrix_rank(rows @ values.reshape(6, -1), tol=1e-6) == joint.nv)

"""Inverse dynamics, Si & Guenter (2011) eq. 6-15, in link axes.

The linear part is carried as the acceleration of the link's origin (v-dot + omega x v), which removes linear velocities
from eq. 8, 11 and 13: with W = [omega-dot] + [omega]^2 a point r of the link accelerates by a + W r, so a link needs
the force m a + W m c and the moment sum r x (a + W r) = vee(W P) + m c x a, P the second moment of its mass.
Gravity is the root accelerating by -g.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.model.model import WORLD, MassMoments
from recursive_dyn.recursion.equations.balanced_masses import balanced_moments
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree, zeros
from recursive_dyn.spatial.algebra import axial_moment, cross, dot


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """A link's angular velocity, W = [omega-dot] + [omega]^2, angular acceleration and origin's acceleration."""

    omega: np.ndarray
    alpha: np.ndarray
    a: np.ndarray
    W: np.ndarray


def motions(tree: Tree, acceleration: np.ndarray | None, gravity: bool = True) -> list[LinkMotion]:
    """Outward recursion (eq. 8, 11); ``acceleration`` (nv,) or None for zero."""
    root = -tree.gravity if gravity else zeros(3)
    still = LinkMotion(zeros(3), zeros(3), root, np.outer(zeros(3), zeros(3)))
    result: list[LinkMotion] = []
    for k in tree.links:
        parent = still if k.link.parent == WORLD else result[k.link.parent]
        own = None if acceleration is None else array([acceleration[slot] for slot in k.link.slots])
        result.append(next_motion(k, parent, own))
    return result


def next_motion(k: LinkKinematics, parent: LinkMotion, own: np.ndarray | None) -> LinkMotion:
    """A link's motion from its parent's and its joint's (eq. 8, 11); own: accelerations of its coordinates."""
    out = k.displacement.outward
    omega, alpha = out(parent.omega), out(parent.alpha)
    a = out(parent.a + parent.W @ k.displacement.p)
    omega_joint, v_joint = k.twist[:3], k.twist[3:]
    alpha = alpha + cross(omega, omega_joint) + k.bias[:3]
    a = a + cross(omega, v_joint) * 2.0 + cross(omega_joint, v_joint) + k.bias[3:]
    if own is not None:
        joint = array([dot(row, own) for row in k.S])
        alpha, a = alpha + joint[:3], a + joint[3:]
    omega = omega + omega_joint
    return LinkMotion(omega, alpha, a, rotational_acceleration(omega, alpha))


def rotational_acceleration(omega: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """W = [alpha] + [omega]^2, (3, 3): a point r of a body accelerates by W r against its origin."""
    x, y, z = omega
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return array(
        [
            [-(yy + zz), xy - alpha[2], xz + alpha[1]],
            [xy + alpha[2], -(xx + zz), yz - alpha[0]],
            [xz - alpha[1], yz + alpha[0], -(xx + yy)],
        ]
    )


def required_wrench(k: LinkKinematics, motion: LinkMotion) -> tuple[np.ndarray, np.ndarray]:
    """Moment about the link's origin and force that give one link its motion (eq. 4)."""
    return wrench_of(k.moments, motion)


def wrench_of(moments: MassMoments, motion: LinkMotion) -> tuple[np.ndarray, np.ndarray]:
    """The same of any mass that moves with the link."""
    force = moments.mass * motion.a + motion.W @ moments.first
    moment = axial_moment(motion.W, moments.second) + cross(moments.first, motion.a)
    return moment, force


def inverse_dynamics(tree: Tree, acceleration: np.ndarray | None, gravity: bool = True) -> list[Scalar]:
    """Generalized forces tau (nv,) for accelerations (nv,), eq. 13-15, rotor inertia included."""
    moving = motions(tree, acceleration, gravity)
    tau = project(tree, [wrench_of(own, m) for own, m in zip(balanced_moments(tree), moving, strict=True)])
    if acceleration is not None:
        for slot, coordinate in enumerate(tree.model.coordinates):
            tau[slot] = tau[slot] + coordinate.armature * acceleration[slot]
    return tau


def project(tree: Tree, wrenches: list[tuple[np.ndarray, np.ndarray]]) -> list[Scalar]:
    """Inward recursion: tau = S^T f with f summed over all descendants (eq. 13-15)."""
    tau: list[Scalar] = [0.0] * tree.model.nv
    total = [np.concatenate(w) for w in wrenches]
    for i in reversed(range(len(tree.links))):
        k = tree.links[i]
        for slot, s in k.columns:
            tau[slot] = tau[slot] + dot(s, total[i])
        if k.link.parent != WORLD:
            moment, force = k.displacement.wrench_inward(total[i][:3], total[i][3:])
            total[k.link.parent] = total[k.link.parent] + np.concatenate([moment, force])
    return tau


def body_accelerations(tree: Tree, acceleration: np.ndarray) -> list[Scalar]:
    """[angular acceleration; acceleration of the origin] (6,) of every body, world axes; gravity is not in it."""
    moving = motions(tree, acceleration, gravity=False)
    flat: list[Scalar] = []
    for body in tree.model.bodies:
        if body.link == WORLD:
            flat += [0.0] * 6
            continue
        motion, R = moving[body.link], tree.rotations[body.link]
        offset = tree.scalars(body.pose)[:3, 3]
        flat += [*(R @ motion.alpha), *(R @ (motion.a + motion.W @ offset))]
    return flat

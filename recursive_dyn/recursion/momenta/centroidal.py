"""Momentum as a linear function of velocities, and how it changes without accelerations (Orin, Goswami & Lee 2013,
Centroidal dynamics of a humanoid robot, Autonomous Robots 35)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, reciprocal
from recursive_dyn.recursion.equations.inverse_dynamics import motions
from recursive_dyn.recursion.equations.mass_matrix import CompositeInertia, composites
from recursive_dyn.recursion.kinematics import LinkKinematics, Tree, zeros
from recursive_dyn.recursion.momenta.energy import link_momenta, mass_moment
from recursive_dyn.spatial.algebra import cross, dot

SUMS = 16  # mass, its moment (3,), momentum (6,), momentum's rate (6,)


def momentum_matrix(tree: Tree) -> np.ndarray:
    """A (6, nv): [angular momentum about the world origin; linear momentum] = A v, world axes; rotors not included."""
    composite = composites(tree, _rigid)
    A = np.zeros((6, tree.model.nv), dtype=object)
    A[:] = 0.0
    for i, k in enumerate(tree.links):
        R, p = tree.rotations[i], tree.positions[i]
        for slot, s in k.columns:
            own = composite[i].momentum(s)
            linear = R @ own[3:]
            A[:, slot] = A[:, slot] + np.concatenate([R @ own[:3] + cross(p, linear), linear])
    return A


def _rigid(k: LinkKinematics) -> CompositeInertia:
    """The link's own inertia as it is: what recursions carry is regrouped, which moves momentum between links."""
    c = k.center
    return CompositeInertia(k.mass, c * k.mass, k.inertia + (array(np.eye(3)) * dot(c, c) - np.outer(c, c)) * k.mass)


def momentum_sums(tree: Tree) -> list[Scalar]:
    """[mass; moment of mass (3,); momentum (6,); its rate at zero acceleration of the coordinates (6,)], world axes,
    about the world origin."""
    *moment, mass = mass_moment(tree)
    angular, linear, turning, pushing = zeros(3), zeros(3), zeros(3), zeros(3)
    moving = motions(tree, None, gravity=False)
    for i, (p, spin, center) in enumerate(link_momenta(tree)):
        k, motion, R = tree.links[i], moving[i], tree.rotations[i]
        force = R @ (motion.a + motion.W @ k.center) * k.mass
        moment_about_center = R @ (k.inertia @ motion.alpha + cross(motion.omega, k.inertia @ motion.omega))
        linear, pushing = linear + p, pushing + force
        angular = angular + spin + cross(center, p)
        turning = turning + moment_about_center + cross(center, force)
    return [mass, *moment, *angular, *linear, *turning, *pushing]


def centroidal(sums: Sequence[Scalar]) -> list[Scalar]:
    """The sums over all trees, with the centre of mass (3,) in the place of the moment of mass."""
    mass, *rest = sums
    return [mass, *(array(rest[:3]) * reciprocal(mass)), *rest[3:]]

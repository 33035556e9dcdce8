"""Energies, momentum and centre of mass."""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar, array, combine, reciprocal
from recursive_dyn.recursion.configuration import plain_positions
from recursive_dyn.recursion.forces.element_forces import element_energy
from recursive_dyn.recursion.kinematics import Tree, zeros
from recursive_dyn.spatial.algebra import cross, dot


def link_momenta(tree: Tree) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(linear momentum, angular momentum about the centre of mass, centre of mass), all in world axes, per link."""
    result = []
    for i, k in enumerate(tree.links):
        twist, R = tree.twists[i], tree.rotations[i]
        omega = twist[:3]
        linear = k.mass * (twist[3:] + cross(omega, k.center))
        result.append((R @ linear, R @ (k.inertia @ omega), tree.positions[i] + R @ k.center))
    return result


def kinetic_energy(tree: Tree) -> Scalar:
    """Sum over links of m v.v / 2 + omega.I omega / 2, and of the rotors' armature v^2 / 2."""
    total: Scalar = 0.0
    for i, k in enumerate(tree.links):
        omega = tree.twists[i][:3]
        velocity = tree.twists[i][3:] + cross(omega, k.center)
        total = total + k.mass * dot(velocity, velocity) + dot(omega, k.inertia @ omega)
    for slot, coordinate in enumerate(tree.model.coordinates):
        total = total + coordinate.armature * (tree.v[slot] * tree.v[slot])
    return total * 0.5


def potential_energy(tree: Tree) -> Scalar:
    """Gravity's potential, zero with every centre of mass at the world origin."""
    total: Scalar = 0.0
    for one in _potentials(tree):
        total = total - one
    return total


def energy_size(tree: Tree) -> Scalar:
    """Sum of the sizes of what potential and elastic energy are summed up of: what rounds them."""
    total = combine("abs", [elastic_energy(tree)])
    for one in _potentials(tree):
        total = total + combine("abs", [one])
    return total


def _potentials(tree: Tree) -> list[Scalar]:
    """m g . c of every link."""
    places = [p + R @ k.center for p, R, k in zip(tree.positions, tree.rotations, tree.links, strict=True)]
    return [k.mass * dot(tree.gravity, c) for k, c in zip(tree.links, places, strict=True)]


def elastic_energy(tree: Tree) -> Scalar:
    """Energy of the joints' springs, stiffness (q - rest)^2 / 2, and of force elements."""
    total: Scalar = 0.0
    for q, coordinate in zip(plain_positions(tree), tree.model.coordinates, strict=True):
        if coordinate.stiffness:
            stretch = q - coordinate.rest
            total = total + coordinate.stiffness * stretch * stretch
    return total * 0.5 + element_energy(tree)


def momentum(tree: Tree) -> list[Scalar]:
    """[angular about the world origin; linear] (6,), world axes."""
    angular, linear = zeros(3), zeros(3)
    for p, spin, center in link_momenta(tree):
        linear = linear + p
        angular = angular + spin + cross(center, p)
    return [*angular, *linear]


def mass_moment(tree: Tree) -> list[Scalar]:
    """[sum of m c (3,), sum of m] of everything that moves, c its centres of mass in the world."""
    if not tree.links:
        raise ModelError("nothing in this scene moves, so that it has no centre of mass of what moves; attach a joint")
    total, moment = 0.0, zeros(3)
    for i, k in enumerate(tree.links):
        total = total + k.mass
        moment = moment + k.mass * (tree.positions[i] + tree.rotations[i] @ k.center)
    return [*moment, total]


def center_of_mass(moment: list[Scalar]) -> list[Scalar]:
    """World position (3,) of the centre of mass, from ``mass_moment``."""
    return list(array(moment[:3]) * reciprocal(moment[3]))

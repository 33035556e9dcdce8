"""Energies, momentum and centre of mass."""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar, array, combine, reciprocal
from recursive_dyn.model.independent import IndependentPart, everything
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


def kinetic_energy(tree: Tree, part: IndependentPart | None = None) -> Scalar:
    """Sum over links of m v.v / 2 + omega.I omega / 2, and of the rotors' armature v^2 / 2; of a part of the model."""
    own, total = part or everything(tree.model), 0.0
    for i in own.links:
        k, omega = tree.links[i], tree.twists[i][:3]
        velocity = tree.twists[i][3:] + cross(omega, k.center)
        total = total + k.mass * dot(velocity, velocity) + dot(omega, k.inertia @ omega)
    for slot in own.slots:
        total = total + tree.model.coordinates[slot].armature * (tree.v[slot] * tree.v[slot])
    return total * 0.5


def potential_energy(tree: Tree, part: IndependentPart | None = None) -> Scalar:
    """Gravity's potential, zero with every centre of mass at the world origin; of a part of the model."""
    total: Scalar = 0.0
    for one in _potentials(tree, part):
        total = total - one
    return total


def energy_size(tree: Tree, part: IndependentPart | None = None) -> Scalar:
    """Sum of the sizes of what potential and elastic energy are summed up of: what rounds them; of a part."""
    total = combine("abs", [elastic_energy(tree, part)])
    for one in _potentials(tree, part):
        total = total + combine("abs", [one])
    return total


def falling_energy(tree: Tree, h: Scalar, part: IndependentPart | None = None) -> Scalar:
    """What gravity gives from rest in h: what rounds the motion of what is held against it; of a part."""
    mass: Scalar = 0.0
    for i in (part or everything(tree.model)).links:
        mass = mass + tree.links[i].mass
    return mass * dot(tree.gravity, tree.gravity) * h * h * 0.5


def _potentials(tree: Tree, part: IndependentPart | None) -> list[Scalar]:
    """m g . c of every link."""
    links = (part or everything(tree.model)).links
    places = [tree.positions[i] + tree.rotations[i] @ tree.links[i].center for i in links]
    return [tree.links[i].mass * dot(tree.gravity, c) for i, c in zip(links, places, strict=True)]


def elastic_energy(tree: Tree, part: IndependentPart | None = None) -> Scalar:
    """Energy of the joints' springs, stiffness (q - rest)^2 / 2, and of force elements; of a part of the model."""
    total, coordinates = 0.0, tree.model.coordinates
    stiff = [slot for slot in (part or everything(tree.model)).slots if coordinates[slot].stiffness]
    positions = plain_positions(tree) if stiff else []
    for slot in stiff:
        stretch = positions[slot] - coordinates[slot].rest
        total = total + coordinates[slot].stiffness * stretch * stretch
    return total * 0.5 + element_energy(tree, part)


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

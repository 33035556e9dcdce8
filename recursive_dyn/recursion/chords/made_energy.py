"""Energy that a step along chords makes of nothing, of what nothing takes any from: what its band is made of.

Of each part of a model that knows of no other, as the energy that is measured has it: M v . v / 2, gravity's and that
of springs, at both ends. The latter two are counted along the way that is gone, so that no more rounds them than rounds
that way, wherever the world's origin is. Parts with dampers, or with elements that have no energy, those under forces
tau, what is pushed from outside and what is prescribed are left out: work is done on them.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, combine, less, reciprocal, select
from recursive_dyn.model.independent import IndependentPart, independent
from recursive_dyn.model.model import Model
from recursive_dyn.recursion.chords.chord_momenta import Chords
from recursive_dyn.recursion.configuration import plain_positions
from recursive_dyn.recursion.forces.element_forces import element_energy, element_sizes
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.momenta.energy import falling_energy
from recursive_dyn.spatial.algebra import dot

SLOW = 1e-5  # m/s: steps find speeds to 1e-8 of 1, so that a thousandth of the energy of slower ones is not known
ROUNDED = 1e-9  # of what elements' energies are summed up of: what rounds them in 10^5 steps is a thousandth of that


def made_energy(
    chords: Chords, end: Tree, way: np.ndarray, kinetic: tuple[np.ndarray, np.ndarray], tau: np.ndarray, h: Scalar
) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """(J that a step of h made, J by which that is to be measured: its kinetic energy where it ends, and what gravity
    gives from rest in h, or what is rounding's where nothing falls; kinetic energy where it starts, and where it ends),
    of all parts together.

    way (nv,): of the step, to ``end``; kinetic (nv,): h^2 M v . v, slot by slot, where it starts and where it ends; tau
    (nv,): forces from outside.
    """
    made: Scalar = 0.0
    first: Scalar = 0.0
    last: Scalar = 0.0
    fallen: Scalar = 0.0
    start, half = chords.tree, reciprocal(h * h) * 0.5
    for part in _left_alone(start):
        slots = list(part.slots)
        before, after = (own[slots].sum() * half for own in kinetic)
        higher = _climbed(chords, part) + _stretched(start, end, way, part)
        driven = less(0.0, dot(tau[slots], tau[slots]))
        made = made + select(driven, 0.0, after - before + higher)
        first, last = first + select(driven, 0.0, before), last + select(driven, 0.0, after)
        fallen = fallen + select(driven, 0.0, falling_energy(start, h, part) + unknown(end, part))
    return made, last + fallen, first, last


def _left_alone(tree: Tree) -> list[IndependentPart]:
    """Parts from which nothing takes energy."""
    model = tree.model
    if model.prescribed or tree.pushes is not None:
        return []
    return [part for part in independent(model) if part.slots and not _damped(model, part)]


def _damped(model: Model, part: IndependentPart) -> bool:
    return any(model.coordinates[s].damping for s in part.slots) or any(model.forces[k].terms for k in part.elements)


def unknown(tree: Tree, part: IndependentPart) -> Scalar:
    """J by which what rounding makes is little."""
    mass: Scalar = 0.0
    for i in part.links:
        mass = mass + tree.links[i].mass
    sizes = element_sizes(tree, part) + combine("abs", [element_energy(tree, part)])
    return mass * (SLOW * SLOW * 0.5) + sizes * ROUNDED


def _climbed(chords: Chords, part: IndependentPart) -> Scalar:
    """J against gravity."""
    moved = array(np.zeros(3))
    for i in part.links:
        moved = moved + chords.ways[i] * chords.moments[i].mass + (chords.there[i].first - chords.here[i].first)
    return -dot(chords.tree.gravity, moved)


def _stretched(start: Tree, end: Tree, way: np.ndarray, part: IndependentPart) -> Scalar:
    """J of springs: of joints by the mean of both ends, which is exact."""
    result, model = element_energy(end, part) - element_energy(start, part), start.model
    stiff = [s for s in part.slots if model.coordinates[s].stiffness]
    places = plain_positions(start) if stiff else array([])
    for s in stiff:
        middle = places[s] + way[s] * 0.5 - model.coordinates[s].rest
        result = result + model.coordinates[s].stiffness * middle * way[s]
    return result

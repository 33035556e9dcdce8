"""What the force elements of a scene do, and who pushes it: generalized forces, energy, the power of what has none."""

from __future__ import annotations

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar, array, combine
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.model.constraint import POSITION, RATE, VELOCITY, Constraint
from recursive_dyn.model.force_element import OWN_RATE, ForceElement, ForceTerm
from recursive_dyn.model.independent import IndependentPart, everything
from recursive_dyn.recursion.cartesian.body_quantities import BodyQuantities, Gradient, along_velocities
from recursive_dyn.recursion.forces.joint_torsion import torsion_energy, torsion_forces
from recursive_dyn.recursion.forces.pushed_bodies import pushed_forces
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import dot


def element_forces(tree: Tree) -> list[Scalar]:
    """tau (nv,) of all elements, summed as wrenches on the bodies first: one inward pass whatever their number; and of
    what pushes the tree, and of the springs of ball and free joints."""
    others = [x + y for x, y in zip(pushed_forces(tree), torsion_forces(tree), strict=True)]
    if not tree.model.forces:
        return others
    return [x + y for x, y in zip(along_velocities(tree, _pull(tree)), others, strict=True)]


def element_wrenches(tree: Tree) -> list[Scalar]:
    """[moment; force] of all elements on every body (6 nb,), world axes at the bodies' origins, but of those that act
    along rates of coordinates."""
    return list(_pull(tree).wrenches.flat)


def _pull(tree: Tree) -> Gradient:
    """What elements do to bodies, and along rates."""
    quantities, total = BodyQuantities(tree), Gradient(tree)
    for element in tree.model.forces:
        for term in element.terms:
            strength, _, slopes = _along(quantities, element.name, term)
            total.add(term.measure.rows.gradient, [strength * slope for slope in slopes])
        if element.energy is not None:
            row = element.energy.rows
            slopes = _values(quantities, element.name, list(row.gradient.values()))
            total.add(row.gradient, [-slope for slope in slopes])
    return total


def element_energy(tree: Tree, part: IndependentPart | None = None) -> Scalar:
    """Sum of the elements' energies, and of the springs of ball and free joints; of a part of the model."""
    own = part or everything(tree.model)
    quantities, total = BodyQuantities(tree), torsion_energy(tree, own)
    for element in _of(tree, own):
        if element.energy is not None:
            total = total + _values(quantities, element.name, [_phi(element.energy)])[0]
    return total


def element_sizes(tree: Tree, part: IndependentPart) -> Scalar:
    """Sum of |force . place| of all of a part that has an energy: what that is rounded by, a place's rounding given."""
    quantities, total = BodyQuantities(tree), 0.0
    for element in _of(tree, part):
        if element.energy is None:
            continue
        gradient = element.energy.rows.gradient
        for (kind, *where), slope in zip(
            gradient, _values(quantities, element.name, list(gradient.values())), strict=True
        ):
            if kind == VELOCITY:
                slope = slope * quantities.value((POSITION, *where))
            elif kind == RATE:
                slope = slope * tree.q[where[0][0]]
            total = total + combine("abs", [slope])
    return total


def element_power(tree: Tree, part: IndependentPart | None = None) -> Scalar:
    """Power of the terms, which have no energy, and of what pushes the tree; of a part of the model."""
    own = part or everything(tree.model)
    pushed, slots = pushed_forces(tree), list(own.slots)
    quantities, total = BodyQuantities(tree), dot(tree.v[slots], array([pushed[s] for s in slots]))
    for element in _of(tree, own):
        for term in element.terms:
            strength, speed, _ = _along(quantities, element.name, term)
            total = total + strength * speed
    return total


def _of(tree: Tree, part: IndependentPart) -> list[ForceElement]:
    """The elements of a part."""
    return [tree.model.forces[k] for k in part.elements]


def _phi(row: Constraint) -> Scalar:
    phi = row.rows.phi
    if phi is None:
        raise ModelError(f"force element '{row.name}' has an energy of velocities")
    return phi


def _along(quantities: BodyQuantities, name: str, term: ForceTerm) -> tuple[Scalar, Scalar, list[Scalar]]:
    """(strength, speed, the speed's gradient) of a term."""
    rows = term.measure.rows
    speed, *slopes = _values(quantities, name, [rows.psi, *rows.gradient.values()])
    return _values(quantities, name, [term.strength], speed)[0], speed, slopes


def _values(quantities: BodyQuantities, name: str, scalars: list[Scalar], own_rate: Scalar = 0.0) -> list[Scalar]:
    """Scalars over a row's inputs on the tree. ModelError names the element."""
    try:
        return substitute(scalars, quantities.inputs(scalars, {(OWN_RATE,): own_rate}))
    except ModelError as error:  # as a distance between points that the joints keep together
        raise ModelError(f"force element '{name}': {error}") from None

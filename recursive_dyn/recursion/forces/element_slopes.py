"""How force elements answer what moves them: stiffness and damping as rows, K = sum of r^T r and D likewise.

Of an energy sum y^2 / 2 of stretches y, r = dy/dv of each: exact where y is 0, and never negative, as a turned bushing
is (Gauss-Newton). Of another one with gradient g and curvature H, r = H n / sqrt(n . H n), n = g + tiny H w: along its
gradient, or where there is none, as of a spring at its rest length, along what H makes of some w. Exact where it
depends on one measure, as of springs, strings and gas springs. Of a term that gives way by d with its own rate,
r = sqrt(d) dpsi/dv. What is not positive is left out: rows never destabilise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Scalar, array, less, maximum, reciprocal, select, sqrt
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.model.constraint import Constraint
from recursive_dyn.model.force_element import OWN_RATE, ForceElement, ForceTerm
from recursive_dyn.model.model import Model, once
from recursive_dyn.recursion.cartesian.body_quantities import BodyQuantities, Gradient, along_velocities
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import dot

_TINY = 1e-9  # m or rad: how far from rest an element is taken to be
_NOTHING = 1e-200  # of a curvature, so that there is a reciprocal of none


@once
def slope_counts(model: Model) -> tuple[int, int]:
    """How many rows of stiffness, and of damping behind them."""
    stiff = sum(element.slopes for element in model.forces)
    return stiff, sum(_gives_way(term) for element in model.forces for term in element.terms)


def element_slopes(tree: Tree) -> list[list[Scalar]]:
    """Rows (nv,) of stiffness, then of damping."""
    if not any(slope_counts(tree.model)):
        return []
    quantities, forces = BodyQuantities(tree), tree.model.forces
    stiff = [row for e in forces for row in _stiff(quantities, e)]
    return [*stiff, *(_damped(quantities, t) for e in forces for t in e.terms if _gives_way(t))]


def _own_rates(scalar: Scalar) -> list[Expression]:
    return [n for n in reachable([scalar]) if n.op == "input" and n.args[0] == (OWN_RATE,)]


def _gives_way(term: ForceTerm) -> bool:
    return bool(_own_rates(term.strength))


def _stiff(quantities: BodyQuantities, element: ForceElement) -> list[list[Scalar]]:
    if element.energy is None:
        return []
    if element.stretches:
        return [_gradient(quantities, y) for y in element.stretches]
    gradient = element.energy.rows.gradient
    g = substitute(list(gradient.values()), quantities.inputs(list(gradient.values())))
    changes = element.energy.changes(list(gradient.values()))

    def curved(way: Sequence[Scalar]) -> list[Scalar]:
        return substitute(changes, quantities.inputs(changes, dict(zip(gradient, way, strict=True))))

    some = [0.3 + i * 0.618 % 1.0 for i in range(len(g))]
    n = [x + y * _TINY for x, y in zip(g, curved(some), strict=True)]
    left = array(curved(n))
    curvature = dot(array(n), left)
    scale = select(less(0.0, curvature), sqrt(reciprocal(maximum(curvature, _NOTHING))), 0.0)
    return [_row(quantities.tree, gradient, list(left * scale))]


def _gradient(quantities: BodyQuantities, measure: Constraint) -> list[Scalar]:
    gradient = measure.rows.gradient
    values = list(gradient.values())
    return _row(quantities.tree, gradient, substitute(values, quantities.inputs(values)))


def _damped(quantities: BodyQuantities, term: ForceTerm) -> list[Scalar]:
    rows = term.measure.rows
    own = _own_rates(term.strength)
    change = directional_derivative([term.strength], dict.fromkeys(own, 1.0))
    flat = [rows.psi, *rows.gradient.values()]
    speed, *slopes = substitute(flat, quantities.inputs(flat))
    lost = substitute(change, quantities.inputs(change, {(OWN_RATE,): speed}))[0]
    scale = sqrt(maximum(-lost, 0.0))
    return _row(quantities.tree, rows.gradient, [x * scale for x in slopes])


def _row(tree: Tree, names: dict[Any, Scalar], values: list[Scalar]) -> list[Scalar]:
    gradient = Gradient(tree)
    gradient.add(names, values)
    return along_velocities(tree, gradient)

"""How force elements answer what moves them: stiffness and damping as rows, K = sum of r^T r and D likewise.

Of an energy with gradient g and curvature H, r = H n / sqrt(n . H n), n = g + tiny H w: along its gradient, or where
there is none, as of a spring at its rest length, along what H makes of some w. Exact where it depends on one measure,
as of springs, strings and gas springs; of others, as bushings, of one direction at a time, or, of an element that says
that it is stiff in more ``directions``, along some others of what the rows so far leave of H, which is nothing after as
many as H has. Of a term that gives way by d with its own rate, r = sqrt(d) dpsi/dv. What is not positive is left out:
rows never destabilise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Scalar, array, less, maximum, reciprocal, select, sqrt
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.model.constraint import Constraint
from recursive_dyn.model.force_element import OWN_RATE, ForceTerm
from recursive_dyn.model.model import Model, once
from recursive_dyn.recursion.cartesian.body_quantities import BodyQuantities, Gradient, along_velocities
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.spatial.algebra import dot

_TINY = 1e-9  # m or rad: how far from rest an element is taken to be
_NOTHING = 1e-200  # of a curvature, so that there is a reciprocal of none


@once
def slope_counts(model: Model) -> tuple[int, int]:
    """How many rows of stiffness, and of damping behind them."""
    stiff = sum(element.directions for element in model.forces if element.energy is not None)
    return stiff, sum(_gives_way(term) for element in model.forces for term in element.terms)


def element_slopes(tree: Tree) -> list[list[Scalar]]:
    """Rows (nv,) of stiffness, then of damping."""
    if not any(slope_counts(tree.model)):
        return []
    quantities, forces = BodyQuantities(tree), tree.model.forces
    stiff = [row for e in forces if e.energy is not None for row in _stiff(quantities, e.energy, e.directions)]
    return [*stiff, *(_damped(quantities, t) for e in forces for t in e.terms if _gives_way(t))]


def _own_rates(scalar: Scalar) -> list[Expression]:
    return [n for n in reachable([scalar]) if n.op == "input" and n.args[0] == (OWN_RATE,)]


def _gives_way(term: ForceTerm) -> bool:
    return bool(_own_rates(term.strength))


def _stiff(quantities: BodyQuantities, energy: Constraint, directions: int) -> list[list[Scalar]]:
    gradient = energy.rows.gradient
    g = substitute(list(gradient.values()), quantities.inputs(list(gradient.values())))
    changes = energy.changes(list(gradient.values()))

    def curved(way: Sequence[Scalar]) -> list[Scalar]:
        return substitute(changes, quantities.inputs(changes, dict(zip(gradient, way, strict=True))))

    some = _some_way(len(g), 0)
    ways = [[x + y * _TINY for x, y in zip(g, curved(some), strict=True)]]
    ways += [_some_way(len(g), k) for k in range(1, directions)]
    rows = list[np.ndarray]()
    for n in ways:
        left = array(curved(n))
        for r in rows:
            left = left - r * dot(r, array(n))
        curvature = dot(array(n), left)
        scale = select(less(0.0, curvature), sqrt(reciprocal(maximum(curvature, _NOTHING))), 0.0)
        rows.append(left * scale)
    return [_row(quantities.tree, gradient, list(r)) for r in rows]


def _some_way(size: int, k: int) -> list[float]:
    """The k-th of ways that have nothing to do with each other."""
    return [0.3 + (i + k * 7.3) * 0.618 % 1.0 for i in range(size)]


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

"""How fast springs of ball and free joints could swing, were it but for what the bodies at both their ends weigh alone.

What a body is joined to makes it give way less to a moment than it does alone (Gauss's principle of least constraint).
So no motion of a joint with stiffness K is faster than sqrt(K (w + w_parent)), w = max (I^-1)_aa of a body about its
centre of mass, or about the joint where that is on the world: not where much more hangs on the joint, as M_ii tells,
and light links between swing faster by far.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recursive_dyn.graph.expression import Scalar, array, maximum, reciprocal
from recursive_dyn.model.model import WORLD, Link, Model
from recursive_dyn.recursion.conditioning import determinant

_NONE = 1e-150  # (kg m^2)^3, kg: so that there is a reciprocal of none
_POINT = 1e-100  # (kg m^2)^2: what is no heavier turns as freely as if it were nothing


def highest(model: Model, scalars: Callable[[np.ndarray], np.ndarray]) -> dict[int, Scalar | None]:
    """By slot of such springs, the square of that, 1/s^2; None where it is not known: of joints that move otherwise
    too, and of free ones on what moves. scalars: makes numbers, or inputs of a graph, of scalars of the model."""
    found: dict[int, Scalar | None] = {}
    for link in model.links:
        for f in link.joint.factors:
            slots = link.slots[f.first_v : f.first_v + f.nv]
            stiffness = [model.coordinates[s].torsion for s in slots]
            if any(stiffness):
                known = len(slots) == len(link.slots) and (len(slots) == 3 or link.parent == WORLD)
                square = _square(model, scalars, link, stiffness) if known else None
                found |= {s: square for s, K in zip(slots, stiffness, strict=True) if K}
    return found


def _square(
    model: Model, scalars: Callable[[np.ndarray], np.ndarray], link: Link, stiffness: list[float]
) -> Scalar:  # fmt: skip
    """Of a link that has no other coordinates."""
    mass, center, inertia = scalars(array([link.mass]))[0], scalars(link.center), scalars(link.inertia)
    away = sum((x * x for x in center), 0.0)
    if len(stiffness) == 6:
        turns = _turning(inertia)
        moves = reciprocal(maximum(mass, _NONE)) + away * turns
        return maximum(turns * max(stiffness[:3]), moves * max(stiffness[3:]))
    if link.parent == WORLD:
        inertia = inertia + (array(np.eye(3)) * away - np.outer(center, center)) * mass
        return _turning(inertia) * max(stiffness)
    return (_turning(inertia) + _turning(scalars(model.links[link.parent].inertia))) * max(stiffness)


def _turning(I: np.ndarray) -> Scalar:
    """Largest entry on the diagonal of the inverse of an inertia (3, 3)."""
    minors = [I[a, a] * I[b, b] - I[a, b] * I[b, a] for a, b in ((1, 2), (2, 0), (0, 1))]
    most: Scalar = _POINT
    for minor in minors:
        most = maximum(most, minor)
    return most * reciprocal(maximum(determinant(I), _NONE))

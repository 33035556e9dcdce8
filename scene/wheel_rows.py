"""A wheel that stays on a plane and does not slip there, wherever its body hangs: rows between two bodies.

Its edge is a circle of radius r about a unit axis a through c. Of all its points the lowest over a plane of unit
normal n is c - r d / |d|, d = n - (n.a) a. It stays on the plane, and the material there moves as the plane's does.
Where a and n are parallel, so that the wheel lies flat, no point is the lowest, and near there the rows have no number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Graph, Scalar, array, less, reciprocal, select, sqrt
from recursive_dyn.spatial.algebra import cross, dot
from scene import force_elements
from scene.body import Body
from scene.constraint_group import DROP, ConstraintGroup, strength_of
from scene.force_elements import Point, rotation
from scene.number_checks import numbers

_FLAT = 0.05  # rad: where rows would turn over within a step
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def rolling_wheel(
    name: str, body: Body, on: Body | None, radius: Any, axis: Any, center: Any, normal: Any, point: Any,
    pivoting: bool, breaks_at: Any,
) -> ConstraintGroup:  # fmt: skip
    """Rows of a wheel of a body on a plane of another one, None for the world; what repeats others is left out."""
    graph, what = Graph(), f"constraint '{name}'"
    (r,) = force_elements.scalars(what, graph, radius)
    if isinstance(r, float) and not r > 0.0:
        raise ModelError(f"{what}: the radius of a wheel is above 0, not {radius!r}")
    hub, ground = force_elements.point(what, body, center), force_elements.point(what, on, point)
    n = rotation(graph, ground.body) @ array(_unit(what, "normal", normal))
    a = rotation(graph, body.name) @ array(_unit(what, "axis", axis))
    down = n - a * dot(n, a)
    square = dot(down, down)
    size = sqrt(square)
    known = sqrt(select(less(square, _FLAT**2), -1.0, 1.0))  # not finite within 3 degrees of lying flat, else 1
    arm = down * (-r * reciprocal(size))
    contact = hub.position(graph) + arm
    height = dot(n, contact - ground.position(graph)) * known
    slip = _velocity(graph, hub, arm) - _velocity(graph, ground, contact - ground.position(graph))
    along = cross(a, n) * reciprocal(size)
    rows: list[Scalar] = [height, dot(along, slip), dot(cross(n, along), slip)]
    if not pivoting:
        turning = [array(np.zeros(3)) if b is None else force_elements.spin(graph, b) for b in (body.name, ground.body)]
        rows.append(dot(n, turning[0] - turning[1]))
    return ConstraintGroup(name, tuple(rows), DROP, strength_of(name, breaks_at))


def _velocity(graph: Graph, at: Point, arm: np.ndarray) -> np.ndarray:
    """Velocity (3,) of the material of a point's body that is ``arm`` (3,), world axes, from it."""
    v = at.velocity(graph)
    return v if at.body is None else v + cross(force_elements.spin(graph, at.body), arm)


def _unit(what: str, name: str, given: Any) -> np.ndarray:
    vector = numbers(what, name, _AXES.get(given, given) if isinstance(given, str) else given, (3,))
    size = np.linalg.norm(vector)
    if not size > 0.0:
        raise ModelError(f"{what}: {name} is 'x', 'y', 'z' or a vector (3,) that is not zero, not {given!r}")
    return np.asarray(vector / size)

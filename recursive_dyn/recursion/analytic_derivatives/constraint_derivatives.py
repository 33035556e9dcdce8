"""Derivatives of constraints, analytic, in the axes and about the origins of ``motion_derivatives``.

Of M a + bias = tau + C^T lambda, g = C a + C-dot v = 0, with da and dlambda left on the left,

    [M  -C^T] [da     ]   [dtau - d(M a + bias) + (dC^T) lambda]
    [C   0  ] [dlambda] = [-dg                                 ]

where everything on the right is at given a and lambda. A row knows of a link k only how the positions p of its bodies,
their axes, velocities u, omega and accelerations change. With r = p from the origin and the link's twist V and its
rate A, a displacement J of the link, dV and dA change these by

    dp = J r,  domega = dV,  du = dV r + omega x dp,  dalpha = dA,  da = dA r + alpha x dp + domega x u + omega x du

(a twist [w; v] taking r to v + w x r), so that dg = Q . J + U . dV + W . dA with wrenches Q, U and W, W being the row's
own. dV and dA are those of ``motion_derivatives``; collected by what is of a column,

    dg / dq_i = (Q + V* U + A* W) . J_i + (U + V* W) . alpha_i + W . beta_i
    dg / dv_i = (U + V* W) . J_i + W . gamma_i

where V* W . J = W . (J x V). Lambda's wrench on a link is an external one of the tree that goes along with the link,
and what is missing to how it really changes: a matrix of 6 x 6 between links that a row knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from recursive_dyn.graph.differentiate import directional_derivative
from recursive_dyn.graph.expression import Expression, Graph, Scalar, array
from recursive_dyn.graph.traversal import reachable, substitute
from recursive_dyn.model.constraint import BIAS, COORDINATE, POSITION, RATE, ROTATION, SPIN, VELOCITY, Constraint
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.analytic_derivatives.motion_derivatives import TreeMotion, column_changes
from recursive_dyn.recursion.cartesian.body_quantities import PLAIN, plain_value
from recursive_dyn.recursion.kinematics import Tree, zeros
from recursive_dyn.recursion.momenta.impulse import roots
from recursive_dyn.spatial.algebra import cross, dot, skew

_BODY = (POSITION, ROTATION, VELOCITY, SPIN)


@dataclass(frozen=True, eq=False)
class ConstraintChanges:
    """C and the derivatives of g by q and v, (m, nv) each, and of forces C^T lambda.

    wrenches: lambda's (6,) on links, by link; turning: (6, 6) by (link, other), the wrench's rate besides that of one
    that goes along with its link, for twists of the other; direct: of forces by q, by (row, column), what is missing.
    """

    C: np.ndarray
    by_q: np.ndarray
    by_v: np.ndarray
    wrenches: dict[int, np.ndarray] = field(default_factory=dict)
    turning: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    direct: dict[tuple[int, int], Scalar] = field(default_factory=dict)


def constraint_changes(
    tree: Tree, moved: TreeMotion, acceleration: np.ndarray, multipliers: Sequence[Scalar]
) -> ConstraintChanges:
    """Of all constraints at accelerations (nv,) and multipliers (m,); ``moved``: the tree's motion at these."""
    shape = len(tree.model.constraints), tree.model.nv
    C, by_q, by_v = (np.full(shape, 0.0, dtype=object) for _ in range(3))
    found = ConstraintChanges(C, by_q, by_v)
    places = _Places(tree, moved, acceleration)
    for r, (constraint, multiplier) in enumerate(zip(tree.model.constraints, multipliers, strict=True)):
        row = _Row(constraint, places)
        row.add_rates(found, r)
        row.add_forces(found, multiplier)
    for k, W in found.wrenches.items():
        _add(found.turning, (k, k), -_along(W))
    return found


class _Places:
    """Bodies and columns of a tree that moves, as rows see them."""

    def __init__(self, tree: Tree, moved: TreeMotion, acceleration: np.ndarray) -> None:
        self.tree, self.acceleration, self._root = tree, acceleration, roots(tree.model)
        self._links, self._columns = moved.links, moved.columns
        self._bodies: dict[int, dict[Any, np.ndarray]] = {}
        self._changes: dict[tuple[int, int], tuple[np.ndarray, ...]] = {}

    def link(self, body: int) -> int:
        """The link of a body, or WORLD."""
        return self.tree.model.bodies[body].link

    def motion(self, link: int) -> tuple[np.ndarray, np.ndarray]:
        """V and A (6,), gravity as the root's acceleration -g."""
        return array(self._links[link][12:18]), array(self._links[link][18:24])

    def arm(self, body: int) -> np.ndarray:
        """A body's place from the origin of its tree (3,)."""
        return self.tree.body_pose(self.tree.model.bodies[body])[1] - self.tree.positions[self._root[self.link(body)]]

    def moving(self, body: int) -> np.ndarray:
        """How a twist about the origin turns and moves a body at its place, (6, 6)."""
        one, none = np.eye(3).astype(object), np.full((3, 3), 0.0)
        return np.block([[one, none], [-skew(self.arm(body)), one]])

    def value(self, name: tuple[Any, ...]) -> Scalar:
        """What a row's input is."""
        kind, *where = name
        if kind in PLAIN:
            return plain_value(self.tree, name)
        if kind == BIAS and where[0] == RATE:
            return self.acceleration[where[1][1]]
        key, body, *component = name if kind != BIAS else ((BIAS, where[0]), *where[1:])
        if body not in self._bodies:
            self._bodies[body] = self._body(body)
        return self._bodies[body][key][tuple(component)]

    def _body(self, body: int) -> dict[Any, np.ndarray]:
        R, p = self.tree.body_pose(self.tree.model.bodies[body])
        moving = (VELOCITY, SPIN, (BIAS, VELOCITY), (BIAS, SPIN))
        if self.link(body) == WORLD:
            return {POSITION: p, ROTATION: R, **dict.fromkeys(moving, zeros(3))}
        (V, A), r = self.motion(self.link(body)), self.arm(body)
        omega, alpha = V[:3], A[:3]
        u = V[3:] + cross(omega, r)
        a = A[3:] + self.tree.gravity + cross(alpha, r) + cross(omega, u)
        return {POSITION: p, ROTATION: R, **dict(zip(moving, (u, omega, a, alpha), strict=True))}

    def columns(self, link: int) -> Iterator[tuple[int, tuple[np.ndarray, ...]]]:
        """(slot, [J, alpha, beta, gamma]) of all columns that move a link."""
        for i in self.tree.model.chain(link):
            for c, slot in enumerate(self.tree.model.links[i].slots):
                if (i, c) not in self._changes:
                    self._changes[i, c] = column_changes(array(self._columns[i][c]).reshape(-1, 6))
                yield slot, self._changes[i, c]


class _Row:
    """One constraint: g and its gradient by velocities as they are in a state, and all their partial derivatives."""

    def __init__(self, constraint: Constraint, places: _Places) -> None:
        self._places, graph, rows = places, constraint.graph, constraint.rows
        self._names = list(rows.gradient)
        outputs = [rows.bias, *rows.gradient.values()]
        for name, slope in rows.gradient.items():
            if name[0] == RATE:
                outputs[0] = outputs[0] + slope * graph.input((BIAS, *name))
        inputs = [n.args[0] for n in reachable(outputs) if n.op == "input"]
        owners = {n[2] if n[0] == BIAS else n[1] for n in inputs if n[0] in _BODY or (n[0] == BIAS and n[1] != RATE)}
        bodies = sorted(b for b in owners if places.link(b) != WORLD)
        plain = sorted({n[-1] for n in inputs if n[0] in (COORDINATE, RATE)})
        flat = outputs[1:]
        directions = [d for b in bodies for d in _of_body(graph, b)] + [d for x in plain for d in _of_plain(graph, x)]
        for direction in directions:
            flat += directional_derivative(outputs, direction)
        values = substitute(flat, {n.args[0]: places.value(n.args[0]) for n in reachable(flat) if n.op == "input"})
        table, count = array(values[len(self._names) :]).reshape(-1, len(outputs)), 18 * len(bodies)
        self._gradient = array(values[: len(self._names)])
        self._by_body = {b: table[18 * k : 18 * k + 18].T for k, b in enumerate(bodies)}
        self._by_plain = {slot: table[count + 2 * k : count + 2 * k + 2].T for k, (_, slot) in enumerate(plain)}

    def add_rates(self, found: ConstraintChanges, r: int) -> None:
        """C, dg / dq and dg / dv of the r-th row."""
        for b, partial in self._by_body.items():
            Q, U, W = self._wrenches(b, partial[0])
            V, A = self._places.motion(self._places.link(b))
            by_J, by_alpha = Q + _dual(V, U) + _dual(A, W), U + _dual(V, W)
            for slot, (J, alpha, beta, gamma) in self._places.columns(self._places.link(b)):
                _add(found.C, (r, slot), dot(W, J))
                _add(found.by_q, (r, slot), dot(by_J, J) + dot(by_alpha, alpha) + dot(W, beta))
                _add(found.by_v, (r, slot), dot(by_alpha, J) + dot(W, gamma))
        for slot, partial in self._by_plain.items():
            _add(found.by_q, (r, slot), partial[0, 0])
            _add(found.by_v, (r, slot), partial[0, 1])
        for name, slope in zip(self._names, self._gradient, strict=True):
            if name[0] == RATE:
                _add(found.C, (r, name[1][1]), slope)

    def _wrenches(self, body: int, partial: np.ndarray) -> list[np.ndarray]:
        """Q, U and W of g's partial derivatives (18,) by a body's axes, p, omega, u, alpha and a."""
        by_turn, by_p, by_omega, by_u, by_alpha, by_a = partial.reshape(6, 3)
        u, omega, alpha = (
            array([self._places.value((*kind, body, j)) for j in range(3)])
            for kind in ((VELOCITY,), (SPIN,), (BIAS, SPIN))
        )
        by_omega, by_u = by_omega + cross(u, by_a), by_u + cross(by_a, omega)
        by_p = by_p + cross(by_a, alpha) + cross(by_u, omega)
        inward = self._places.moving(body).T
        parts = ((by_turn, by_p), (by_omega, by_u), (by_alpha, by_a))
        return [inward @ np.concatenate(part) for part in parts]

    def add_forces(self, found: ConstraintChanges, multiplier: Scalar) -> None:
        """What forces the multiplier makes, and how they change."""
        places, gradient = self._places, self._gradient * multiplier
        by_body = {b: partial[1:, :6] * multiplier @ places.moving(b) for b, partial in self._by_body.items()}
        by_plain = {slot: partial[1:, 0] * multiplier for slot, partial in self._by_plain.items()}
        for b in self._by_body:
            named = [(kind, b, j) for kind in (SPIN, VELOCITY) for j in range(3)]
            pick = np.array([[float(name == own) for own in self._names] for name in named], dtype=object)
            link, moving = places.link(b), places.moving(b)
            own, inward = pick @ gradient, moving.T @ pick
            _add(found.wrenches, link, moving.T @ own)
            for other, change in by_body.items():
                _add(found.turning, (link, places.link(other)), inward @ change)
            arm = np.concatenate([-skew(own[3:]) @ moving[3:], np.full((3, 6), 0.0)])
            _add(found.turning, (link, link), arm)
            for slot, change in by_plain.items():
                for row, (J, *_) in places.columns(link):
                    _add(found.direct, (row, slot), dot(J, inward @ change))
        for k, name in enumerate(self._names):
            if name[0] == RATE:
                for b, change in by_body.items():
                    for slot, (J, *_) in places.columns(places.link(b)):
                        _add(found.direct, (name[1][1], slot), dot(change[k], J))
                for slot, change in by_plain.items():
                    _add(found.direct, (name[1][1], slot), change[k])


def _of_body(graph: Graph, body: int) -> list[dict[Expression, Scalar]]:
    """Directions of a row's inputs: a body's axes and place, spin and velocity, and their rates, 3 each."""
    R = array([[graph.input((ROTATION, body, i, j)) for j in range(3)] for i in range(3)])
    result = []
    for axis in np.eye(3):
        turned = np.stack([cross(axis, R[:, j]) for j in range(3)], axis=1)
        result.append(dict(zip(R.flat, turned.flat, strict=True)))
    for kind in ((POSITION,), (SPIN,), (VELOCITY,), (BIAS, SPIN), (BIAS, VELOCITY)):
        result += [{graph.input((*kind, body, j)): 1.0} for j in range(3)]
    return result


def _of_plain(graph: Graph, plain: tuple[int, int]) -> list[dict[Expression, Scalar]]:
    """Directions of a row's inputs: a coordinate and its rate."""
    return [{graph.input((kind, plain)): 1.0} for kind in (COORDINATE, RATE)]


def _dual(V: np.ndarray, W: np.ndarray) -> np.ndarray:
    """D with D . J = W . (J x V), (6,)."""
    moment = cross(V[:3], W[:3]) + cross(V[3:], W[3:])
    return np.concatenate([moment, cross(V[:3], W[3:])])


def _along(W: np.ndarray) -> np.ndarray:
    """The rate (6, 6) of a wrench that goes along with a twist."""
    force = -skew(W[3:])
    return np.block([[-skew(W[:3]), force], [force, np.full((3, 3), 0.0)]])


def _add(total: Any, key: Any, value: Any) -> None:
    """total[key] += value, also where there is none yet."""
    if isinstance(total, dict) and key not in total:
        total[key] = value
    else:
        total[key] = total[key] + value

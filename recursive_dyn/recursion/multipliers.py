"""Constraints by Lagrange multipliers, solved through O(n) responses of the tree.

With M = L^T D L every row C_i is reduced once, c_i = L^-T C_i; then C M^-1 C^T and C a_free are sums over coordinates
of c_i c_j / D and c_i c / D, and the accelerations are one outward pass over c + sum of lambda_i c_i. A row that
depends on rows after it in this configuration, or whose gradient is nothing there, is left out of the solution (its
multiplier is zero): near a singular position what it asks for is rounding, divided by how far that is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import (
    Expression,
    Scalar,
    array,
    combine,
    maximum,
    reachable,
    reciprocal,
    substitute,
)
from recursive_dyn.model.constraint import BIAS, COORDINATE, POSITION, RATE, ROTATION, SPIN, VELOCITY, Constraint
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.cartesian_forces import forces_from_wrenches
from recursive_dyn.recursion.configuration import integrate
from recursive_dyn.recursion.inverse_dynamics import LinkMotion, motions
from recursive_dyn.recursion.kinematics import Tree, zeros
from recursive_dyn.recursion.lagrangian import solve
from recursive_dyn.spatial.algebra import cross, dot

DEPENDENT = 1e-6  # share of its own response that rows after it leave of a row, below which it says what they say
NOTHING = 1e-200  # of a square, so that there is a reciprocal of none
PLAIN = ("parameter", COORDINATE, RATE)  # inputs of rows that are none of bodies


def plain_value(tree: Tree, name: tuple[Any, ...]) -> Scalar:
    """What an input of a row is whose kind is PLAIN."""
    if name[0] == "parameter":
        return tree.parameters[name]
    return tree.q[name[1][0]] if name[0] == COORDINATE else tree.v[name[1][1]]


class Factors(Protocol):
    """M = L^T D L: what both methods offer."""

    inverse: list[Scalar]

    def reduce(self, tau: Sequence[Scalar], wrenches: Sequence[np.ndarray] | None = None) -> list[Scalar]:
        """L^-T tau."""

    def expand(self, c: Sequence[Scalar]) -> list[Scalar]:
        """L^-1 D^-1 c."""


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """phi (m,) (0 where a row binds velocities only), psi = C v (m,), C (m, nv), C-dot v (m,).

    wrenches: of each row what a multiplier of 1 does to the bodies, (nb, 6), world axes at their origins; what it does
    to coordinates directly is not among it.
    """

    phi: list[Scalar]
    psi: list[Scalar]
    C: list[list[Scalar]]
    bias: list[Scalar]
    wrenches: list[np.ndarray]


def constraint_rows(tree: Tree) -> ConstraintRows:
    """Every row of the model's constraints at the tree's state."""
    quantities = BodyQuantities(tree)
    phi: list[Scalar] = []
    psi: list[Scalar] = []
    C: list[list[Scalar]] = []
    bias: list[Scalar] = []
    wrenches: list[np.ndarray] = []
    for constraint in tree.model.constraints:
        rows = constraint.rows
        flat = [0.0 if rows.phi is None else rows.phi, rows.psi, rows.bias, *rows.gradient.values()]
        try:
            values = substitute(flat, quantities.inputs(flat))
        except ModelError as error:  # as a distance between points that the joints keep together
            raise ModelError(f"constraint '{constraint.name}': {error}") from None
        phi.append(values[0])
        psi.append(values[1])
        bias.append(values[2])
        gradient = Gradient(tree)
        gradient.add(rows.gradient, values[3:])
        C.append(along_velocities(tree, gradient))
        wrenches.append(gradient.wrenches)
    return ConstraintRows(phi, psi, C, bias, wrenches)


class Gradient:
    """Gradients by velocities of bodies, as wrenches on them (nb, 6), and by rates of coordinates (nv,)."""

    def __init__(self, tree: Tree) -> None:
        self.wrenches = np.zeros((len(tree.model.bodies), 6), dtype=object)
        self.wrenches[:] = 0.0
        self.rates: list[Scalar] = [0.0] * tree.model.nv

    def add(self, names: Iterable[Any], values: Iterable[Scalar]) -> None:
        """What belongs to these inputs."""
        for (kind, where, *component), value in zip(names, values, strict=True):
            if kind == RATE:
                self.rates[where[1]] = self.rates[where[1]] + value
            else:
                place = where, (component[0] if kind == SPIN else 3 + component[0])
                self.wrenches[place] = self.wrenches[place] + value


def along_velocities(tree: Tree, gradient: Gradient) -> list[Scalar]:
    """A gradient by body velocities is a wrench on that body: J^T wrench, plus what acts on rates directly (nv,)."""
    row = forces_from_wrenches(tree, gradient.wrenches, at_center=False)
    return [x + y for x, y in zip(row, gradient.rates, strict=True)]


class BodyQuantities:
    """What a row's inputs are on a tree, made when asked for."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.memory: dict[int, dict[str, np.ndarray]] = {}

    @cached_property
    def motions(self) -> list[LinkMotion]:
        """Every link's motion at zero acceleration of the coordinates."""
        return motions(self.tree, None, gravity=False)

    def inputs(self, outputs: Sequence[Scalar], known: Mapping[Any, Scalar] | None = None) -> dict[Any, Scalar]:
        """Values of the inputs below the outputs, of which some may be known."""
        given = known or {}
        names = [n.args[0] for n in reachable(outputs) if n.op == "input"]
        return {name: given[name] if name in given else self.value(name) for name in names}

    def value(self, name: tuple[Any, ...]) -> Scalar:
        kind, *where = name
        if kind in PLAIN:
            return plain_value(self.tree, name)
        if kind == BIAS:
            kind, *where = where
            return self._body(where[0])[f"{BIAS} {kind}"][where[1]]
        return self._body(where[0])[kind][tuple(where[1:])]

    def _body(self, index: int) -> dict[str, np.ndarray]:
        if index not in self.memory:
            self.memory[index] = self._made(index)
        return self.memory[index]

    def _made(self, index: int) -> dict[str, np.ndarray]:
        tree = self.tree
        body = tree.model.bodies[index]
        R, p = tree.body_pose(body)
        found = {POSITION: p, ROTATION: R}
        if body.link == WORLD:
            return {**found, **dict.fromkeys((VELOCITY, SPIN, f"{BIAS} {VELOCITY}", f"{BIAS} {SPIN}"), zeros(3))}
        world, twist = tree.rotations[body.link], tree.twists[body.link]
        r = tree.scalars(body.pose)[:3, 3]
        motion = self.motions[body.link]
        return {
            **found,
            SPIN: world @ twist[:3],
            VELOCITY: world @ (twist[3:] + cross(twist[:3], r)),
            f"{BIAS} {SPIN}": world @ motion.alpha,
            f"{BIAS} {VELOCITY}": world @ (motion.a + motion.W @ r),
        }


Bias = Callable[[ConstraintRows], list[Scalar]]


@dataclass(frozen=True, eq=False)
class ConstrainedSystem:
    """Factors of M with the reduced rows c_i and C M^-1 C^T."""

    factors: Factors
    reduced: list[list[Scalar]]
    response: np.ndarray
    usual: list[Scalar] | None = None

    def multipliers(self, wanted: Sequence[Scalar], dependent: float = DEPENDENT) -> list[Scalar]:
        """lambda (m,) with C M^-1 C^T lambda = wanted."""
        return solve(self.response, wanted, dependent=dependent, size=self.usual)

    def along(self, c: Sequence[Scalar]) -> list[Scalar]:
        """C of the accelerations that the reduced forces c (nv,) cause."""
        return [_weighted(row, c, self.factors.inverse) for row in self.reduced]

    def moved(self, multipliers: Sequence[Scalar], c: Sequence[Scalar] | None = None) -> list[Scalar]:
        """Accelerations (nv,) of the reduced forces c and the rows' forces C^T lambda."""
        total = list(c) if c is not None else [0.0] * len(self.factors.inverse)
        for row, multiplier in zip(self.reduced, multipliers, strict=True):
            total = [t + x * multiplier for t, x in zip(total, row, strict=True)]
        return self.factors.expand(total)


def constrained(
    factors: Factors, rows: Sequence[Sequence[Scalar]], constraints: Sequence[Constraint] = ()
) -> ConstrainedSystem:
    """The responses of rows (m, nv), of these constraints."""
    reduced = [factors.reduce(row) for row in rows]
    m = len(reduced)
    response = np.empty((m, m), dtype=object)
    for i in range(m):
        for j in range(i, m):
            response[i, j] = response[j, i] = _weighted(reduced[i], reduced[j], factors.inverse)
    if not constraints:
        return ConstrainedSystem(factors, reduced, response)
    own = zip(response.diagonal(), rows, constraints, strict=True)
    return ConstrainedSystem(factors, reduced, response, [usual_response(x, row, c.usual) for x, row, c in own])


def usual_response(response: Scalar, row: Sequence[Scalar], usual: float) -> Scalar:
    """The response that a row (nv,) would have if it were as long as it usually is, or its own where it is longer."""
    if not usual:
        return response
    square = dot(array(row), array(row))
    return response * maximum(1.0, reciprocal(square + NOTHING) * usual**2)


def _weighted(a: Sequence[Scalar], b: Sequence[Scalar], weight: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x, y, w in zip(a, b, weight, strict=True):
        total = total + (x * w) * y
    return total


def forward_dynamics(
    tree: Tree, factors: Factors, c: Sequence[Scalar], bias: Bias | None = None
) -> tuple[list[Scalar], list[Scalar]]:
    """(accelerations (nv,), multipliers (m,)): M a + bias = tau + C^T lambda with C a + C-dot v = 0.

    A step may ask for another ``bias`` than C-dot v.
    """
    rows = constraint_rows(tree)
    system = constrained(factors, rows.C, tree.model.constraints)
    free = system.along(c)
    if tree.given is not None:
        free = [x + dot(array(row), tree.given) for x, row in zip(free, rows.C, strict=True)]
    wanted = [-(x + b) for x, b in zip(free, bias(rows) if bias else rows.bias, strict=True)]
    multipliers = system.multipliers(wanted)
    return tree.accelerated(system.moved(multipliers, c)), multipliers


def constraint_forces(tree: Tree, multipliers: Sequence[Scalar]) -> list[Scalar]:
    """C^T lambda (nv,)."""
    C = array(constraint_rows(tree).C)
    return [dot(column, array(multipliers)) for column in C.T]


def half_bias(rows: ConstraintRows) -> list[Scalar]:
    """Half of C-dot v, for a step from a state that is followed by a projection.

    The velocity then ends in the middle between the tangent of the constraints at the start and that at the end, and
    the projection neither gives nor takes energy to the order of the step.
    """
    return [b * 0.5 for b in rows.bias]


def middle_bias(tree: Tree, free: np.ndarray, h: Scalar) -> Bias:
    """What C a of the implicit midpoint rule must cancel for the velocity of the middle to meet the constraints.

    tree: at the middle; free (nv,): the velocity that the middle would have without acceleration. The constraints'
    forces then do no work on the way of the step.
    """

    def bias(rows: ConstraintRows) -> list[Scalar]:
        missed = [x + dot(array(row), free - tree.v) for x, row in zip(rows.psi, rows.C, strict=True)]
        return [x * 2.0 * reciprocal(h) for x in missed]

    return bias


def projected(tree: Tree, factors: Factors) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """(q, v, [largest |phi|, largest |psi|] before): one Newton step onto the constraints, least in the metric of M."""
    rows = constraint_rows(tree)
    system = constrained(factors, rows.C, tree.model.constraints)
    step = system.moved(system.multipliers([-x for x in rows.phi]))
    change = system.moved(system.multipliers([-x for x in rows.psi]))
    q = integrate(tree, array(step), 1.0)
    v = [x + d for x, d in zip(tree.v, change, strict=True)]
    return q, v, [_largest(rows.phi), _largest(rows.psi)]


def _largest(values: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x in values:
        total = maximum(total, combine("abs", [x])) if isinstance(x, Expression) or x else total
    return total

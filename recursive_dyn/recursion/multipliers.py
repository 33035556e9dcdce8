"""Constraints by Lagrange multipliers, solved through O(n) responses of the tree.

With M = L^T D L every row C_i is reduced once, c_i = L^-T C_i; then C M^-1 C^T and C a_free are sums over coordinates
of c_i c_j / D and c_i c / D, and the accelerations are one outward pass over c + sum of lambda_i c_i. A row that
depends on rows after it in this configuration, or whose gradient is nothing there, is left out of the solution (its
multiplier is zero): near a singular position what it asks for is rounding, divided by how far that is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Expression, Scalar, array, combine, less, maximum, reciprocal, select, sqrt
from recursive_dyn.graph.traversal import substitute
from recursive_dyn.model.constraint import Constraint
from recursive_dyn.recursion.cartesian.body_quantities import BodyQuantities, Gradient, along_velocities
from recursive_dyn.recursion.configuration import integrate
from recursive_dyn.recursion.equations.chosen_rows import solve_by_chosen
from recursive_dyn.recursion.equations.lagrangian import NOTHING, nonzero, solve
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.spring_answers import SpringAnswer, answer
from recursive_dyn.spatial.algebra import dot

DEPENDENT = 1e-6  # share of its own response that rows after it leave of a row, below which it says what they say
MOST = 24  # rows up to which those that count are chosen at each state; a program of more takes long to compile


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


Bias = Callable[[ConstraintRows], list[Scalar]]


@dataclass(frozen=True, eq=False)
class ConstrainedSystem:
    """Factors of M with the reduced rows c_i and C M^-1 C^T; which rows are ``spare``."""

    factors: Factors
    reduced: list[list[Scalar]]
    response: np.ndarray
    usual: list[Scalar]
    spare: list[bool]

    def multipliers(self, wanted: Sequence[Scalar], dependent: float = DEPENDENT) -> list[Scalar]:
        """lambda (m,) with C M^-1 C^T lambda = wanted; where rows are spare, those that say most count."""
        if not any(self.spare):
            return solve(self.response, wanted, dependent=dependent, size=self.usual)
        found: list[Scalar] = [0.0] * len(wanted)
        for rows in _bound_together(self.response):
            A, b = self.response[np.ix_(rows, rows)], [wanted[i] for i in rows]
            sizes, count = [self.usual[i] for i in rows], sum(not self.spare[i] for i in rows)
            if count == len(rows) or len(rows) > MOST:
                x = solve(A, b, dependent=dependent, size=sizes)
            else:
                x = solve_by_chosen(A, b, sizes, count, dependent)
            for i, value in zip(rows, x, strict=True):
                found[i] = value
        return found

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
    factors: Factors,
    rows: Sequence[Sequence[Scalar]],
    constraints: Sequence[Constraint] = (),
    soft: Sequence[list[Scalar]] = (),
) -> ConstrainedSystem:
    """The responses of rows (m, nv), of these constraints; before them those of reduced rows of compliance 1."""
    first, reduced = len(soft), [*soft, *(factors.reduce(row) for row in rows)]
    m = len(reduced)
    response = np.empty((m, m), dtype=object)
    for i in range(m):
        for j in range(i, m):
            response[i, j] = response[j, i] = _weighted(reduced[i], reduced[j], factors.inverse)
    usual: list[Scalar] = list(response.diagonal())
    for i in range(first):
        response[i, i], usual[i] = response[i, i] + 1.0, 0.0  # always one: it never depends on others
    if constraints:
        own = zip(usual[first:], rows, constraints, strict=True)
        usual[first:] = [usual_response(x, row, c.usual) for x, row, c in own]
    spare = [False] * first + [c.spare for c in constraints]
    return ConstrainedSystem(factors, reduced, response, usual, spare or [False] * m)


def _bound_together(response: np.ndarray) -> list[list[int]]:
    """Rows (m, m) in parts that do not feel each other."""
    parts, left = list[list[int]](), list(range(len(response)))
    while left:
        part = [left.pop(0)]
        for i in part:
            reached = [j for j in left if nonzero(response[i, j])]
            part += reached
            left = [j for j in left if j not in reached]
        parts.append(sorted(part))
    return parts


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


@dataclass(frozen=True, eq=False)
class YieldingRow:
    """A force -r^T (pull + reach late + share length^2 r . a) along a row r (nv,), where r M^-1 r^T is more than
    ``least``; else none. reach, share: as ``spring_answers`` has them of a spring in a step as long as ``whole``, held,
    bounces: 1 or 0; both are 1 of what is no spring, and has a whole of 0."""

    r: Sequence[Scalar]
    pull: Scalar
    late: Scalar
    length: Scalar
    least: Scalar
    whole: Scalar
    held: Scalar
    bounces: Scalar = 0.0


class AnsweringRow(NamedTuple):
    """A row as it is reduced (nv,), whether it answers, 1 or 0, and what it does then: its reach, pull, and the root of
    what it adds to M along r."""

    c: list[Scalar]
    here: Scalar
    reach: Scalar
    pull: Scalar
    length: Scalar


def answering(factors: Factors, rows: Sequence[YieldingRow]) -> list[AnsweringRow]:
    """What each of the rows does."""
    found = []
    for row in rows:
        c = factors.reduce(row.r)
        response, of = _weighted(c, c, factors.inverse), SpringAnswer(1.0, 1.0)
        if nonzero(row.whole):
            of = answer(response * row.whole * row.whole, row.held, row.bounces)
        here = select(less(row.least, response), 1.0, 0.0)
        found.append(AnsweringRow(c, here, of.reach, row.pull + row.late * of.reach, row.length * sqrt(of.share)))
    return found


class HeldMotion(NamedTuple):
    """Accelerations (nv,), multipliers (m,) of the constraints, forces (nv,) of these and of yielding rows, and which
    of the latter answered: 1 or 0."""

    a: list[Scalar]
    multipliers: list[Scalar]
    forces: list[Scalar]
    answered: list[Scalar]


def forward_dynamics(
    tree: Tree, factors: Factors, c: Sequence[Scalar], bias: Bias | None = None, yielding: Sequence[YieldingRow] = ()
) -> HeldMotion:
    """M a + bias = tau + C^T lambda + forces of yielding rows, with C a + C-dot v = 0.

    A step may ask for another ``bias`` than C-dot v.
    """
    rows, held = constraint_rows(tree), answering(factors, yielding)
    shares = [row.length * row.here for row in held]
    soft = [[x * share for x in row.c] for row, share in zip(held, shares, strict=True)]
    system = constrained(factors, rows.C, tree.model.constraints, soft)
    free, n = system.along(c), len(soft)
    scaled = [[x * share for x in row.r] for row, share in zip(yielding, shares, strict=True)]
    if tree.given is not None:
        free = [x + dot(array(row), tree.given) for x, row in zip(free, [*scaled, *rows.C], strict=True)]
    asked = [
        *(row.pull * reciprocal(row.length) * row.here for row in held),
        *(bias(rows) if bias else rows.bias),
    ]
    multipliers = system.multipliers([-(x + b) for x, b in zip(free, asked, strict=True)])
    forces: list[Scalar] = [0.0] * tree.model.nv
    for row, multiplier in zip([*scaled, *rows.C], multipliers, strict=True):
        forces = [f + x * multiplier for f, x in zip(forces, row, strict=True)]
    a = tree.accelerated(system.moved(multipliers, c))
    return HeldMotion(a, multipliers[n:], forces, [row.here for row in held])


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

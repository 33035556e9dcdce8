"""Whether sets of equations of motion have the same solutions, by linear algebra over the rationals at random points.

What the velocities and accelerations may be there is the solution of affine equations: rows, constraints, their rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from math import prod
from typing import TypeAlias

import numpy as np

from recursive_dyn.errors import ModelError, OperandError
from recursive_dyn.manifold.comparison.elimination import Row, pivot, reduced, remainder
from recursive_dyn.manifold.comparison.equality import independent, point
from recursive_dyn.manifold.derivation.equations_of_motion import Equations
from recursive_dyn.manifold.formula.calculus import conserved, dt, symbols_of
from recursive_dyn.manifold.formula.evaluation import Evaluation, Value
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.symbol import Symbol

Values = dict[Symbol, Value]
EquationSet: TypeAlias = Equations | Mapping[Symbol, Formula]


@dataclass(frozen=True)
class Difference:
    """Where two sets of equations differ: what one says and the other does not.

    side: "first" or "second", the set that says it; what: "the row of q", "the constraints", or "the rows together"
    where multipliers are eliminated from them; symbol: the variable of that row, or None; seed, state: the random point
    where it was found.
    """

    side: str
    what: str
    symbol: Symbol | None
    seed: int
    state: dict[Symbol, Value] = field(repr=False)

    def __str__(self) -> str:
        other = "second" if self.side == "first" else "first"
        return f"the {other} set does not imply {self.what} of the {self.side} set (at the random point {self.seed})"


def same_equations(a: EquationSet, b: EquationSet, points: int = 3) -> bool:
    """Whether two sets of equations of motion allow the same accelerations in every state.

    Sets are Equations or mappings from configuration variables to residuals. Rows may be scaled by what is nonzero,
    added and mixed; multipliers are eliminated, so that they may be scaled and named otherwise; a mapping takes part in
    the other set's constraints, with its multipliers. Whether two rows are the same is for ``equal`` to say of their
    residuals. False is certain, True as in ``equal``. ModelError names variables that only one set
    has, rows that are not affine in the accelerations, and constraints that contradict each other.
    """
    return difference(a, b, points) is None


def difference(a: EquationSet, b: EquationSet, points: int = 3) -> Difference | None:
    """A row that one set has and the other has not, and where; None if ``same_equations``."""
    first, second = _read(a), _read(b)
    sides = (("first", first.residuals, second.residuals), ("second", second.residuals, first.residuals))
    only = [f"{s.base.name} (only in the {side})" for side, own, other in sides for s in own if s not in other]
    if only:
        raise ModelError(f"equations of different configurations cannot be compared: {', '.join(only)}")
    if isinstance(a, Mapping):
        first = replace(first, constraints=second.constraints, multipliers=second.multipliers)
    elif isinstance(b, Mapping):
        second = replace(second, constraints=first.constraints, multipliers=first.multipliers)
    found = (_difference_at(first, second, seed) for seed in range(points))
    return next((d for d in found if d is not None), None)


@dataclass(frozen=True)
class _Rows:
    residuals: dict[Symbol, Formula]
    constraints: tuple[Formula, ...] = ()
    multipliers: tuple[Symbol, ...] = ()


def _read(equations: EquationSet) -> _Rows:
    if isinstance(equations, Mapping):
        rows = _Rows(dict(equations))
    elif not isinstance(equations, Equations):
        raise OperandError(f"{equations!r} is no set of equations: it must be Equations or a mapping of residuals")
    else:
        residuals = {row.symbol: row.residual for row in equations.rows}
        rows = _Rows(residuals, tuple(equations.constraints), tuple(equations.multipliers))
    configuration = tuple(rows.residuals)
    highest = {s.base: s.order for s in (q.acceleration for q in configuration)}
    for symbol, residual in rows.residuals.items():
        if not isinstance(residual, Formula):
            raise OperandError(f"the row of {symbol.base.name} must be a formula that is zero, not {residual!r}")
        rows.residuals[symbol] = independent(residual, configuration)
        excess = [s for s in symbols_of(rows.residuals[symbol]) if s.order > highest.get(s.base, s.order)]
        if residual.varied or excess:
            what = f"the derivative of order {excess[0].order} of {excess[0].base.name}" if excess else "a variation"
            raise ModelError(f"the row of {symbol.base.name} holds {what}: a row is affine in accelerations")
    return replace(rows, constraints=tuple(independent(c, configuration) for c in rows.constraints))


def _difference_at(first: _Rows, second: _Rows, seed: int) -> Difference | None:
    configuration, sides = tuple(first.residuals), (first, second)
    multipliers = tuple(dict.fromkeys((*first.multipliers, *second.multipliers)))
    velocities = tuple(q.velocity for q in configuration)
    unknowns = (*multipliers, *(q.acceleration for q in configuration))
    tangent = [c for q in configuration for c in conserved(q)]
    constraints = [(*side.constraints, *tangent) for side in sides]
    formulas = [f for side in sides for f in (*side.residuals.values(), *side.constraints, *map(dt, side.constraints))]
    state = point([*configuration, *velocities, *unknowns, *(s for f in formulas for s in symbols_of(f))], seed)

    spaces = [reduced(_matrix(part, velocities, state)) for part in constraints]
    if spaces[0] != spaces[1]:
        return Difference(_fuller(spaces), "the constraints", None, seed, state)
    state |= _constrained(spaces[0], velocities, state)

    rows = [{s: _affine(f, unknowns, state, f"row of {s.base.name}") for s, f in x.residuals.items()} for x in sides]
    rates = [_matrix(map(dt, part), unknowns, state) for part in constraints]
    spaces = [reduced([*chain(*own.values()), *rate]) for own, rate in zip(rows, rates, strict=True)]
    if _without(spaces[0], multipliers) == _without(spaces[1], multipliers):
        return None
    for name, own, space in (("second", rows[1], spaces[0]), ("first", rows[0], spaces[1])):
        for s, part in own.items():
            if any(any(remainder(row, space)) for row in part):
                return Difference(name, f"the row of {s.base.name}", s, seed, state)
    return Difference(_fuller(spaces), "the rows together", None, seed, state)


def _fuller(spaces: Sequence[tuple[Row, ...]]) -> str:
    """The set that says something that the other does not imply."""
    return "second" if any(any(remainder(list(map(Fraction, row)), spaces[0])) for row in spaces[1]) else "first"


def _without(space: tuple[Row, ...], multipliers: Sequence[Symbol]) -> tuple[Row, ...]:
    """What a space's rows say when the multipliers, which come first, are eliminated."""
    columns = sum(prod(s.shape) for s in multipliers)
    return tuple(row for row in space if pivot(row) >= columns)


def _constrained(space: tuple[Row, ...], velocities: Sequence[Symbol], state: Values) -> Values:
    """Velocities that fulfil the constraints; those of the state where they are free."""
    solution = list(_numbers(velocities, state))
    if space and pivot(space[-1]) == len(solution):
        raise ModelError("the constraints contradict each other: no velocity fulfils them")
    for row in space:
        i = pivot(row)
        rest = row[-1] + sum(c * x for c, x in zip(row[i + 1 : -1], solution[i + 1 :], strict=True))
        solution[i] = -Fraction(rest) / row[i]
    return _values(velocities, np.array(solution, dtype=object))


def _numbers(symbols: Sequence[Symbol], state: Values) -> np.ndarray:
    return np.concatenate([np.ravel(state[s]) for s in symbols])


def _values(symbols: Sequence[Symbol], numbers: np.ndarray) -> Values:
    ends = np.cumsum([prod(s.shape) for s in symbols])
    return {s: x.reshape(s.shape)[()] for s, x in zip(symbols, np.split(numbers, ends[:-1]), strict=True)}


def _matrix(formulas: Iterable[Formula], unknowns: Sequence[Symbol], state: Values) -> list[list[Fraction]]:
    return [row for f in formulas for row in _affine(f, unknowns, state, "constraint")]


def _affine(f: Formula, unknowns: Sequence[Symbol], state: Values, name: str) -> list[list[Fraction]]:
    """By component of f: its coefficients of the unknowns' components, and what is left when these are zero."""
    origin = state | _values(unknowns, 0 * _numbers(unknowns, state))
    rest = np.ravel(Evaluation(origin, Fraction)(f))
    occurring = set(symbols_of(f))
    columns, drawn = [], rest
    for s in unknowns:
        for unit, x in zip(np.eye(prod(s.shape), dtype=object), np.ravel(state[s]), strict=True):
            column = 0 * rest
            if s in occurring:
                column = np.ravel(Evaluation(origin | _values([s], unit), Fraction)(f)) - rest
                drawn = drawn + column * x
            columns.append(column)
    if np.any(drawn != np.ravel(Evaluation(state, Fraction)(f))):
        raise ModelError(f"the {name} is not affine in {', '.join(s.base.name for s in unknowns)}")
    return [list(row) for row in zip(*columns, rest, strict=True)]

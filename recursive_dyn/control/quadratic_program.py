"""Convex quadratic programs: DAQP first, PIQP as second opinion, and no answer that was not checked."""

from __future__ import annotations

from typing import NamedTuple

import daqp
import numpy as np
import piqp

Array = np.ndarray
_EQUAL = 5  # DAQP's mark of a row that is met exactly
TOLERANCE = 1e-6  # of what is checked, as a share of the numbers that add up to it


class QuadraticProgram(NamedTuple):
    """Least z' H z / 2 + g' z with lower <= A z <= upper: H (n, n) positive definite, A (m, n); equal ones are met."""

    hessian: Array
    gradient: Array
    rows: Array
    lower: Array
    upper: Array


class Answer(NamedTuple):
    """z (n,), multipliers (m,): H z + g + A' multipliers = 0, above 0 where an upper bound holds; who found them."""

    z: Array
    multipliers: Array
    solver: str


def solve(program: QuadraticProgram) -> Answer | None:
    """The answer of a program; None where both solvers find none: nothing meets all rows."""
    for solver in (_daqp, _piqp):
        answer = solver(program)
        if answer is not None and fault(program, answer) <= TOLERANCE:
            return answer
    return None


def fault(program: QuadraticProgram, answer: Answer) -> float:
    """How far an answer is from the conditions of Karush, Kuhn and Tucker, relative to the numbers that enter.

    Rows met, H z + g + A' multipliers = 0, no multiplier on a bound that is not reached. Infinite where not finite.
    """
    z, y = answer.z, answer.multipliers
    if not (np.isfinite(z).all() and np.isfinite(y).all()):
        return float("inf")
    reached, size = program.rows @ z, np.abs(program.rows) @ np.abs(z) + 1.0
    beyond = np.maximum(program.lower - reached, reached - program.upper) / size
    balance = program.hessian @ z + program.gradient + program.rows.T @ y
    scale = np.abs(program.hessian) @ np.abs(z) + np.abs(program.gradient) + np.abs(program.rows).T @ np.abs(y) + 1.0
    with np.errstate(invalid="ignore"):
        left = np.where(y > 0, y * (program.upper - reached), np.where(y < 0, y * (program.lower - reached), 0.0))
    slack = np.abs(left) / (np.abs(y) * size + 1.0)
    return float(max(beyond.max(initial=0.0), np.abs(balance / scale).max(initial=0.0), slack.max(initial=0.0)))


def _daqp(program: QuadraticProgram) -> Answer | None:
    """Dual active set (Arnstrom, Bemporad & Axehill 2022)."""
    sense = np.where(program.lower == program.upper, _EQUAL, 0).astype(np.int32)
    z, _, flag, info = daqp.solve(
        np.ascontiguousarray(program.hessian), program.gradient.copy(), np.ascontiguousarray(program.rows),
        np.minimum(program.upper, 1e30), np.maximum(program.lower, -1e30), sense,
    )  # fmt: skip
    return Answer(np.array(z), np.array(info["lam"]), "DAQP") if flag > 0 else None


def _piqp(program: QuadraticProgram) -> Answer | None:
    """Proximal interior point (Schwan, Jiang, Kuhn & Jones 2023)."""
    equal = program.lower == program.upper
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-10
    solver.setup(
        program.hessian, program.gradient, program.rows[equal], program.upper[equal],
        program.rows[~equal], program.lower[~equal], program.upper[~equal],
    )  # fmt: skip
    if solver.solve() != piqp.Status.PIQP_SOLVED:
        return None
    found, multipliers = solver.result, np.zeros(len(program.lower))
    multipliers[equal], multipliers[~equal] = found.y, found.z_u - found.z_l
    return Answer(np.array(found.x), multipliers, "PIQP")

"""Which demands of a quadratic program cannot be had beside the others: found by leaving out one kind after another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from recursive_dyn.control.quadratic_program import TOLERANCE, QuadraticProgram, solve

Array = np.ndarray


class Demand(NamedTuple):
    """Rows of a program that ask for the same kind of thing: their numbers (k,), whose each is, and what to do."""

    what: str
    rows: Array
    names: tuple[str, ...]
    remedy: str


def conflict(program: QuadraticProgram, demands: Iterable[Demand]) -> str:
    """The first demand without which there is an answer: what, whose rows that answer breaks, and what to do."""
    kinds = []
    for demand in demands:
        if not len(demand.rows):
            continue
        kinds.append(demand.what)
        lower, upper = program.lower.copy(), program.upper.copy()
        lower[demand.rows], upper[demand.rows] = -np.inf, np.inf
        answer = solve(program._replace(lower=lower, upper=upper))
        if answer is not None:
            reached = program.rows[demand.rows] @ answer.z
            size = TOLERANCE * (np.abs(reached) + 1.0)
            broken = (reached < program.lower[demand.rows] - size) | (reached > program.upper[demand.rows] + size)
            names = dict.fromkeys(name for name, b in zip(demand.names, broken, strict=True) if b)
            whose = ", ".join(f"'{name}'" for name in names)
            return f"no plan keeps the {demand.what} of {whose} beside all else; {demand.remedy}"
    return f"no plan keeps even all but one kind of {', '.join(kinds)}; ask for less, or stand elsewhere"

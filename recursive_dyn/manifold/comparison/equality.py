"""Whether formulas are the same function on R^n, S^2, SO(3) and products.

Normal forms do not decide it: identities such as Jacobi's are not reached by rewriting. Values at random points are
compared in exact arithmetic: what differs there does differ; what agrees is equal, but for a tiny probability.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.errors import OperandError
from recursive_dyn.manifold.comparison.exact_points import exact, independent, point
from recursive_dyn.manifold.formula.calculus import symbols_of
from recursive_dyn.manifold.formula.evaluation import Evaluation
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.operations import described, total
from recursive_dyn.manifold.formula.symbol import Symbol


def equal(a: Formula, b: Formula, points: int = 3, configuration: Sequence[Symbol] = ()) -> bool:
    """Whether two formulas are one function on the manifold; abbreviations and variations are looked through.

    False is certain. True is wrong with a probability of at most (d / 2^20)^points for random draws (Schwartz, Zippel),
    d the degree of the difference, over a common denominator, in the integers drawn: a rotation counts 2, the n-th
    derivative of a unit vector n + 2. That is below 1e-9 for d < 1000; rows of double pendulums have d < 30. Draws are
    the same in every run. configuration: rotations, where delta Omega occurs without its rotation in the formula.
    OperandError if the shapes differ, or for what is no formula.
    """
    for f in (a, b):
        if not isinstance(f, Formula):
            raise OperandError(f"{f!r} ({type(f).__name__}) is no formula and cannot be compared with one")
    if a.shape != b.shape:
        raise OperandError(f"{described(a)} and {described(b)} cannot be compared: their shapes differ")
    apart = independent(total([a, -b], a.shape), configuration)
    symbols = tuple(symbols_of(apart))
    return all(not np.any(Evaluation(point(symbols, seed), exact)(apart)) for seed in range(points))

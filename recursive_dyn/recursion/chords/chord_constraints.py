"""Constraints of steps along chords: positions on them where a step ends, forces across them where it starts.

Where K x = r finds by how much the way of a step is off, from h times what its momenta miss, and C, C' are the rows
where the step starts and where it ends, a row's multiplier mu is h times momentum along C and the end moves onto the
row:

    K x = r - C^T mu,   C' x = phi(q'),   so that (C' K^-1 C^T) mu = C' K^-1 r - phi(q')

(Marsden & West 2001, Discrete mechanics and variational integrators, Acta Numerica 10, 3.4; Hairer, Lubich & Wanner
2006, Geometric Numerical Integration, VII.1.4: SHAKE, and RATTLE with ``onto_tangents`` at its end). Momentum is that
of the tree without constraints, so that what symmetries keep they keep. A row that says what rows after it say is left
out, as in ``multipliers``, but nearer to where it does: the forces are found of where a step ends, and not of what goes
on at a singular position, so that no more than the multiplier is divided by how far that is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.recursion.chords.chord_factors import ChordFactors
from recursive_dyn.recursion.equations.articulated import ArticulatedInertias
from recursive_dyn.recursion.equations.lagrangian import inverse_or_zero
from recursive_dyn.recursion.kinematics import Tree
from recursive_dyn.recursion.multipliers import constrained, constraint_rows, usual_response
from recursive_dyn.spatial.algebra import dot

DEPENDENT = 1e-10  # share of its own response that rows after it leave of a row, at which it says what they say


class BoundChords:
    """The system above, factored where a step from ``start`` leads to ``end``; it serves near there, too."""

    def __init__(self, start: Tree, end: Tree, factors: ChordFactors) -> None:
        here, self._rows = constraint_rows(start).C, constraint_rows(end).C
        self._columns = [array(factors.solve(row)) for row in here]
        m = len(here)
        self._response = np.empty((m, m), dtype=object)
        for i, row in enumerate(self._rows):
            self._response[i] = [dot(array(row), column) for column in self._columns]
        own = zip(self._response.diagonal(), here, start.model.constraints, strict=True)
        self._sizes = [usual_response(entry, row, c.usual) for entry, row, c in own]

    def solve(self, x: Sequence[Scalar], end: Tree) -> list[Scalar]:
        """x (nv,) under the constraints, from that of the tree, where a step leads to ``end``."""
        phi, result = constraint_rows(end).phi, array(x)
        missed = [dot(array(row), result) - off for row, off in zip(self._rows, phi, strict=True)]
        for column, mu in zip(self._columns, _solved(self._response, missed, self._sizes), strict=True):
            result = result - column * mu
        return list(result)


def onto_tangents(end: Tree, inertias: ArticulatedInertias, v: np.ndarray) -> np.ndarray:
    """The velocity (nv,) that constraints leave of v where a step ends."""
    rows = constraint_rows(end.at(end.q, v))
    system = constrained(inertias, rows.C, end.model.constraints)
    return v + array(system.moved(system.multipliers([-x for x in rows.psi], DEPENDENT)))


def _solved(S: np.ndarray, b: Sequence[Scalar], sizes: Sequence[Scalar]) -> list[Scalar]:
    """x (m,) of S x = b, where S is near a positive definite matrix: rows are eliminated from the last one up, and one
    of which no more than ``DEPENDENT`` of its size is left has zero as its unknown."""
    S, c, inverse = S.copy(), list(b), list(b)
    for k in reversed(range(len(c))):
        pivot, least = S[k, k], sizes[k] * DEPENDENT
        inverse[k] = inverse_or_zero(pivot * pivot, least * least) * pivot
        for i in range(k):
            factor = S[i, k] * inverse[k]
            S[i, :k] = S[i, :k] - S[k, :k] * factor
            c[i] = c[i] - c[k] * factor
    x: list[Scalar] = []
    for k, row in enumerate(S):
        x.append((c[k] - dot(row[:k], array(x))) * inverse[k])
    return x

"""Whether rows can be equations of motion at all, found out at one random point of the manifold.

Rows are rational in what they depend on: what holds at a random point holds everywhere, with probability one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar, array
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.manifold.motion.quantities import Table, random_value
from recursive_dyn.manifold.motion.variable import Variable

_ROUNDING = 1e-9  # relative to the largest entry
_SINGULAR = 1e-12  # eigenvalues below this, of a matrix scaled to a diagonal of 1, are rounding


class Sample:
    """Numbers for all inputs: a random state on the manifold, random forces and accelerations, positive constants.

    sizes: of the inputs that may be any numbers; tables: of those that are symbols'.
    """

    def __init__(self, variables: Sequence[Variable], sizes: Mapping[str, int], tables: Mapping[str, Table]) -> None:
        rng = np.random.default_rng(20161)
        self.q = np.concatenate([p.space.random(rng) for p in variables])
        given = {"q": self.q} | {name: rng.normal(size=size) for name, size in sizes.items()}
        for name, table in tables.items():
            given[name] = np.concatenate([np.zeros(0), *(random_value(s, rng).ravel() for s in table.slices)])
        self.inputs: dict[Any, float] = {(k, i): float(x) for k, xs in given.items() for i, x in enumerate(xs)}

    def __call__(self, outputs: Any) -> np.ndarray:
        """Values of an array of scalars at the point."""
        scalars = array(outputs)
        return np.array(evaluate(list(scalars.flat), self.inputs), dtype=float).reshape(scalars.shape)


def refuse_unsound(
    sample: Sample,
    variables: Sequence[Variable],
    mass: np.ndarray,
    residuals: Sequence[Scalar],
    off_tangent: Sequence[np.ndarray],
) -> None:
    """ModelError for rows of unit vectors not at right angles to them, and for a matrix M unsymmetric or singular."""
    values = sample(residuals)
    for p, rest in zip(variables, off_tangent, strict=True):
        row = sample(rest)
        size = max(np.abs(row).max(initial=0.0), np.abs(values[p.y]).max())
        if any(abs(n @ row) > _ROUNDING * size for n in p.space.normals(sample.q[p.q])):
            raise ModelError(
                f"the row of the unit vector '{p.name}' is not at right angles to it: it must read {p.name} x (...)"
            )
    M = sample(mass)
    for p in variables:
        for o in variables:
            if np.abs(M[p.y, o.y] - M[o.y, p.y].T).max() > _ROUNDING * np.abs(M).max():
                raise ModelError(
                    f"the accelerations of '{o.name}' in the row of '{p.name}' do not match those the other way round:"
                    " the mass matrix of a Lagrangian is symmetric; rows may not be scaled, and forces may not depend"
                    " on accelerations"
                )
    for p in variables:
        dead = [not any(map(present, row)) for row in mass[p.y]]
        if any(dead) if p.space.flat else all(dead):
            raise ModelError(
                f"'{p.name}' has no inertia: give it a mass in the Lagrangian, or take it out of the configuration"
            )
    weakest = weakest_variable([(p, p.y) for p in variables], M)
    if weakest is not None:
        raise ModelError(
            f"the mass matrix is singular everywhere: '{weakest.name}' can move, with others or alone, without"
            " kinetic energy. Give it a mass in the Lagrangian, or take it out of the configuration"
        )


def present(value: Scalar) -> bool:
    """Whether a scalar is not zero whatever the inputs are."""
    return not (isinstance(value, float) and value == 0.0)


def weakest_variable(
    blocks: Sequence[tuple[Variable, slice]], M: np.ndarray, definite: bool = False
) -> Variable | None:
    """The variable that moves most where a symmetric matrix (n, n), with each one's rows, is singular, or None.

    definite: where it is singular or negative.
    """
    diagonal = np.abs(np.diag(M))
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, max(float(np.abs(M).max()), 1.0)))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    lowest = int(np.argmin(values if definite else np.abs(values)))
    if (values[lowest] if definite else abs(values[lowest])) > _SINGULAR:
        return None
    share = np.abs(vectors[:, lowest] / scale)
    return max(blocks, key=lambda block: float(share[block[1]].max()))[0]


def reaction_sign(sample: Sample, reactions: np.ndarray, jacobian: np.ndarray) -> float:
    """The sign with which the multipliers' forces are C^T lambda; ModelError where they are not that at all."""
    if reactions.shape[1] != len(jacobian):
        raise ModelError(f"{len(jacobian)} scalar constraints need as many multipliers, not {reactions.shape[1]}")
    if not len(jacobian):
        return 1.0
    D, C = -sample(reactions), sample(jacobian)
    tolerance = _ROUNDING * np.abs(C).max()
    for sign in (1.0, -1.0):
        if np.abs(D.T - sign * C).max() <= tolerance:
            return sign
    raise ModelError(
        "the multipliers in the rows do not act along the constraints: the rows need the term that"
        " derive(..., constraints=...) adds"
    )

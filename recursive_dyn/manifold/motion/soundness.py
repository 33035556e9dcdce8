"""Whether rows can be equations of motion at all, found out at one random point of the manifold.

Rows are rational in what they depend on: what holds at a random point holds everywhere, with probability one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recursive_dyn.errors import ModelError
from recursive_dyn.graph.expression import Scalar, evaluate
from recursive_dyn.manifold.formula.formula import ROTATION, SPHERE, Symbol
from recursive_dyn.manifold.motion.segments import Place, Table, is_unit

if TYPE_CHECKING:
    from recursive_dyn.manifold.motion.lowering import Lowered

_ROUNDING = 1e-9  # relative to the largest entry
_SINGULAR = 1e-12  # eigenvalues below this, of a matrix scaled to a diagonal of 1, are rounding


class Sample:
    """Numbers for all inputs: a random state on the manifold, random forces and accelerations, positive constants."""

    def __init__(self, lowered: Lowered) -> None:
        rng = np.random.default_rng(20161)
        self.q = np.concatenate([_random_position(p, rng) for p in lowered.places])
        numbers = {
            "q": self.q,
            "v": rng.normal(size=lowered.nv),
            "forces": _random_values(lowered.forces, rng),
            "parameters": _random_values(lowered.parameters, rng),
            "y": rng.normal(size=lowered.tangent.size),
            "multipliers": _random_values(lowered.multipliers, rng),
        }
        self.inputs: dict[Any, float] = {(k, i): float(x) for k, xs in numbers.items() for i, x in enumerate(xs)}

    def __call__(self, outputs: Iterable[Scalar]) -> np.ndarray:
        """Values of outputs at the point."""
        return np.array(evaluate(list(outputs), self.inputs), dtype=float)

    def matrix(self, M: np.ndarray) -> np.ndarray:
        """Values of a matrix of scalars."""
        return self(list(M.flat)).reshape(M.shape)


def _random_position(place: Place, rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=place.q.stop - place.q.start)
    return x / np.linalg.norm(x) if place.space in (SPHERE, ROTATION) else x


def _random_values(table: Table, rng: np.random.Generator) -> np.ndarray:
    values = np.zeros(table.size)
    for symbol, place in table.slices.items():
        values[place] = np.ravel(_random_value(symbol, rng))
    return values


def _random_value(symbol: Symbol, rng: np.random.Generator) -> np.ndarray:
    x = np.asarray(rng.uniform(0.5, 1.5, size=symbol.shape))
    if is_unit(symbol):
        return x / np.linalg.norm(x)
    if symbol.base.space == ROTATION:
        Q, _ = np.linalg.qr(x)
        return np.asarray(Q * np.linalg.det(Q))
    return np.asarray(x @ x.T + np.eye(len(x))) if symbol.base.symmetric else x


def refuse_unsound(lowered: Lowered) -> None:
    """ModelError for rows of unit vectors that are not at right angles to them, and for an unsymmetric matrix M."""
    residuals = lowered.sample(lowered.residuals)
    for p, rest in zip(lowered.tangent.places, lowered.off_tangent, strict=True):
        if p.space != SPHERE:
            continue
        row = lowered.sample(rest)
        if abs(lowered.sample.q[p.q] @ row) > _ROUNDING * max(np.abs(row).max(), np.abs(residuals[p.v]).max()):
            raise ModelError(
                f"the row of the unit vector '{p.symbol.base.name}' is not at right angles to it: it must read"
                f" {p.symbol.base.name} x (...)"
            )
    M = lowered.sample.matrix(lowered.mass)
    for p in lowered.tangent.places:
        for o in lowered.tangent.places:
            if np.abs(M[p.v, o.v] - M[o.v, p.v].T).max() > _ROUNDING * np.abs(M).max():
                raise ModelError(
                    f"the accelerations of '{o.symbol.base.name}' in the row of '{p.symbol.base.name}' do not match"
                    " those the other way round: the mass matrix of a Lagrangian is symmetric; rows may not be scaled,"
                    " and forces may not depend on accelerations"
                )


def refuse_singular(lowered: Lowered) -> None:
    """ModelError names the variable that moves where no inertia is."""
    weakest = weakest_variable(lowered.tangent.places, lowered.sample.matrix(lowered.mass))
    if weakest is not None:
        raise ModelError(
            f"the mass matrix is singular everywhere: '{weakest.base.name}' can move, with others or alone, without"
            " kinetic energy. Give it a mass in the Lagrangian, or take it out of the configuration"
        )


def weakest_variable(places: Sequence[Place], M: np.ndarray, definite: bool = False) -> Symbol | None:
    """The variable that moves most where a symmetric matrix (n, n), ``v`` of places its rows, is singular, or None.

    definite: where it is singular or negative.
    """
    diagonal = np.abs(np.diag(M))
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, max(float(np.abs(M).max()), 1.0)))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    lowest = int(np.argmin(values if definite else np.abs(values)))
    if (values[lowest] if definite else abs(values[lowest])) > _SINGULAR:
        return None
    share = np.abs(vectors[:, lowest] / scale)
    return max(places, key=lambda p: float(share[p.v].max())).symbol


def reaction_sign(lowered: Lowered, reactions: np.ndarray) -> float:
    """The sign with which the multipliers' forces are C^T lambda; ModelError where they are not that at all."""
    if reactions.shape[1] != len(lowered.jacobian):
        raise ModelError(
            f"{len(lowered.jacobian)} scalar constraints need as many multipliers, not {reactions.shape[1]}"
        )
    if not lowered.constraints:
        return 1.0
    D, C = -lowered.sample.matrix(reactions), lowered.sample.matrix(lowered.jacobian)
    tolerance = _ROUNDING * np.abs(C).max()
    for sign in (1.0, -1.0):
        if np.abs(D.T - sign * C).max() <= tolerance:
            return sign
    raise ModelError(
        "the multipliers in the rows do not act along the constraints: the rows need the term that"
        " derive(..., constraints=...) adds"
    )

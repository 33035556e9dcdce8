"""Forces of the joints themselves: damping, springs, and the stops at the limits of a coordinate."""

from __future__ import annotations

import numpy as np

from recursive_dyn.graph.expression import Scalar, combine, reciprocal, select
from recursive_dyn.recursion.energy import plain_positions
from recursive_dyn.recursion.kinematics import Tree

# A stop is a spring so stiff that one step ends at the limit to 1e-4 of the way; implicit, it cannot blow up.
_STOP_WEIGHT = 1e4
_RECOVERY = 0.2  # share of an existing violation that one step removes


def passive_forces(tree: Tree) -> list[Scalar]:
    """tau (nv,) of damping and springs: -damping v - stiffness (q - rest)."""
    result: list[Scalar] = []
    for c, q, v in zip(tree.model.coordinates, plain_positions(tree), tree.v, strict=True):
        force: Scalar = 0.0
        if c.damping:
            force = force - c.damping * v
        if c.stiffness:
            force = force - c.stiffness * (q - c.rest)
        result.append(force)
    return result


def implicit_terms(tree: Tree, h: Scalar) -> tuple[list[Scalar], list[Scalar]]:
    """(tau (nv,), diagonal (nv,)) with which (M + diagonal) a = tau + ... treats damping and springs implicitly.

    Backward Euler on the joint's own linear forces: -d (v + h a) - k (q + h v + h^2 a - rest); Tan, Liu & Turk (2011).
    """
    tau, diagonal = [], []
    for c, q, v in zip(tree.model.coordinates, plain_positions(tree), tree.v, strict=True):
        force: Scalar = 0.0
        extra: Scalar = 0.0
        if c.damping:
            force, extra = force - c.damping * v, extra + c.damping * h
        if c.stiffness:
            force, extra = force - c.stiffness * (q + h * v - c.rest), extra + c.stiffness * h * h
        tau.append(force)
        diagonal.append(extra)
    return tau, diagonal


def stops(tree: Tree, h: Scalar, inertia: np.ndarray, solved: float = 1.0) -> tuple[list[Scalar], list[Scalar]]:
    """(tau, diagonal) of stops at the limits, for a coordinate that would pass one within the step h.

    They ask for the velocity that ends the step at the limit. inertia (nv,): a typical inertia of each coordinate,
    which only sets how hard "hard" is; solved: the share of the step over which the acceleration solved for acts.
    """
    inverse_h = reciprocal(h)
    tau: list[Scalar] = [0.0] * tree.model.nv
    diagonal: list[Scalar] = [0.0] * tree.model.nv
    for i, (c, q, v) in enumerate(zip(tree.model.coordinates, plain_positions(tree), tree.v, strict=True)):
        ahead = q + h * v
        for limit, sign in ((c.limits[0], -1.0), (c.limits[1], 1.0)):
            if not np.isfinite(limit):
                continue
            weight = float(inertia[i]) * _STOP_WEIGHT
            active = combine("less", [float(limit) * sign, ahead * sign])
            gap = float(limit) - q
            beyond = combine("less", [gap * sign, 0.0])
            target = select(beyond, gap * _RECOVERY, gap) * inverse_h
            tau[i] = tau[i] + active * ((target - v) * inverse_h * (weight / solved))
            diagonal[i] = diagonal[i] + active * weight
    return tau, diagonal

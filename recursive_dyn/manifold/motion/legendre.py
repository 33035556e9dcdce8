"""Energy of a Lagrangian by the Legendre transform."""

from __future__ import annotations

from collections.abc import Sequence

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.calculus import derivation, dt
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.operations import zero
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.formula.variations import velocity


def energy(lagrangian: Formula, configuration: Sequence[Symbol]) -> Formula:
    """E = sum of dL/drate . rate - L over q' of unit vectors, Omega of rotations and x' of flat variables.

    The total energy T + U for L = T - U with T quadratic in the rates. Where L depends on prescribed motions it is
    Jacobi's integral, which those motions change. ModelError for a Lagrangian with second derivatives.
    """
    moving = {velocity(q).base: velocity(q).order for q in configuration}

    def along_rates(s: Symbol) -> Formula:
        if s.base.definition is not None:
            return derivation(dt(s.base.definition, s.order), along_rates)
        if s.base not in moving or s.order < moving[s.base]:
            return zero(s.shape)
        if s.order > moving[s.base]:
            raise ModelError(f"the Lagrangian holds {s}: it may depend on positions and velocities only")
        return s

    return derivation(lagrangian, along_rates) - lagrangian

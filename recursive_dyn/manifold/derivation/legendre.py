"""Energy of a Lagrangian by the Legendre transform."""

from __future__ import annotations

from collections.abc import Sequence

from recursive_dyn.errors import ModelError
from recursive_dyn.manifold.formula.calculus import derivation, dt
from recursive_dyn.manifold.formula.formula import ROTATION, Formula, Symbol
from recursive_dyn.manifold.formula.operations import zero
from recursive_dyn.manifold.motion.segments import label


def energy(lagrangian: Formula, configuration: Sequence[Symbol]) -> Formula:
    """E = sum of dL/drate . rate - L over q' of unit vectors, Omega of rotations and x' of flat variables.

    The total energy T + U for L = T - U with T quadratic in the rates. Where L depends on prescribed motions it is
    Jacobi's integral, which those motions change. ModelError for a Lagrangian with second derivatives.
    """
    rates = {q.rate.base for q in configuration if q.base.space == ROTATION}
    moving = {q.base for q in configuration if q.base.space != ROTATION}

    def along_rates(s: Symbol) -> Formula:
        if s.base.definition is not None:
            return derivation(dt(s.base.definition, s.order), along_rates)
        order = s.order + (s.base in rates)
        if order > 1 and (s.base in rates or s.base in moving):
            raise ModelError(f"the Lagrangian holds {label(s)}: it may depend on positions and velocities only")
        return s if order == 1 and (s.base in rates or s.base in moving) else zero(s.shape)

    return derivation(lagrangian, along_rates) - lagrangian

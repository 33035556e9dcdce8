"""Equations of motion on products of R, R^n, S^2 and SO(3), symbolic and without coordinates."""

from recursive_dyn.manifold.comparison.equality import equal
from recursive_dyn.manifold.comparison.same_equations import same_equations
from recursive_dyn.manifold.derivation.equations_of_motion import Equations
from recursive_dyn.manifold.derivation.steps import (
    action,
    collect,
    derive,
    extract,
    integrate_by_parts,
    substitute_constraints,
    variation,
)
from recursive_dyn.manifold.formula.calculus import delta, dt
from recursive_dyn.manifold.formula.declare import (
    define,
    matrices,
    rotations,
    scalars,
    symmetric_matrices,
    unit_vectors,
    vectors,
)
from recursive_dyn.manifold.formula.nodes import Formula
from recursive_dyn.manifold.formula.operations import cross, dot, hat, transpose
from recursive_dyn.manifold.formula.symbol import Symbol
from recursive_dyn.manifold.motion.manifold_dynamics import ManifoldDynamics
from recursive_dyn.manifold.motion.motion import Motion
from recursive_dyn.manifold.writing.compact import simplify
from recursive_dyn.manifold.writing.equation import Equation

__all__ = [
    "Equation", "Equations", "Formula", "ManifoldDynamics", "Motion", "Symbol", "action", "collect", "cross",
    "define", "delta", "derive", "dot", "dt", "equal", "extract", "hat", "integrate_by_parts", "matrices",
    "rotations", "same_equations", "scalars", "simplify", "substitute_constraints", "symmetric_matrices", "transpose",
    "unit_vectors", "variation", "vectors",
]  # fmt: skip

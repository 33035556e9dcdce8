"""Equations of motion on products of R, R^n, S^2 and SO(3), symbolic and without coordinates."""

from recursive_dyn.manifold.calculus import delta, dt
from recursive_dyn.manifold.compact import simplify
from recursive_dyn.manifold.dynamics import ManifoldDynamics
from recursive_dyn.manifold.equality import equal, same_equations
from recursive_dyn.manifold.equations import Equation, Equations
from recursive_dyn.manifold.formula import Formula, Symbol
from recursive_dyn.manifold.motion import Motion
from recursive_dyn.manifold.operations import cross, dot, hat, transpose
from recursive_dyn.manifold.steps import (
    action,
    collect,
    derive,
    extract,
    integrate_by_parts,
    substitute_constraints,
    variation,
)
from recursive_dyn.manifold.symbols import (
    define,
    matrices,
    rotations,
    scalars,
    symmetric_matrices,
    unit_vectors,
    vectors,
)

__all__ = [
    "Equation",
    "Equations",
    "Formula",
    "ManifoldDynamics",
    "Motion",
    "Symbol",
    "action",
    "collect",
    "cross",
    "define",
    "delta",
    "derive",
    "dot",
    "dt",
    "equal",
    "extract",
    "hat",
    "integrate_by_parts",
    "matrices",
    "rotations",
    "same_equations",
    "scalars",
    "simplify",
    "substitute_constraints",
    "symmetric_matrices",
    "transpose",
    "unit_vectors",
    "variation",
    "vectors",
]

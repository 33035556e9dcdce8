"""Formulas of whole scalars, vectors and matrices: declared, combined, differentiated, given values."""

from recursive_dyn.manifold.formula import operations  # formulas take their operators from there

__all__ = ["operations"]

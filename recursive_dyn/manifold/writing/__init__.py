"""Formulas as a person would write them: plain text and LaTeX."""

from recursive_dyn.manifold.writing import latex_style  # formulas and equations take their styles from there

__all__ = ["latex_style"]

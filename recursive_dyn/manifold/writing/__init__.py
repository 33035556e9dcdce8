"""Formulas as a person would write them: plain text and LaTeX."""

from recursive_dyn.manifold.writing import style  # formulas and equations take their styles from there

__all__ = ["style"]

"""Formulas as a person would write them: plain text and LaTeX."""

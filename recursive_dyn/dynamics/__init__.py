"""Compiled equations of motion: the list of functions, their evaluation, and what a person calls."""

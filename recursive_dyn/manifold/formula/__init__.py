"""Formulas of scalars, vectors, matrices and rotations as whole objects."""

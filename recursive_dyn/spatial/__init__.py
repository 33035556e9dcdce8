"""Conventions and three-dimensional algebra over scalars: poses, rotations, twists, wrenches, inertias."""

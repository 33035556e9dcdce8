"""Generalized velocities and forces from those of bodies and points, and back."""

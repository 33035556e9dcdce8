"""Boxes and convex meshes on each other: all points where two polytopes touch."""

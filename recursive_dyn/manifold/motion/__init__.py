"""Equations of motion on manifolds as numbers: lowered, compiled, stepped."""

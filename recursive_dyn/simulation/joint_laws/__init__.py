"""Limits, motors, dry friction and constraints of coordinates, as rows of the impulse solve."""

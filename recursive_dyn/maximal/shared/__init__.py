"""Coordinates of several joints: which joint each is found from, or which together, and what follows them."""

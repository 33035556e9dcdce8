"""A state kept and taken up again: snapshots, their bytes, and bodies put in a place."""

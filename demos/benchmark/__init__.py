"""Measured: speed, accuracy and size beside other engines and the papers. ``python -m demos.benchmark``."""

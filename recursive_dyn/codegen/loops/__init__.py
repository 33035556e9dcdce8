"""Loops over numbers and arrays, written in Python, as machine code: a small typed part of the language."""

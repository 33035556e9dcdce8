"""Maximal coordinates: every moving body free, and joints as equations between bodies."""

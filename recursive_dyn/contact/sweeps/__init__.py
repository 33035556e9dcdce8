"""Sweeps over the exact cone, with direct solves of what binds, and the mixing of iterates."""

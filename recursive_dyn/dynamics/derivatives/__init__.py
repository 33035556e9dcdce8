"""Derivatives of a model's functions: in tangent spaces, by every argument and parameter; steps and linear models."""

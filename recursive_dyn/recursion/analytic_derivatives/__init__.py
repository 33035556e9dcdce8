"""Analytic derivatives of motion and of constraints."""

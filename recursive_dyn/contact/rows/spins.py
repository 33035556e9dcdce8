"""Spins of lone bodies, and the angular velocities that they make."""

from __future__ import annotations

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.rows.lasting import Three


@compiled
def spin_of(I: Floats, w: Three) -> Three:
    """I w, with I the upper half of a symmetric matrix, row by row."""
    return (
        I[0] * w[0] + I[1] * w[1] + I[2] * w[2],
        I[1] * w[0] + I[3] * w[1] + I[4] * w[2],
        I[2] * w[0] + I[4] * w[1] + I[5] * w[2],
    )  # fmt: skip


@compiled
def turned_by(I: Floats, s: Three) -> Three:
    """I^-1 s, by cofactors."""
    p, q, r = I[3] * I[5] - I[4] * I[4], I[2] * I[4] - I[1] * I[5], I[1] * I[4] - I[2] * I[3]
    m, n, o = I[0] * I[5] - I[2] * I[2], I[1] * I[2] - I[0] * I[4], I[0] * I[3] - I[1] * I[1]
    size = I[0] * p + I[1] * q + I[2] * r
    return (
        (p * s[0] + q * s[1] + r * s[2]) / size,
        (q * s[0] + m * s[1] + n * s[2]) / size,
        (r * s[0] + n * s[1] + o * s[2]) / size,
    )  # fmt: skip

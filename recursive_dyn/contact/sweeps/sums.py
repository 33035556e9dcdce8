"""Sums over arrays, in an order that processors like."""

from __future__ import annotations

from recursive_dyn.codegen.compiled import Floats, compiled


@compiled
def dot(a: Floats, b: Floats) -> float:
    """The scalar product of two arrays of one length."""
    n, t0, t1, t2, t3 = len(a), 0.0, 0.0, 0.0, 0.0  # four sums: none waits for another
    for i in range(n // 4):
        k = 4 * i
        t0 += a[k] * b[k]
        t1 += a[k + 1] * b[k + 1]
        t2 += a[k + 2] * b[k + 2]
        t3 += a[k + 3] * b[k + 3]
    for k in range(n - n % 4, n):
        t0 += a[k] * b[k]
    return (t0 + t1) + (t2 + t3)

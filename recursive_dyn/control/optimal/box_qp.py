"""Least x^T H x / 2 + g^T x in a box: projected Newton steps on what is free.

Tassa, Mansard & Todorov 2014, Control-limited differential dynamic programming, section III.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import StateError

Array = np.ndarray
_STEPS = 100
_ARMIJO = 0.1  # share of the decrease that the gradient promises
_SHORTER = 0.6
_FLAT = 1e-12  # gradient of what is free, beside that at the start, that is none


def least_in_box(H: Array, g: Array, low: Array, high: Array, start: Array) -> tuple[Array, Array]:
    """(x (n,), free (n,)): the least point and which of its numbers are not at a bound that holds them.

    H (n, n) is positive definite, start (n,) near the answer. StateError where rounding leaves none.
    """
    x = np.minimum(np.maximum(start, low), high)
    size = np.abs(g).max(initial=0.0) + np.abs(H).max(initial=0.0) * np.abs(x).max(initial=0.0)
    for _ in range(_STEPS):
        slope = H @ x + g
        free = ~(((x <= low) & (slope > 0.0)) | ((x >= high) & (slope < 0.0)))
        if np.abs(slope[free]).max(initial=0.0) <= _FLAT * size:
            return x, free
        way = np.zeros(len(x))
        way[free] = -np.linalg.solve(H[np.ix_(free, free)], slope[free])
        here, length = x @ (0.5 * H @ x + g), 1.0
        while True:
            moved = np.minimum(np.maximum(x + length * way, low), high)
            if moved @ (0.5 * H @ moved + g) - here <= _ARMIJO * slope @ (moved - x) or length < 1e-12:
                break
            length *= _SHORTER
        if (moved == x).all():
            return x, free
        x = moved
    raise StateError("the least forces within the limits were not found; choose Q and R less far apart")

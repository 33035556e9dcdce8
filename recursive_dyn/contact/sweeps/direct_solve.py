"""Linear equations of rows that mostly do not touch each other: elimination that leaves out what is zero."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled


@compiled
def eliminate(K: Floats, b: Floats) -> None:
    """b <- x with K x = b, K (n, n) row by row, by elimination with row exchanges; K is used up.

    Zeros to the left and to the right of all else in a row cost nothing: rows of bodies that do not touch.
    """
    n = len(b)
    first, end = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    _extents(K, first, end)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if first[i] <= k and abs(K[i * n + k]) > abs(K[best * n + k]):
                best = i
        if best != k:
            b[k], b[best] = b[best], b[k]
            for j in range(k, max(end[k], end[best])):
                K[k * n + j], K[best * n + j] = K[best * n + j], K[k * n + j]
            first[k], first[best] = first[best], first[k]
            end[k], end[best] = end[best], end[k]
        last = end[k]
        own = K[k * n : (k + 1) * n]
        for i in range(k + 1, n):
            if first[i] <= k:
                below = K[i * n : (i + 1) * n]
                ratio = below[k] / own[k]
                if ratio != 0.0:
                    for j in range(k + 1, last):
                        below[j] -= ratio * own[j]
                    b[i] -= ratio * b[k]
                    end[i] = max(end[i], last)
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, end[k]):
            b[k] -= K[k * n + j] * b[j]
        b[k] /= K[k * n + k]


@compiled
def _extents(K: Floats, first: Integers, end: Integers) -> None:
    """The first column of each row of K (n, n) that is not 0, and that behind the last."""
    n = len(first)
    for i in range(n):
        first[i], end[i] = 0, n
        while first[i] < n and K[i * n + first[i]] == 0.0:
            first[i] += 1
        while end[i] > 0 and K[i * n + end[i] - 1] == 0.0:
            end[i] -= 1

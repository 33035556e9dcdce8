"""A damped least-squares step within limits, dense and in compiled loops."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled


class BoundedStep(NamedTuple):
    """Of n coordinates: places in q, -1 for those without limits; lows, highs; g (n,) and H (n, n), the lower half.

    step: what is found; fixed: 1 for coordinates that the limits hold; factor (n, n), wish (n,): on the way there.
    """

    places: Integers
    lows: Floats
    highs: Floats
    g: Floats
    H: Floats
    step: Floats
    fixed: Integers
    factor: Floats
    wish: Floats


def bounded_arrays(places: np.ndarray, limits: np.ndarray) -> BoundedStep:
    """Room for coordinates with these places (n,) and limits (n, 2)."""
    n = len(places)
    return BoundedStep(
        places.astype(np.int64), limits[:, 0].copy(), limits[:, 1].copy(), np.zeros(n), np.zeros(n * n), np.zeros(n),
        np.zeros(n, dtype=np.int64), np.zeros(n * n), np.zeros(n),
    )  # fmt: skip


@compiled
def bounded_step(it: BoundedStep, q: Floats, mu: float) -> float:
    """Solve (H + mu) d = g from q as far as limits let: how much g d - d H d / 2 is.

    One on its limit stands still as long as g presses it there, and one that the step would take beyond its limit goes
    as far as that (Bertsekas 1982, Projected Newton methods for optimization problems with simple constraints).
    """
    n, d = len(it.g), it.step
    d[:] = 0.0
    for j in range(n):
        if it.places[j] >= 0:
            x, g = q[it.places[j]], it.g[j]
            it.fixed[j] = 1 if (x <= it.lows[j] and g < 0.0) or (x >= it.highs[j] and g > 0.0) else 0
        else:
            it.fixed[j] = 0
    more = True
    while more:
        _factor(it, mu)
        for a in range(n):
            it.wish[a] = it.g[a]
            for b in range(n):
                if it.fixed[b] == 1:
                    it.wish[a] -= (it.H[a * n + b] if b < a else it.H[b * n + a]) * d[b]
        solve(it, d)
        more = False
        for j in range(n):
            if it.fixed[j] == 0 and it.places[j] >= 0:
                x = q[it.places[j]]
                if x + d[j] < it.lows[j]:
                    d[j], it.fixed[j], more = it.lows[j] - x, 1, True
                elif x + d[j] > it.highs[j]:
                    d[j], it.fixed[j], more = it.highs[j] - x, 1, True
    promise = 0.0
    for a in range(n):
        half = 0.5 * it.H[a * n + a] * d[a]
        for b in range(a):
            half += it.H[a * n + b] * d[b]
        promise += d[a] * (it.g[a] - half)
    return promise


@compiled
def _factor(it: BoundedStep, mu: float) -> None:
    """L with L L^T = H + mu of the coordinates that are not fixed."""
    n, L = len(it.g), it.factor
    for a in range(n):
        row = L[a * n : (a + 1) * n]
        for b in range(a + 1):
            if it.fixed[a] == 0 and it.fixed[b] == 0:
                x, other = it.H[a * n + b] + (mu if a == b else 0.0), L[b * n : (b + 1) * n]
                for c in range(b):
                    x -= row[c] * other[c]
                row[b] = math.sqrt(max(x, mu)) if a == b else x / other[b]  # mu: what rounding may take away
            else:
                row[b] = 0.0


@compiled
def solve(it: BoundedStep, d: Floats) -> None:
    """d with L L^T d = wish for the coordinates that are not fixed; the others keep theirs."""
    n, L = len(it.g), it.factor
    for a in range(n):
        if it.fixed[a] == 0:
            total = it.wish[a]
            for b in range(a):
                if it.fixed[b] == 0:
                    total -= L[a * n + b] * d[b]
            d[a] = total / L[a * n + a]
    for a in range(n - 1, -1, -1):
        if it.fixed[a] == 0:
            d[a] /= L[a * n + a]
            for b in range(a):
                if it.fixed[b] == 0:
                    d[b] -= L[a * n + b] * d[a]

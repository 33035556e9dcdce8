"""A damped least-squares step within limits, dense and in compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled


class BoundedStep(NamedTuple):
    """Of n coordinates: places in q, -1 for those without limits; lows, highs; g (n,) and H (n, n), the upper half.

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
        it.wish[:] = it.g
        for b in range(n):
            if it.fixed[b] == 1 and d[b] != 0.0:
                for a in range(n):
                    it.wish[a] -= it.H[min(a, b) * n + max(a, b)] * d[b]
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
        for b in range(a + 1, n):
            half += it.H[a * n + b] * d[b]
        promise += d[a] * (it.g[a] - half)
    return promise


@compiled
def _factor(it: BoundedStep, mu: float) -> None:
    """U^T D^-1 U = H + mu, D the diagonal of U, of the coordinates that are not fixed; what is fixed stands alone.

    Row by row from the top, each taken off all that are below it: rows lie in memory as they are gone through.
    """
    n, U = len(it.g), it.factor
    for a in range(n):
        own, H = U[a * n : (a + 1) * n], it.H[a * n : (a + 1) * n]
        for b in range(a, n):
            own[b] = 0.0 if it.fixed[a] == 1 or it.fixed[b] == 1 else H[b]
        own[a] = 1.0 if it.fixed[a] == 1 else own[a] + mu
    for c in range(n):
        row = U[c * n : (c + 1) * n]
        row[c] = max(row[c], mu)  # what rounding may take away
        for a in range(c + 1, n):
            share = row[a] / row[c]
            if share != 0.0:
                own, above = U[a * n + a : (a + 1) * n], row[a:]
                for k in range(n - a):
                    own[k] -= share * above[k]


@compiled
def solve(it: BoundedStep, d: Floats) -> None:
    """d with U^T D^-1 U d = wish for the coordinates that are not fixed; the others keep theirs. wish is used up."""
    n, U, y = len(it.g), it.factor, it.wish
    for c in range(n):
        share = y[c] / U[c * n + c]
        rest, above = y[c + 1 :], U[c * n + c + 1 : (c + 1) * n]
        for k in range(n - c - 1):
            rest[k] -= share * above[k]
    for c in range(n - 1, -1, -1):
        if it.fixed[c] == 0:
            total, row = y[c], U[c * n : (c + 1) * n]
            for a in range(c + 1, n):
                total -= row[a] * d[a]
            d[c] = total / row[c]

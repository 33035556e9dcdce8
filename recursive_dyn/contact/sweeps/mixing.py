"""Anderson's mixing: from the last iterates of a sweep, the impulses at which it would change nothing."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island, accumulate, component
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.sweeps.sums import dot
from recursive_dyn.contact.sweeps.sweep import sweep
from recursive_dyn.contact.tuning import DEPENDENT, MIXED, MIXING_TRUST, UNMIXED_END


@compiled
def unknowns(it: Island) -> int:
    """How many impulses an island has: those of its contacts' rows, and of its scalar rows."""
    total = len(it.scalars)
    for c in it.contacts:
        total += it.rows.height[c]
    return total


@compiled
def read(it: Island, x: Floats) -> None:
    """x = the island's impulses, row by row of its contacts, then those of its scalar rows."""
    k = 0
    for c in it.contacts:
        for i in range(it.rows.height[c]):
            x[k] = it.P[c, component(it.rows.kind[c], i)]
            k += 1
    for s in it.scalars:
        x[k] = it.Q[s]
        k += 1


@compiled
def write(it: Island, x: Floats) -> None:
    """The island's impulses = x, as ``read`` has them, and y what they do."""
    k = 0
    for c in it.contacts:
        for i in range(it.rows.height[c]):
            it.P[c, component(it.rows.kind[c], i)] = x[k]
            k += 1
    for s in it.scalars:
        it.Q[s] = x[k]
        k += 1
    accumulate(it)


@compiled
def mixing(it: Island, done: int, change: float, iterations: int, tolerance: float) -> tuple[int, float]:
    """Sweeps whose last iterates are mixed, after ``done`` ones; as ``solve_island`` returns them."""
    size = unknowns(it)
    x, scale = np.empty(size), np.empty(size)
    end, r, last_end, last_r = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    dF, dR = np.empty(MIXED * size), np.empty(MIXED * size)  # row by row, newest first from ``newest`` on
    order = np.empty(MIXED, dtype=np.int64)  # rows, newest first
    for k in range(MIXED):
        order[k] = MIXED - 1 - k
    _scales(it, scale)
    used, best, fresh = 0, np.inf, True
    while done < iterations and not late(it.time):
        read(it, x)
        change = sweep(it, 0.0)
        done += 1
        if change <= tolerance:
            break
        read(it, end)
        length = 0.0
        for k in range(size):
            r[k] = (end[k] - x[k]) * scale[k]
            length += r[k] * r[k]
        length = np.sqrt(length)
        if length > MIXING_TRUST * best:
            used, fresh, best = 0, True, length
        best = min(best, length)
        if not fresh:
            row = _newest(order)
            used = min(used + 1, MIXED)
            for k in range(size):
                dF[row * size + k] = end[k] - last_end[k]
                dR[row * size + k] = r[k] - last_r[k]
        last_end[:] = end
        last_r[:] = r
        fresh = False
        if used > 0 and done < iterations - UNMIXED_END:
            _mix(dF, dR, order, used, r, end)
            write(it, end)
    return done, change


@compiled
def _newest(order: Integers) -> int:
    """The row of the oldest, which becomes the newest."""
    row = order[len(order) - 1]
    for k in range(len(order) - 1, 0, -1):
        order[k] = order[k - 1]
    order[0] = row
    return row


@compiled
def _scales(it: Island, scale: Floats) -> None:
    """Square roots of the mobilities: in these units an impulse's square is an energy."""
    at, G = 0, it.rows.mobility
    for c in it.contacts:
        for i in range(it.rows.height[c]):
            k = component(it.rows.kind[c], i)
            scale[at] = np.sqrt(max(G[c, k * (k + 1) // 2 + k], 0.0))
            at += 1
    for s in it.scalars:
        scale[at] = np.sqrt(max(it.lines.mobility[s], 0.0))
        at += 1


@compiled
def _mix(dF: Floats, dR: Floats, order: Integers, used: int, r: Floats, end: Floats) -> None:
    """end -= dF^T gamma with the least squares gamma of |r - dR^T gamma|, of the first ``used`` rows in their order."""
    size, gamma = len(r), np.zeros(MIXED)
    least_squares(dR, order, used, r, gamma)
    for i in range(used):
        if gamma[i] != 0.0:
            at = order[i] * size
            for k in range(size):
                end[k] -= dF[at + k] * gamma[i]


@compiled
def least_squares(dR: Floats, order: Integers, used: int, r: Floats, gamma: Floats) -> None:
    """gamma (used,) of the least |r - dR^T gamma|, by orthogonalisation in that order; what adds nothing gets 0.

    dR: rows of len(r) numbers, one after the other, of which those that ``order`` names count.
    """
    n = len(r)
    basis, upper, coefficients = np.empty(used * n), np.zeros(MIXED * MIXED), np.zeros(MIXED)
    target, column = r.copy(), np.empty(n)
    for i in range(used):
        column[:] = dR[order[i] * n : (order[i] + 1) * n]
        size = np.sqrt(dot(column, column))
        for j in range(i):
            share = dot(basis[j * n : (j + 1) * n], column)
            upper[j * MIXED + i] = share
            _less(column, basis[j * n : (j + 1) * n], share)
        length = np.sqrt(dot(column, column))
        for k in range(n):
            basis[i * n + k] = 0.0
        if length > DEPENDENT * size:
            upper[i * MIXED + i] = length
            for k in range(n):
                basis[i * n + k] = column[k] / length
            coefficients[i] = dot(basis[i * n : (i + 1) * n], target)
            _less(target, basis[i * n : (i + 1) * n], coefficients[i])
    for i in range(used - 1, -1, -1):
        gamma[i] = 0.0
        if upper[i * MIXED + i] > 0.0:
            total = coefficients[i]
            for j in range(i + 1, used):
                total -= upper[i * MIXED + j] * gamma[j]
            gamma[i] = total / upper[i * MIXED + i]


@compiled
def _less(a: Floats, b: Floats, amount: float) -> None:
    """a -= b * amount."""
    for k in range(len(a)):
        a[k] -= b[k] * amount

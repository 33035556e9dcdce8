"""Block Gauss-Seidel over all rows of an island, accelerated, with a residual that is reported.

A sweep meets the law of one contact or row after the other. What many sweeps would carry through a tall or badly scaled
stack, Anderson's mixing of the last iterates finds in a few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.contact.compiled import compiled
from recursive_dyn.contact.cone import bounded, contact
from recursive_dyn.contact.rows import ROLL, SPIN, Rows

_MEMORY = 8  # iterates that are mixed
_PLAIN = 4  # sweeps before mixing starts
_CALM = 8  # last sweeps, unmixed: what has not converged by then ends on impulses that take energy away
_TRUST = 2.0  # growth of the residual at which mixing starts anew


class Scalars(NamedTuple):
    """Rows on generalized directions: limits, motors, joint friction, loop constraints.

    first (m + 1,), slots, values: whitened coefficients; speed (m,): velocity without impulses; target (m,); low, high
    (m,): bounds of the impulse, within which the velocity meets its target.
    """

    first: np.ndarray
    slots: np.ndarray
    values: np.ndarray
    speed: np.ndarray
    target: np.ndarray
    low: np.ndarray
    high: np.ndarray


@compiled
def mobilities(rows: Rows, scalars: Scalars, G: np.ndarray, weights: np.ndarray) -> None:
    """Diagonal blocks: G (n, 6, 6) of each contact, weights (m,) of each scalar row."""
    for c in range(len(rows.kind)):
        size = rows.first[c + 1] - rows.first[c]
        height = (rows.start[c + 1] - rows.start[c]) // max(size, 1)
        for i in range(height):
            for j in range(i + 1):
                total = 0.0
                for k in range(size):
                    total += rows.values[rows.start[c] + i * size + k] * rows.values[rows.start[c] + j * size + k]
                a, b = place(rows.kind[c], i), place(rows.kind[c], j)
                G[c, a, b] = total
                G[c, b, a] = total
    for s in range(len(scalars.speed)):
        total = 0.0
        for k in range(scalars.first[s], scalars.first[s + 1]):
            total += scalars.values[k] ** 2
        weights[s] = total


@compiled
def place(kind: int, i: int) -> int:
    """Which of the six parts of a block its i-th row is: rolling follows at once where nothing spins."""
    return i + 1 if i >= SPIN and kind & 1 == 0 else i


@compiled
def add(rows: Rows, c: int, p: np.ndarray, y: np.ndarray) -> None:
    """y += A^T p of a contact's block, p (6,)."""
    size = rows.first[c + 1] - rows.first[c]
    height = (rows.start[c + 1] - rows.start[c]) // max(size, 1)
    for i in range(height):
        amount = p[place(rows.kind[c], i)]
        if amount != 0.0:
            at = rows.start[c] + i * size
            for k in range(size):
                y[rows.slots[rows.first[c] + k]] += rows.values[at + k] * amount


@compiled
def velocity(rows: Rows, c: int, i: int, y: np.ndarray) -> float:
    """Velocity of the i-th row of a contact's block."""
    size = rows.first[c + 1] - rows.first[c]
    at, total = rows.start[c] + i * size, rows.speed[c, place(rows.kind[c], i)]
    for k in range(size):
        total += rows.values[at + k] * y[rows.slots[rows.first[c] + k]]
    return total


@compiled
def _sweep_contact(
    rows: Rows, c: int, G: np.ndarray, target: float, friction: np.ndarray, p: np.ndarray, y: np.ndarray, w: np.ndarray
) -> float:
    """Meet the law of one contact; the largest change of one of its velocities. w (4, 6): scratch."""
    height = 3 + (rows.kind[c] & 1) + (rows.kind[c] & 2)
    v, old, new, x = w[0], w[1], w[2], w[3]
    for i in range(height):
        v[place(rows.kind[c], i)] = velocity(rows, c, i, y)
    for i in range(6):
        old[i] = p[i]
        new[i] = 0.0
    for i in range(3):
        for j in range(3):
            v[i] -= G[i, j] * p[j]
    contact(G, v, target, friction, new, x)
    normal = new[0]
    if rows.kind[c] & 1:
        free = v[SPIN] - G[SPIN, SPIN] * p[SPIN]
        for j in range(3):
            free += G[SPIN, j] * (new[j] - old[j])
        bound = friction[3] * normal
        if G[SPIN, SPIN] > 0.0:
            new[SPIN] = min(max(-free / G[SPIN, SPIN], -bound), bound)
    if rows.kind[c] & 2:
        for i in (ROLL, ROLL + 1):
            for j in range(ROLL):
                v[i] += G[i, j] * (new[j] - old[j])
            v[i] -= G[i, ROLL] * p[ROLL] + G[i, ROLL + 1] * p[ROLL + 1]
        a, b, d = G[ROLL, ROLL], G[ROLL, ROLL + 1], G[ROLL + 1, ROLL + 1]
        if a * d - b * b > 1e-12 * (a + d) ** 2:
            bounded(a, b, d, v[ROLL], v[ROLL + 1], friction[2] * normal, x)
            new[ROLL], new[ROLL + 1] = x[0], x[1]
    change = 0.0
    for i in range(6):
        p[i] = new[i]
        new[i] -= old[i]
    for i in range(6):
        moved = 0.0
        for j in range(6):
            moved += G[i, j] * new[j]
        change = max(change, abs(moved))
    if change != 0.0 or height > 3:
        add(rows, c, new, y)
    return change


@compiled
def _sweep(
    rows: Rows,
    scalars: Scalars,
    G: np.ndarray,
    weights: np.ndarray,
    targets: np.ndarray,
    frictions: np.ndarray,
    contacts: np.ndarray,
    singles: np.ndarray,
    P: np.ndarray,
    Q: np.ndarray,
    y: np.ndarray,
    w: np.ndarray,
) -> float:
    change = 0.0
    for s in singles:
        if weights[s] <= 0.0:
            continue
        total = scalars.speed[s]
        for k in range(scalars.first[s], scalars.first[s + 1]):
            total += scalars.values[k] * y[scalars.slots[k]]
        wanted = Q[s] + (scalars.target[s] - total) / weights[s]
        wanted = min(max(wanted, scalars.low[s]), scalars.high[s])
        step = wanted - Q[s]
        if step != 0.0:
            Q[s] = wanted
            for k in range(scalars.first[s], scalars.first[s + 1]):
                y[scalars.slots[k]] += scalars.values[k] * step
            change = max(change, abs(step) * weights[s])
    for c in contacts:
        change = max(change, _sweep_contact(rows, c, G[c], targets[c], frictions[c], P[c], y, w))
    return change


@compiled
def accumulate(
    rows: Rows, scalars: Scalars, contacts: np.ndarray, singles: np.ndarray, P: np.ndarray, Q: np.ndarray, y: np.ndarray
) -> None:
    """y = A^T p over these rows; y of the coordinates they reach only."""
    for c in contacts:
        for k in range(rows.first[c], rows.first[c + 1]):
            y[rows.slots[k]] = 0.0
    for s in singles:
        for k in range(scalars.first[s], scalars.first[s + 1]):
            y[scalars.slots[k]] = 0.0
    for c in contacts:
        add(rows, c, P[c], y)
    for s in singles:
        if Q[s] != 0.0:
            for k in range(scalars.first[s], scalars.first[s + 1]):
                y[scalars.slots[k]] += scalars.values[k] * Q[s]


@compiled
def _read(P: np.ndarray, Q: np.ndarray, contacts: np.ndarray, singles: np.ndarray, x: np.ndarray) -> None:
    k = 0
    for c in contacts:
        x[k : k + 6] = P[c]
        k += 6
    for s in singles:
        x[k] = Q[s]
        k += 1


@compiled
def _write(P: np.ndarray, Q: np.ndarray, contacts: np.ndarray, singles: np.ndarray, x: np.ndarray) -> None:
    k = 0
    for c in contacts:
        P[c] = x[k : k + 6]
        k += 6
    for s in singles:
        Q[s] = x[k]
        k += 1


@compiled
def _scales(G: np.ndarray, weights: np.ndarray, contacts: np.ndarray, singles: np.ndarray, scale: np.ndarray) -> None:
    """Square roots of the mobilities: in these units an impulse's square is an energy."""
    k = 0
    for c in contacts:
        for i in range(6):
            scale[k] = np.sqrt(max(G[c, i, i], 0.0))
            k += 1
    for s in singles:
        scale[k] = np.sqrt(max(weights[s], 0.0))
        k += 1


@compiled
def _mixed(dR: np.ndarray, r: np.ndarray, used: int) -> np.ndarray:
    """Least squares gamma of |r - dR^T gamma|, by orthogonalisation, newest first; what adds nothing gets 0."""
    n = len(r)
    basis, upper = np.zeros((used, n)), np.zeros((used, used))
    target, gamma = r.copy(), np.zeros(used)
    coefficients = np.zeros(used)
    for i in range(used):
        column = dR[i].copy()
        size = np.sqrt(np.dot(column, column))
        for j in range(i):
            upper[j, i] = np.dot(basis[j], column)
            column -= basis[j] * upper[j, i]
        length = np.sqrt(np.dot(column, column))
        if length > 1e-8 * size:
            upper[i, i] = length
            basis[i] = column / length
            coefficients[i] = np.dot(basis[i], target)
            target -= basis[i] * coefficients[i]
    for i in range(used - 1, -1, -1):
        if upper[i, i] > 0.0:
            total = coefficients[i]
            for j in range(i + 1, used):
                total -= upper[i, j] * gamma[j]
            gamma[i] = total / upper[i, i]
    return gamma


@compiled
def island(
    rows: Rows,
    scalars: Scalars,
    G: np.ndarray,
    weights: np.ndarray,
    targets: np.ndarray,
    frictions: np.ndarray,
    contacts: np.ndarray,
    singles: np.ndarray,
    P: np.ndarray,
    Q: np.ndarray,
    y: np.ndarray,
    iterations: int,
    tolerance: float,
) -> tuple[int, float]:
    """Solve the rows of one island from the impulses P (n, 6), Q (m,); (sweeps, largest change in the last, m/s)."""
    w = np.zeros((4, 6))
    accumulate(rows, scalars, contacts, singles, P, Q, y)
    size = 6 * len(contacts) + len(singles)
    change, done = 0.0, 0
    while done < min(_PLAIN, iterations):
        change = _sweep(rows, scalars, G, weights, targets, frictions, contacts, singles, P, Q, y, w)
        done += 1
        if change <= tolerance:
            return done, change
    x, scale = np.zeros(size), np.zeros(size)
    end, r, last_end, last_r = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    dF, dR = np.zeros((_MEMORY, size)), np.zeros((_MEMORY, size))
    used, best = 0, np.inf
    _scales(G, weights, contacts, singles, scale)
    fresh = True
    while done < iterations:
        _read(P, Q, contacts, singles, x)
        change = _sweep(rows, scalars, G, weights, targets, frictions, contacts, singles, P, Q, y, w)
        done += 1
        if change <= tolerance:
            break
        _read(P, Q, contacts, singles, end)
        r[:] = (end - x) * scale
        length = np.sqrt(np.dot(r, r))
        if length > _TRUST * best:
            used, fresh, best = 0, True, length
        best = min(best, length)
        if not fresh:
            for k in range(min(used, _MEMORY - 1), 0, -1):
                dF[k] = dF[k - 1]
                dR[k] = dR[k - 1]
            dF[0] = end - last_end
            dR[0] = r - last_r
            used = min(used + 1, _MEMORY)
        last_end[:] = end
        last_r[:] = r
        fresh = False
        if used > 0 and done < iterations - _CALM:
            gamma = _mixed(dR, r, used)
            for k in range(used):
                if gamma[k] != 0.0:
                    end -= dF[k] * gamma[k]
            _write(P, Q, contacts, singles, end)
            accumulate(rows, scalars, contacts, singles, P, Q, y)
    return done, change

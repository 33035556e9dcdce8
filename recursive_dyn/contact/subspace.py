"""All rows of an island at once, as if the contacts that are open, stick and slide were known.

Between sweeps, which find that out, the rows that bind are solved directly (subspace minimization: Silcowitz, Niebe &
Erleben, 2010): a chain of stiff motors or a heavy body on a light one is then no harder than anything else.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island, height, place, velocity
from recursive_dyn.contact.rows import ROLL, SPIN, Rows

MOST = 160  # rows beyond which sweeps are cheaper
_BOUND = 1e-9  # relative distance from a cone or bound at which a row counts as being on it


@compiled
def _binding(rows: Rows, c: int, friction: np.ndarray, p: np.ndarray, free: np.ndarray) -> bool:
    """Which of a contact's six parts bind; True if it slides, its friction then being bound to its normal impulse."""
    free[:] = False
    if p[0] <= 0.0:
        return False
    free[0] = True
    size = np.sqrt(p[1] * p[1] + p[2] * p[2])
    slides = size >= friction[1] * p[0] * (1.0 - _BOUND) and size <= friction[1] * p[0] * (1.0 + _BOUND)
    free[1] = free[2] = not slides
    if rows.kind[c] & 1:
        free[SPIN] = abs(p[SPIN]) < friction[3] * p[0] * (1.0 - _BOUND)
    if rows.kind[c] & 2:
        bound = friction[2] * p[0] * (1.0 - _BOUND)
        free[ROLL] = free[ROLL + 1] = p[ROLL] * p[ROLL] + p[ROLL + 1] * p[ROLL + 1] < bound * bound
    return slides


@compiled
def refine(it: Island, local: np.ndarray, soft: float, least: bool) -> bool:
    """Change P and Q so that every row that binds meets its target; False where there are too many or none.

    Rows may repeat each other. soft: share of a row's own mobility by which it gives way to what it carries (``least``:
    so that all carry alike, and not quite on target) or to what it carries more. local (len(y),): scratch, -1
    everywhere.
    """
    rows, scalars, targets, frictions, contacts, singles = (
        it.rows,
        it.scalars,
        it.targets,
        it.frictions,
        it.contacts,
        it.singles,
    )
    P, Q, y = it.P, it.Q, it.y
    most = 6 * len(contacts) + len(singles)
    owner, part = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    count = 0
    free = np.zeros(6, dtype=np.bool_)
    slides = np.zeros(len(contacts), dtype=np.bool_)
    for i, c in enumerate(contacts):
        slides[i] = _binding(rows, c, frictions[c], P[c], free)
        for r in range(height(rows, c)):
            if free[place(rows.kind[c], r)]:
                owner[count], part[count] = i, r
                count += 1
    for i, s in enumerate(singles):
        if scalars.low[s] < Q[s] < scalars.high[s]:
            owner[count], part[count] = i, -1
            count += 1
    if count == 0 or count > MOST:
        return False
    width = _number(it, local)
    L, R, b = np.zeros((count, width)), np.zeros((count, width)), np.zeros(count)
    for k in range(count):
        if part[k] < 0:
            s = singles[owner[k]]
            total = scalars.target[s] - scalars.speed[s] - scalars.soft[s] * Q[s]
            for j in range(scalars.first[s], scalars.first[s + 1]):
                total -= scalars.values[j] * y[scalars.slots[j]]
                L[k, local[scalars.slots[j]]] = scalars.values[j]
                R[k, local[scalars.slots[j]]] = scalars.values[j]
            b[k] = total
            continue
        c = contacts[owner[k]]
        b[k] = (targets[c] if part[k] == 0 else 0.0) - velocity(rows, c, part[k], y)
        size = rows.first[c + 1] - rows.first[c]
        for j in range(size):
            slot, at = local[rows.slots[rows.first[c] + j]], rows.start[c] + j
            L[k, slot] = rows.values[at + part[k] * size]
            R[k, slot] = L[k, slot]
            if part[k] == 0 and slides[owner[k]]:
                for r in (1, 2):
                    R[k, slot] += rows.values[at + r * size] * P[c, r] / P[c, 0]
    K = np.zeros((count, count))
    for i in range(count):
        for k in range(count):
            total = 0.0
            for j in range(width):
                total += L[i, j] * R[k, j]
            K[i, k] = total
        ridge = soft * abs(K[i, i]) + 1e-300
        K[i, i] += ridge
        if least and part[i] < 0:
            b[i] -= ridge * Q[singles[owner[i]]]
        elif least:
            b[i] -= ridge * P[contacts[owner[i]], place(rows.kind[contacts[owner[i]]], part[i])]
        if part[i] < 0:
            K[i, i] += scalars.soft[singles[owner[i]]]
    x = eliminated(K, b)
    _unnumber(it, local)
    if not np.isfinite(x).all():
        return False
    for k in range(count):
        if part[k] < 0:
            Q[singles[owner[k]]] += x[k]
        else:
            c = contacts[owner[k]]
            if part[k] == 0 and slides[owner[k]]:
                ratio = x[k] / P[c, 0]
                for r in range(3):
                    P[c, r] += P[c, r] * ratio
            else:
                P[c, place(rows.kind[c], part[k])] += x[k]
    return True


@compiled
def _number(it: Island, local: np.ndarray) -> int:
    rows, scalars, contacts, singles = it.rows, it.scalars, it.contacts, it.singles
    count = 0
    for c in contacts:
        for k in range(rows.first[c], rows.first[c + 1]):
            if local[rows.slots[k]] < 0:
                local[rows.slots[k]] = count
                count += 1
    for s in singles:
        for k in range(scalars.first[s], scalars.first[s + 1]):
            if local[scalars.slots[k]] < 0:
                local[scalars.slots[k]] = count
                count += 1
    return count


@compiled
def _unnumber(it: Island, local: np.ndarray) -> None:
    rows, scalars, contacts, singles = it.rows, it.scalars, it.contacts, it.singles
    for c in contacts:
        for k in range(rows.first[c], rows.first[c + 1]):
            local[rows.slots[k]] = -1
    for s in singles:
        for k in range(scalars.first[s], scalars.first[s + 1]):
            local[scalars.slots[k]] = -1


@compiled
def eliminated(K: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x with K x = b by elimination with row exchanges, in place; LAPACK's threads would cost more than they save."""
    n = len(b)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(K[i, k]) > abs(K[best, k]):
                best = i
        if best != k:
            for j in range(n):
                K[k, j], K[best, j] = K[best, j], K[k, j]
            b[k], b[best] = b[best], b[k]
        for i in range(k + 1, n):
            ratio = K[i, k] / K[k, k]
            if ratio != 0.0:
                for j in range(k + 1, n):
                    K[i, j] -= ratio * K[k, j]
                b[i] -= ratio * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= K[k, j] * b[j]
        b[k] /= K[k, k]
    return b

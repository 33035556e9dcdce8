"""All rows of an island at once, as if the contacts that are open, stick and slide were known.

Between sweeps, which find that out, the rows that bind are solved directly (subspace minimization: Silcowitz, Niebe &
Erleben, 2010): a chain of stiff motors or a heavy body on a light one is then no harder than anything else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.blocks import Island, component, height, velocity
from recursive_dyn.contact.rows import ROLL, SPIN, ContactRows
from recursive_dyn.contact.tuning import BOUND_WIDTH, MOST_DIRECT_ROWS


class Binding(NamedTuple):
    """Rows that bind, numbered through: owner (k,): position of each row's contact or scalar row in the island; row
    (k,): which of its contact's, -1 for a scalar row. slides (contacts,): friction is bound to the normal impulse."""

    owner: np.ndarray
    row: np.ndarray
    slides: np.ndarray


@compiled
def _binds(rows: ContactRows, c: int, friction: np.ndarray, p: np.ndarray, free: np.ndarray) -> bool:
    """Which of a contact's six components bind; True if it slides: friction is then bound to the normal impulse."""
    free[:] = False
    if p[0] <= 0.0:
        return False
    free[0] = True
    size = np.sqrt(p[1] * p[1] + p[2] * p[2])
    slides = size >= friction[1] * p[0] * (1.0 - BOUND_WIDTH) and size <= friction[1] * p[0] * (1.0 + BOUND_WIDTH)
    free[1] = free[2] = not slides
    if rows.kind[c] & 1:
        free[SPIN] = abs(p[SPIN]) < friction[3] * p[0] * (1.0 - BOUND_WIDTH)
    if rows.kind[c] & 2:
        bound = friction[2] * p[0] * (1.0 - BOUND_WIDTH)
        free[ROLL] = free[ROLL + 1] = p[ROLL] * p[ROLL] + p[ROLL + 1] * p[ROLL + 1] < bound * bound
    return slides


@compiled
def refine(it: Island, local: np.ndarray, soft: float, least: bool) -> bool:
    """Change P and Q so that every row that binds meets its target; False where there are too many or none.

    Rows may repeat each other. soft: share of a row's own mobility by which it gives way to what it carries (``least``:
    so that all carry alike, and not quite on target) or to what it carries more. local (len(y),): scratch, -1
    everywhere.
    """
    binding = _binding(it)
    count = len(binding.owner)
    if count == 0 or count > MOST_DIRECT_ROWS:
        return False
    width = _number(it, local)
    L, R, b = _system(it, binding, local, width)
    _unnumber(it, local)
    x = eliminated(_mobility(it, binding, L, R, b, soft, least), b)
    if not np.isfinite(x).all():
        return False
    _change(it, binding, x)
    return True


@compiled
def _binding(it: Island) -> Binding:
    rows, scalar_rows, contacts, scalars = it.contact_rows, it.scalar_rows, it.contacts, it.scalars
    most = 6 * len(contacts) + len(scalars)
    owner, row = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    slides, free = np.zeros(len(contacts), dtype=np.bool_), np.zeros(6, dtype=np.bool_)
    count = 0
    for i, c in enumerate(contacts):
        slides[i] = _binds(rows, c, it.frictions[c], it.P[c], free)
        for r in range(height(rows, c)):
            if free[component(rows.kind[c], r)]:
                owner[count], row[count] = i, r
                count += 1
    for i, s in enumerate(scalars):
        if scalar_rows.low[s] < it.Q[s] < scalar_rows.high[s]:
            owner[count], row[count] = i, -1
            count += 1
    return Binding(owner[:count], row[:count], slides)


@compiled
def _system(it: Island, binding: Binding, local: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows L (k, width) of what binds, directions R (k, width) of what their impulses do, and what is missed b (k,)."""
    rows, scalar_rows, P, Q, y = it.contact_rows, it.scalar_rows, it.P, it.Q, it.y
    owner, row = binding.owner, binding.row
    count = len(owner)
    L, R, b = np.zeros((count, width)), np.zeros((count, width)), np.zeros(count)
    for k in range(count):
        if row[k] < 0:
            s = it.scalars[owner[k]]
            total = scalar_rows.target[s] - scalar_rows.speed[s] - scalar_rows.soft[s] * Q[s]
            for j in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
                total -= scalar_rows.values[j] * y[scalar_rows.slots[j]]
                L[k, local[scalar_rows.slots[j]]] = scalar_rows.values[j]
                R[k, local[scalar_rows.slots[j]]] = scalar_rows.values[j]
            b[k] = total
            continue
        c = it.contacts[owner[k]]
        b[k] = (it.targets[c] if row[k] == 0 else 0.0) - velocity(rows, c, row[k], y)
        size = rows.first[c + 1] - rows.first[c]
        for j in range(size):
            slot, at = local[rows.slots[rows.first[c] + j]], rows.start[c] + j
            L[k, slot] = rows.values[at + row[k] * size]
            R[k, slot] = L[k, slot]
            if row[k] == 0 and binding.slides[owner[k]]:
                for r in (1, 2):
                    R[k, slot] += rows.values[at + r * size] * P[c, r] / P[c, 0]
    return L, R, b


@compiled
def _mobility(
    it: Island, binding: Binding, L: np.ndarray, R: np.ndarray, b: np.ndarray, soft: float, least: bool
) -> np.ndarray:
    """K (k, k) = L R^T, with what gives way on its diagonal; if ``least``, b gives way to what is carried already."""
    count, width = L.shape
    K = np.zeros((count, count))
    for i in range(count):
        for k in range(count):
            total = 0.0
            for j in range(width):
                total += L[i, j] * R[k, j]
            K[i, k] = total
        ridge = soft * abs(K[i, i]) + 1e-300
        K[i, i] += ridge
        scalar = binding.row[i] < 0
        if least and scalar:
            b[i] -= ridge * it.Q[it.scalars[binding.owner[i]]]
        elif least:
            c = it.contacts[binding.owner[i]]
            b[i] -= ridge * it.P[c, component(it.contact_rows.kind[c], binding.row[i])]
        if scalar:
            K[i, i] += it.scalar_rows.soft[it.scalars[binding.owner[i]]]
    return K


@compiled
def _change(it: Island, binding: Binding, x: np.ndarray) -> None:
    """Add x (k,) to the impulses of what binds."""
    P, owner, row = it.P, binding.owner, binding.row
    for k in range(len(x)):
        if row[k] < 0:
            it.Q[it.scalars[owner[k]]] += x[k]
        else:
            c = it.contacts[owner[k]]
            if row[k] == 0 and binding.slides[owner[k]]:
                ratio = x[k] / P[c, 0]
                for r in range(3):
                    P[c, r] += P[c, r] * ratio
            else:
                P[c, component(it.contact_rows.kind[c], row[k])] += x[k]


@compiled
def _number(it: Island, local: np.ndarray) -> int:
    rows, scalar_rows, contacts, scalars = it.contact_rows, it.scalar_rows, it.contacts, it.scalars
    count = 0
    for c in contacts:
        for k in range(rows.first[c], rows.first[c + 1]):
            if local[rows.slots[k]] < 0:
                local[rows.slots[k]] = count
                count += 1
    for s in scalars:
        for k in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
            if local[scalar_rows.slots[k]] < 0:
                local[scalar_rows.slots[k]] = count
                count += 1
    return count


@compiled
def _unnumber(it: Island, local: np.ndarray) -> None:
    rows, scalar_rows, contacts, scalars = it.contact_rows, it.scalar_rows, it.contacts, it.scalars
    for c in contacts:
        for k in range(rows.first[c], rows.first[c + 1]):
            local[rows.slots[k]] = -1
    for s in scalars:
        for k in range(scalar_rows.first[s], scalar_rows.first[s + 1]):
            local[scalar_rows.slots[k]] = -1


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

"""Linear equations in an island's whitened velocities, K = I + A^T X A, with factors K = L U inside an envelope.

A is the rows of its contacts and scalar rows, X what the impulses of each do for its own velocities. Coordinates are
numbered so that those of one row are near each other (Cuthill & McKee, 1969): what lies outside stays zero. K need not
be symmetric; as its symmetric part is positive for small angles of friction, rows are not exchanged.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island, component


class Envelope(NamedTuple):
    """Equations in n coordinates, those that an island's rows reach.

    order (n,): slot of each; place: of each slot, its number, -1 where no row reaches it; first, last (n,): columns
    between which a row of K may have numbers, which in both directions never fall back; at (n,): K[i, j] is
    ``numbers[at[i] + j]``.
    """

    order: Integers
    place: Integers
    first: Integers
    last: Integers
    at: Integers
    numbers: Floats


class _Incidence(NamedTuple):
    """Contacts, then scalar rows, of an island that reach each slot: which[start[slot]] to which[start[slot + 1]]."""

    start: Integers
    which: Integers


@compiled
def envelope(it: Island) -> Envelope:
    """Room for the equations of an island."""
    incidence = _incidence(it)
    place, order = np.full(len(it.y), -1), np.empty(len(it.slots), dtype=np.int64)
    count = _numbered(it, incidence, it.slots[0], place, order)
    if count > 0:  # once more from the far end
        far = order[count - 1]
        place[:] = -1
        count = _numbered(it, incidence, far, place, order)
    first, last, at = _profile(it, place, count)
    size = at[count - 1] + last[count - 1] + 1 if count > 0 else 0
    return Envelope(order[:count], place, first, last, at, np.empty(size))


@compiled
def _incidence(it: Island) -> _Incidence:
    rows, lines, n = it.rows, it.lines, len(it.contacts)
    start = np.zeros(len(it.y) + 1, dtype=np.int64)
    for c in it.contacts:
        for k in range(rows.first[c], rows.first[c + 1]):
            start[rows.slots[k]] += 1
    for s in it.scalars:
        for k in range(lines.first[s], lines.first[s + 1]):
            start[lines.slots[k]] += 1
    total = 0
    for k in range(len(start)):
        total += start[k]
        start[k] = total  # the end of each, from which it is filled backwards
    which = np.empty(total, dtype=np.int64)
    for e in range(n):
        for k in range(rows.first[it.contacts[e]], rows.first[it.contacts[e] + 1]):
            start[rows.slots[k]] -= 1
            which[start[rows.slots[k]]] = e
    for e in range(len(it.scalars)):
        for k in range(lines.first[it.scalars[e]], lines.first[it.scalars[e] + 1]):
            start[lines.slots[k]] -= 1
            which[start[lines.slots[k]]] = n + e
    return _Incidence(start, which)


@compiled
def _slots(it: Island, e: int) -> Integers:
    """The slots of a contact, or after these of a scalar row."""
    n, rows, lines = len(it.contacts), it.rows, it.lines
    if e < n:
        return rows.slots[rows.first[it.contacts[e]] : rows.first[it.contacts[e] + 1]]
    return lines.slots[lines.first[it.scalars[e - n]] : lines.first[it.scalars[e - n] + 1]]


@compiled
def _numbered(it: Island, incidence: _Incidence, start: int, place: Integers, order: Integers) -> int:
    """Number what rows reach, breadth first from a slot; how many there are."""
    met = np.zeros(len(it.contacts) + len(it.scalars), dtype=np.bool_)
    count, head = 0, 0
    for k in range(-1, len(it.slots)):
        seed = start if k < 0 else it.slots[k]
        if place[seed] < 0 and incidence.start[seed] < incidence.start[seed + 1]:
            place[seed], order[count] = count, seed
            count += 1
        while head < count:
            slot = order[head]
            head += 1
            for at in range(incidence.start[slot], incidence.start[slot + 1]):
                if not met[incidence.which[at]]:
                    met[incidence.which[at]] = True
                    for other in _slots(it, incidence.which[at]):
                        if place[other] < 0:
                            place[other], order[count] = count, other
                            count += 1
    return count


@compiled
def _profile(it: Island, place: Integers, count: int) -> tuple[Integers, Integers, Integers]:
    """first, last and at of an envelope."""
    first, last, at = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for i in range(count):
        first[i], last[i] = i, i
    for e in range(len(it.contacts) + len(it.scalars)):
        slots, low = _slots(it, e), count
        for slot in slots:
            low = min(low, place[slot])
        for slot in slots:
            first[place[slot]] = min(first[place[slot]], low)
    for i in range(count):
        last[first[i]] = max(last[first[i]], i)
    total = 0
    for i in range(count):
        if i > 0:
            last[i] = max(last[i], last[i - 1])
        at[i] = total - first[i]
        total += last[i] + 1 - first[i]
    return first, last, at


@compiled
def assemble(it: Island, these: Envelope, X: Annotated[np.ndarray, float, 36], x: Floats) -> None:
    """K of what impulses do for velocities: X, 6 x 6 of each contact of the island, and x of each scalar row."""
    rows, lines, K, place, at = it.rows, it.lines, these.numbers, these.place, these.at
    K[:] = 0.0
    for i in range(len(at)):
        K[at[i] + i] = 1.0
    most = 0
    for c in it.contacts:
        most = max(most, rows.first[c + 1] - rows.first[c])
    T = np.empty((most, 6))
    for e in range(len(it.contacts)):
        c = it.contacts[e]
        if X[e, 0] != 0.0:
            if rows.height[c] == 3:
                _add_three(it, these, c, X[e], T)
            else:
                _add_block(it, these, c, X[e], T)
    for e in range(len(it.scalars)):
        s = it.scalars[e]
        if x[e] != 0.0:
            for a in range(lines.first[s], lines.first[s + 1]):
                row, weight = at[place[lines.slots[a]]], x[e] * lines.values[a]
                for b in range(lines.first[s], lines.first[s + 1]):
                    K[row + place[lines.slots[b]]] += weight * lines.values[b]


@compiled
def _add_three(it: Island, these: Envelope, c: int, X: Floats, T: Annotated[np.ndarray, float, 6]) -> None:
    """Add a contact of three rows."""
    rows, K, place = it.rows, these.numbers, these.place
    begin, size, values = rows.first[c], rows.first[c + 1] - rows.first[c], rows.values
    x0, x1, x2, x3, x4, x5, x6, x7, x8 = X[0], X[1], X[2], X[6], X[7], X[8], X[12], X[13], X[14]
    for b in range(size):
        v = rows.start[c] + 3 * b
        v0, v1, v2 = values[v], values[v + 1], values[v + 2]
        T[b, 0] = x0 * v0 + x1 * v1 + x2 * v2
        T[b, 1] = x3 * v0 + x4 * v1 + x5 * v2
        T[b, 2] = x6 * v0 + x7 * v1 + x8 * v2
    for a in range(size):
        v, row = rows.start[c] + 3 * a, these.at[place[rows.slots[begin + a]]]
        v0, v1, v2 = values[v], values[v + 1], values[v + 2]
        for b in range(size):
            K[row + place[rows.slots[begin + b]]] += v0 * T[b, 0] + v1 * T[b, 1] + v2 * T[b, 2]


@compiled
def _add_block(it: Island, these: Envelope, c: int, X: Floats, T: Annotated[np.ndarray, float, 6]) -> None:
    """Add a contact that spins or rolls."""
    rows, K, place, kind, height = it.rows, these.numbers, these.place, it.rows.kind[c], it.rows.height[c]
    begin, size, values = rows.first[c], rows.first[c + 1] - rows.first[c], rows.values
    for b in range(size):
        v = rows.start[c] + height * b
        for i in range(height):
            total = 0.0
            for j in range(height):
                total += X[6 * component(kind, i) + component(kind, j)] * values[v + j]
            T[b, i] = total
    for a in range(size):
        v, row = rows.start[c] + height * a, these.at[place[rows.slots[begin + a]]]
        for b in range(size):
            total = 0.0
            for i in range(height):
                total += values[v + i] * T[b, i]
            K[row + place[rows.slots[begin + b]]] += total


@compiled
def factor(these: Envelope) -> bool:
    """K <- its factors, L below a diagonal of ones and U; False where a pivot is no number but zero."""
    K, at, first, last = these.numbers, these.at, these.first, these.last
    for k in range(len(at)):
        pivot, end = K[at[k] + k], last[k] + 1
        if pivot == 0.0 or not np.isfinite(pivot):
            return False
        own = K[at[k] + k + 1 : at[k] + end]
        for i in range(k + 1, end):
            if first[i] <= k:
                ratio = K[at[i] + k] / pivot
                if ratio != 0.0:
                    K[at[i] + k] = ratio
                    below = K[at[i] + k + 1 : at[i] + end]
                    for j in range(len(own)):
                        below[j] -= ratio * own[j]
    return True


@compiled
def solve(these: Envelope, y: Floats) -> None:
    """y <- K^-1 y after ``factor``, in slots that no row reaches y."""
    K, at, first, last, n = these.numbers, these.at, these.first, these.last, len(these.at)
    b = np.empty(n)
    for i in range(n):
        total = y[these.order[i]]
        for k in range(first[i], i):
            total -= K[at[i] + k] * b[k]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for k in range(i + 1, last[i] + 1):
            total -= K[at[i] + k] * b[k]
        b[i] = total / K[at[i] + i]
        y[these.order[i]] = b[i]

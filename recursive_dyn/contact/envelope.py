"""Linear equations in an island's whitened velocities, K = I + A^T X A, with factors K = L U inside an envelope.

A is the rows of its contacts and scalar rows, X what the impulses of each do for its own velocities. Coordinates are
numbered so that those of one row are near each other (Cuthill & McKee, 1969), or as they are, if that is less work, as
in walls that are built row by row: what lies outside stays zero. K need not be symmetric; as its symmetric part is
positive for small angles of friction, rows are not exchanged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.sums import dot

BODY = 6  # coordinates of a body, which are next to each other: what reaches one reaches all


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
    own_place, own_order = np.full(len(it.y), -1), np.empty(count, dtype=np.int64)
    _as_they_are(it, incidence, own_place, own_order)
    own_first, own_last, own_at = _profile(it, own_place, count)
    if _work(own_last) < _work(last):
        place, order, first, last, at = own_place, own_order, own_first, own_last, own_at
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
def _as_they_are(it: Island, incidence: _Incidence, place: Integers, order: Integers) -> None:
    """Number what rows reach in the order of the island's slots."""
    count = 0
    for slot in it.slots:
        if incidence.start[slot] < incidence.start[slot + 1]:
            place[slot], order[count] = count, slot
            count += 1


@compiled
def _work(last: Integers) -> int:
    """How much it is to factor an envelope: multiplications, but for a factor."""
    total = 0
    for i in range(len(last)):
        total += (last[i] - i) * (last[i] - i)
    return total


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
def factor(these: Envelope) -> bool:
    """K <- its factors, L below a diagonal of ones and U; False where a pivot is no number but zero."""
    n, last, first, k = len(these.at), these.last, these.first, 0
    while k < n:
        size = BODY if k + BODY <= n and last[k + BODY - 1] == last[k] and first[k + BODY - 1] <= k else 1
        for i in range(k, k + size):
            pivot = these.numbers[these.at[i] + i]
            if pivot == 0.0 or not np.isfinite(pivot):
                return False
            for below in range(i + 1, k + size):
                _eliminate(these, i, below)
        if size == BODY:
            _eliminate_body(these, k)
        else:
            for below in range(k + 1, last[k] + 1):
                if first[below] <= k:
                    _eliminate(these, k, below)
        k += size
    return True


@compiled
def _eliminate(these: Envelope, k: int, i: int) -> None:
    """Take the k-th row from the i-th, so often that nothing is left of it in column k."""
    K, at, end = these.numbers, these.at, these.last[k] + 1
    ratio = K[at[i] + k] / K[at[k] + k]
    if ratio != 0.0:
        K[at[i] + k] = ratio
        own, below = K[at[k] + k + 1 : at[k] + end], K[at[i] + k + 1 : at[i] + end]
        for j in range(len(own)):
            below[j] -= ratio * own[j]


@compiled
def _eliminate_body(these: Envelope, k: int) -> None:
    """Take the BODY rows from the k-th on, all of which are known, from all below: one way through each, not six."""
    K, at, first, end = these.numbers, these.at, these.first, these.last[k] + 1
    a0, a1, a2, a3, a4, a5 = at[k] + k, at[k + 1] + k, at[k + 2] + k, at[k + 3] + k, at[k + 4] + k, at[k + 5] + k
    d0, d1, d2, d3 = 1.0 / K[a0], 1.0 / K[a1 + 1], 1.0 / K[a2 + 2], 1.0 / K[a3 + 3]
    d4, d5, rest = 1.0 / K[a4 + 4], 1.0 / K[a5 + 5], end - k
    b0, b1, b2 = K[a0 + 6 : a0 + rest], K[a1 + 6 : a1 + rest], K[a2 + 6 : a2 + rest]
    b3, b4, b5 = K[a3 + 6 : a3 + rest], K[a4 + 6 : a4 + rest], K[a5 + 6 : a5 + rest]
    for i in range(k + BODY, end):
        if first[i] <= k:
            own = at[i] + k
            r0 = K[own] * d0
            r1 = (K[own + 1] - r0 * K[a0 + 1]) * d1
            r2 = (K[own + 2] - r0 * K[a0 + 2] - r1 * K[a1 + 2]) * d2
            r3 = (K[own + 3] - r0 * K[a0 + 3] - r1 * K[a1 + 3] - r2 * K[a2 + 3]) * d3
            r4 = (K[own + 4] - r0 * K[a0 + 4] - r1 * K[a1 + 4] - r2 * K[a2 + 4] - r3 * K[a3 + 4]) * d4
            r5 = K[own + 5] - r0 * K[a0 + 5] - r1 * K[a1 + 5] - r2 * K[a2 + 5] - r3 * K[a3 + 5]
            r5 = (r5 - r4 * K[a4 + 5]) * d5
            K[own], K[own + 1], K[own + 2], K[own + 3], K[own + 4], K[own + 5] = r0, r1, r2, r3, r4, r5
            below = K[own + 6 : own + rest]
            for j in range(len(below)):
                below[j] -= r0 * b0[j] + r1 * b1[j] + r2 * b2[j] + (r3 * b3[j] + r4 * b4[j] + r5 * b5[j])
        else:
            for j in range(first[i], k + BODY):
                _eliminate(these, j, i)


@compiled
def solve(these: Envelope, y: Floats) -> None:
    """y <- K^-1 y after ``factor``, in slots that no row reaches y."""
    K, at, first, last, n = these.numbers, these.at, these.first, these.last, len(these.at)
    b = np.empty(n)
    for i in range(n):
        b[i] = y[these.order[i]] - dot(K[at[i] + first[i] : at[i] + i], b[first[i] : i])
    for i in range(n - 1, -1, -1):
        rest = dot(K[at[i] + i + 1 : at[i] + last[i] + 1], b[i + 1 : last[i] + 1])
        b[i] = (b[i] - rest) / K[at[i] + i]
        y[these.order[i]] = b[i]

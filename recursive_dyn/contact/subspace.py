"""All rows of an island at once, as if the contacts that are open, stick and slide were known.

Between sweeps, which find that out, the rows that bind are solved directly (subspace minimization: Silcowitz, Niebe &
Erleben, 2010): a chain of stiff motors or a heavy body on a light one is then no harder than anything else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.blocks import ROLL, SPIN, Island, add, add_scalar, component, moving, velocity
from recursive_dyn.contact.tuning import BOUND_WIDTH, MOST_DIRECT_ROWS


class Binding(NamedTuple):
    """Rows that bind, numbered through: owner (k,): contact or scalar row of each; row (k,): which of its contact's,
    -1 for a scalar row; slides (k,): a normal row to which friction is bound."""

    owner: Integers
    row: Integers
    slides: Flags


@compiled
def refine(it: Island, soft: float, least: bool) -> bool:
    """Change P and Q so that every row that binds meets its target; False where there are too many or none.

    Rows may repeat each other. soft: share of a row's own mobility by which it gives way to what it carries (``least``:
    so that all carry alike, and not quite on target) or to what it carries more.
    """
    most = 6 * len(it.contacts) + len(it.scalars)
    binding = Binding(np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most, dtype=np.bool_))
    count = _bind(it, binding)
    if count == 0 or count > MOST_DIRECT_ROWS:
        return False
    K, b = np.empty(count * count), np.empty(count)
    _system(it, binding, soft, least, K, b)
    eliminate(K, b)
    for k in range(count):
        if not np.isfinite(b[k]):
            return False
    _change(it, binding, b)
    return True


@compiled
def _bind(it: Island, binding: Binding) -> int:
    """Find what binds; how many rows."""
    count, rows, lines = 0, it.rows, it.lines
    for c in it.contacts:
        if it.P[c, 0] > 0.0:
            slides = _slides(it, c)
            for i in range(rows.height[c]):
                if _is_free(it, c, component(rows.kind[c], i), slides):
                    binding.owner[count], binding.row[count], binding.slides[count] = c, i, slides and i == 0
                    count += 1
    for s in it.scalars:
        if lines.low[s] < it.Q[s] < lines.high[s]:
            binding.owner[count], binding.row[count], binding.slides[count] = s, -1, False
            count += 1
    return count


@compiled
def _slides(it: Island, c: int) -> bool:
    """Whether friction is on its bound."""
    P, bound = it.P, it.frictions[c, 1] * it.P[c, 0]
    size = np.sqrt(P[c, 1] * P[c, 1] + P[c, 2] * P[c, 2])
    return size >= bound * (1.0 - BOUND_WIDTH) and size <= bound * (1.0 + BOUND_WIDTH)


@compiled
def _is_free(it: Island, c: int, k: int, slides: bool) -> bool:
    """Whether the k-th component of a contact that presses binds by itself: its impulse is within its bounds."""
    P = it.P
    if k < SPIN:
        return k == 0 or not slides
    if k == SPIN:
        return abs(P[c, SPIN]) < it.frictions[c, 3] * P[c, 0] * (1.0 - BOUND_WIDTH)
    bound = it.frictions[c, 2] * P[c, 0] * (1.0 - BOUND_WIDTH)
    return P[c, ROLL] * P[c, ROLL] + P[c, ROLL + 1] * P[c, ROLL + 1] < bound * bound


@compiled
def _system(it: Island, binding: Binding, soft: float, least: bool, K: Floats, b: Floats) -> None:
    """What each impulse does to each row that binds, K (k, k), with what gives way on its diagonal, and what is missed
    b (k,); if ``least``, b gives way to what is carried already."""
    count, does = len(b), np.zeros(len(it.y))
    low, high = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    _spans(it, binding, low, high)
    K[:] = 0.0
    for j in range(count):
        _spread(it, binding, j, does, 1.0)
        i = 0
        while i < count:
            rows = 1
            if i >= j or binding.slides[i] or binding.slides[j]:  # K is symmetric but for friction that slides
                rows = _rows_together(binding, i, count)
                if low[i] <= high[j] and low[j] <= high[i]:
                    _column(it, binding, i, j, rows, does, K, count)
            i += rows
        for slot in it.slots:
            does[slot] = 0.0
    for j in range(count):
        for i in range(0 if binding.slides[j] else j):
            if not binding.slides[i]:
                K[i * count + j] = K[j * count + i]
    for i in range(count):
        b[i] = _missed(it, binding, i)
        ridge = soft * abs(K[i * count + i]) + 1e-300
        K[i * count + i] += ridge
        if least:
            b[i] -= ridge * _carried(it, binding, i)
        if binding.row[i] < 0:
            K[i * count + i] += it.lines.soft[binding.owner[i]]


@compiled
def _spans(it: Island, binding: Binding, low: Integers, high: Integers) -> None:
    """The first and the last whitened coordinate that each row reaches."""
    for i in range(len(low)):
        owner, row = binding.owner[i], binding.row[i]
        low[i], high[i] = len(it.y), -1
        if row < 0:
            for k in range(it.lines.first[owner], it.lines.first[owner + 1]):
                low[i], high[i] = min(low[i], it.lines.slots[k]), max(high[i], it.lines.slots[k])
        else:
            for k in range(it.rows.first[owner], it.rows.first[owner + 1]):
                low[i], high[i] = min(low[i], it.rows.slots[k]), max(high[i], it.rows.slots[k])


@compiled
def _rows_together(binding: Binding, i: int, count: int) -> int:
    """3 for a normal and both tangents of one contact from the i-th row on, else 1."""
    last = i + 2
    if last < count and binding.row[i] == 0 and binding.row[last] == 2 and binding.owner[i] == binding.owner[last]:
        return 3
    return 1


@compiled
def _column(it: Island, binding: Binding, i: int, j: int, together: int, does: Floats, K: Floats, count: int) -> None:
    """Write what whitened velocities do to the i-th row, or three together, into the j-th column of K."""
    rows, owner = it.rows, binding.owner[i]
    if together == 1:
        K[i * count + j] = _along(it, binding, i, does)
        return
    height, at, v0, v1, v2 = rows.height[owner], rows.start[owner], 0.0, 0.0, 0.0
    for k in range(rows.first[owner], rows.first[owner + 1]):
        rate = does[rows.slots[k]]
        v0 += rows.values[at] * rate
        v1 += rows.values[at + 1] * rate
        v2 += rows.values[at + 2] * rate
        at += height
    K[i * count + j], K[(i + 1) * count + j], K[(i + 2) * count + j] = v0, v1, v2


@compiled
def _spread(it: Island, binding: Binding, j: int, does: Floats, amount: float) -> None:
    """Add to whitened velocities what an impulse along a row does, with the friction bound to it."""
    owner, row = binding.owner[j], binding.row[j]
    if row < 0:
        add_scalar(it.lines, owner, amount, does)
        return
    add(it.rows, owner, row, amount, does)
    if binding.slides[j]:
        for r in range(1, 3):
            add(it.rows, owner, r, amount * (it.P[owner, r] / it.P[owner, 0]), does)


@compiled
def _along(it: Island, binding: Binding, i: int, does: Floats) -> float:
    """What whitened velocities do to a row."""
    owner, row = binding.owner[i], binding.row[i]
    if row < 0:
        return moving(it.lines, owner, does)
    rows, total = it.rows, 0.0
    height, at = rows.height[owner], rows.start[owner] + row
    for k in range(rows.first[owner], rows.first[owner + 1]):
        total += rows.values[at] * does[rows.slots[k]]
        at += height
    return total


@compiled
def _missed(it: Island, binding: Binding, i: int) -> float:
    """By how much the velocity of a row is below its target."""
    owner, row = binding.owner[i], binding.row[i]
    if row < 0:
        lines = it.lines
        return lines.target[owner] - lines.speed[owner] - lines.soft[owner] * it.Q[owner] - moving(lines, owner, it.y)
    return (it.targets[owner] if row == 0 else 0.0) - velocity(it.rows, owner, row, it.y)


@compiled
def _carried(it: Island, binding: Binding, i: int) -> float:
    """The impulse of a row."""
    owner, row = binding.owner[i], binding.row[i]
    return it.Q[owner] if row < 0 else it.P[owner, component(it.rows.kind[owner], row)]


@compiled
def _change(it: Island, binding: Binding, x: Floats) -> None:
    """Add x (k,) to the impulses of what binds."""
    P = it.P
    for k in range(len(x)):
        owner, row = binding.owner[k], binding.row[k]
        if row < 0:
            it.Q[owner] += x[k]
        elif binding.slides[k]:
            ratio = x[k] / P[owner, 0]
            for r in range(3):
                P[owner, r] += P[owner, r] * ratio
        else:
            P[owner, component(it.rows.kind[owner], row)] += x[k]


@compiled
def eliminate(K: Floats, b: Floats) -> None:
    """b <- x with K x = b, K (n, n) row by row, by elimination with row exchanges; K is used up."""
    n = len(b)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(K[i * n + k]) > abs(K[best * n + k]):
                best = i
        if best != k:
            b[k], b[best] = b[best], b[k]
            for j in range(n):
                K[k * n + j], K[best * n + j] = K[best * n + j], K[k * n + j]
        own = K[k * n : (k + 1) * n]
        for i in range(k + 1, n):
            below = K[i * n : (i + 1) * n]
            ratio = below[k] / own[k]
            if ratio != 0.0:
                for j in range(k + 1, n):
                    below[j] -= ratio * own[j]
                b[i] -= ratio * b[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            b[k] -= K[k * n + j] * b[j]
        b[k] /= K[k * n + k]

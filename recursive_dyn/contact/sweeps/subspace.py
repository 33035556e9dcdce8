"""All rows of an island at once, as if the contacts that are open, stick and slide were known.

Between sweeps, which find that out, the rows that bind are solved directly (subspace minimization: Silcowitz, Niebe &
Erleben, 2010): a chain of stiff motors or a heavy body on a light one is then no harder than anything else.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.blocks import ROLL, SPIN, Island, add, add_scalar, along, component, moving, velocity
from recursive_dyn.contact.sweeps.direct_solve import eliminate
from recursive_dyn.contact.tuning import BOUND_WIDTH, MOST_DIRECT_ROWS

SCALAR, ACROSS = -1, -2  # instead of a number of a contact's row


class Binding(NamedTuple):
    """Rows that bind, numbered through: owner (k,): contact or scalar row of each; row (k,): which of its contact's,
    SCALAR for a scalar row, ACROSS for the direction across the friction of a contact that slides; slides (k,): a
    normal row to which friction is bound; gives (k,): velocity by which an impulse of 1 gives way; across (k, 2): that
    direction, along both tangents.

    Friction p that slides at v stays opposed to it: across p, tau v - p v_tau = 0 to first order, with tau = |p| and
    v_tau < 0 the velocity along p. So it binds like what gives way by -v_tau / tau.
    """

    owner: Integers
    row: Integers
    slides: Flags
    gives: Floats
    across: Annotated[np.ndarray, float, 2]


@compiled
def refine(it: Island, soft: float, least: bool) -> bool:
    """Change P and Q so that every row that binds meets its target; False where there are too many or none.

    Rows may repeat each other. soft: share of a row's own mobility by which it gives way to what it carries (``least``:
    so that all carry alike, and not quite on target) or to what it carries more.
    """
    most = 6 * len(it.contacts) + len(it.scalars)
    binding = Binding(
        np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.empty(most, dtype=np.bool_),
        np.zeros(most), np.zeros((most, 2)),
    )  # fmt: skip
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
            if slides:
                gives = _given_across(it, c)
                if gives > 0.0:
                    size = np.sqrt(it.P[c, 1] * it.P[c, 1] + it.P[c, 2] * it.P[c, 2])
                    binding.owner[count], binding.row[count], binding.slides[count] = c, ACROSS, False
                    binding.across[count, 0], binding.across[count, 1] = -it.P[c, 2] / size, it.P[c, 1] / size
                    binding.gives[count] = gives
                    count += 1
    for s in it.scalars:
        if lines.low[s] < it.Q[s] < lines.high[s]:
            binding.owner[count], binding.row[count], binding.slides[count] = s, SCALAR, False
            binding.gives[count] = lines.soft[s]
            count += 1
    return count


@compiled
def _slides(it: Island, c: int) -> bool:
    """Whether friction is on its bound."""
    P, bound = it.P, it.frictions[c, 1] * it.P[c, 0]
    size = np.sqrt(P[c, 1] * P[c, 1] + P[c, 2] * P[c, 2])
    return size >= bound * (1.0 - BOUND_WIDTH) and size <= bound * (1.0 + BOUND_WIDTH)


@compiled
def _given_across(it: Island, c: int) -> float:
    """By how much a contact that slides gives way across its friction, for an impulse of 1; 0 if it slides no more."""
    p1, p2 = it.P[c, 1], it.P[c, 2]
    square = p1 * p1 + p2 * p2
    along = p1 * velocity(it.rows, c, 1, it.y) + p2 * velocity(it.rows, c, 2, it.y)
    return -along / square if square > 0.0 and along < 0.0 else 0.0


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
            end = _end_of_rows(binding, i, count)
            wanted = end > j or binding.slides[i] or binding.slides[j]  # K is symmetric but for friction that slides
            if wanted and low[i] <= high[j] and low[j] <= high[i]:
                _column(it, binding, i, end, j, does, K, count)
            i = end
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
        K[i * count + i] += binding.gives[i]


@compiled
def _spans(it: Island, binding: Binding, low: Integers, high: Integers) -> None:
    """The first and the last whitened coordinate that each row reaches."""
    for i in range(len(low)):
        owner, row = binding.owner[i], binding.row[i]
        low[i], high[i] = len(it.y), -1
        if row == SCALAR:
            for k in range(it.lines.first[owner], it.lines.first[owner + 1]):
                low[i], high[i] = min(low[i], it.lines.slots[k]), max(high[i], it.lines.slots[k])
        else:
            for k in range(it.rows.first[owner], it.rows.first[owner + 1]):
                low[i], high[i] = min(low[i], it.rows.slots[k]), max(high[i], it.rows.slots[k])


@compiled
def _end_of_rows(binding: Binding, i: int, count: int) -> int:
    """Behind the last row of the contact, or scalar row, whose first one is the i-th."""
    end = i + 1
    while end < count and binding.row[i] != SCALAR and binding.row[end] != SCALAR:
        if binding.owner[end] != binding.owner[i]:
            break
        end += 1
    return end


@compiled
def _column(it: Island, binding: Binding, begin: int, end: int, j: int, does: Floats, K: Floats, count: int) -> None:
    """Write what whitened velocities do to the rows of one contact, or a scalar row, into the j-th column of K."""
    owner, rows = binding.owner[begin], it.rows
    if binding.row[begin] == SCALAR:
        K[begin * count + j] = moving(it.lines, owner, does)
        return
    height, at, v0, v1, v2 = rows.height[owner], rows.start[owner], 0.0, 0.0, 0.0
    for k in range(rows.first[owner], rows.first[owner + 1]):
        rate = does[rows.slots[k]]
        v0 += rows.values[at] * rate
        v1 += rows.values[at + 1] * rate
        v2 += rows.values[at + 2] * rate
        at += height
    for i in range(begin, end):
        row, value = binding.row[i], v0
        if row == ACROSS:
            value = binding.across[i, 0] * v1 + binding.across[i, 1] * v2
        elif row > 2:
            value = along(rows, owner, row, 0.0, does)
        elif row > 0:
            value = v1 if row == 1 else v2
        K[i * count + j] = value


@compiled
def _spread(it: Island, binding: Binding, j: int, does: Floats, amount: float) -> None:
    """Add to whitened velocities what an impulse along a row does, with the friction bound to it."""
    owner, row = binding.owner[j], binding.row[j]
    if row == SCALAR:
        add_scalar(it.lines, owner, amount, does)
        return
    if row == ACROSS:
        w1, w2 = binding.across[j, 0], binding.across[j, 1]
        add(it.rows, owner, 1, amount * w1, does)
        add(it.rows, owner, 2, amount * w2, does)
        return
    add(it.rows, owner, row, amount, does)
    if binding.slides[j]:
        for r in range(1, 3):
            add(it.rows, owner, r, amount * (it.P[owner, r] / it.P[owner, 0]), does)


@compiled
def _missed(it: Island, binding: Binding, i: int) -> float:
    """By how much the velocity of a row is below its target."""
    owner, row = binding.owner[i], binding.row[i]
    if row == SCALAR:
        lines = it.lines
        return lines.target[owner] - lines.speed[owner] - lines.soft[owner] * it.Q[owner] - moving(lines, owner, it.y)
    if row == ACROSS:
        w1, w2 = binding.across[i, 0], binding.across[i, 1]
        return -w1 * velocity(it.rows, owner, 1, it.y) - w2 * velocity(it.rows, owner, 2, it.y)
    return (it.targets[owner] if row == 0 else 0.0) - velocity(it.rows, owner, row, it.y)


@compiled
def _carried(it: Island, binding: Binding, i: int) -> float:
    """The impulse of a row."""
    owner, row = binding.owner[i], binding.row[i]
    if row == ACROSS:
        return 0.0
    return it.Q[owner] if row == SCALAR else it.P[owner, component(it.rows.kind[owner], row)]


@compiled
def _change(it: Island, binding: Binding, x: Floats) -> None:
    """Add x (k,) to the impulses of what binds."""
    P = it.P
    for k in range(len(x)):
        owner, row = binding.owner[k], binding.row[k]
        if row == SCALAR:
            it.Q[owner] += x[k]
        elif row == ACROSS:
            w1, w2 = binding.across[k, 0], binding.across[k, 1]
            P[owner, 1] += x[k] * w1
            P[owner, 2] += x[k] * w2
        elif binding.slides[k]:
            ratio = x[k] / P[owner, 0]
            for r in range(3):
                P[owner, r] += P[owner, r] * ratio
        else:
            P[owner, component(it.rows.kind[owner], row)] += x[k]

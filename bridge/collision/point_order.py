"""Points in the order of their bodies: Bullet's own order depends on all that ever happened in its world; compiled."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Integers, compiled


@compiled
def in_order(
    count: int,
    ids: Annotated[np.ndarray, int, 4],
    values: Annotated[np.ndarray, float, 10],
    ranks: Integers,
    order: Integers,
) -> None:
    """order (count,): rows of points by the ranks of both bodies, those of one pair from one side to the other.

    ids, values: as in RawPoints. Bullet tells the points of a pair in runs, of which far fewer are to be sorted than
    points: by merging.
    """
    firsts, keys, runs = np.empty(count + 1, dtype=np.int64), np.empty(count, dtype=np.int64), 0
    sorted_already = True
    for i in range(count):
        if i == 0 or ids[i, 0] != ids[i - 1, 0] or ids[i, 1] != ids[i - 1, 1]:
            firsts[runs] = i
            keys[runs] = ranks[ids[i, 0]] * len(ranks) + ranks[ids[i, 1]]
            sorted_already = sorted_already and (runs == 0 or keys[runs - 1] <= keys[runs])
            runs += 1
    firsts[runs] = count
    now = np.empty(runs, dtype=np.int64)
    for r in range(runs):
        now[r] = r
    if not sorted_already:
        _sort(keys, now)
    at, begin = 0, 0
    for r in range(runs):
        if r > 0 and keys[now[r]] != keys[now[r - 1]]:
            begin = at
        for i in range(firsts[now[r]], firsts[now[r] + 1]):
            _insert(values, order, begin, at, i)
            at += 1


@compiled
def _insert(values: Annotated[np.ndarray, float, 10], order: Integers, begin: int, end: int, i: int) -> None:
    """Point i, where it belongs in order[begin:end]."""
    k = end
    while k > begin and _is_before(values, i, order[k - 1]):
        order[k] = order[k - 1]
        k -= 1
    order[k] = i


@compiled
def _is_before(values: Annotated[np.ndarray, float, 10], i: int, j: int) -> bool:
    for k in range(10):  # of what is told twice at one place the distance may differ, by rounding
        if values[i, k] != values[j, k]:
            return values[i, k] < values[j, k]
    return False


@compiled
def _sort(keys: Integers, now: Integers) -> None:
    """Places of keys, in order of these."""
    after, runs, width = np.empty(len(now), dtype=np.int64), len(now), 1
    while width < runs:
        start = 0
        while start < runs:
            _merge(keys, now, after, start, min(start + width, runs), min(start + 2 * width, runs))
            start += 2 * width
        now[:] = after
        width *= 2


@compiled
def _merge(keys: Integers, now: Integers, after: Integers, start: int, middle: int, end: int) -> None:
    """Two neighbouring stretches of ``now``, each in order, as one of ``after``."""
    left, right = start, middle
    for k in range(start, end):
        if right >= end or (left < middle and keys[now[left]] <= keys[now[right]]):
            after[k] = now[left]
            left += 1
        else:
            after[k] = now[right]
            right += 1

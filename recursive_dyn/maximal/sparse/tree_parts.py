"""Parts of trees that do not wait for each other, for threads: whole trees, or what hangs on links that wait."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.maximal.sparse.sparse_order import LeafOrder

Array = np.ndarray
_SHARES = 1, 2, 8, 32  # of all links that a part has, those that may hang together in it at most


def in_parts(order: LeafOrder, parts: int) -> list[LeafOrder]:
    """Orders of so many parts, neighbours in the order together, and of the rest, which goes after them all."""
    m, links = len(order.link), int(max(order.link.max(initial=-1), order.up.max(initial=-1))) + 1
    best, least = np.zeros(0, dtype=np.int64), m + 1
    for share in _SHARES:
        unit = _units(order, max(1, m // (share * parts)), np.zeros(links, dtype=np.int64))
        size = np.bincount(unit[unit >= 0], minlength=m)
        before = np.cumsum(size) - size // 2 - 1
        part = np.where(unit >= 0, np.minimum(before * parts // max(1, size.sum()), parts - 1)[unit], parts)
        counts = np.bincount(part, minlength=parts + 1)
        if (longest := counts[parts] + counts[:parts].max()) < least:
            best, least = part, longest
    return [LeafOrder(*(np.ascontiguousarray(x[best == k]) for x in order)) for k in range(parts + 1)]


@compiled
def _units(order: LeafOrder, most: int, size: Integers) -> Integers:
    """Which unit each link is of (m,), -1 of the rest; size (nl,): zeros.

    A unit is a tree of at most so many links, named by its last one, or all below a link of the rest that hang on
    nothing else of it, and are as few.
    """
    m = len(order.link)
    found, unit_of = np.full(m, -1), np.full(len(size), -1)
    for k in range(m):
        size[order.link[k]] += 1
        if order.up[k] >= 0:
            size[order.up[k]] += size[order.link[k]]
    for back in range(m):
        k = m - 1 - back
        i, up = order.link[k], order.up[k]
        if up >= 0 and unit_of[up] >= 0:
            unit_of[i] = found[k] = unit_of[up]
        elif size[i] <= most:
            unit_of[i] = k
            if up < 0:
                found[k] = k
    return found

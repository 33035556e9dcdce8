"""In which order links and joints are eliminated: leaves first, as long as there are any, then the loops that are left.

A link that one joint is left of goes together with that joint, which leaves its other link heavier and nothing else
changed (Baraff, "Linear-time dynamics using Lagrange multipliers", 1996); a forest ends so, and costs as much as it has
links. What remains has loops: there all links go first, which leaves equations between joints that share one, then
joints, each time one that the fewest others are left at (minimum degree, Tinney & Walker, 1967).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Integers, compiled

NOTHING = -1  # the world, or no joint


class MoreSides(NamedTuple):
    """Further links of joints that have more than two: rows (x,), in rising order, of which joint; links (x,)."""

    rows: Integers
    links: Integers


class LeafOrder(NamedTuple):
    """Links that go as leaves, m of them, in order (m,).

    joint: that goes with it, -1 for the last of what floats; up: link that this leaves heavier, -1 for the world;
    turned: 1 where the link is its joint's a, 0 where it is b.
    """

    link: Integers
    joint: Integers
    up: Integers
    turned: Integers


class LoopOrder(NamedTuple):
    """Links in loops, and joints between them; columns: the links, then the joints, in order.

    link, joint: of the columns; rows of column k: below[first[k]] to below[first[k + 1]], columns in rising order;
    turned (of rows of links' columns): 1 where the link is its joint's a, 0 where it is b, 2 + x where it is side x of
    MoreSides.
    """

    link: Integers
    joint: Integers
    first: Integers
    below: Integers
    turned: Integers


NO_MORE = MoreSides(*np.zeros((2, 0), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class SparseOrder:
    """How a system of links and joints is eliminated: its trees, then its loops."""

    tree: LeafOrder
    loops: LoopOrder


def sparse_order(links: int, a: np.ndarray, b: np.ndarray, more: MoreSides = NO_MORE) -> SparseOrder:
    """The order for joints between links a and b (nj,), -1 for the world, and further ones."""
    tree, in_loop = _peeled(links, np.ascontiguousarray(a, np.int64), np.ascontiguousarray(b, np.int64), more)
    return SparseOrder(tree, _loops(np.flatnonzero(in_loop[:links]), np.flatnonzero(in_loop[links:]), a, b, more))


@compiled
def _peeled(links: int, a: Integers, b: Integers, more: MoreSides) -> tuple[LeafOrder, Flags]:
    """The order of what goes as leaves, and which links, then which joints, do not: those of more than two links stay,
    with these."""
    first, which = _incidence(links, a, b)
    link, joint = np.empty(links, dtype=np.int64), np.empty(links, dtype=np.int64)
    up, turned = np.empty(links, dtype=np.int64), np.empty(links, dtype=np.int64)
    left, remains = np.empty(links, dtype=np.int64), np.full(links + len(a), True)
    count, head = 0, 0
    for i in range(links):
        left[i] = first[i + 1] - first[i]
    for x in range(len(more.rows)):
        for i in (a[more.rows[x]], b[more.rows[x]], more.links[x]):
            left[i] += 2  # never a leaf
    for i in range(links):
        if left[i] <= 1:
            link[count] = i
            count += 1
    while head < count:
        i = link[head]
        joint[head], up[head], turned[head], remains[i] = NOTHING, NOTHING, 0, False
        for at in range(first[i], first[i + 1]):
            j = which[at]
            if remains[links + j]:
                other = a[j] if b[j] == i else b[j]
                joint[head], up[head], turned[head], remains[links + j] = j, other, 0 if b[j] == i else 1, False
                if other >= 0:
                    left[other] -= 1
                    if left[other] == 1:
                        link[count] = other
                        count += 1
        head += 1
    return LeafOrder(link[:count], joint[:count], up[:count], turned[:count]), remains


@compiled
def _incidence(links: int, a: Integers, b: Integers) -> tuple[Integers, Integers]:
    """Joints of link i: which[first[i]] to which[first[i + 1]]."""
    first = np.zeros(links + 1, dtype=np.int64)
    for j in range(len(a)):
        if a[j] >= 0:
            first[a[j]] += 1
        if b[j] >= 0:
            first[b[j]] += 1
    total = 0
    for i in range(links + 1):
        total += first[i]
        first[i] = total  # the end of each, from which it is filled backwards
    which = np.empty(total, dtype=np.int64)
    for back in range(len(a)):
        j = len(a) - 1 - back
        for i in (a[j], b[j]):
            if i >= 0:
                first[i] -= 1
                which[first[i]] = j
    return first, which


def _loops(links: np.ndarray, joints: np.ndarray, a: np.ndarray, b: np.ndarray, more: MoreSides) -> LoopOrder:
    """The order of what is left: all links, then joints by minimum degree."""
    at: dict[int, list[int]] = {int(i): [] for i in links}
    for j in joints.tolist():
        for i in {int(a[j]), int(b[j])} - {NOTHING}:
            at[i].append(j)
    further = {(int(i), int(j)): x for x, (j, i) in enumerate(zip(more.rows, more.links, strict=True))}
    for i, j in further:
        at[i].append(j)
    order, fill = _minimum_degree(joints.tolist(), at)
    column = {j: len(links) + k for k, j in enumerate(order)}
    first, below, turned = [0], list[int](), list[int]()
    for i, around in at.items():
        for j in sorted(around, key=column.__getitem__):
            below.append(column[j])
            turned.append(2 + further[i, j] if (i, j) in further else int(a[j] == i))
        first.append(len(below))
    for j in order:
        below += sorted(column[other] for other in fill[j])
        first.append(len(below))
    return LoopOrder(*(np.array(x, dtype=np.int64) for x in (links, order, first, below, turned)))


def _minimum_degree(joints: list[int], at: dict[int, list[int]]) -> tuple[list[int], dict[int, set[int]]]:
    """Joints in order, and those after each which it meets when it goes."""
    near: dict[int, set[int]] = {j: set() for j in joints}
    for around in at.values():
        for j in around:
            near[j].update(around)
    for j in joints:
        near[j].discard(j)
    heap = [(len(near[j]), j) for j in joints]
    heapq.heapify(heap)
    order, gone = list[int](), set[int]()
    while heap:
        degree, j = heapq.heappop(heap)
        if j in gone or degree != len(near[j]):
            continue
        order.append(j)
        gone.add(j)
        for other in near[j]:
            meets = near[other]
            meets |= near[j]
            meets -= {j, other}
            heapq.heappush(heap, (len(meets), other))
    return order, near

"""Rows of generalized directions in whitened coordinates: a coordinate's own in the depth of its link."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import ScalarRows
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import GeneralizedRows
from recursive_dyn.contact.rows.reach import Reach, home_of
from recursive_dyn.contact.rows.responses import reduce, reduce_one


@compiled
def scalar_rows(
    layout: Layout, reach: Reach, factors: Floats, root: Floats, v: Floats, given: GeneralizedRows
) -> ScalarRows:
    """Rows of generalized directions, whose velocities are v (nv,) without impulses. root (nv,): D^-1/2."""
    m, room = len(given.offsets), 0
    for s in range(m):
        room += _most(layout, reach, given, s)
    first, slots, values = np.zeros(m + 1, dtype=np.int64), np.empty(room, dtype=np.int64), np.empty(room)
    speed, target, soft, mobility = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    reduced = np.zeros(layout.nv)
    for s in range(m):
        first[s + 1] = whitened(layout, reach, factors, root, given, s, reduced, slots, values, first[s])
        total = 0.0
        for k in range(first[s], first[s + 1]):
            total += values[k] * values[k]
        mobility[s], target[s], soft[s] = total, given.targets[s], given.compliance[s]
        speed[s] = directed(given, s, v)
    return ScalarRows(first, slots, values, speed, target, given.low, given.high, soft, mobility)


@compiled
def is_cone(given: GeneralizedRows, s: int) -> bool:
    """Whether a row is a stop over several coordinates, as those of cones of balls are."""
    return bool(given.stops[s] and given.first[s + 1] - given.first[s] > 1)


@compiled
def directed(given: GeneralizedRows, s: int, v: Floats) -> float:
    """Velocity of a row at the velocities v (nv,)."""
    total = given.offsets[s]
    for k in range(given.first[s], given.first[s + 1]):
        total += given.values[k] * v[given.slots[k]]
    return total


@compiled
def _most(layout: Layout, reach: Reach, given: GeneralizedRows, s: int) -> int:
    """How many coordinates an impulse along a row may reach."""
    home = home_of(layout, given, s)
    return layout.nv if home == len(layout.parent) else reach.size[home]


@compiled
def whitened(
    layout: Layout,
    reach: Reach,
    factors: Floats,
    root: Floats,
    given: GeneralizedRows,
    s: int,
    reduced: Floats,
    slots: Integers,
    values: Floats,
    at: int,
) -> int:
    """Put a row's coefficients that are not 0 into slots and values from ``at`` on, slots rising; where they end.

    reduced (nv,): zero, and again so.
    """
    begin, end, home = given.first[s], given.first[s + 1], home_of(layout, given, s)
    for k in range(begin, end):
        reduced[given.slots[k]] += given.values[k]
    whole = home == len(layout.parent)
    if whole and end != begin + 1:
        reduce(layout, factors, reduced)
    else:
        reduce_one(layout, factors, given.slots[begin], reduced)
    count = layout.nv if whole else reach.size[home]
    for k in range(count):
        slot = k if whole else reach.slots[reach.first[home] + k]
        if reduced[slot] != 0.0:
            slots[at], values[at] = slot, reduced[slot] * root[slot]
            reduced[slot] = 0.0
            at += 1
    return at

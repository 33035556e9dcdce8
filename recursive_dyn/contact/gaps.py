"""Gaps of contacts and limits, as positions are moved."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, compiled
from recursive_dyn.contact.blocks import Island, along, moving


class Gaps(NamedTuple):
    """Gaps of contacts (n of them), then of scalar rows (m).

    gaps, began, wanted (n + m,): where the flight ends, where the step began, and at its end; NaN: nothing wanted.
    bounded (n + m,): which cannot be negative; acted (n + m,): impulses times h; holds (m,): rows along which nothing
    is pushed. z: whitened positions, which follow impulses for ``share`` of the step h. most (n + m,): what gaps may be
    pushed to; push, active (n + m,): what moves them, and which were found to overlap. least: mobility up to which a
    gap cannot be moved. exact: whether what sweeps do not settle is found all at once; sweeps: so many at most.
    """

    gaps: Floats
    began: Floats
    wanted: Floats
    bounded: Flags
    acted: Floats
    holds: Flags
    z: Floats
    share: float
    h: float
    most: Floats
    push: Floats
    active: Flags
    least: float
    exact: bool
    sweeps: int


@compiled
def gap_number(it: Island, k: int) -> int:
    """The number of an island's k-th gap among those of all."""
    count = len(it.contacts)
    return it.contacts[k] if k < count else len(it.rows.kind) + it.scalars[k - count]


@compiled
def is_wanted(these: Gaps, c: int) -> bool:
    """Whether an impulse acts at a gap, which is then to be where it is wanted."""
    return these.acted[c] > 0.0 and not np.isnan(these.wanted[c])


@compiled
def mobility_of(it: Island, c: int) -> float:
    """What a push of 1 along a gap moves it by."""
    n = len(it.rows.kind)
    return it.rows.mobility[c, 0] if c < n else it.lines.mobility[c - n]


@compiled
def moved(it: Island, c: int, z: Floats) -> float:
    """A z of a gap: what positions z move it by."""
    n = len(it.rows.kind)
    if c >= n:
        return moving(it.lines, c - n, z)
    return along(it.rows, c, 0, 0.0, z)


@compiled
def go_part(it: Island, these: Gaps, z: Floats, push: Floats, share: float) -> None:
    """Go but a share of an island's way from positions z on, and have pushed by as much of what pushes since ``push``
    (n + m,)."""
    for slot in it.slots:
        these.z[slot] = z[slot] + share * (these.z[slot] - z[slot])
    for k in range(len(it.contacts) + len(it.scalars)):
        c = gap_number(it, k)
        these.push[c] = push[c] + share * (these.push[c] - push[c])

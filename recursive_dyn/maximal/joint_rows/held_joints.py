"""Joints as rows of the solve of a step's impulses, so that what contacts do to a body travels through its joints.

A row that joins bodies keeps the rate with which it was flown here: the flight saw to that. Limits and dry friction of
a joint's coordinates are rows q-dot = S^+ V on its two bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from recursive_dyn.dynamics.turn_rows import ROWS, turn_rates, turn_row
from recursive_dyn.maximal.joint_rows.joint_rows import Joints
from recursive_dyn.maximal.joint_rows.row_system import RowSystem
from recursive_dyn.maximal.sparse.sparse_order import MoreSides
from recursive_dyn.model import limits
from recursive_dyn.model.ball_limits import MOST, ball_limits
from recursive_dyn.model.model import WORLD

Array = np.ndarray

ENTRIES = 12  # coefficients of a row on two bodies: their twists
REACH = 0.02  # rad or m: what impulses may move a coordinate by in a step


@dataclass(frozen=True, eq=False)
class HeldJoints:
    """m rows: number (m,), among all that there may be; slots, values (m, ``held_width``), 0 where a row has fewer;
    the rest as in GeneralizedRows."""

    number: Array
    slots: Array
    values: Array
    offsets: Array
    gaps: Array
    stops: Array
    holds: Array
    low: Array
    high: Array
    compliance: Array

    def __len__(self) -> int:
        return len(self.number)

    @classmethod
    def together(cls, parts: list[HeldJoints]) -> HeldJoints:
        """All rows of some, one after the other."""
        return cls(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(cls)))


@dataclass(frozen=True, eq=False)
class CoordinateDrives:
    """Of m shafts, (m,) each: slots, by which they are told; first slot and number of the coordinates of one joint that
    each moves by ``along`` (m, MOST), mostly its own alone; ways that are left, and velocity to come to; of impulses of
    a step: stiffness by rad or m, damping by the rate, hardness by the rate at its end, and the most of them."""

    slots: Array
    firsts: Array
    sizes: Array
    along: Array
    ways: Array
    velocity: Array
    stiffness: Array
    damping: Array
    hardness: Array
    most: Array


def held_width(more: MoreSides) -> int:
    """How many coefficients a row has at most."""
    return ENTRIES + 6 * int(np.bincount(more.rows).max(initial=0))


def joined(joints: Joints, system: RowSystem, twists: Array, touched: Array) -> HeldJoints:
    """The rows of joints of what hangs together with a link that is ``touched`` (nl,), where the flight led."""
    moved = np.isin(joints.roots, joints.roots[touched])[joints.children]
    i, r = np.nonzero(np.isfinite(system.softness) & moved[:, None])
    rates = system.rows.rates(joints, twists)[i, r]
    hard, free = joints.structural[i, r], np.full(len(i), np.inf)
    return _rows(
        joints, system, i, r, 6 * i + r, -rates, holds=hard, low=-free, high=free, compliance=system.softness[i, r]
    )


def bounded(joints: Joints, system: RowSystem, twists: Array, h: float) -> HeldJoints:
    """Limits within reach, and dry friction, of the joints' coordinates in a step of h.

    Friction brakes rates as everyone measures them, whatever twists (nl, 6) rows begin with.
    """
    model, rows, first = joints.reduced.model, system.rows, 6 * len(joints)
    own, rubs = limits.limited(model), limits.rubbing(model)
    joint, row = joints.row_of_slot
    count, parts = len(own.slots), []
    for side, bound in enumerate((own.low, own.high)):
        sign = 1.0 - 2.0 * side
        gap = sign * (rows.q[own.places] - bound)
        near = np.flatnonzero(gap <= REACH + h * np.abs(rows.v[own.slots]))
        i, r, zeros = joint[own.slots[near]], row[own.slots[near]], np.zeros(len(near))
        offsets = sign * rows.offsets[i, r]
        parts.append(_rows(joints, system, i, r, first + side * count + near, offsets, sign, gap[near], low=zeros,
                           high=zeros + np.inf))  # fmt: skip
    i, r, most = joint[rubs.slots], row[rubs.slots], h * rubs.friction
    numbers = first + 2 * count + np.arange(len(rubs.slots))
    offsets = rows.v[rubs.slots] - rows.rates(joints, twists)[i, r]
    parts.append(_rows(joints, system, i, r, numbers, offsets, low=-most, high=most))
    return HeldJoints.together(parts)


def driven(joints: Joints, system: RowSystem, twists: Array, drives: CoordinateDrives) -> HeldJoints:
    """Springs and dampers to where coordinates should be, each at most as hard as it may, from where the flight led.

    They measure rates as friction does.
    """
    (joint, row), rows, own = joints.row_of_slot, system.rows, np.flatnonzero(drives.hardness > 0.0)
    columns, along = np.arange(MOST), drives.along[own]
    slots = drives.firsts[own, None] + np.where(columns < drives.sizes[own, None], columns, 0)
    i, r = joint[slots], row[slots]
    lags = drives.velocity[own] - (along * rows.v[slots]).sum(axis=-1)
    pushes = (drives.stiffness[own] * drives.ways[own] + drives.damping[own] * lags) / drives.hardness[own]
    first, most = first_motor(joints), drives.most[own]
    offsets = -(along * rows.rates(joints, twists)[i, r]).sum(axis=-1) - pushes
    held = _rows(
        joints, system, i[:, 0], r[:, 0], first + drives.slots[own], offsets, low=-most, high=most,
        compliance=1.0 / drives.hardness[own],
    )  # fmt: skip
    on = joints.parents[i[:, 0]] != WORLD
    held.values[:, :6] = (along[:, :, None] * rows.child[i, r]).sum(axis=1)
    held.values[:, ENTRIES:] *= along[:, :1]
    held.values[on, 6:ENTRIES] = (along[:, :, None] * rows.parent[i, r]).sum(axis=1)[on]
    return held


def turned(joints: Joints, system: RowSystem, h: float) -> HeldJoints:
    """Limits of balls within reach in a step of h."""
    rows, (turn, rates) = system.rows, np.zeros((2, MOST))
    it, (joint, row) = ball_limits(joints.reduced.model), joints.row_of_slot
    motion = joints.reduced.call("chart_motion", rows.q) if (it.motions >= 0).any() else rows.q[:0]
    first, parts = first_turn(joints), []
    for number in range(ROWS * len(it.slots)):
        kind, k = divmod(number, len(it.slots))
        gap = turn_row(it, k, kind, rows.q if it.motions[k] < 0 else motion, turn)
        if not turn_rates(it, k, turn, motion, rates):
            continue
        slots, own = it.slots[k] + np.arange(it.counts[k]), rates[: it.counts[k]]
        if gap <= REACH + h * abs(float(own @ rows.v[slots])):
            one = np.zeros(1)
            i, r, numbers = joint[slots[:1]], row[slots[:1]], np.array([first + number])
            held = _rows(joints, system, i, r, numbers, one, gaps=one + gap, low=one, high=one + np.inf)
            held.values[0, :6] = own @ rows.child[i[0], row[slots]]
            if joints.parents[i[0]] != WORLD:
                held.values[0, 6:ENTRIES] = own @ rows.parent[i[0], row[slots]]
            parts.append(held)
    none = np.zeros(0)
    nothing = none.astype(np.int64)
    empty = _rows(joints, system, nothing, nothing, nothing, none, gaps=none, low=none, high=none)
    return HeldJoints.together([empty, *parts])


def first_motor(joints: Joints) -> int:
    """The number of the row of the first coordinate's motor."""
    model = joints.reduced.model
    return 6 * len(joints) + 2 * len(limits.limited(model).slots) + len(limits.rubbing(model).slots)


def first_turn(joints: Joints) -> int:
    """The number of the first row of a ball's limits."""
    return first_motor(joints) + joints.reduced.nv


def _rows(
    joints: Joints, system: RowSystem, i: Array, r: Array, numbers: Array, offsets: Array, sign: float = 1.0,
    gaps: Array | None = None, holds: Array | None = None, *, low: Array, high: Array, compliance: Array | None = None,
) -> HeldJoints:  # fmt: skip
    """Rows r (m,) of joints i (m,), or their opposites; those of coordinates as they are, not as springs scale them."""
    m, parent = len(i), joints.parents[i]
    rows = system.rows
    width = held_width(joints.more)
    slots, values = np.zeros((m, width), dtype=np.int64), np.zeros((m, width))
    six = np.arange(6)
    slots[:, :6], values[:, :6] = 6 * joints.children[i][:, None] + six, sign * rows.child[i, r]
    on = parent != WORLD
    slots[on, 6:ENTRIES], values[on, 6:ENTRIES] = 6 * parent[on, None] + six, sign * rows.parent[i, r][on]
    for k in np.flatnonzero(np.isin(i, joints.more.rows)).tolist():
        own = np.flatnonzero(joints.more.rows == i[k])
        at = ENTRIES + np.arange(6 * len(own))
        slots[k, at] = (6 * joints.more.links[own][:, None] + six).reshape(-1)
        values[k, at] = sign * rows.more[own].reshape(-1)
    nothing, none = np.zeros(m), np.zeros(m, dtype=bool)
    return HeldJoints(
        numbers, slots, values, offsets, nothing if gaps is None else gaps, none if gaps is None else ~none,
        none if holds is None else holds, low, high, nothing if compliance is None else compliance,
    )  # fmt: skip

"""Rows that are handed to a step from outside its machine code: joints between free bodies, where they are flown to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.contact.problem import GeneralizedRows
from recursive_dyn.maximal.joint_rows.held_joints import HeldJoints


class HeldRows(NamedTuple):
    """size[0] of them: number (m,) among those that there may be; slots, values (width[0] m,) of their
    coefficients, of which zeros are none; the rest as in GeneralizedRows. astray (nv,): what velocities have that
    joints do not allow, and rows do not see; or none."""

    width: Integers
    size: Integers
    number: Integers
    slots: Integers
    values: Floats
    offsets: Floats
    gaps: Floats
    stops: Flags
    holds: Flags
    low: Floats
    high: Floats
    compliance: Floats
    astray: Floats


def room_to_hold(count: int, width: int, nv: int) -> HeldRows:
    """Room for so many rows of so many coefficients each, on nv velocities."""
    number = np.zeros(count, dtype=np.int64)
    offsets, gaps, low, high, compliance = np.zeros((5, count))
    stops, holds = np.zeros((2, count), dtype=bool)
    slots, values = np.zeros(width * count, dtype=np.int64), np.zeros(width * count)
    return HeldRows(
        np.array([width]),
        np.zeros(1, dtype=np.int64),
        number,
        slots,
        values,
        offsets,
        gaps,
        stops,
        holds,
        low,
        high,
        compliance,
        np.zeros(nv if count else 0),
    )


def hold(room: HeldRows, rows: HeldJoints, astray: np.ndarray) -> None:
    """Write rows into the room, and what velocities (nv,) have that joints do not allow."""
    m = room.size[0] = len(rows)
    room.number[:m] = rows.number
    coefficients = int(room.width[0]) * m
    room.slots[:coefficients], room.values[:coefficients] = rows.slots.reshape(-1), rows.values.reshape(-1)
    room.offsets[:m], room.gaps[:m], room.stops[:m], room.holds[:m] = rows.offsets, rows.gaps, rows.stops, rows.holds
    room.low[:m], room.high[:m], room.compliance[:m] = rows.low, rows.high, rows.compliance
    room.astray[:] = astray[: len(room.astray)]


@compiled
def append_held(
    held: HeldRows, rows: GeneralizedRows, numbers: Integers, earlier: Floats, start: int, base: int
) -> int:
    """Write the held rows, numbered from ``base`` on, from row ``start`` on; how many rows there are then."""
    at = rows.first[start] if start else 0
    for k in range(held.size[0]):
        i = start + k
        numbers[i] = base + held.number[k]
        rows.impulses[i], rows.offsets[i], rows.gaps[i] = earlier[numbers[i]], held.offsets[k], held.gaps[k]
        rows.targets[i], rows.compliance[i] = 0.0, held.compliance[k]
        rows.stops[i], rows.holds[i] = held.stops[k], held.holds[k]
        rows.low[i], rows.high[i] = held.low[k], held.high[k]
        for j in range(held.width[0] * k, held.width[0] * (k + 1)):
            if held.values[j] != 0.0:
                rows.slots[at], rows.values[at] = held.slots[j], held.values[j]
                at += 1
        rows.first[i + 1] = at
    return start + held.size[0]

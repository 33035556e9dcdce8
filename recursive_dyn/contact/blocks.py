"""Blocks of rows, and islands of them: their velocities, and what their impulses do to whitened coordinates."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled

SPIN, ROLL = 3, 4  # first component of each part of a block of six


class ContactRows(NamedTuple):
    """Blocks of contacts (n of them) in whitened coordinates: 3 to 6 rows that share one list of coordinates, normal,
    two tangents, then the moments of spinning and of rolling friction where there are any.

    links (n, 2): of A and B, free body k counting as link nl + k; axes (n, 3, 3): normal and tangents; first (n + 1,),
    slots: coordinates of each block; start (n,): where its numbers begin in ``values``, all rows of one coordinate
    after those of the other; kind (n,): bit 1 spinning, bit 2 rolling friction; height (n,): how many rows, 0 for what
    reaches nothing; speed (n, 6): velocities of the rows without impulses; before (n,): along the normal at the step's
    start; coasting (n,): then, had nothing but forces on centres of mass acted, or NaN where that is not known; forced
    (n,): what forces accelerate along the normal by where the flight ends, m/s^2, or NaN, rising (n,): by how much more
    than where it began, and beside (n, 2): along the tangents; lasting (n,): 1 for what goes on from what pressed, as
    it turns, else 0; mobility (n, 21): what impulses of the block do to them, components (i, j) with j <= i at
    i (i + 1) / 2 + j.
    """

    links: Annotated[np.ndarray, int, 2]
    axes: Annotated[np.ndarray, float, 3, 3]
    first: Integers
    slots: Integers
    start: Integers
    values: Floats
    kind: Integers
    height: Integers
    speed: Annotated[np.ndarray, float, 6]
    before: Floats
    coasting: Floats
    forced: Floats
    rising: Floats
    beside: Annotated[np.ndarray, float, 2]
    lasting: Floats
    mobility: Annotated[np.ndarray, float, 21]


class ScalarRows(NamedTuple):
    """Rows on generalized directions (m of them): limits, motors, joint friction, loop constraints.

    first (m + 1,), slots, values: whitened coefficients; speed (m,): velocity without impulses; target (m,); low, high
    (m,): bounds of the impulse, within which the velocity meets its target; soft (m,): velocity by which an impulse of
    1 gives way; mobility (m,).
    """

    first: Integers
    slots: Integers
    values: Floats
    speed: Floats
    target: Floats
    low: Floats
    high: Floats
    soft: Floats
    mobility: Floats


class Island(NamedTuple):
    """Rows that are solved together, and what is found.

    rows, lines: of the whole solve, of which this island has ``contacts`` and ``scalars``; targets (n,), frictions
    (n, 5): of the contacts. P (n, 6), Q (m,): impulses; y: whitened velocities, of which the island has ``slots``;
    time: as in ``budget``.
    """

    rows: ContactRows
    lines: ScalarRows
    targets: Floats
    frictions: Annotated[np.ndarray, float, 5]
    contacts: Integers
    scalars: Integers
    slots: Integers
    P: Annotated[np.ndarray, float, 6]
    Q: Floats
    y: Floats
    time: Integers


@compiled
def component(kind: int, i: int) -> int:
    """Which of the six components of a block its i-th row is: rolling follows at once where nothing spins."""
    return i + 1 if i >= SPIN and kind & 1 == 0 else i


@compiled
def velocity(rows: ContactRows, c: int, i: int, y: Floats) -> float:
    """Velocity of the i-th row of a contact's block."""
    return along(rows, c, i, rows.speed[c, component(rows.kind[c], i)], y)


@compiled
def along(rows: ContactRows, c: int, i: int, total: float, y: Floats) -> float:
    """What y makes of a number along the i-th row of a contact's block."""
    height, at = rows.height[c], rows.start[c] + i
    for k in range(rows.first[c], rows.first[c + 1]):
        total += rows.values[at] * y[rows.slots[k]]
        at += height
    return total


@compiled
def along_three(rows: ContactRows, c: int, v0: float, v1: float, v2: float, y: Floats) -> tuple[float, float, float]:
    """What y makes of three numbers along the first three rows of a contact's block."""
    values, slots, height, at = rows.values, rows.slots, rows.height[c], rows.start[c]
    for k in range(rows.first[c], rows.first[c + 1]):
        rate = y[slots[k]]
        v0 += values[at] * rate
        v1 += values[at + 1] * rate
        v2 += values[at + 2] * rate
        at += height
    return v0, v1, v2


@compiled
def add(rows: ContactRows, c: int, i: int, amount: float, y: Floats) -> None:
    """y changed by an impulse along the i-th row of a contact's block."""
    height, at = rows.height[c], rows.start[c] + i
    for k in range(rows.first[c], rows.first[c + 1]):
        y[rows.slots[k]] += rows.values[at] * amount
        at += height


@compiled
def add_impulse(rows: ContactRows, c: int, share: float, p: Floats, y: Floats) -> None:
    """y changed by a share of the impulse p (6,) of all rows of a contact's block."""
    for i in range(rows.height[c]):
        add(rows, c, i, share * p[component(rows.kind[c], i)], y)


@compiled
def add_three(rows: ContactRows, c: int, p0: float, p1: float, p2: float, y: Floats) -> None:
    """y changed by impulses along the first three rows of a contact's block."""
    values, slots, height, at = rows.values, rows.slots, rows.height[c], rows.start[c]
    for k in range(rows.first[c], rows.first[c + 1]):
        y[slots[k]] = y[slots[k]] + values[at] * p0 + values[at + 1] * p1 + values[at + 2] * p2
        at += height


@compiled
def moving(lines: ScalarRows, s: int, y: Floats) -> float:
    """What y does to the velocity of a scalar row."""
    total = 0.0
    for k in range(lines.first[s], lines.first[s + 1]):
        total += lines.values[k] * y[lines.slots[k]]
    return total


@compiled
def add_scalar(lines: ScalarRows, s: int, amount: float, y: Floats) -> None:
    """y changed by an impulse along a scalar row."""
    for k in range(lines.first[s], lines.first[s + 1]):
        y[lines.slots[k]] += lines.values[k] * amount


@compiled
def accumulate(it: Island) -> None:
    """y = A^T p over these rows."""
    y, P, Q = it.y, it.P, it.Q
    for slot in it.slots:
        y[slot] = 0.0
    for c in it.contacts:
        add_three(it.rows, c, P[c, 0], P[c, 1], P[c, 2], y)
        for i in range(SPIN, it.rows.height[c]):
            add(it.rows, c, i, P[c, component(it.rows.kind[c], i)], y)
    for s in it.scalars:
        add_scalar(it.lines, s, Q[s], y)

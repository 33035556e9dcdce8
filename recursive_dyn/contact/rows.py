"""The rows of contacts in whitened coordinates, and those of generalized directions.

A contact is a block of 3 to 6 rows that share one list of coordinates: normal, two tangents, then the moments of
spinning and of rolling friction where there are any.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.numba_loops import compiled
from recursive_dyn.contact.given import ContactArrays, DirectionRows
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import FreeInertias
from recursive_dyn.contact.responses import push, reach, reduce

SPIN, ROLL = 3, 4  # first component of each part of a block of six


class ContactRows(NamedTuple):
    """Blocks in whitened coordinates.

    axes (n, 3, 3): normal and tangents; first (n + 1,), slots: coordinates of each block; start (n,): where its rows
    begin in ``values``, one row after the other, len(slots of block) numbers each; kind (n,): bit 1 spinning, bit 2
    rolling friction; speed (n, 6): velocities of the rows without impulses, before (n, 3): at the start of the step.
    """

    axes: np.ndarray
    first: np.ndarray
    slots: np.ndarray
    start: np.ndarray
    values: np.ndarray
    kind: np.ndarray
    speed: np.ndarray
    before: np.ndarray


class ScalarRows(NamedTuple):
    """Rows on generalized directions: limits, motors, joint friction, loop constraints.

    first (m + 1,), slots, values: whitened coefficients; speed (m,): velocity without impulses, before (m,): at the
    start of the step; target (m,); low, high (m,): bounds of the impulse, within which the velocity meets its target;
    soft (m,): velocity by which an impulse of 1 gives way, at first as a share of what it makes.
    """

    first: np.ndarray
    slots: np.ndarray
    values: np.ndarray
    speed: np.ndarray
    before: np.ndarray
    target: np.ndarray
    low: np.ndarray
    high: np.ndarray
    soft: np.ndarray


@compiled
def basis(n: np.ndarray, axes: np.ndarray) -> None:
    """axes (3, 3): n and two tangents, as rows."""
    axes[0] = n
    if abs(n[0]) < 0.6:
        axes[1, 0], axes[1, 1], axes[1, 2] = 0.0, n[2], -n[1]
    else:
        axes[1, 0], axes[1, 1], axes[1, 2] = -n[2], 0.0, n[0]
    length = np.sqrt(axes[1, 0] ** 2 + axes[1, 1] ** 2 + axes[1, 2] ** 2)
    axes[1] /= length
    for k in range(3):
        axes[2, k] = n[(k + 1) % 3] * axes[1, (k + 2) % 3] - n[(k + 2) % 3] * axes[1, (k + 1) % 3]


@compiled
def _wrench(direction: np.ndarray, arm: np.ndarray, moment: bool, sign: float, F: np.ndarray) -> None:
    """F (6,): a unit impulse along ``direction`` at ``arm`` from the reference point, or a unit turning impulse."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        F[k] = sign * (direction[k] if moment else arm[i] * direction[j] - arm[j] * direction[i])
        F[3 + k] = 0.0 if moment else sign * direction[k]


@compiled
def _along(direction: np.ndarray, arm: np.ndarray, moment: bool, V: np.ndarray) -> float:
    """Component of a twist V (6,) about the reference point: of the velocity at ``arm``, or of the spin."""
    total = 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        total += direction[k] * (V[k] if moment else V[3 + k] + V[i] * arm[j] - V[j] * arm[i])
    return total


@compiled
def _gather(layout: Layout, a: int, b: int, marks: np.ndarray, index: np.ndarray) -> int:
    """Coordinates (rising within each body) that a block between two links, or free bodies, reaches; their number."""
    count = 0
    links = len(layout.parent)
    for link in (a, b):
        if link >= links:
            for k in range(6):
                index[count + k] = layout.nv + 6 * (link - links) + k
            count += 6
        elif link >= 0:
            count = reach(layout, link, marks, index, count)
    for k in range(count):
        if index[k] < layout.nv:
            marks[index[k]] = 0
    return count


@compiled
def contact_rows(
    layout: Layout,
    factors: np.ndarray,
    root: np.ndarray,
    V: np.ndarray,
    contacts: ContactArrays,
    free: FreeInertias,
) -> ContactRows:
    """The blocks of contacts. root (nv,): D^-1/2, V (nl, 6): the links' twists."""
    rows, links = _empty(layout, contacts), len(layout.parent)
    approach = start_velocities(contacts)
    marks = np.zeros(layout.nv, dtype=np.int64)
    inward, F, arm = np.zeros((2, layout.nv)), np.zeros(6), np.zeros(3)
    for c in range(len(contacts.links)):
        basis(contacts.normals[c], rows.axes[c])
        own = rows.slots[rows.first[c] : rows.first[c + 1]]
        _gather(layout, contacts.links[c, 0], contacts.links[c, 1], marks, own)
        at = rows.start[c]
        for r in range(6):
            if not _has(rows.kind[c], r):
                continue
            moment, row = r >= SPIN, rows.values[at : at + len(own)]
            direction = rows.axes[c, 0 if r == SPIN else (r if r < SPIN else r - 3)]
            speed = 0.0 if moment else -_dot(direction, contacts.drift[c])
            for side in range(2):
                link, sign = contacts.links[c, side], 1.0 - 2.0 * side
                if link < 0:
                    continue
                body = link - links  # of the free ones, where it is not negative
                for k in range(3):
                    origin = factors[layout.refs + 3 * link + k] if body < 0 else free.centers[body, k]
                    arm[k] = contacts.points[c, side, k] - origin
                _wrench(direction, arm, moment, sign, F)
                speed += sign * _along(direction, arm, moment, V[link] if body < 0 else free.twists[body])
                if body < 0:
                    push(layout, factors, link, F, inward[side])
                else:
                    _whiten_free(free.spins[body], free.masses[body], F, row[-6:] if side == 1 else row[:6])
            _whiten(own, root, inward, row)
            rows.speed[c, r] = speed
            if r < SPIN:
                rows.before[c, r] = _dot(direction, approach[c])
            at += len(own)
    return rows


@compiled
def _whiten_free(spin: np.ndarray, mass: float, F: np.ndarray, row: np.ndarray) -> None:
    """A free body's part (6,) of the row of a wrench F (6,) about its centre of mass."""
    for k in range(3):
        turn = 0.0
        for j in range(3):
            turn += spin[j, k] * F[j]
        row[k] = turn
        row[3 + k] = F[3 + k] * mass


@compiled
def _whiten(slots: np.ndarray, root: np.ndarray, inward: np.ndarray, row: np.ndarray) -> None:
    """The links' part of a row from what both sides reduced to, ``inward`` (2, nv), which becomes zero again."""
    for k in range(len(slots)):
        slot = slots[k]
        if slot < len(root):
            row[k] = (inward[0, slot] + inward[1, slot]) * root[slot]
            inward[0, slot] = 0.0
            inward[1, slot] = 0.0


@compiled
def _empty(layout: Layout, contacts: ContactArrays) -> ContactRows:
    """Room for all blocks: their kinds and sizes."""
    n = len(contacts.links)
    kind = np.zeros(n, dtype=np.int64)
    first, start = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    marks = np.zeros(layout.nv, dtype=np.int64)
    scratch = np.zeros(2 * layout.nv + 12, dtype=np.int64)
    for c in range(n):
        kind[c] = (1 if contacts.frictions[c, 3] > 0.0 else 0) + (2 if contacts.frictions[c, 2] > 0.0 else 0)
        size = _gather(layout, contacts.links[c, 0], contacts.links[c, 1], marks, scratch)
        first[c + 1] = first[c] + size
        start[c + 1] = start[c] + size * _height(kind[c])
    slots = np.zeros(first[n], dtype=np.int64)
    return ContactRows(
        np.zeros((n, 3, 3)), first, slots, start, np.zeros(start[n]), kind, np.zeros((n, 6)), np.zeros((n, 3))
    )


@compiled
def start_velocities(contacts: ContactArrays) -> np.ndarray:
    """Velocity (n, 3) of A's point against B's at the start of the step."""
    result = -contacts.drift
    for c in range(len(result)):
        for side in range(2):
            i = contacts.bodies[c, side]
            if i >= 0:
                sign, twist = 1.0 - 2.0 * side, contacts.start_twists[i]
                origin, point = contacts.origins[i], contacts.points[c, side]
                for k in range(3):
                    a, b = (k + 1) % 3, (k + 2) % 3
                    arm_a, arm_b = point[a] - origin[a], point[b] - origin[b]
                    result[c, k] += sign * (twist[3 + k] + twist[a] * arm_b - twist[b] * arm_a)
    return result


@compiled
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def _has(kind: int, component: int) -> bool:
    return component < SPIN or (component == SPIN and kind & 1 != 0) or (component >= ROLL and kind & 2 != 0)


@compiled
def _height(kind: int) -> int:
    return 3 + (1 if kind & 1 else 0) + (2 if kind & 2 else 0)


@compiled
def whitened(layout: Layout, factors: np.ndarray, root: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Whitened rows (m, nv) of generalized directions (m, nv)."""
    result = directions.copy()
    for i in range(len(directions)):
        reduce(layout, factors, result[i])
        for k in range(layout.nv):
            result[i, k] *= root[k]
    return result


@compiled
def scalar_rows(
    layout: Layout, factors: np.ndarray, root: np.ndarray, v: np.ndarray, start_v: np.ndarray, given: DirectionRows
) -> ScalarRows:
    """Rows of generalized directions, whose velocities are v (nv,) without impulses and start_v at the step's start."""
    first, slots, values = _compressed(whitened(layout, factors, root, given.directions))
    speed, before = given.offsets.copy(), given.offsets.copy()
    for i in range(len(speed)):
        for k in range(layout.nv):
            speed[i] += given.directions[i, k] * v[k]
            before[i] += given.directions[i, k] * start_v[k]
    return ScalarRows(
        first, slots, values, speed, before, given.targets.copy(), given.low, given.high, given.softness.copy()
    )


@compiled
def _compressed(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(first, index, values) of the nonzero entries of dense (m, n), row by row."""
    m, n = dense.shape
    first = np.zeros(m + 1, dtype=np.int64)
    for i in range(m):
        first[i + 1] = first[i]
        for k in range(n):
            if dense[i, k] != 0.0:
                first[i + 1] += 1
    index, values = np.zeros(first[m], dtype=np.int64), np.zeros(first[m])
    at = 0
    for i in range(m):
        for k in range(n):
            if dense[i, k] != 0.0:
                index[at], values[at] = k, dense[i, k]
                at += 1
    return first, index, values

"""Rows of an impulse solve: contacts between links, free bodies and the world, and rows on single coordinates.

A contact is a block of 3 to 6 rows that share one list of coordinates: normal, two tangents, then the moments of
spinning and of rolling friction where there are any.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.responses import expand, inverses, push, reduce, twists

SPIN, ROLL = 3, 4  # first row of each part of a block of six


class Rows(NamedTuple):
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
    """Coordinates (rising within each body) that a block between two movers reaches; their number.

    A mover is a link, or len(links) + k for free body k, or negative for what is immovable.
    """
    count = 0
    links = len(layout.parent)
    for mover in (a, b):
        if mover >= links:
            for k in range(6):
                index[count + k] = layout.nv + 6 * (mover - links) + k
            count += 6
        elif mover >= 0:
            for s in range(layout.support_first[mover], layout.support_first[mover + 1]):
                slot = layout.support[s]
                if marks[slot] == 0:
                    marks[slot] = 1
                    index[count] = slot
                    count += 1
    for k in range(count):
        if index[k] < layout.nv:
            marks[index[k]] = 0
    return count


@compiled
def contact_rows(
    layout: Layout,
    factors: np.ndarray,
    root: np.ndarray,
    movers: np.ndarray,  # (n, 2)
    points: np.ndarray,  # (n, 2, 3)
    normals: np.ndarray,
    frictions: np.ndarray,
    drift: np.ndarray,
    V: np.ndarray,
    earlier: np.ndarray,  # (n, 3) relative velocity at the start of the step
    free_center: np.ndarray,
    free_twist: np.ndarray,
    free_mass: np.ndarray,  # 1 / sqrt(m)
    free_spin: np.ndarray,  # (m, 3, 3) with I^-1 = X X^T
) -> Rows:
    """The blocks of contacts (n of them)."""
    n, links = len(movers), len(layout.parent)
    axes, kind = np.zeros((n, 3, 3)), np.zeros(n, dtype=np.int64)
    first, start = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    marks = np.zeros(layout.nv, dtype=np.int64)
    scratch = np.zeros(2 * layout.nv + 12, dtype=np.int64)
    for c in range(n):
        kind[c] = (1 if frictions[c, 3] > 0.0 else 0) + (2 if frictions[c, 2] > 0.0 else 0)
        size = _gather(layout, movers[c, 0], movers[c, 1], marks, scratch)
        first[c + 1] = first[c] + size
        start[c + 1] = start[c] + size * _height(kind[c])
    index = np.zeros(first[n], dtype=np.int64)
    values = np.zeros(start[n])
    speed, before = np.zeros((n, 6)), np.zeros((n, 3))
    ca, cb, F, arm = np.zeros(layout.nv), np.zeros(layout.nv), np.zeros(6), np.zeros(3)
    for c in range(n):
        basis(normals[c], axes[c])
        size = first[c + 1] - first[c]
        own = index[first[c] : first[c + 1]]
        _gather(layout, movers[c, 0], movers[c, 1], marks, own)
        row = start[c]
        for r in range(6):
            if not _has(kind[c], r):
                continue
            moment = r >= SPIN
            direction = axes[c, 0] if r == SPIN else axes[c, r if r < SPIN else r - 3]
            total = 0.0 if moment else -_dot(direction, drift[c])
            for side in range(2):
                mover, sign = movers[c, side], 1.0 - 2.0 * side
                if mover < 0:
                    continue
                if mover >= links:
                    m = mover - links
                    for k in range(3):
                        arm[k] = points[c, side, k] - free_center[m, k]
                    _wrench(direction, arm, moment, sign, F)
                    total += sign * _along(direction, arm, moment, free_twist[m])
                    at = size - 6 if side == 1 else 0
                    for k in range(3):
                        spin = 0.0
                        for j in range(3):
                            spin += free_spin[m, j, k] * F[j]
                        values[row + at + k] = spin
                        values[row + at + 3 + k] = F[3 + k] * free_mass[m]
                else:
                    for k in range(3):
                        arm[k] = points[c, side, k] - factors[layout.refs + 3 * mover + k]
                    _wrench(direction, arm, moment, sign, F)
                    total += sign * _along(direction, arm, moment, V[mover])
                    target = ca if side == 0 else cb
                    push(layout, factors, mover, F, target)
            for k in range(size):
                slot = own[k]
                if slot < layout.nv:
                    values[row + k] = (ca[slot] + cb[slot]) * root[slot]
                    ca[slot] = 0.0
                    cb[slot] = 0.0
            speed[c, r] = total
            if not moment:
                before[c, r] = _dot(direction, earlier[c])
            row += size
    return Rows(axes, first, index, start, values, kind, speed, before)


@compiled
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def _has(kind: int, row: int) -> bool:
    return row < SPIN or (row == SPIN and kind & 1 != 0) or (row >= ROLL and kind & 2 != 0)


@compiled
def _height(kind: int) -> int:
    return 3 + (1 if kind & 1 else 0) + (2 if kind & 2 else 0)


@compiled
def generalized_rows(layout: Layout, factors: np.ndarray, root: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Whitened rows (m, nv) of generalized directions C (m, nv)."""
    result = C.copy()
    for i in range(len(C)):
        reduce(layout, factors, result[i])
        for k in range(layout.nv):
            result[i, k] *= root[k]
    return result


@compiled
def prepare(layout: Layout, factors: np.ndarray, v: np.ndarray, root: np.ndarray, V: np.ndarray) -> None:
    """root (nv,) = D^-1/2 and V (nl, 6), the links' twists."""
    inverses(layout, factors, root)
    twists(layout, factors, v, V)


@compiled
def unwhitened(layout: Layout, factors: np.ndarray, root: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Velocity (nv,) of whitened coordinates y (nv,): L^-1 D^-1/2 y."""
    x = y[: layout.nv] * root
    expand(layout, factors, x)
    return x

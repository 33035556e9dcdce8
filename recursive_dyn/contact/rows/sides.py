"""One side of a contact: what impulses there do to the coordinates of a link, or of a free body."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import SPIN, ContactRows, component
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import FreeInertias
from recursive_dyn.contact.rows.responses import push


@compiled
def link_side(
    layout: Layout,
    factors: Floats,
    V: Annotated[np.ndarray, float, 6],
    rows: ContactRows,
    c: int,
    side: int,
    points: Annotated[np.ndarray, float, 2, 3],
    begin: int,
    end: int,
    shared: bool,
    hinges: bool,
    inward: Annotated[np.ndarray, float, 3],
) -> None:
    """What impulses at a contact do to the coordinates of one link, before the factors D^-1/2.

    begin, end: places in ``slots`` of the coordinates that are its own; with ``shared`` some of A's before are B's too.
    hinges: ``only_hinges``; inward (nv, 3): scratch if so, else zeros and so again, as on its way an impulse passes
    coordinates that it does not reach.
    """
    link, sign, at = rows.links[c, side], 1.0 - 2.0 * side, layout.refs + 3 * rows.links[c, side]
    x, y, z = (
        points[c, side, 0] - factors[at],
        points[c, side, 1] - factors[at + 1],
        points[c, side, 2] - factors[at + 2],
    )
    _speeds(rows, c, sign, x, y, z, V, link)
    n0, n1, n2 = sign * rows.axes[c, 0, 0], sign * rows.axes[c, 0, 1], sign * rows.axes[c, 0, 2]
    s0, s1, s2 = sign * rows.axes[c, 1, 0], sign * rows.axes[c, 1, 1], sign * rows.axes[c, 1, 2]
    t0, t1, t2 = sign * rows.axes[c, 2, 0], sign * rows.axes[c, 2, 1], sign * rows.axes[c, 2, 2]
    also = rows.first[c] if shared else begin
    if shared and hinges:
        _clear(rows, also, end, inward)
    push(
        layout, factors, link, y * n2 - z * n1, z * n0 - x * n2, x * n1 - y * n0, n0, n1, n2,
        y * s2 - z * s1, z * s0 - x * s2, x * s1 - y * s0, s0, s1, s2,
        y * t2 - z * t1, z * t0 - x * t2, x * t1 - y * t0, t0, t1, t2, inward,
    )  # fmt: skip
    _take_three(rows, c, inward, also, begin, end)
    if not hinges:
        _clear(rows, also, end, inward)
    if rows.kind[c] == 0:
        return
    if shared and hinges:
        _clear(rows, also, end, inward)
    push(layout, factors, link, n0, n1, n2, 0.0, 0.0, 0.0, s0, s1, s2, 0.0, 0.0, 0.0, t0, t1, t2, 0.0, 0.0, 0.0, inward)
    for i in range(SPIN, rows.height[c]):
        _take(rows, c, i, component(rows.kind[c], i) - 3, inward, also, begin, end)
    if not hinges:
        _clear(rows, also, end, inward)


@compiled
def _clear(rows: ContactRows, begin: int, end: int, inward: Annotated[np.ndarray, float, 3]) -> None:
    for k in range(begin, end):
        slot = rows.slots[k]
        inward[slot, 0], inward[slot, 1], inward[slot, 2] = 0.0, 0.0, 0.0


@compiled
def _take_three(
    rows: ContactRows, c: int, inward: Annotated[np.ndarray, float, 3], also: int, begin: int, end: int
) -> None:
    """``_take`` of the normal and the tangents."""
    values, height = rows.values, rows.height[c]
    at = rows.start[c] + (also - rows.first[c]) * height
    for k in range(also, begin):
        slot = rows.slots[k]
        values[at] += inward[slot, 0]
        values[at + 1] += inward[slot, 1]
        values[at + 2] += inward[slot, 2]
        at += height
    for k in range(begin, end):
        slot = rows.slots[k]
        values[at], values[at + 1], values[at + 2] = inward[slot, 0], inward[slot, 1], inward[slot, 2]
        at += height


@compiled
def _take(
    rows: ContactRows,
    c: int,
    i: int,
    r: int,
    inward: Annotated[np.ndarray, float, 3],
    also: int,
    begin: int,
    end: int,
) -> None:
    """The i-th row of a block, from ``begin`` to ``end``, is column r of what an impulse reduced to; from ``also`` to
    ``begin`` it is added."""
    height = rows.height[c]
    at = rows.start[c] + i + (also - rows.first[c]) * height
    for k in range(also, begin):
        rows.values[at] += inward[rows.slots[k], r]
        at += height
    for k in range(begin, end):
        rows.values[at] = inward[rows.slots[k], r]
        at += height


@compiled
def _speeds(
    rows: ContactRows, c: int, sign: float, x: float, y: float, z: float, V: Annotated[np.ndarray, float, 6], i: int
) -> None:
    """Add to the velocities of a block's rows those of the twist V[i], with the contact at (x, y, z)."""
    u0 = V[i, 3] + V[i, 1] * z - V[i, 2] * y
    u1 = V[i, 4] + V[i, 2] * x - V[i, 0] * z
    u2 = V[i, 5] + V[i, 0] * y - V[i, 1] * x
    axes, speed, kind = rows.axes, rows.speed, rows.kind[c]
    for r in range(3):
        speed[c, r] += sign * (axes[c, r, 0] * u0 + axes[c, r, 1] * u1 + axes[c, r, 2] * u2)
        if kind & (1 if r == 0 else 2) != 0:
            turn = axes[c, r, 0] * V[i, 0] + axes[c, r, 1] * V[i, 1] + axes[c, r, 2] * V[i, 2]
            speed[c, 3 + r] += sign * turn


@compiled
def free_side(
    free: FreeInertias,
    rows: ContactRows,
    c: int,
    side: int,
    points: Annotated[np.ndarray, float, 2, 3],
    body: int,
    begin: int,
) -> None:
    """What impulses at a contact do to the whitened coordinates of a free body, from ``begin`` in ``slots``."""
    sign, height = 1.0 - 2.0 * side, rows.height[c]
    x = points[c, side, 0] - free.centers[body, 0]
    y = points[c, side, 1] - free.centers[body, 1]
    z = points[c, side, 2] - free.centers[body, 2]
    _speeds(rows, c, sign, x, y, z, free.twists, body)
    for i in range(height):
        r, at = component(rows.kind[c], i), rows.start[c] + (begin - rows.first[c]) * height + i
        turning = r >= SPIN
        axis = r - 3 if turning else r
        d0 = sign * rows.axes[c, axis, 0]
        d1 = sign * rows.axes[c, axis, 1]
        d2 = sign * rows.axes[c, axis, 2]
        m0, m1, m2 = y * d2 - z * d1, z * d0 - x * d2, x * d1 - y * d0
        if turning:
            m0, m1, m2 = d0, d1, d2
        for k in range(3):
            turn = free.spins[body, 0, k] * m0 + free.spins[body, 1, k] * m1 + free.spins[body, 2, k] * m2
            rows.values[at + k * height] = turn
        push = 0.0 if turning else free.masses[body]
        rows.values[at + 3 * height] = d0 * push
        rows.values[at + 4 * height] = d1 * push
        rows.values[at + 5 * height] = d2 * push


@compiled
def mobility(rows: ContactRows, c: int, root: Floats) -> None:
    """Whiten a block: its numbers times D^-1/2; and its mobility."""
    values, slots, height, G = rows.values, rows.slots, rows.height[c], rows.mobility
    g00, g10, g11, g20, g21, g22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    at = rows.start[c]
    for k in range(rows.first[c], rows.first[c + 1]):
        scale = root[slots[k]]
        x, y, z = values[at] * scale, values[at + 1] * scale, values[at + 2] * scale
        values[at], values[at + 1], values[at + 2] = x, y, z
        g00 += x * x
        g10 += x * y
        g11 += y * y
        g20 += x * z
        g21 += y * z
        g22 += z * z
        at += height
    G[c, 0], G[c, 1], G[c, 2], G[c, 3], G[c, 4], G[c, 5] = g00, g10, g11, g20, g21, g22
    if rows.kind[c] > 0:
        _turning_mobility(rows, c, root)


@compiled
def _turning_mobility(rows: ContactRows, c: int, root: Floats) -> None:
    """``mobility`` of what spins and rolls."""
    values, kind, height, G = rows.values, rows.kind[c], rows.height[c], rows.mobility
    for k in range(6, 21):
        G[c, k] = 0.0
    for i in range(SPIN, height):
        at = rows.start[c]
        for k in range(rows.first[c], rows.first[c + 1]):
            values[at + i] *= root[rows.slots[k]]
            at += height
        a = component(kind, i)
        for j in range(i + 1):
            total, at = 0.0, rows.start[c]
            for _ in range(rows.first[c], rows.first[c + 1]):
                total += values[at + i] * values[at + j]
                at += height
            G[c, a * (a + 1) // 2 + component(kind, j)] = total

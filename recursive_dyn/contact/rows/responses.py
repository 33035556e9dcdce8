"""Compiled recursions over the factors of M: an impulse inward, velocities outward; O(depth) and O(n).

Whitened coordinates: with M = L^T D L, an impulse row J becomes a = D^-1/2 L^-T J^T, so that J M^-1 J^T = a a^T
whatever tree the coordinates belong to, and one solver serves trees and free bodies alike.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.layout import CROSSING, ELIMINATION, HINGE, Layout

_Six = tuple[float, float, float, float, float, float]


@compiled
def only_hinges(layout: Layout) -> bool:
    """Whether all events are hinges: no coordinate is shared between joints."""
    others = 0
    for kind in layout.kind:
        if kind != HINGE:
            others += 1
    return others == 0


@compiled
def inverses(layout: Layout, factors: Floats, links: Integers, root: Floats) -> None:
    """The first nv of root = 1 / sqrt(D), but of what is eliminated at other links than these, or the world."""
    n = len(layout.parent)
    for i in links:
        _inverses(layout, factors, layout.first[i], layout.first[i + 1], root)
    _inverses(layout, factors, layout.first[n], layout.first[n + 1], root)


@compiled
def _inverses(layout: Layout, factors: Floats, first: int, end: int, root: Floats) -> None:
    for e in range(first, end):
        if layout.kind[e] != CROSSING:
            at = layout.data[e] + (12 if layout.kind[e] == HINGE else 6)
            root[layout.slot[e]] = np.sqrt(max(factors[at], 0.0))


@compiled
def _twist(V: Annotated[np.ndarray, float, 6], link: int) -> _Six:
    """The twist of a link, or of the world, whose number is below 0."""
    if link < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    return V[link, 0], V[link, 1], V[link, 2], V[link, 3], V[link, 4], V[link, 5]


@compiled
def _added(w: _Six, factors: Floats, d: int, rate: float) -> _Six:
    """w + S rate, with S the six factors from d on."""
    return (
        w[0] + factors[d] * rate, w[1] + factors[d + 1] * rate, w[2] + factors[d + 2] * rate,
        w[3] + factors[d + 3] * rate, w[4] + factors[d + 4] * rate, w[5] + factors[d + 5] * rate,
    )  # fmt: skip


@compiled
def twists(
    layout: Layout, factors: Floats, v: Floats, links: Integers, V: Annotated[np.ndarray, float, 6]
) -> None:  # fmt: skip
    """V (nl, 6): twist of every one of these links at the velocity v (nv,), world axes at its tree's point."""
    for i in links:
        w = _twist(V, layout.parent[i])
        for e in range(layout.first[i], layout.first[i + 1]):
            if layout.kind[e] != ELIMINATION:
                d, rate = layout.data[e], v[layout.slot[e]]
                w = _added(w, factors, d, rate)
        V[i, 0], V[i, 1], V[i, 2], V[i, 3], V[i, 4], V[i, 5] = w


@compiled
def moves_at(V: Annotated[np.ndarray, float, 6], k: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Velocity at (x, y, z) of what moves with the twist V[k]."""
    return (
        V[k, 3] + V[k, 1] * z - V[k, 2] * y,
        V[k, 4] + V[k, 2] * x - V[k, 0] * z,
        V[k, 5] + V[k, 0] * y - V[k, 1] * x,
    )


@compiled
def push(
    layout: Layout,
    factors: Floats,
    link: int,
    a0: float,
    a1: float,
    a2: float,
    a3: float,
    a4: float,
    a5: float,
    b0: float,
    b1: float,
    b2: float,
    b3: float,
    b4: float,
    b5: float,
    c0: float,
    c1: float,
    c2: float,
    c3: float,
    c4: float,
    c5: float,
    c: Annotated[np.ndarray, float, 3],
) -> None:
    """c (nv, 3) = L^-T J^T of three impulses a, b, c on a link, world axes about its tree's point.

    c is zero before where the link reaches, unless all events are hinges.
    """
    i, world = link, len(layout.parent)
    while True:
        for e in range(layout.first[i], layout.first[i + 1]):
            kind, d, slot = layout.kind[e], layout.data[e], layout.slot[e]
            if kind == ELIMINATION:
                x, y, z = c[slot, 0], c[slot, 1], c[slot, 2]
            else:
                f0, f1, f2 = factors[d], factors[d + 1], factors[d + 2]
                f3, f4, f5 = factors[d + 3], factors[d + 4], factors[d + 5]
                x = (f0 * a0 + f1 * a1) + (f2 * a2 + f3 * a3) + (f4 * a4 + f5 * a5)  # pairs: none waits for another
                y = (f0 * b0 + f1 * b1) + (f2 * b2 + f3 * b3) + (f4 * b4 + f5 * b5)
                z = (f0 * c0 + f1 * c1) + (f2 * c2 + f3 * c3) + (f4 * c4 + f5 * c5)
                if kind == CROSSING:
                    x, y, z = x + c[slot, 0], y + c[slot, 1], z + c[slot, 2]
                c[slot, 0], c[slot, 1], c[slot, 2] = x, y, z
                d += 6
            if kind != CROSSING:
                f0, f1, f2 = factors[d], factors[d + 1], factors[d + 2]
                f3, f4, f5 = factors[d + 3], factors[d + 4], factors[d + 5]
                a0, a1, a2, a3, a4, a5 = a0 - f0 * x, a1 - f1 * x, a2 - f2 * x, a3 - f3 * x, a4 - f4 * x, a5 - f5 * x
                b0, b1, b2, b3, b4, b5 = b0 - f0 * y, b1 - f1 * y, b2 - f2 * y, b3 - f3 * y, b4 - f4 * y, b5 - f5 * y
                c0, c1, c2, c3, c4, c5 = c0 - f0 * z, c1 - f1 * z, c2 - f2 * z, c3 - f3 * z, c4 - f4 * z, c5 - f5 * z
                for p in range(layout.port_first[e], layout.port_first[e + 1]):
                    ratio, port = factors[d + 7 + p - layout.port_first[e]], layout.port[p]
                    c[port, 0] -= ratio * x
                    c[port, 1] -= ratio * y
                    c[port, 2] -= ratio * z
        if i == world:
            break
        i = layout.parent[i] if layout.parent[i] >= 0 else world


@compiled
def _pass(layout: Layout, factors: Floats, i: int, F: Floats, c: Floats) -> None:
    """One impulse F (6,) inward past link i, as in ``push``."""
    for e in range(layout.first[i], layout.first[i + 1]):
        kind, d, slot = layout.kind[e], layout.data[e], layout.slot[e]
        if kind != ELIMINATION:
            total = 0.0
            for k in range(6):
                total += factors[d + k] * F[k]
            c[slot] += total
            d += 6
        if kind != CROSSING:
            value = c[slot]
            for k in range(6):
                F[k] -= factors[d + k] * value
            for p in range(layout.port_first[e], layout.port_first[e + 1]):
                c[layout.port[p]] -= factors[d + 7 + p - layout.port_first[e]] * value


@compiled
def reduce_one(layout: Layout, factors: Floats, slot: int, c: Floats) -> None:
    """c (nv,) <- L^-T c where c is zero but at slots eliminated at the link where this one is; touched from there
    towards the world."""
    F = np.zeros(6)
    i, world = layout.home[slot], len(layout.parent)
    while i != world:
        _pass(layout, factors, i, F, c)
        i = layout.parent[i] if layout.parent[i] >= 0 else world
    _pass(layout, factors, world, F, c)


@compiled
def reduce(layout: Layout, factors: Floats, c: Floats) -> None:
    """c (nv,) <- L^-T c."""
    n = len(layout.parent)
    F = np.zeros((n + 1, 6))
    for i in range(n - 1, -1, -1):
        _pass(layout, factors, i, F[i], c)
        parent = layout.parent[i]
        if parent >= 0:
            for k in range(6):
                F[parent, k] += F[i, k]
    _pass(layout, factors, n, F[n], c)


@compiled
def expand(
    layout: Layout, factors: Floats, root: Floats, y: Floats, links: Integers, V: Annotated[np.ndarray, float, 6],
    x: Floats,
) -> None:  # fmt: skip
    """x (nv,) = L^-1 D^-1/2 y: the velocity of whitened coordinates y, 0 but for these links'; V (nl, 6): these links'
    twists then."""
    n = len(layout.parent)
    for k in range(layout.nv):
        x[k] = y[k] * root[k]
    for e in range(layout.first[n + 1] - 1, layout.first[n] - 1, -1):
        x[layout.slot[e]] = _past_ports(layout, factors, e, layout.data[e], x[layout.slot[e]], x)
    for i in links:
        w = _twist(V, layout.parent[i])
        for e in range(layout.first[i + 1] - 1, layout.first[i] - 1, -1):
            kind, d, slot = layout.kind[e], layout.data[e], layout.slot[e]
            value = x[slot]
            if kind != CROSSING:
                at = d + 6 if kind == HINGE else d
                value = value - factors[at] * w[0] - factors[at + 1] * w[1] - factors[at + 2] * w[2]
                value = value - factors[at + 3] * w[3] - factors[at + 4] * w[4] - factors[at + 5] * w[5]
                value = _past_ports(layout, factors, e, at, value, x)
                x[slot] = value
            if kind != ELIMINATION:
                w = _added(w, factors, d, value)
        V[i, 0], V[i, 1], V[i, 2], V[i, 3], V[i, 4], V[i, 5] = w


@compiled
def whitened(layout: Layout, factors: Floats, root: Floats, x: Floats, y: Floats) -> None:
    """The first nv of y = D^1/2 L x: the inverse of ``expand``."""
    n = len(layout.parent)
    V = np.empty((n, 6))
    for e in range(layout.first[n + 1] - 1, layout.first[n] - 1, -1):
        slot = layout.slot[e]
        y[slot] = -_past_ports(layout, factors, e, layout.data[e], -x[slot], x) / root[slot]
    for i in range(n):
        w = _twist(V, layout.parent[i])
        for e in range(layout.first[i + 1] - 1, layout.first[i] - 1, -1):
            kind, d, slot = layout.kind[e], layout.data[e], layout.slot[e]
            if kind != CROSSING:
                at = d + 6 if kind == HINGE else d
                value = -x[slot] - factors[at] * w[0] - factors[at + 1] * w[1] - factors[at + 2] * w[2]
                value = value - factors[at + 3] * w[3] - factors[at + 4] * w[4] - factors[at + 5] * w[5]
                y[slot] = -_past_ports(layout, factors, e, at, value, x) / root[slot]
            if kind != ELIMINATION:
                w = _added(w, factors, d, x[slot])
        V[i, 0], V[i, 1], V[i, 2], V[i, 3], V[i, 4], V[i, 5] = w


@compiled
def _past_ports(layout: Layout, factors: Floats, e: int, d: int, value: float, x: Floats) -> float:
    """What an elimination, whose numbers start at d, leaves of a velocity as its open ports move."""
    for p in range(layout.port_first[e], layout.port_first[e + 1]):
        value -= factors[d + 7 + p - layout.port_first[e]] * x[layout.port[p]]
    return value

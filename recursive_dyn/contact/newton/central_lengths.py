"""Lengths along the central path of an island's laws: how much a change of w bends what it leads to, and how it goes.

An eigenvalue of w counts by its own size, (l^2 + 4 nu)^(1/2), which is small where it is not decided yet whether a
contact opens or slides, however hard it presses; what turns w_t counts by that one's. As w_n - |w_t| may be a
millionth of either, w_t that is to turn goes round: straight on it would grow, and what a heavy body presses on would
stick or slide otherwise after next to no step. Of a moment counts what room it has, z_0 - |z|,
and z_0 + |z|, each by itself, whether its w changes or what the contact carries; what turns its w counts by where that
changes z_0^2 - |z|^2 by as much as this and nu are.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.newton.central_moments import radius_slopes
from recursive_dyn.contact.newton.central_point import Central
from recursive_dyn.contact.newton.interior import Threes

_Five = tuple[float, float, float, float, float]
_Ten = tuple[float, float, float, float, float, float, float, float, float, float]


@compiled
def add(x: Threes, way: Threes, length: float) -> None:
    """x and so much of a way."""
    for e in range(len(x)):
        for i in range(3):
            x[e, i] += length * way[e, i]


@compiled
def leave(at: Central) -> None:
    """Begin to go from where w is."""
    at.origin[:] = at.w
    at.gone[:] = 0.0


@compiled
def go(at: Central, contacts: int, nu: float, way: Threes, length: float) -> None:
    """w goes so far along a way, of so many contacts and the rows after them, besides what it went since ``leave``: to
    first order that is added to it."""
    for k in range(len(at.w)):
        x, d, w = at.origin[k], at.gone[k], at.w[k]
        for i in range(3):
            d[i] += length * way[k, i]
            w[i] = x[i] + d[i]
        square = x[1] * x[1] + x[2] * x[2]
        if k < contacts and square > 0.0:
            slip = np.sqrt(square)
            t1, t2, round = x[1] / slip, x[2] / slip, square / (square + 4.0 * nu)  # none where w_t is undecided itself
            own, across = slip + t1 * d[1] + t2 * d[2], t1 * d[2] - t2 * d[1]
            half, straight = 0.5 * round * across / slip, (1.0 - round) * across
            share = 2.0 / (1.0 + half * half)
            cosine, sine = share - 1.0, share * half
            own, across = cosine * own - sine * straight, sine * own + cosine * straight
            w[1], w[2] = own * t1 - across * t2, own * t2 + across * t1


@compiled
def _counts(x: Floats) -> _Five:
    """How changes of a contact with these roots count."""
    first, second, half = x[0] + x[2], x[1] + x[3], 0.5 * (x[0] - x[2] - x[1] + x[3])
    if first > 0.0:
        return 1.0 / first, 1.0 / second, 1.0 / np.sqrt(half * half + 4.0 * x[0] * x[2]), x[4], x[5]
    return 0.0, 0.0, 0.0, 1.0, 0.0


@compiled
def _row_counts(at: Central, k: int, nu: float) -> float:
    """How changes of a scalar row count where it is."""
    return 1.0 / np.sqrt(at.w[k, 0] * at.w[k, 0] + 4.0 * nu)


@compiled
def weigh(at: Central, contacts: int, nu: float) -> None:
    """How changes count in products from here on, of so many contacts and the rows after them."""
    for e in range(contacts):
        own = at.weight[e]
        own[0], own[1], own[2], own[3], own[4] = _counts(at.roots[e])
    for k in range(contacts, len(at.weight)):
        at.weight[k, 0] = _row_counts(at, k, nu)
    for j in range(len(at.moments.contact)):
        own = at.moments.weight[j]
        own[0], own[1], own[2], own[3], own[4], own[5], own[6], own[7], own[8], own[9] = _moment_counts(at, j, nu)


@compiled
def _moment_counts(at: Central, j: int, nu: float) -> _Ten:
    """How changes of a moment, and of what its contact carries, count where it is."""
    x = at.roots[len(at.weight) + j]
    g, h = x[0], x[1]
    z0, z1, z2 = radius_slopes(at.roots[at.moments.contact[j]])
    whole = g * g * h * h + 0.5 * nu * (g * g + h * h)
    return (
        z0, z1, z2, x[4], x[5], g * (h * h + nu) / whole, g * h * h / whole, h * (g * g + nu) / whole,
        h * g * g / whole, g * h / np.sqrt((g * h + nu) * whole),
    )  # fmt: skip


@compiled
def _parts(own: _Five, d: Floats) -> tuple[float, float, float]:
    """What a change of w does to both eigenvalues, and across."""
    first, second, turn, t1, t2 = own
    along = t1 * d[1] + t2 * d[2]
    return first * (d[0] + along), second * (d[0] - along), turn * (t1 * d[2] - t2 * d[1])


@compiled
def _moment_parts(at: Central, j: int, own: _Ten, d: Threes) -> tuple[float, float, float]:
    """What a change of w does to z_0 - |z| and z_0 + |z| of a moment, and across."""
    z0, z1, z2, t1, t2, near, nearer, far, farther, turn = own
    w, c = d[len(at.weight) + j], d[at.moments.contact[j]]
    z, r = z0 * c[0] + z1 * c[1] + z2 * c[2], t1 * w[0] + t2 * w[1]
    return near * z - nearer * r, far * z + farther * r, turn * (t1 * w[1] - t2 * w[0])


@compiled
def product(at: Central, a: Threes, b: Threes) -> float:
    """The product of two changes of w where it was weighed."""
    result = 0.0
    for k in range(len(at.weight)):
        own = at.weight[k]
        counts = own[0], own[1], own[2], own[3], own[4]
        a0, a1, a2 = _parts(counts, a[k])
        b0, b1, b2 = _parts(counts, b[k])
        result += a0 * b0 + a1 * b1 + a2 * b2
    for j in range(len(at.moments.contact)):
        x = at.moments.weight[j]
        numbers = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9]
        a0, a1, a2 = _moment_parts(at, j, numbers, a)
        b0, b1, b2 = _moment_parts(at, j, numbers, b)
        result += a0 * b0 + a1 * b1 + a2 * b2
    return result


@compiled
def size(at: Central, contacts: int, nu: float, a: Threes, grows: float) -> float:
    """How large a change of w and log nu is where they are, of so many contacts and the rows after them: by the largest
    ones, as they bend the path. (By what counted where the step began, an eigenvalue that it decided would be on the
    path as soon as it is near it for what it was.)"""
    total = grows**2 * grows**2
    for e in range(contacts):
        a0, a1, a2 = _parts(_counts(at.roots[e]), a[e])
        square = a0 * a0 + a1 * a1 + a2 * a2
        total += square * square
    for k in range(contacts, len(at.weight)):
        own = _row_counts(at, k, nu) * a[k, 0]
        total += own**2 * own**2
    for j in range(len(at.moments.contact)):
        a0, a1, a2 = _moment_parts(at, j, _moment_counts(at, j, nu), a)
        square = a0 * a0 + a1 * a1 + a2 * a2
        total += square * square
    return np.sqrt(np.sqrt(total))

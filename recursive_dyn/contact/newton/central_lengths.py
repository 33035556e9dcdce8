"""Lengths along the central path of an island's laws: how much a change of w bends what it leads to.

An eigenvalue of w counts by its own size, (l^2 + 4 nu)^(1/2), which is small where it is not decided yet whether a
contact opens or slides, however hard it presses; what turns w_t counts by that one's.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.newton.central_point import Central
from recursive_dyn.contact.newton.interior import Threes


@compiled
def add(x: Threes, way: Threes, length: float) -> None:
    """x goes so far along a way."""
    for e in range(len(x)):
        for i in range(3):
            x[e, i] += length * way[e, i]


@compiled
def weigh(at: Central, contacts: int, nu: float) -> None:
    """How changes count where it is, of so many contacts and the rows after them."""
    for e in range(contacts):
        x, own = at.roots[e], at.weight[e]
        first, second, half = x[0] + x[2], x[1] + x[3], 0.5 * (x[0] - x[2] - x[1] + x[3])
        if first > 0.0:
            own[0], own[1], own[2] = 1.0 / first, 1.0 / second, 1.0 / np.sqrt(half * half + 4.0 * nu)
        own[3], own[4] = x[4], x[5]
    for k in range(contacts, len(at.w)):
        at.weight[k, 0] = 1.0 / np.sqrt(at.w[k, 0] * at.w[k, 0] + 4.0 * nu)


@compiled
def _parts(own: Floats, d: Floats) -> tuple[float, float, float]:
    """What a change of w does to both eigenvalues, and across."""
    along = own[3] * d[1] + own[4] * d[2]
    return own[0] * (d[0] + along), own[1] * (d[0] - along), own[2] * (own[3] * d[2] - own[4] * d[1])


@compiled
def product(at: Central, a: Threes, b: Threes) -> float:
    """The product of two changes of w."""
    result = 0.0
    for k in range(len(a)):
        a0, a1, a2 = _parts(at.weight[k], a[k])
        b0, b1, b2 = _parts(at.weight[k], b[k])
        result += a0 * b0 + a1 * b1 + a2 * b2
    return result


@compiled
def size(at: Central, a: Threes, grows: float) -> float:
    """How large a change of w and log nu is: by the largest ones, as they bend the path."""
    total = grows**2 * grows**2
    for k in range(len(a)):
        a0, a1, a2 = _parts(at.weight[k], a[k])
        square = a0 * a0 + a1 * a1 + a2 * a2
        total += square * square
    return np.sqrt(np.sqrt(total))

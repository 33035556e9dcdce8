"""Moments of spinning and rolling friction on the central path of an island's laws.

Of a moment p, at the angular velocity u, z = p / kappa, in m/s by the mass that all share, is in a ball, the radius z_0
of which is the contact's normal impulse. It meets

    kappa u = s = -nu z / (z_0^2 - |z|^2),

as friction meets its law: s_t is the same of z_t. For nu -> 0 that is the moment that takes most energy of all that the
normal impulse allows; it does not change what opens. z and s are smooth functions of w = z - s and of z_0, which w of
the contact decides alone: |w| = r + nu r / (z_0^2 - r^2), solved for r = |z| by g = z_0 - r, with h = z_0 + r.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations
from recursive_dyn.contact.newton.central_point import Central
from recursive_dyn.contact.newton.interior import Threes
from recursive_dyn.contact.newton.natural import Trial
from recursive_dyn.contact.newton.node_rows import along, push
from recursive_dyn.contact.tuning import HARD

_STEPS = 60  # at most, of which a handful is taken


@compiled
def gap(size: float, radius: float, nu: float) -> float:
    """g = radius - r with r + nu r / (radius^2 - r^2) = size: from below, whence Newton's method never goes too far."""
    left = radius - size
    from_half = left - 0.5 * nu / radius
    root = np.sqrt(from_half * from_half + 2.0 * nu)
    g = 0.5 * (from_half + root) if from_half > 0.0 else nu / (root - from_half)
    for _ in range(_STEPS):
        h = 2.0 * radius - g
        over, under = 0.5 * nu / g, 0.5 * nu / h
        more = (left - g + over - under) / (1.0 + over / g + under / h)
        g = min(g + max(more, 0.0), radius)
        if not more > 1e-15 * g:
            break
    return g


@compiled
def press_moment(these: Trial, at: Central, j: int, nu: float) -> None:
    """The roots of a moment, of which the contact's are known, and its impulse."""
    k, e, i, p = len(at.weight) + j, at.moments.contact[j], at.moments.component[j], these.p[at.moments.contact[j]]
    w, x, radius = at.w[k], at.roots[k], 0.5 * (at.roots[e, 0] + at.roots[e, 1])
    size = np.sqrt(w[0] * w[0] + w[1] * w[1])
    g = gap(size, radius, nu)
    h = 2.0 * radius - g
    x[0], x[1], x[2], x[3] = g, h, size * g * h / (g * h + nu), size * nu / (g * h + nu)
    x[4], x[5] = (w[0] / size, w[1] / size) if size > 0.0 else (1.0, 0.0)
    own = at.mass * at.moments.kappa[j] * x[2]
    p[i] = own * x[4]
    if at.moments.rows[j] > 1:
        p[i + 1] = own * x[5]


@compiled
def miss_moment(these: Trial, at: Central, j: int, soft: float) -> float:
    """By how much a moment, which is so soft, misses its law at its velocity; the square."""
    k, kappa, i, u = len(at.weight) + j, at.moments.kappa[j], at.moments.component[j], these.u[at.moments.contact[j]]
    x, miss = at.roots[k], at.miss[k]
    held = x[3] + soft * at.moments.give[j] * x[2]
    miss[0] = -held * x[4] - kappa * u[i]
    miss[1] = -held * x[5] - kappa * u[i + 1] if at.moments.rows[j] > 1 else 0.0
    return miss[0] * miss[0] + miss[1] * miss[1]


@compiled
def radius_slopes(x: Floats) -> tuple[float, float, float]:
    """What w of a contact that has such roots does to z_0."""
    first, second = x[0] / (x[0] + x[2]), x[1] / (x[1] + x[3])
    half = 0.5 * (first - second)
    return 0.5 * (first + second), half * x[4], half * x[5]


@compiled
def answer_moment(these: Trial, at: Central, j: int, nu: float, soft: float, softens: float) -> None:
    """The linear equations of a moment where it is, which is so soft by such a power of nu, those of its contact being
    known, and its rows of X: it answers its own velocity, and those of the contact as they change z_0."""
    k, e, i, kappa = len(at.weight) + j, at.moments.contact[j], at.moments.component[j], at.moments.kappa[j]
    x, X, N, C = at.roots[k], these.X[e], at.inverse[k], at.answer[k]
    g, h, r, t1, t2 = x[0], x[1], x[2], x[4], x[5]
    room, slope, give = g * h, 0.5 * nu * (g * g + h * h), soft * at.moments.give[j]
    whole, most = room * room + slope, give + max(HARD - soft, 0.0) * at.moments.give[j]
    radial, across, follows = slope + most * room * room, nu + most * room, nu * r * (g + h) / whole
    N[0], N[1], N[2] = whole / radial, (room + nu) / across, (1.0 - most) * follows
    C[0], C[1], C[2] = room * room / radial, room / across, nu * r * (g + h) / radial
    N[3], N[4], N[5] = radius_slopes(at.roots[e])
    N[6], N[7] = t1, t2
    more = follows * at.gift[e, 0] - nu * r * room / whole
    rise = (1.0 - give) * more - softens * give * r
    at.gift[k, 0], at.gift[k, 1], at.rise[k, 0], at.rise[k, 1] = more * t1, more * t2, rise * t1, rise * t2
    own, both = at.mass * kappa * kappa, kappa * C[2]
    X[7 * i] = own * (C[1] + (C[0] - C[1]) * t1 * t1)
    for b in range(3):
        X[6 * i + b] = both * t1 * X[b]
    if at.moments.rows[j] > 1:
        X[7 * i + 1] = own * (C[0] - C[1]) * t1 * t2
        X[7 * i + 6] = X[7 * i + 1]
        X[7 * i + 7] = own * (C[1] + (C[0] - C[1]) * t2 * t2)
        for b in range(3):
            X[6 * i + 6 + b] = both * t2 * X[b]


@compiled
def push_moment(it: Island, at: Central, system: BlockEquations, right: Threes, grows: float, j: int, y: Block) -> None:
    """y changed by what a moment does for laws that are missed so, when log nu grows by so much, velocities as they
    are."""
    k, e, i = len(at.weight) + j, at.moments.contact[j], at.moments.row[j]
    N, C, M, r, rise = at.inverse[k], at.answer[k], at.answer[e], right[e], at.rise[e]
    height = it.rows.height[it.contacts[e]]
    z = M[0] * (r[0] + grows * rise[0]) + M[1] * (r[1] + grows * rise[1]) + M[2] * (r[2] + grows * rise[2])
    r0, r1 = right[k, 0] + grows * at.rise[k, 0], right[k, 1] + grows * at.rise[k, 1]
    radial = (C[0] - C[1]) * (N[6] * r0 + N[7] * r1) + C[2] * z
    own = at.mass * at.moments.kappa[j]
    push(system, e, height, i, own * (radial * N[6] + C[1] * r0 + grows * at.gift[k, 0]), y)
    if at.moments.rows[j] > 1:
        push(system, e, height, i + 1, own * (radial * N[7] + C[1] * r1 + grows * at.gift[k, 1]), y)


@compiled
def change_moment(
    it: Island, at: Central, system: BlockEquations, right: Threes, grows: float, j: int, found: Threes, y: Block
) -> None:
    """What w of a moment has to change by, that of its contact being found, when velocities change by y."""
    k, e, i, kappa = len(at.weight) + j, at.moments.contact[j], at.moments.row[j], at.moments.kappa[j]
    N, height = at.inverse[k], it.rows.height[it.contacts[e]]
    z = N[3] * found[e, 0] + N[4] * found[e, 1] + N[5] * found[e, 2]
    r0 = right[k, 0] + grows * at.rise[k, 0] - kappa * along(system, e, height, i, y)
    r1 = 0.0
    if at.moments.rows[j] > 1:
        r1 = right[k, 1] + grows * at.rise[k, 1] - kappa * along(system, e, height, i + 1, y)
    radial = (N[0] - N[1]) * (N[6] * r0 + N[7] * r1) + N[0] * N[2] * z
    found[k, 0], found[k, 1] = radial * N[6] + N[1] * r0, radial * N[7] + N[1] * r1

"""Laws of contact as projections: an impulse meets them where a step against its velocity, projected, leaves it.

For a step length r a contact's impulse p at velocities u (De Saxce & Feng, 1998; Alart & Curnier, 1991) meets Coulomb's
law where p_n = max(0, p_n - (u_n - target) / r) and p_t is p_t - u_t / r in the disk of radius mu p_n; spinning and
rolling friction likewise, scalar rows between their bounds.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import ROLL, SPIN, Island, component
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations
from recursive_dyn.contact.newton.node_rows import along, along_three, push, push_three
from recursive_dyn.contact.tuning import IMMOBILE

Three = tuple[float, float, float]
_Disk = tuple[float, float, float, float, float, float, float]


class Trial(NamedTuple):
    """Impulses to which velocities lead, of an island's contacts (n of them) and scalar rows (m).

    scale (n, 3), line_scale (m,): mobility of translation, spinning and rolling, and of each scalar row, 0 where
    nothing moves; u (n, 6), w (m,): velocities, those of scalar rows without what gives way; p (n, 6), q (m,):
    impulses; X (n, 36), x (m,): minus their derivatives by velocities.
    """

    scale: Annotated[np.ndarray, float, 3]
    line_scale: Floats
    u: Annotated[np.ndarray, float, 6]
    w: Floats
    p: Annotated[np.ndarray, float, 6]
    q: Floats
    X: Annotated[np.ndarray, float, 36]
    x: Floats


@compiled
def trial(it: Island) -> Trial:
    """Room for one, with the mobilities."""
    n, m, G = len(it.contacts), len(it.scalars), it.rows.mobility
    scale, line_scale = np.zeros((n, 3)), np.zeros(m)
    for e in range(n):
        c = it.contacts[e]
        whole = G[c, 0] + G[c, 2] + G[c, 5]
        if it.rows.height[c] > 0 and G[c, 0] > IMMOBILE * whole:
            scale[e, 0] = whole / 3.0
            scale[e, 1] = max(G[c, 9], 0.0) if it.rows.kind[c] & 1 != 0 else 0.0
            scale[e, 2] = max(0.5 * (G[c, 14] + G[c, 20]), 0.0) if it.rows.kind[c] & 2 != 0 else 0.0
    for e in range(m):
        line_scale[e] = max(it.lines.mobility[it.scalars[e]], 0.0)
    return Trial(
        scale, line_scale, np.zeros((n, 6)), np.zeros(m), np.zeros((n, 6)), np.zeros(m), np.zeros((n, 36)), np.zeros(m)
    )


@compiled
def has_room(it: Island, these: Trial, e: int) -> bool:
    """Whether a scalar row moves anything and its impulse is not given."""
    return these.line_scale[e] > 0.0 and it.lines.low[it.scalars[e]] < it.lines.high[it.scalars[e]]


@compiled
def read_velocities(it: Island, these: Trial, system: BlockEquations, y: Block) -> None:
    """u and w at whitened velocities y, node by node."""
    rows, n = it.rows, len(it.contacts)
    for e in range(n):
        c, u = it.contacts[e], these.u[e]
        height, kind = rows.height[c], rows.kind[c]
        v0, v1, v2 = along_three(system, e, height, y)
        u[0], u[1], u[2] = rows.speed[c, 0] + v0, rows.speed[c, 1] + v1, rows.speed[c, 2] + v2
        for i in range(SPIN, height):
            k = component(kind, i)
            u[k] = rows.speed[c, k] + along(system, e, height, i, y)
    for e in range(len(it.scalars)):
        these.w[e] = it.lines.speed[it.scalars[e]] + along(system, n + e, 1, 0, y)


@compiled
def spread(it: Island, these: Trial, system: BlockEquations, y: Block) -> None:
    """y = A^T p of the trial's impulses, node by node."""
    y[:] = 0.0
    rows, n = it.rows, len(it.contacts)
    for e in range(n):
        c, p = it.contacts[e], these.p[e]
        height, kind = rows.height[c], rows.kind[c]
        push_three(system, e, height, p[0], p[1], p[2], y)
        for i in range(SPIN, height):
            push(system, e, height, i, p[component(kind, i)], y)
    for e in range(len(it.scalars)):
        push(system, n + e, 1, 0, these.q[e], y)


@compiled
def follow(it: Island, these: Trial, system: BlockEquations, y: Block) -> None:
    """y, u and w of the island's impulses, which the trial's become."""
    for e in range(len(it.contacts)):
        these.p[e] = it.P[it.contacts[e]]
    for e in range(len(it.scalars)):
        these.q[e] = it.Q[it.scalars[e]]
    spread(it, these, system, y)
    read_velocities(it, these, system, y)


@compiled
def project(it: Island, these: Trial, share: float, slopes: bool) -> None:
    """p and q: the island's impulses a step against u and w, of length 1 / (share x mobility), projected; if
    ``slopes``, X and x too."""
    for e in range(len(it.contacts)):
        project_contact(it, these, e, share, slopes)
    lines = it.lines
    for e in range(len(it.scalars)):
        s, r = it.scalars[e], share * these.line_scale[e]
        these.q[e], these.x[e] = push_of_row(it, e, r, these.w[e]), 0.0
        if slopes and r > 0.0 and lines.low[s] < these.q[e] < lines.high[s]:
            these.x[e] = 1.0 / (r + lines.soft[s])


@compiled
def push_of_row(it: Island, e: int, r: float, w: float) -> float:
    """The projected impulse of a scalar row at its velocity w; r: share x mobility."""
    if r <= 0.0:
        return 0.0
    lines, s = it.lines, it.scalars[e]
    wanted = (r * it.Q[s] + lines.target[s] - w) / (r + lines.soft[s])
    return min(max(wanted, lines.low[s]), lines.high[s])


@compiled
def push_of(it: Island, c: int, give: float, u: Three) -> Three:
    """The projected impulse of a contact at velocities u, of its first three rows; give: 1 / (share x mobility)."""
    normal = it.P[c, 0] - give * (u[0] - it.targets[c])
    if normal <= 0.0:
        return 0.0, 0.0, 0.0
    w1, w2, bound = it.P[c, 1] - give * u[1], it.P[c, 2] - give * u[2], it.frictions[c, 1] * normal
    square = w1 * w1 + w2 * w2
    ratio = bound / np.sqrt(square) if square > bound * bound else 1.0
    return normal, ratio * w1, ratio * w2


@compiled
def project_contact(it: Island, these: Trial, e: int, share: float, slopes: bool) -> None:
    """The same of one contact."""
    c, u, p, X = it.contacts[e], these.u[e], these.p[e], these.X[e]
    p[:] = 0.0
    if slopes:
        X[0] = 0.0  # as none has any that has not this
    r = share * these.scale[e, 0]
    if r <= 0.0:
        return
    give = 1.0 / r
    normal = it.P[c, 0] - give * (u[0] - it.targets[c])
    if normal <= 0.0:
        return
    mu = it.frictions[c, 1]
    p1, p2, j11, j12, j22, d1, d2 = _disk(it.P[c, 1] - give * u[1], it.P[c, 2] - give * u[2], mu * normal)
    p[0], p[1], p[2] = normal, p1, p2
    if slopes:
        if it.rows.kind[c] > 0:
            X[:] = 0.0
        X[0], X[1], X[2], X[6], X[12] = give, 0.0, 0.0, give * mu * d1, give * mu * d2
        X[7], X[8], X[13], X[14] = give * j11, give * j12, give * j12, give * j22
    if these.scale[e, 1] > 0.0:
        spin, bound = share * these.scale[e, 1], it.frictions[c, 3] * normal
        wanted = it.P[c, SPIN] - u[SPIN] / spin
        p[SPIN] = min(max(wanted, -bound), bound)
        if slopes and abs(wanted) < bound:
            X[6 * SPIN + SPIN] = 1.0 / spin
        elif slopes:
            X[6 * SPIN] = (it.frictions[c, 3] if wanted > 0.0 else -it.frictions[c, 3]) / r
    if these.scale[e, 2] > 0.0:
        roll, kappa = share * these.scale[e, 2], it.frictions[c, 2]
        p4, p5, k11, k12, k22, e1, e2 = _disk(
            it.P[c, ROLL] - u[ROLL] / roll, it.P[c, ROLL + 1] - u[ROLL + 1] / roll, kappa * normal
        )
        p[ROLL], p[ROLL + 1] = p4, p5
        if slopes:
            X[6 * ROLL], X[6 * ROLL + 6] = kappa * e1 / r, kappa * e2 / r
            X[28], X[29], X[34], X[35] = k11 / roll, k12 / roll, k12 / roll, k22 / roll


@compiled
def _disk(w1: float, w2: float, radius: float) -> _Disk:
    """(w1, w2) in a disk: the point, its derivatives by them (11, 12, 22), and by the radius."""
    size = np.sqrt(w1 * w1 + w2 * w2)
    if size <= radius:
        return w1, w2, 1.0, 0.0, 1.0, 0.0, 0.0
    inverse = 1.0 / size
    t1, t2, ratio = inverse * w1, inverse * w2, inverse * radius
    return radius * t1, radius * t2, ratio * t2 * t2, -ratio * t1 * t2, ratio * t1 * t1, t1, t2


@compiled
def missed(it: Island, these: Trial) -> float:
    """By how much, m/s, the island's impulses miss their laws at velocities u, w, infinity where these are not finite;
    p and q are the projected ones."""
    project(it, these, 1.0, False)
    most, total = 0.0, 0.0
    for e in range(len(it.contacts)):
        c = it.contacts[e]
        for i in range(6 if it.rows.kind[c] > 0 else SPIN):
            scale = these.scale[e, 0] if i < SPIN else these.scale[e, 1] if i == SPIN else these.scale[e, 2]
            most = max(most, scale * abs(these.p[e, i] - it.P[c, i]))
            total += abs(these.u[e, i])
    for e in range(len(it.scalars)):
        most = max(most, these.line_scale[e] * abs(these.q[e] - it.Q[it.scalars[e]]))
        total += abs(these.w[e])
    return most if total < np.inf else np.inf


@compiled
def take(it: Island, these: Trial) -> None:
    """The island's impulses = those of the trial."""
    for e in range(len(it.contacts)):
        it.P[it.contacts[e]] = these.p[e]
    for e in range(len(it.scalars)):
        it.Q[it.scalars[e]] = these.q[e]

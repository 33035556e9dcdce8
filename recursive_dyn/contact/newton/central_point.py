"""A point of the central path of an island's laws, and how it goes on: one contact or scalar row at a time.

Of a contact, in m/s, impulses being velocities times a mass that all share: z = (p_n, p_t / mu) and s in the cone
x_0 >= |x_t| are P(w) and P(-w), for P(w) with the eigenvalues of w made (l + (l^2 + 4 nu)^(1/2)) / 2, so that z s = nu
whatever w is (Chen & Mangasarian, 1996; Fukushima, Luo & Tseng, 2002): the same energy of all, as heavy bodies and
light ones, a million times lighter, are then decided together. It meets

    u_n - target = det(s) / (2 s_0) = nu / (2 z_0),   mu u_t = s_t,

less what a contact may give way, delta z, with delta in proportion to nu^(3/4): where bodies are jammed there is no
path else, as nothing opens all of their contacts. A least delta may be left: velocities nu / z that contacts of a heavy
body share what they carry by are below rounding, and what gives way shares it by more. For nu -> 0 that is Coulomb's
law: s_0 -> u_n - target + |s_t|, as De Saxce and Feng (1998) shift it. As a function of w all of it is smooth; with
s_0 = u_n - target + |s_t| itself, which has an edge at rest, paths are not.

A scalar row's impulse q is between its bounds where w = q - nu / (q - low) + nu / (high - q).
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.blocks import SPIN, Island
from recursive_dyn.contact.newton.interior import Threes
from recursive_dyn.contact.newton.natural import Trial, has_room
from recursive_dyn.contact.tuning import HARD

_LEAST = 1e-8  # of what answers a scalar row that nothing bounds: with less, changes would be rounding
_ROOTS = 60  # steps at most to an impulse between two bounds


class Moments(NamedTuple):
    """Moments of spinning and rolling friction (b of them) whose contacts and bodies allow them.

    contact (b,): the contact of the island that has it; component, row (b,): the first of its components and of its
    rows there; rows (b,): 1 where it spins, 2 where it rolls; kappa (b,): by how much, m, normal impulses bound it;
    give (b,): velocity, in m/s by kappa, that an impulse of 1 m/s makes; weight (b, 10): as in ``central_lengths``.
    """

    contact: Integers
    component: Integers
    row: Integers
    rows: Integers
    kappa: Floats
    give: Floats
    weight: Annotated[np.ndarray, float, 10]


class Central(NamedTuple):
    """Of contacts (n of them), scalar rows (m) and moments (b), one after the other, of which rows have one number and
    moments two in place of three.

    mass: by which impulses are velocities, kg; outside: nu at which a contact gives way by its mobility, or infinity;
    least: the share of it by which it does at least.
    w: where it is; roots (n + m + b, 6): eigenvalues of z and s, and the direction of w_t, or, of a row, q, dq / dw,
    dq / dlog nu and -, or, of a moment, z_0 - |z|, z_0 + |z|, |z|, |s| and the direction of w, in m/s. miss: by how
    much the laws are missed, m/s.
    Linear equations where they were last factored: inverse (n + m + b, 9): minus what w answers to miss; answer
    (n + m + b, 9): the same of z; rise, gift: what miss and z do when log nu grows. Of a moment, inverse and answer are
    along w and across it, then what z_0 does, and, of inverse, what w of the contact does to z_0, and the direction.
    change, along: solutions of these; way: the direction of the path; base: where it begins; origin, gone: from where w
    goes, and how far; none: zeros; weight (n + m, 5): how changes count in products; see ``central_lengths``.
    """

    mass: float
    outside: float
    least: float
    moments: Moments
    w: Threes
    roots: Annotated[np.ndarray, float, 6]
    miss: Threes
    inverse: Annotated[np.ndarray, float, 9]
    answer: Annotated[np.ndarray, float, 9]
    rise: Threes
    gift: Threes
    change: Threes
    along: Threes
    way: Threes
    base: Threes
    origin: Threes
    gone: Threes
    none: Threes
    weight: Annotated[np.ndarray, float, 5]


@compiled
def central(it: Island, these: Trial, outside: float, least: float) -> Central:
    """Room for an island, all of which is in the middle; outside, least: as ``Central`` has them."""
    mass, plain = _mass(it, these), len(it.contacts) + len(it.scalars)
    moments = _moments(it, these, mass)
    n = plain + len(moments.contact)
    return Central(
        mass, outside, least, moments, np.zeros((n, 3)), np.zeros((n, 6)), np.zeros((n, 3)), np.zeros((n, 9)),
        np.zeros((n, 9)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)),
        np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((plain, 5)),
    )  # fmt: skip


@compiled
def _moments(it: Island, these: Trial, mass: float) -> Moments:
    """Those of an island's contacts."""
    b = 0
    for e in range(len(it.contacts)):
        for i in range(2):
            b += 1 if _has_moment(it, these, e, i) else 0
    found, b = Moments(
        np.zeros(b, dtype=np.int64), np.zeros(b, dtype=np.int64), np.zeros(b, dtype=np.int64),
        np.zeros(b, dtype=np.int64), np.zeros(b), np.zeros(b), np.zeros((b, 10)),
    ), 0  # fmt: skip
    for e in range(len(it.contacts)):
        for i in range(2):
            if _has_moment(it, these, e, i):
                c = it.contacts[e]
                found.contact[b], found.component[b], found.rows[b] = e, SPIN + i, 1 + i
                found.row[b] = SPIN + (1 if i > 0 and it.rows.kind[c] & 1 != 0 else 0)
                found.kappa[b] = it.frictions[c, 3 - i]
                found.give[b] = mass * it.frictions[c, 3 - i] * it.frictions[c, 3 - i] * these.scale[e, 1 + i]
                b += 1
    return found


@compiled
def _has_moment(it: Island, these: Trial, e: int, i: int) -> bool:
    """Whether a contact has a moment of spinning (0) or rolling (1) friction that moves anything."""
    return these.scale[e, 0] > 0.0 and these.scale[e, 1 + i] > 0.0 and it.frictions[it.contacts[e], 3 - i] > 0.0


@compiled
def _mass(it: Island, these: Trial) -> float:
    """What contacts and rows have to move, kg: the geometric mean."""
    total, count = 0.0, 0.0
    for e in range(len(it.contacts)):
        if these.scale[e, 0] > 0.0:
            total, count = total + math.log(these.scale[e, 0]), count + 1.0
    for e in range(len(it.scalars)):
        if has_room(it, these, e):
            total, count = total + math.log(these.line_scale[e]), count + 1.0
    return math.exp(-total / max(count, 1.0))


@compiled
def _root(l: float, nu: float) -> tuple[float, float]:
    """x and nu / x > 0 with x - nu / x = l."""
    size = np.sqrt(l * l + 4.0 * nu)
    if l > 0.0:
        return 0.5 * (l + size), 2.0 * nu / (l + size)
    return 2.0 * nu / (size - l), 0.5 * (size - l)


@compiled
def press_contact(it: Island, these: Trial, at: Central, e: int, nu: float) -> None:
    """The roots of a contact, and its impulse."""
    w, x, p, mu = at.w[e], at.roots[e], these.p[e], it.frictions[it.contacts[e], 1]
    size = np.sqrt(w[1] * w[1] + w[2] * w[2])
    x[0], x[2] = _root(w[0] + size, nu)
    x[1], x[3] = _root(w[0] - size, nu)
    x[4], x[5] = (w[1] / size, w[2] / size) if size > 0.0 else (1.0, 0.0)
    half = 0.5 * at.mass * mu * (x[0] - x[1])
    p[0], p[1], p[2] = 0.5 * at.mass * (x[0] + x[1]), half * x[4], half * x[5]


@compiled
def miss_contact(it: Island, these: Trial, at: Central, e: int, nu: float, soft: float) -> float:
    """By how much a contact, which is so soft, misses its laws at its velocity; the square."""
    c, x, u, miss, give = it.contacts[e], at.roots[e], these.u[e], at.miss[e], soft * at.mass * these.scale[e, 0]
    mu, half = it.frictions[c, 1], 0.5 * (x[2] - x[3] - give * (x[0] - x[1]))
    miss[0] = nu / (x[0] + x[1]) - (u[0] - it.targets[c]) - 0.5 * give * (x[0] + x[1])
    miss[1], miss[2] = half * x[4] - mu * u[1], half * x[5] - mu * u[2]
    return miss[0] * miss[0] + miss[1] * miss[1] + miss[2] * miss[2]


@compiled
def _spectral(M: Floats, first: float, second: float, across: float, t1: float, t2: float) -> None:
    """M = the symmetric matrix of these eigenvalues, of (1, t), (1, -t) and across."""
    m, q = 0.5 * (first + second), 0.5 * (first - second)
    M[0], M[1], M[2], M[3], M[6] = m, q * t1, q * t2, q * t1, q * t2
    M[4], M[5], M[8] = across + (m - across) * t1 * t1, (m - across) * t1 * t2, across + (m - across) * t2 * t2
    M[7] = M[5]


@compiled
def _after_slide(M: Floats, a0: float, a1: float, a2: float) -> None:
    """M <- M - M e_0 a^T."""
    for i in range(3):
        first = M[3 * i]
        M[3 * i], M[3 * i + 1], M[3 * i + 2] = first * (1.0 - a0), M[3 * i + 1] - first * a1, M[3 * i + 2] - first * a2


@compiled
def _slides(x: Floats) -> tuple[float, float, float]:
    """h and r: u_n changes by h s_0 - r s_t."""
    ratio = (x[2] - x[3]) / (x[2] + x[3])
    return 0.5 * (1.0 + ratio * ratio), ratio * x[4], ratio * x[5]


@compiled
def _gift(x: Floats, gift: Floats) -> None:
    """What z and s do when log nu grows, w as it is."""
    first, second = x[0] * x[2] / (x[0] + x[2]), x[1] * x[3] / (x[1] + x[3])
    gift[0], half = 0.5 * (first + second), 0.5 * (first - second)
    gift[1], gift[2] = half * x[4], half * x[5]


@compiled
def answer_contact(it: Island, these: Trial, at: Central, e: int, nu: float, soft: float, softens: float) -> None:
    """The linear equations of a contact where it is, which is so soft by such a power of nu, and X: how its impulse
    answers its velocity."""
    x, mu, X, C, N = at.roots[e], it.frictions[it.contacts[e], 1], these.X[e], at.answer[e], at.inverse[e]
    h, r1, r2 = _slides(x)
    give, both = soft * at.mass * these.scale[e, 0], x[0] * x[1]
    first, second, across = x[2] + give * x[0], x[3] + give * x[1], nu + give * both
    _spectral(N, x[2] / first, x[3] / second, nu / across, x[4], x[5])
    # what u_n has beside s_0 is of rank one: as Sherman and Morrison have it, nothing cancels
    a0 = (h - 1.0) * N[0] - r1 * N[3] - r2 * N[6]
    a1, a2 = (h - 1.0) * N[1] - r1 * N[4] - r2 * N[7], (h - 1.0) * N[2] - r1 * N[5] - r2 * N[8]
    own, more = 1.0 / (1.0 + a0), max(HARD - soft, 0.0) * at.mass * these.scale[e, 0]
    first, second, across = first + more * x[0], second + more * x[1], across + more * both
    _spectral(N, (x[0] + x[2]) / first, (x[1] + x[3]) / second, (nu + both) / across, x[4], x[5])
    _after_slide(N, own * a0, own * a1, own * a2)
    _spectral(C, x[0] / first, x[1] / second, both / across, x[4], x[5])
    _after_slide(C, own * a0, own * a1, own * a2)
    _gift(x, at.gift[e])
    rise, gift, half = at.rise[e], at.gift[e], 0.5 * softens * (x[0] - x[1])
    rise[0] = h * gift[0] - r1 * gift[1] - r2 * gift[2] - give * (gift[0] + 0.5 * softens * (x[0] + x[1]))
    rise[1], rise[2] = gift[1] - give * (gift[1] + half * x[4]), gift[2] - give * (gift[2] + half * x[5])
    for i in range(3):
        own = at.mass * mu if i > 0 else at.mass
        X[6 * i], X[6 * i + 1], X[6 * i + 2] = own * C[3 * i], own * mu * C[3 * i + 1], own * mu * C[3 * i + 2]


@compiled
def press_row(it: Island, these: Trial, at: Central, e: int, nu: float) -> None:
    """The roots of a scalar row, and its impulse."""
    s, k = it.scalars[e], len(it.contacts) + e
    if not has_room(it, these, e):
        these.q[e] = min(max(it.Q[s], it.lines.low[s]), it.lines.high[s])
        return
    low, high, w, x = it.lines.low[s] / at.mass, it.lines.high[s] / at.mass, at.w[k, 0], at.roots[k]
    q = w
    if low > -np.inf and high < np.inf:
        q = _between(w, low, high, nu)
    elif low > -np.inf:
        q = low + _root(w - low, nu)[0]
    elif high < np.inf:
        q = high - _root(high - w, nu)[0]
    below, above = (q - low if low > -np.inf else np.inf), (high - q if high < np.inf else np.inf)
    x[3] = nu / (below * below) + nu / (above * above)
    x[0], x[1] = q, 1.0 / (1.0 + x[3])
    x[2] = x[1] * (nu / below - nu / above)
    these.q[e] = min(max(q * at.mass, it.lines.low[s]), it.lines.high[s])


@compiled
def _between(w: float, low: float, high: float, nu: float) -> float:
    """q with q - nu / (q - low) + nu / (high - q) = w."""
    a, b = low, high
    q = min(max(w, low + 0.25 * (high - low)), high - 0.25 * (high - low))
    for _ in range(_ROOTS):
        under, over = nu / (q - low), nu / (high - q)
        left = q - under + over - w
        if left > 0.0:
            b = q
        else:
            a = q
        q -= left / (1.0 + under / (q - low) + over / (high - q))
        if not a < q < b:
            q = 0.5 * (a + b)
        if b - a <= 1e-15 * (abs(a) + abs(b)):
            break
    return q


@compiled
def miss_row(it: Island, these: Trial, at: Central, e: int, soft: float) -> float:
    """By how much a scalar row, which is so soft beyond what it is, misses its law at its velocity; the square."""
    s, k = it.scalars[e], len(it.contacts) + e
    give = it.lines.soft[s] + soft * these.line_scale[e]
    miss = at.roots[k, 0] - at.w[k, 0] - (these.w[e] + give * these.q[e] - it.lines.target[s])
    at.miss[k, 0] = miss
    return miss * miss


@compiled
def answer_row(it: Island, these: Trial, at: Central, e: int, soft: float, softens: float) -> None:
    """The linear equations of a scalar row where it is, which is so soft beyond what it is by such a power of nu, and
    x: how its impulse answers its velocity."""
    k, x, more = len(it.contacts) + e, at.roots[len(it.contacts) + e], soft * these.line_scale[e]
    give = (it.lines.soft[it.scalars[e]] + more) * at.mass
    at.inverse[k, 0] = 1.0 / max(x[1] * x[3] + give * x[1], _LEAST * at.mass * these.line_scale[e])
    at.answer[k, 0] = x[1] * at.inverse[k, 0]
    at.gift[k, 0], at.rise[k, 0] = x[2], (1.0 - give) * x[2] - softens * more * these.q[e]
    these.x[e] = at.answer[k, 0] * at.mass

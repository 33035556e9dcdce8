"""Si & Guenter (2011), recursions 1-6 over the links of a tree: joints by programs of their kinds, the rest numeric.

Recursion 3, tau-bar = tau - S^T f of the unaccelerated tree, goes inward together with recursions 4 and 5: its wrenches
are what z begins with.
"""

from __future__ import annotations

from typing import NamedTuple

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.intrinsics import run

# A link's row, after what its program puts out: J S and Omega^-1 S^T J column by column, Omega^-1 c, eta (eq. 27-35)
MOTION, WRENCH, R, P, A, B, M, S = 18, 18, 24, 33, 36, 45, 54, 63
U, GAINS, RATES, ETA, ROW = 99, 135, 171, 177, 184
WIDE = 13  # a row of the equations of one joint: Omega (6, 6), J S transposed (6, 6), c (6,)


class LinkTable(NamedTuple):
    """The tree: of each link its parent (the number of links for the world), the address of its kind's program, and
    where its slots, places in q and parameters begin among ``slots``, ``places`` and ``parameters``."""

    parent: Integers
    code: Integers
    slot: Integers
    slots: Integers
    place: Integers
    places: Integers
    parameter: Integers
    parameters: Integers
    armature: Floats


class LinkMemory(NamedTuple):
    """Programs before and after the links, 0 for one that makes the links' constants of parameters, and memory.

    given: the function's inputs, the last of them parameters; state: q, v, tau and what is added to rotors; ready: the
    inputs and the accelerations; made: the function's outputs; constants: of the links, then gravity; rows: ROW
    numbers a link, and as many for the world.
    """

    before: int
    after: int
    constant_code: int
    given: Floats
    state: Floats
    ready: Floats
    made: Floats
    own: Floats
    constants: Floats
    scratch: Floats
    link: Floats
    rows: Floats
    joint: Floats
    turned: Floats


@compiled
def evaluate(t: LinkTable, m: LinkMemory, nq: int, nv: int, inputs: int) -> None:
    """The function's outputs from its inputs."""
    count = len(m.own)
    m.own[:] = m.given[inputs - count : inputs]
    if m.constant_code != 0:
        run(m.constant_code, m.own, m.constants, m.scratch)
    run(m.before, m.given, m.state, m.scratch)
    _outward(t, m, nq)
    _inward(t, m, nq, nv)
    m.ready[:inputs] = m.given[:inputs]
    _accelerate(t, m, inputs)
    run(m.after, m.ready, m.made, m.scratch)


@compiled
def _outward(t: LinkTable, m: LinkMemory, nq: int) -> None:
    """Recursions 1 and 2 (eq. 18-23): each link's program from its parent's motion."""
    n = len(t.parent)
    each = (len(m.constants) - 3) // n
    for c in range(3):  # the world accelerates by -g
        m.rows[n * ROW + 6 + c] = -m.constants[n * each + c]
    for i in range(n):
        m.link[:each] = m.constants[i * each : (i + 1) * each]
        k = each
        for j in range(t.parameter[i], t.parameter[i + 1]):
            m.link[k] = m.own[t.parameters[j]]
            k += 1
        for j in range(t.place[i], t.place[i + 1]):
            m.link[k] = m.state[t.places[j]]
            k += 1
        for j in range(t.slot[i], t.slot[i + 1]):
            m.link[k] = m.state[nq + t.slots[j]]
            k += 1
        parent = t.parent[i] * ROW
        m.link[k : k + MOTION] = m.rows[parent : parent + MOTION]
        run(t.code[i], m.link, m.rows[i * ROW :], m.scratch)


@compiled
def _inward(t: LinkTable, m: LinkMemory, nq: int, nv: int) -> None:
    """Recursions 3-5 (eq. 24-33): articulated inertias and z to the root."""
    n, x = len(t.parent), m.rows
    for back in range(n):
        i = n - 1 - back
        row, d = i * ROW, t.slot[i + 1] - t.slot[i]
        for a in range(d):
            _momentum(x, row, row + S + 6 * a, row + U + 6 * a)
        for a in range(d):
            slot, s = t.slots[t.slot[i] + a], row + S + 6 * a
            for b in range(d):
                m.joint[WIDE * a + b] = _dot(x, s, row + U + 6 * b)
            m.joint[WIDE * a + a] += t.armature[slot] + m.state[nq + 2 * nv + slot]  # eq. 28
            for c in range(6):
                m.joint[WIDE * a + d + c] = x[row + U + 6 * a + c]
            m.joint[WIDE * a + d + 6] = m.state[nq + nv + slot] - _dot(x, s, row + WRENCH)  # eq. 32
        _solve(m.joint, d)
        for a in range(d):
            for c in range(6):
                x[row + GAINS + 6 * a + c] = m.joint[WIDE * a + d + c]
            x[row + RATES + a] = m.joint[WIDE * a + d + 6]  # eq. 33
        if t.parent[i] < n:
            _hand_over(x, row, t.parent[i] * ROW, d, m.turned)


@compiled
def _accelerate(t: LinkTable, m: LinkMemory, first: int) -> None:
    """Recursion 6 (eq. 34-35): accelerations of the coordinates, from ``first`` on in ``ready``."""
    x = m.rows
    for i in range(len(t.parent)):
        row, eta, d = i * ROW, t.parent[i] * ROW + ETA, t.slot[i + 1] - t.slot[i]
        own = row + ETA
        px, py, pz = x[row + P], x[row + P + 1], x[row + P + 2]
        vx = x[eta + 3] + x[eta + 1] * pz - x[eta + 2] * py
        vy = x[eta + 4] + x[eta + 2] * px - x[eta] * pz
        vz = x[eta + 5] + x[eta] * py - x[eta + 1] * px
        for c in range(3):
            x[own + c] = x[row + R + c] * x[eta] + x[row + R + 3 + c] * x[eta + 1] + x[row + R + 6 + c] * x[eta + 2]
            x[own + 3 + c] = x[row + R + c] * vx + x[row + R + 3 + c] * vy + x[row + R + 6 + c] * vz
        for a in range(d):
            rate = x[row + RATES + a] - _dot(x, row + GAINS + 6 * a, own)
            x[row + RATES + a] = rate
            m.ready[first + t.slots[t.slot[i] + a]] = rate
        for a in range(d):
            for c in range(6):
                x[own + c] += x[row + S + 6 * a + c] * x[row + RATES + a]


@compiled
def _dot(x: Floats, a: int, b: int) -> float:
    return (
        x[a] * x[b]
        + x[a + 1] * x[b + 1]
        + x[a + 2] * x[b + 2]
        + x[a + 3] * x[b + 3]
        + x[a + 4] * x[b + 4]
        + x[a + 5] * x[b + 5]
    )


@compiled
def _momentum(x: Floats, row: int, s: int, u: int) -> None:
    """u = J s."""
    for i in range(3):
        moment, force = 0.0, 0.0
        for j in range(3):
            moment += x[row + A + 3 * i + j] * x[s + j] + x[row + B + 3 * i + j] * x[s + 3 + j]
            force += x[row + B + 3 * j + i] * x[s + j] + x[row + M + 3 * i + j] * x[s + 3 + j]
        x[u + i] = moment
        x[u + 3 + i] = force


@compiled
def _solve(w: Floats, d: int) -> None:
    """Omega^-1 times the seven columns beside it: symmetric and positive definite, so that no rows are exchanged."""
    for k in range(d):
        for i in range(k + 1, d):
            factor = w[WIDE * i + k] / w[WIDE * k + k]
            for j in range(k + 1, d + 7):
                w[WIDE * i + j] -= factor * w[WIDE * k + j]
    for back in range(d):
        k = d - 1 - back
        for j in range(d, d + 7):
            total = w[WIDE * k + j]
            for l in range(k + 1, d):
                total -= w[WIDE * k + l] * w[WIDE * l + j]
            w[WIDE * k + j] = total / w[WIDE * k + k]


@compiled
def _hand_over(x: Floats, row: int, parent: int, d: int, w: Floats) -> None:
    """What is left of J, and z, to the parent (eq. 27, 29-31): symmetric to the last bit, else rounding grows."""
    for a in range(d):
        u, g, rate = row + U + 6 * a, row + GAINS + 6 * a, x[row + RATES + a]
        for c in range(6):
            x[row + WRENCH + c] += x[u + c] * rate
        for i in range(3):
            for j in range(3):
                x[row + B + 3 * i + j] -= x[u + i] * x[g + 3 + j]
                if j >= i:
                    x[row + A + 3 * i + j] -= x[u + i] * x[g + j]
                    x[row + M + 3 * i + j] -= x[u + 3 + i] * x[g + 3 + j]
    for i in range(1, 3):
        for j in range(i):
            x[row + A + 3 * i + j] = x[row + A + 3 * j + i]
            x[row + M + 3 * i + j] = x[row + M + 3 * j + i]
    _turn(x, row + A, row + R, w, 9)
    _turn(x, row + B, row + R, w, 18)
    _turn(x, row + M, row + R, w, 27)
    px, py, pz = x[row + P], x[row + P + 1], x[row + P + 2]
    for j in range(3):  # rows of P M, added to those of B
        w[36 + j] = w[18 + j] - pz * w[30 + j] + py * w[33 + j]
        w[39 + j] = w[21 + j] + pz * w[27 + j] - px * w[33 + j]
        w[42 + j] = w[24 + j] - py * w[27 + j] + px * w[30 + j]
    w[45], w[46], w[47] = 0.0, -pz, py
    w[48], w[49], w[50] = pz, 0.0, -px
    w[51], w[52], w[53] = -py, px, 0.0
    for i in range(3):
        for j in range(i, 3):
            total = w[9 + 3 * i + j]
            for c in range(3):
                total += w[45 + 3 * i + c] * w[36 + 3 * j + c] + w[45 + 3 * j + c] * w[18 + 3 * i + c]
            x[parent + A + 3 * i + j] += total
            if j > i:
                x[parent + A + 3 * j + i] += total
    for c in range(9):
        x[parent + B + c] += w[36 + c]
        x[parent + M + c] += w[27 + c]
    _wrench_inward(x, row, parent)


@compiled
def _turn(x: Floats, block: int, rotation: int, w: Floats, to: int) -> None:
    """R X R^T of a block of x at ``to`` in w, by way of its first nine numbers."""
    for i in range(3):
        for j in range(3):
            r = rotation + 3 * i
            w[3 * i + j] = x[r] * x[block + j] + x[r + 1] * x[block + 3 + j] + x[r + 2] * x[block + 6 + j]
    for i in range(3):
        for j in range(3):
            r = rotation + 3 * j
            w[to + 3 * i + j] = w[3 * i] * x[r] + w[3 * i + 1] * x[r + 1] + w[3 * i + 2] * x[r + 2]


@compiled
def _wrench_inward(x: Floats, row: int, parent: int) -> None:
    z, to = row + WRENCH, parent + WRENCH
    px, py, pz = x[row + P], x[row + P + 1], x[row + P + 2]
    fx = x[row + R] * x[z + 3] + x[row + R + 1] * x[z + 4] + x[row + R + 2] * x[z + 5]
    fy = x[row + R + 3] * x[z + 3] + x[row + R + 4] * x[z + 4] + x[row + R + 5] * x[z + 5]
    fz = x[row + R + 6] * x[z + 3] + x[row + R + 7] * x[z + 4] + x[row + R + 8] * x[z + 5]
    for i in range(3):
        r = row + R + 3 * i
        x[to + i] += x[r] * x[z] + x[r + 1] * x[z + 1] + x[r + 2] * x[z + 2]
    x[to] += py * fz - pz * fy
    x[to + 1] += pz * fx - px * fz
    x[to + 2] += px * fy - py * fx
    x[to + 3] += fx
    x[to + 4] += fy
    x[to + 5] += fz

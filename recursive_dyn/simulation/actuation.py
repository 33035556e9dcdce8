"""What motors do in a step, in compiled loops.

A motor's force is that of the step's end, where v is v_end and q what v_end leads to in the step:

    y = h kp (p - q) + h kd (v* - v) = y_0 - D dv,   D = h kd + h^2 kp,   |y| <= h F

with y_0 its impulse at the flight's end and dv what all impulses change. D joins the diagonal of M and y_0 pushes, so
that a motor below its bound F costs no row and is exact (stable PD: Tan, Liu & Turk 2011). One that would be beyond it
becomes a bounded row that gives way by 1 / D, and the step is solved again. That a motor was near its bound in the last
step is reason enough for a row.

Where an integrator moves positions with less than the end's velocity, h (1 - share) (v* - v) is added to the way: for
any gain a motor then damps, and at rest it is where it should be.
"""

from __future__ import annotations

from math import atan2
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.problem import GeneralizedRows

_NEAR = 0.8  # of its bound, at which a motor starts as a row
_BEYOND = 1.0 + 1e-9  # times its bound: rounding


class MotorArrays(NamedTuple):
    """Motors by coordinate, as they were set: size (3,) says how many coordinates, points and turns there are.

    Of coordinates (nv,): slots in v; places in q, -1 unless the coordinate is a number with a position; positions and
    velocity to come to; kp, kd, and inertia that is added where a velocity is just kept (rigid); forces that bound.
    points: first coordinate here, places in q of the position and of the quaternion in whose axes it moves; aims: where
    to. turns: first coordinate here, place in q of the quaternion; quaternions: where to.
    drives (nv,): 1 for the slots of all of these, and where balls have stops.
    """

    size: Integers
    slots: Integers
    places: Integers
    positions: Floats
    velocity: Floats
    kp: Floats
    kd: Floats
    rigid: Floats
    forces: Floats
    points: Annotated[np.ndarray, int, 3]
    aims: Annotated[np.ndarray, float, 3]
    turns: Annotated[np.ndarray, int, 2]
    quaternions: Annotated[np.ndarray, float, 4]
    drives: Integers


class Actuation(NamedTuple):
    """Motors in a step, by coordinate as they are: impulse (y_0), stiffness (D), bound, and whether each is a row
    (apart). push, diagonal (nv,): y_0 and D by slot of those that are none."""

    motors: MotorArrays
    impulse: Floats
    stiffness: Floats
    bound: Floats
    apart: Integers
    push: Floats
    diagonal: Floats


def motor_arrays(nv: int) -> MotorArrays:
    """Room for the motors of nv coordinates, none so far."""
    slots, places, drives = np.zeros((3, nv), dtype=np.int64)
    positions, velocity, kp, kd, rigid, forces = np.zeros((6, nv))
    most = nv // 3
    return MotorArrays(
        np.zeros(3, dtype=np.int64), slots, places, positions, velocity, kp, kd, rigid, forces,
        np.zeros((most, 3), dtype=np.int64), np.zeros((most, 3)), np.zeros((most, 2), dtype=np.int64),
        np.zeros((most, 4)), drives,
    )  # fmt: skip


def actuation(motors: MotorArrays) -> Actuation:
    """Motors, with room for what they do."""
    nv = len(motors.slots)
    impulse, stiffness, bound, push, diagonal = np.zeros((5, nv))
    return Actuation(motors, impulse, stiffness, bound, np.zeros(nv, dtype=np.int64), push, diagonal)


@compiled
def aim(it: Actuation, q: Floats, v: Floats, earlier: Floats, base: int, h: float, shares: Floats) -> int:
    """Motors at the flight's end q, v: how many. earlier: impulses of the last step's rows, motors from ``base`` on;
    shares (nv,): of the step by which positions follow changes of velocities."""
    m = it.motors
    n = m.size[0]
    for k in range(n):
        it.impulse[k] = m.positions[k] - q[m.places[k]] if m.places[k] >= 0 else 0.0
    for i in range(m.size[1]):
        _toward(m.points[i], m.aims[i], q, it.impulse)
    for i in range(m.size[2]):
        _around(m.turns[i], m.quaternions[i], q, it.impulse)
    for k in range(n):
        slot = m.slots[k]
        lag, damping = m.velocity[k] - v[slot], h * m.kd[k] + m.rigid[k]
        way = it.impulse[k] + (1.0 - shares[slot]) * h * lag
        it.stiffness[k] = damping + h * h * m.kp[k]
        it.impulse[k] = h * m.kp[k] * way + damping * lag
        it.bound[k] = h * m.forces[k]
        it.apart[k] = 1 if it.stiffness[k] > 0.0 and abs(earlier[base + slot]) >= _NEAR * it.bound[k] else 0
    _join(it)
    return n


@compiled
def _join(it: Actuation) -> None:
    """push and diagonal of the motors that are no rows."""
    it.push[:] = 0.0
    it.diagonal[:] = 0.0
    for k in range(it.motors.size[0]):
        if it.apart[k] == 0:
            slot = it.motors.slots[k]
            it.push[slot] = it.impulse[k]
            it.diagonal[slot] = it.stiffness[k]


@compiled
def _toward(which: Integers, aim: Floats, q: Floats, ways: Floats) -> None:
    """ways (3,) of a point, in the axes of the body that moves."""
    first, p, r = which[0], which[1], which[2]
    x, y, z, w = q[r], q[r + 1], q[r + 2], q[r + 3]
    a, b, c = aim[0] - q[p], aim[1] - q[p + 1], aim[2] - q[p + 2]
    scale = 2.0 / (x * x + y * y + z * z + w * w)
    d0, d1, d2 = c * y - b * z, a * z - c * x, b * x - a * y  # d = r x u, r the vector part of q
    ways[first] = a + scale * (y * d2 - z * d1 - w * d0)
    ways[first + 1] = b + scale * (z * d0 - x * d2 - w * d1)
    ways[first + 2] = c + scale * (x * d1 - y * d0 - w * d2)


@compiled
def _around(which: Integers, aim: Floats, q: Floats, ways: Floats) -> None:
    """ways (3,) of a rotation: log of the inverse of q times the aim, which has length 1."""
    first, r = which[0], which[1]
    x, y, z, w = -q[r], -q[r + 1], -q[r + 2], q[r + 3]
    i, j, k = aim[0], aim[1], aim[2]
    a = w * i + x * aim[3] + y * k - z * j
    b = w * j + y * aim[3] + z * i - x * k
    c = w * k + z * aim[3] + x * j - y * i
    d = w * aim[3] - x * i - y * j - z * k
    if d < 0.0:
        a, b, c, d = -a, -b, -c, -d
    sine = np.sqrt(a * a + b * b + c * c)
    scale = 2.0 * atan2(sine, d) / sine if sine > 1e-9 * d else 2.0 / d
    ways[first], ways[first + 1], ways[first + 2] = scale * a, scale * b, scale * c


@compiled
def exceeded(it: Actuation, change: Floats) -> bool:
    """Whether motors that are no rows would be beyond their bounds where v changes by ``change`` (nv,): they are rows
    now."""
    found = False
    for k in range(it.motors.size[0]):
        y = it.impulse[k] - it.stiffness[k] * change[it.motors.slots[k]]
        if it.apart[k] == 0 and abs(y) > _BEYOND * it.bound[k]:
            it.apart[k] = 1
            found = True
    if found:
        _join(it)
    return found


@compiled
def motor_row(it: Actuation, k: int, v: Floats, rows: GeneralizedRows, i: int) -> None:
    """Row i, on the coordinate of motor k, is to do as the motor does."""
    rows.targets[i] = v[it.motors.slots[k]] + it.impulse[k] / it.stiffness[k]
    rows.compliance[i] = 1.0 / it.stiffness[k]
    rows.low[i], rows.high[i] = -it.bound[k], it.bound[k]


@compiled
def told(it: Actuation, change: Floats, base: int, numbers: Integers, impulses: Floats, start: int) -> int:
    """Number the motors that are no rows from ``start`` on, with their impulses where v changed by ``change`` (nv,);
    where that ends."""
    at = start
    for k in range(it.motors.size[0]):
        if it.apart[k] == 0:
            slot = it.motors.slots[k]
            numbers[at] = base + slot
            impulses[at] = it.impulse[k] - it.stiffness[k] * change[slot]
            at += 1
    return at

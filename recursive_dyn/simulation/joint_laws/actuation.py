"""What motors do in a step, in compiled loops.

A motor's force is that of the step's end, where v is v_end and q what v_end leads to in the step:

    y = h kp (p - q) + h kd (v* - v) = y_0 - D dv,   D = h kd + h^2 kp,   |y| <= h F

with y_0 its impulse at the flight's end and dv what all impulses change. D joins the diagonal of M and y_0 pushes, so
that a motor below its bound F costs no row and is exact (stable PD: Tan, Liu & Turk 2011). One that would be beyond it
becomes a bounded row that gives way by 1 / D, and the step is solved again. That a motor was near its bound in the last
step is reason enough for a row.

What a motor bears from one step to the next the flight has already (``borne_loads``): of y only the rest is left to the
solve. For motors that keep a velocity, whose D is but large, that is all of y: what they bear does not move them.

Motors of joints of several charts (``charted_motors``) are rows always: their shafts are no coordinates.

Where an integrator moves positions with less than the end's velocity, h (1 - share) (v* - v) is added to the way: for
any gain a motor then damps, and at rest it is where it should be.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.problem import GeneralizedRows
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, evaluated, program_call
from recursive_dyn.simulation.joint_laws.charted_motors import MOST, JointTargets, room_for_targets, shaft_ways
from recursive_dyn.simulation.joint_laws.pose_ways import way_to_point, way_to_turn
from recursive_dyn.simulation.joint_laws.row_writing import plain_row

RIGID = 1e6  # times the inertia that it carries: the mass that a motor of given velocity adds to its coordinate
NEAR_BOUND = 0.8  # of its bound, at which a motor starts as a row
_BEYOND = 1.0 + 1e-9  # times its bound: rounding


class MotorArrays(NamedTuple):
    """Motors by coordinate, as they were set: size (4,) says how many coordinates, points, turns and joints of several
    charts there are.

    Of coordinates (nv,): slots in v; places in q, -1 unless the coordinate is a number with a position; positions and
    velocity to come to; kp, kd, and inertia that is added where a velocity is just kept (rigid); forces that bound.
    points: first coordinate here, places in q of the position and of the quaternion in whose axes it moves; aims: where
    to. turns: first coordinate here, place in q of the quaternion; quaternions: where to. targets: of joints of several
    charts, firsts, sizes (nv,): which coordinates each of their shafts moves, 0 of other motors.
    drives (nv,): 1 for the slots of all of these, and where free joints have stops.
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
    targets: JointTargets
    firsts: Integers
    sizes: Integers
    drives: Integers


class Actuation(NamedTuple):
    """Motors in a step, by coordinate as they are: speed, impulse (y_0), stiffness (D), bound, and whether each is a
    row (apart). flown: the impulse that the flight had of each, which y_0, and all that is solved for, is without.
    By slot (nv,): bears, forces that may act in the next one, N or N m; led, D of those that lead in the flight, lead
    the accelerations that they ask for there (``led_motors``). push, diagonal (nv,): y_0 and D by slot of
    those that are no rows. along (nv, 6): the speed that a unit of each of its joint's velocities adds to a shaft;
    charts: program of how joints of several charts move."""

    motors: MotorArrays
    charts: ProgramCall
    along: Annotated[np.ndarray, float, 6]
    speed: Floats
    impulse: Floats
    stiffness: Floats
    bound: Floats
    flown: Floats
    bears: Floats
    led: Floats
    lead: Floats
    apart: Integers
    push: Floats
    diagonal: Floats
    load: Floats


def motor_arrays(nv: int, charted: int) -> MotorArrays:
    """Room for the motors of nv coordinates and so many joints of several charts, none so far."""
    slots, places, firsts, sizes, drives = np.empty((5, nv), dtype=np.int64)
    positions, velocity, kp, kd, rigid, forces = np.empty((6, nv))
    most = nv // 3
    return MotorArrays(
        np.zeros(4, dtype=np.int64), slots, places, positions, velocity, kp, kd, rigid, forces,
        np.empty((most, 3), dtype=np.int64), np.empty((most, 3)), np.empty((most, 2), dtype=np.int64),
        np.empty((most, 4)), room_for_targets(charted), firsts, sizes, drives,
    )  # fmt: skip


def actuation(dynamics: Dynamics, motors: MotorArrays, load: np.ndarray) -> Actuation:
    """Motors, with room for what they do, beside a law whose forces answer accelerations by ``load`` (nv,)."""
    nv = len(motors.slots)
    charts = program_call(dynamics, "chart_motion") if len(motors.targets.joints) else NO_PROGRAM
    speed, impulse, stiffness, bound, push = np.empty((5, nv))
    flown, bears, led, lead, diagonal = np.zeros((5, nv))
    return Actuation(
        motors, charts, np.empty((nv, MOST)), speed, impulse, stiffness, bound, flown, bears, led, lead,
        np.empty(nv, dtype=np.int64), push, diagonal, load,
    )  # fmt: skip


def flown_by_slot(it: Actuation) -> np.ndarray:
    """What the flight had of motors, by slot (nv,), N s or N m s."""
    result, count = np.zeros(len(it.bears)), int(it.motors.size[0])
    np.add.at(result, it.motors.slots[:count], it.flown[:count])
    return result


@compiled
def aim(
    it: Actuation, q: Floats, v: Floats, earlier: Floats, base: int, h: float, share: float, parameters: Floats
) -> int:
    """Motors at the flight's end q, v: how many. earlier: impulses of the last step's rows, motors from ``base`` on;
    share: of the step by which positions follow changes of velocities."""
    m = it.motors
    n = m.size[0]
    for k in range(n):
        it.impulse[k] = m.positions[k] - (q[m.places[k]] if m.places[k] >= 0 else 0.0)
        it.speed[k] = v[m.slots[k]]
    for i in range(m.size[1]):
        way_to_point(q, m.points[i, 1], m.points[i, 2], m.aims[i], it.impulse, m.points[i, 0])
    for i in range(m.size[2]):
        way_to_turn(q, m.turns[i, 1], m.quaternions[i], it.impulse, m.turns[i, 0])
    if m.size[3] > 0:
        _aim_in_charts(it, q, v, parameters)
    for k in range(n):
        lag, damping = m.velocity[k] - it.speed[k], h * m.kd[k] + m.rigid[k]
        way = it.impulse[k] + (1.0 - share) * h * lag
        it.stiffness[k] = damping + h * h * m.kp[k]
        it.impulse[k] = h * m.kp[k] * way + damping * lag - (it.flown[k] if m.rigid[k] == 0.0 else 0.0)
        it.bound[k] = h * m.forces[k]
        near = m.sizes[k] > 0 or abs(earlier[base + m.slots[k]]) >= NEAR_BOUND * it.bound[k]
        it.apart[k] = 1 if it.stiffness[k] > 0.0 and near else 0
    _join(it)
    return n


@compiled
def shift_aims(it: Actuation, ways: Floats, h: float) -> None:
    """Let motors of coordinates alone, once aimed for a step of h, aim from where ``ways`` (nv,) lead from there."""
    for k in range(it.motors.size[0]):
        if it.motors.sizes[k] == 0:
            it.impulse[k] -= h * it.motors.kp[k] * ways[it.motors.slots[k]]
    _join(it)


@compiled
def asked_at_start(it: Actuation, k: int, h: float) -> float:
    """The impulse that motor k would give where no velocity changed, if it was aimed where a step of h begins."""
    return it.impulse[k] - h * h * it.motors.kp[k] * it.speed[k]


@compiled
def _aim_in_charts(it: Actuation, q: Floats, v: Floats, parameters: Floats) -> None:
    """Ways and speeds of the shafts of joints of several charts."""
    targets = it.motors.targets
    evaluated(it.charts, q, q[:0], q[:0], parameters)
    shaft_ways(targets, it.motors.size[3], it.charts.outputs, it.impulse, it.along)
    for i in range(it.motors.size[3]):
        for k in range(targets.joints[i, 0], targets.joints[i, 0] + targets.joints[i, 1]):
            it.speed[k] = 0.0
            for j in range(targets.joints[i, 1]):
                it.speed[k] += it.along[k, j] * v[targets.joints[i, 3] + j]


@compiled
def _join(it: Actuation) -> None:
    """push and diagonal of the motors that are no rows, and of the law."""
    it.push[:] = 0.0
    it.diagonal[:] = it.load
    for k in range(it.motors.size[0]):
        if it.apart[k] == 0:
            slot = it.motors.slots[k]
            it.push[slot] = it.impulse[k]
            it.diagonal[slot] += it.stiffness[k]


@compiled
def exceeded(it: Actuation, change: Floats) -> bool:
    """Whether motors that are no rows would be beyond their bounds where v changes by ``change`` (nv,): they are rows
    now."""
    found = False
    for k in range(it.motors.size[0]):
        y = it.flown[k] + it.impulse[k] - it.stiffness[k] * change[it.motors.slots[k]]
        if it.apart[k] == 0 and abs(y) > _BEYOND * it.bound[k]:
            it.apart[k] = 1
            found = True
    if found:
        _join(it)
    return found


@compiled
def motor_row(
    it: Actuation, k: int, rows: GeneralizedRows, numbers: Integers, earlier: Floats, i: int, base: int
) -> None:
    """Row i is to do as motor k does; motors are numbered from ``base`` on."""
    slot, size, at = it.motors.slots[k], it.motors.sizes[k], rows.first[i]
    plain_row(rows, numbers, earlier, i, base + slot)
    if size == 0:
        rows.slots[at], rows.values[at] = slot, 1.0
    for j in range(size):
        rows.slots[at + j], rows.values[at + j] = it.motors.firsts[k] + j, it.along[k, j]
    rows.first[i + 1] = at + max(size, 1)
    rows.targets[i] = it.speed[k] + it.impulse[k] / it.stiffness[k]
    rows.compliance[i] = 1.0 / it.stiffness[k]
    rows.low[i], rows.high[i] = -it.bound[k] - it.flown[k], it.bound[k] - it.flown[k]
    rows.impulses[i] -= it.flown[k]


@compiled
def told(it: Actuation, change: Floats, base: int, numbers: Integers, impulses: Floats, start: int) -> int:
    """Number the motors that are no rows from ``start`` on, with their impulses where v changed by ``change`` (nv,);
    where that ends. Impulses of all motors become what they gave in the whole step, those in the flight too."""
    at, row = start, 0
    for k in range(it.motors.size[0]):
        if it.apart[k] == 0:
            slot = it.motors.slots[k]
            numbers[at] = base + slot
            impulses[at] = it.flown[k] + it.impulse[k] - it.stiffness[k] * change[slot]
            at += 1
        else:
            while numbers[row] != base + it.motors.slots[k]:
                row += 1
            impulses[row] += it.flown[k]
    return at

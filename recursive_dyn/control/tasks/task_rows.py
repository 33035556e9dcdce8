"""Rows of tasks at a state, in compiled loops: errors, their rates, and Jacobians."""

from __future__ import annotations

from typing import NamedTuple

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.intrinsics import run
from recursive_dyn.control.tasks.formulas import BODY
from recursive_dyn.control.tasks.task import CENTER, LOOK, POINT, POSTURE, SPIN, TURN
from recursive_dyn.dynamics.program_calls import ProgramCall, all_finite, evaluated
from recursive_dyn.recursion.tracking import WIDTH


class TaskPrograms(NamedTuple):
    """Those of the functions of the model, and of the formulas of a body; none where no task asks for one."""

    poses: ProgramCall
    screws: ProgramCall
    velocities: ProgramCall
    accelerations: ProgramCall
    centroidal: ProgramCall
    tracking: ProgramCall
    point: ProgramCall
    turn: ProgramCall
    look: ProgramCall


class TaskArrays(NamedTuple):
    """Parts of tasks, and what is known of the model, in memory that stays where it is.

    Of parts: sorts, sizes, bodies; firsts: of their rows; given_starts: of [constants, goal, its velocity and
    acceleration] in ``given``, and where that ends; column_starts: of their columns among ``columns``, numbers of
    columns of S; slot_starts: of their coordinates in ``slots``.

    asks (2,): whether any part is of a body; of the whole. column_slots: of every column of S; block_firsts,
    block_sizes (nv,): of a coordinate's factor. q, v, parameters: the state; none: empty; still (nv,): zeros.

    e, rate, drift (k,), J (k nv,): the rows, e'' = drift - J a.
    """

    sorts: Integers
    sizes: Integers
    bodies: Integers
    firsts: Integers
    given_starts: Integers
    given: Floats
    column_starts: Integers
    columns: Integers
    slot_starts: Integers
    slots: Integers
    asks: Integers
    column_slots: Integers
    block_firsts: Integers
    block_sizes: Integers
    q: Floats
    v: Floats
    parameters: Floats
    none: Floats
    still: Floats
    programs: TaskPrograms
    e: Floats
    rate: Floats
    drift: Floats
    J: Floats


@compiled
def task_rows(s: TaskArrays, moving: bool) -> bool:
    """Write the rows at the state; rates only where it is moving. Whether all is finite."""
    s.J[:] = 0.0
    if not _kinematics(s, moving):
        return False
    fine = True
    for t in range(len(s.sorts)):
        sort = s.sorts[t]
        if sort == POINT:
            _of_body(s, s.programs.point, t, moving)
        elif sort == TURN:
            _of_body(s, s.programs.turn, t, moving)
        elif sort == LOOK:
            _of_body(s, s.programs.look, t, moving)
        elif sort == CENTER:
            _of_center(s, t)
        elif sort == SPIN:
            _of_spin(s, t)
        elif sort == POSTURE:
            fine = fine and _of_posture(s, t)
    return fine and all_finite(s.e) and all_finite(s.J) and all_finite(s.rate) and all_finite(s.drift)


@compiled
def _kinematics(s: TaskArrays, moving: bool) -> bool:
    """What parts ask for, of the whole model."""
    fine = True
    if s.asks[0]:
        fine = evaluated(s.programs.poses, s.q, s.none, s.none, s.parameters)
        fine = fine and evaluated(s.programs.screws, s.q, s.none, s.none, s.parameters)
        if moving:
            fine = fine and evaluated(s.programs.velocities, s.q, s.v, s.none, s.parameters)
            fine = fine and evaluated(s.programs.accelerations, s.q, s.v, s.still, s.parameters)
    if s.asks[1]:
        fine = fine and evaluated(s.programs.centroidal, s.q, s.v, s.none, s.parameters)
    return fine


@compiled
def _of_body(s: TaskArrays, call: ProgramCall, t: int, moving: bool) -> None:
    """Rows of a formula of one body's pose; W of each, times the body's columns of S, is its row of J."""
    x, y, n, first, body = call.inputs, call.outputs, s.sizes[t], s.firsts[t], s.bodies[t]
    X, S, nv = s.programs.poses.outputs[16 * body : 16 * body + 16], s.programs.screws.outputs, len(s.v)
    for i in range(3):
        for j in range(3):
            x[3 * i + j] = X[4 * i + j]
        x[9 + i] = X[4 * i + 3]
    x[12:BODY] = 0.0
    if moving:
        x[12:18] = s.programs.velocities.outputs[6 * body : 6 * body + 6]
        x[18:24] = s.programs.accelerations.outputs[6 * body : 6 * body + 6]
    given = s.given[s.given_starts[t] : s.given_starts[t + 1]]
    x[BODY : BODY + len(given)] = given
    run(call.address, x, y, call.scratch)
    for i in range(n):
        s.e[first + i], s.rate[first + i], s.drift[first + i] = y[i], y[n + i], y[2 * n + i]
        W = y[3 * n + 6 * i : 3 * n + 6 * i + 6]
        row = s.J[(first + i) * nv : (first + i + 1) * nv]
        for k in range(s.column_starts[t], s.column_starts[t + 1]):
            c = s.columns[k]
            total = 0.0
            for j in range(6):
                total += W[j] * S[6 * c + j]
            row[s.column_slots[c]] += total


@compiled
def _of_center(s: TaskArrays, t: int) -> None:
    """The centre of mass moves by the linear momentum over the mass."""
    A, nv, first = s.programs.centroidal.outputs, len(s.v), s.firsts[t]
    sums, goal = A[6 * nv :], s.given[s.given_starts[t] :]
    for i in range(3):
        s.e[first + i] = goal[i] - sums[1 + i]
        s.rate[first + i] = goal[3 + i] - sums[7 + i] / sums[0]
        s.drift[first + i] = goal[6 + i] - sums[13 + i] / sums[0]
        for k in range(nv):
            s.J[(first + i) * nv + k] = A[(3 + i) * nv + k] / sums[0]


@compiled
def _of_spin(s: TaskArrays, t: int) -> None:
    """The angular momentum about the centre c of mass is that about the origin less c x the linear one."""
    A, nv, first = s.programs.centroidal.outputs, len(s.v), s.firsts[t]
    sums, goal = A[6 * nv :], s.given[s.given_starts[t] :]
    c, h, bias = sums[1:4], sums[4:10], sums[10:16]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        s.e[first + i] = 0.0
        s.rate[first + i] = goal[i] - (h[i] - c[j] * h[3 + k] + c[k] * h[3 + j])
        s.drift[first + i] = goal[3 + i] - (bias[i] - c[j] * bias[3 + k] + c[k] * bias[3 + j])
        for m in range(nv):
            linear_k, linear_j = A[(3 + k) * nv + m], A[(3 + j) * nv + m]
            s.J[(first + i) * nv + m] = A[i * nv + m] - c[j] * linear_k + c[k] * linear_j


@compiled
def _of_posture(s: TaskArrays, t: int) -> bool:
    """Rows of ``tracking``, whose blocks are columns of the coordinates of the same factor."""
    nv, first, start = len(s.v), s.firsts[t], s.slot_starts[t]
    goal = s.given[s.given_starts[t] : s.given_starts[t + 1]]
    if not evaluated(s.programs.tracking, s.q, s.v, goal, s.parameters):
        return False
    for i in range(s.sizes[t]):
        slot = s.slots[start + i]
        own = s.programs.tracking.outputs[WIDTH * slot : WIDTH * slot + WIDTH]
        s.e[first + i], s.rate[first + i], s.drift[first + i] = own[0], own[1], own[2]
        for k in range(s.block_sizes[slot]):
            s.J[(first + i) * nv + s.block_firsts[slot] + k] = own[3 + k]
    return True

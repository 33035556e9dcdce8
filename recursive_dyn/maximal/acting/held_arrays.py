"""Rows that joints are in the solve of a step's impulses, in machine code: what ``held_joints`` says, at speed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers, compiled
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, evaluated, program_call
from recursive_dyn.dynamics.turn_rows import ROWS, turn_rates, turn_row
from recursive_dyn.maximal.acting.step_system import SystemArrays
from recursive_dyn.maximal.joint_rows.held_joints import ENTRIES, REACH, CoordinateDrives, HeldJoints, held_width
from recursive_dyn.maximal.joint_rows.joint_rows import Joints
from recursive_dyn.maximal.joint_rows.row_memory import RowMemory
from recursive_dyn.maximal.kinds.row_arrays import TIME, RowArrays, rate
from recursive_dyn.maximal.sparse.tree_ldlt import Sixes
from recursive_dyn.model import limits
from recursive_dyn.model.ball_limits import MOST, BallLimits, ball_limits


class HeldRoom(NamedTuple):
    """Room for rows, as in HeldJoints, width[0] coefficients of each, one row after the other."""

    width: Integers
    number: Integers
    slots: Integers
    values: Floats
    offsets: Floats
    gaps: Floats
    stops: Flags
    holds: Flags
    low: Floats
    high: Floats
    compliance: Floats


class CoordinateBounds(NamedTuple):
    """What bounds coordinates: joints and rows (l,) of limited ones, their places among those found, low and high; the
    same of rubbing ones (r,) with their friction; joints and rows (nv,) by slot. where (n,): the row here of each joint
    of ``Joints``; roots (nl,): as there; touched (nl,): links that impulses act on, hot (nl,): room for roots. balls:
    limits of these, whose places are among those found; turns: program of how joints of several charts turn, where any
    has such limits, of q (nq,), room; found (nq,): where places of the model are among those found, TIME for time."""

    joints: Integers
    rows: Integers
    places: Integers
    low: Floats
    high: Floats
    rubbing_joints: Integers
    rubbing_rows: Integers
    friction: Floats
    slot_joints: Integers
    slot_rows: Integers
    where: Integers
    roots: Integers
    touched: Flags
    hot: Flags
    balls: BallLimits
    turns: ProgramCall
    q: Floats
    found: Integers


class DriveArrays(NamedTuple):
    """Motors of size[0] shafts, as in CoordinateDrives."""

    size: Integers
    slots: Integers
    firsts: Integers
    sizes: Integers
    along: Sixes
    ways: Floats
    velocity: Floats
    stiffness: Floats
    damping: Floats
    hardness: Floats
    most: Floats


class HeldMemory:
    """Room and tables of one simulation's rows."""

    def __init__(self, memory: RowMemory, joints: Joints) -> None:
        model = joints.reduced.model
        own, rubs, nv = limits.limited(model), limits.rubbing(model), joints.reduced.nv
        where, (joint, row) = np.argsort(memory.order), joints.row_of_slot
        self._found = np.zeros(joints.reduced.nq, dtype=np.int64)  # where a place of the model is among those found
        self._found[memory.place_of_q] = np.arange(len(memory.place_of_q))
        if model.clock is not None:
            self._found[model.clock[0]] = TIME
        balls = ball_limits(model)
        turns = program_call(joints.reduced, "chart_motion") if (balls.motions >= 0).any() else NO_PROGRAM
        places, turning = balls.places.copy(), balls.motions < 0
        places[turning] = self._found[places[turning]]
        balls = balls._replace(places=places)
        m = 6 * len(joints) + 2 * len(own.slots) + len(rubs.slots) + nv + ROWS * len(balls.slots)
        w, (offsets, gaps, low, high, compliance) = held_width(joints.more), np.zeros((5, m))
        stops, holds = np.zeros((2, m), dtype=bool)
        self.room = HeldRoom(
            np.array([w]), np.zeros(m, dtype=np.int64), np.zeros(m * w, dtype=np.int64), np.zeros(m * w), offsets, gaps,
            stops, holds, low, high, compliance,
        )  # fmt: skip
        touched, hot = np.zeros((2, joints.links), dtype=bool)
        self.bounds = CoordinateBounds(
            where[joint[own.slots]], row[own.slots], self._found[own.places], own.low.copy(), own.high.copy(),
            where[joint[rubs.slots]], row[rubs.slots], rubs.friction.copy(), where[joint], row.copy(), where,
            joints.roots, touched, hot, balls, turns, np.zeros(joints.reduced.nq), self._found,
        )  # fmt: skip
        (slots, firsts, sizes), numbers = np.zeros((3, nv), dtype=np.int64), np.zeros((6, nv))
        self.drives = DriveArrays(np.zeros(1, dtype=np.int64), slots, firsts, sizes, np.zeros((nv, MOST)), *numbers)

    def write(self, links: np.ndarray, drives: CoordinateDrives | None) -> None:
        """Links that contacts touch, and motors."""
        self.bounds.touched[:] = False
        self.bounds.touched[links] = True
        to = self.drives
        m = to.size[0] = 0 if drives is None else len(drives.slots)
        if drives is not None:
            for target, source in zip(to[1:], vars(drives).values(), strict=True):
                target[:m] = source

    def rows(self, first: int, count: int) -> HeldJoints:
        """Rows that were written, those of joints, from ``first`` on, before the others."""
        order = np.concatenate([np.arange(first, count), np.arange(first)])
        w = int(self.room.width[0])
        number, slots, values, *others = self.room[1:]
        wide = (x.reshape(-1, w)[order] for x in (slots, values))
        return HeldJoints(number[order], *wide, *(x[order] for x in others))


@compiled
def held_rows(
    it: RowArrays, s: SystemArrays, b: CoordinateBounds, drives: DriveArrays, settings: Floats, parameters: Floats,
    out: HeldRoom,
) -> tuple[int, int]:  # fmt: skip
    """Write limits within reach, dry friction, motors and limits of balls, then joints that these or contacts touch:
    where joints begin, and how many rows there are. settings (1,): length of the step."""
    count, base, h = 0, 6 * len(s.counts), settings[0]
    for side in range(2):
        for k in range(len(b.joints)):
            i, r, q = b.joints[k], b.rows[k], it.found[b.places[k]] - it.offsets[b.places[k]]
            gap = q - b.low[k] if side == 0 else b.high[k] - q
            if gap <= REACH + h * abs(it.rates[i, r]):
                _put(it, out, count, i, r, 1.0 - 2.0 * side, base + side * len(b.joints) + k, b.touched)
                out.gaps[count], out.stops[count], out.low[count] = gap, True, 0.0
                count += 1
    base += 2 * len(b.joints)
    for k in range(len(b.rubbing_joints)):
        i, r = b.rubbing_joints[k], b.rubbing_rows[k]
        _put(it, out, count, i, r, 1.0, base + k, b.touched)
        out.offsets[count] = it.rates[i, r] - rate(it, it.twists, i, r)
        out.high[count] = h * b.friction[k]
        out.low[count] = -out.high[count]
        count += 1
    base += len(b.rubbing_joints)
    for k in range(drives.size[0]):
        if drives.hardness[k] > 0.0:
            first, now, seen = drives.firsts[k], 0.0, 0.0
            i = b.slot_joints[first]
            _put(it, out, count, i, b.slot_rows[first], drives.along[k, 0], base + drives.slots[k], b.touched)
            for j in range(drives.sizes[k]):
                r, share = b.slot_rows[first + j], drives.along[k, j]
                now += share * it.rates[i, r]
                seen += share * rate(it, it.twists, i, r)
                if j > 0:
                    _add(it, out, count, i, r, share)
            push = drives.damping[k] * (drives.velocity[k] - now) + drives.stiffness[k] * drives.ways[k]
            out.offsets[count] = -seen - push / drives.hardness[k]
            out.compliance[count] = 1.0 / drives.hardness[k]
            out.low[count], out.high[count] = -drives.most[k], drives.most[k]
            count += 1
    if b.turns.address:
        for p in range(len(b.q)):
            at = b.found[p]
            b.q[p] = it.time[0] if at == TIME else it.found[at] - it.offsets[at]
        evaluated(b.turns, b.q, b.q[:0], b.q[:0], parameters)
    count = _turned(it, b, out, count, base + len(b.slot_joints), h)
    return count, _joined(it, s, b, out, count)


@compiled
def _turned(it: RowArrays, b: CoordinateBounds, out: HeldRoom, count: int, base: int, h: float) -> int:
    """Limits of balls within reach, from row ``count`` on; how many rows there are then."""
    turn, own, balls, motion = np.empty(MOST), np.empty(MOST), len(b.balls.slots), b.turns.outputs
    for kind in range(ROWS):
        for k in range(balls):
            gap = turn_row(b.balls, k, kind, it.found if b.balls.motions[k] < 0 else motion, turn)
            rate_of_gap, slot, size = 0.0, b.balls.slots[k], b.balls.counts[k]
            if not turn_rates(b.balls, k, turn, motion, own):
                continue
            i = b.slot_joints[slot]
            for j in range(size):
                rate_of_gap += own[j] * it.rates[i, b.slot_rows[slot + j]]
            if gap <= REACH + h * abs(rate_of_gap):
                _put(it, out, count, i, b.slot_rows[slot], own[0], base + kind * balls + k, b.touched)
                for j in range(1, size):
                    _add(it, out, count, i, b.slot_rows[slot + j], own[j])
                out.gaps[count], out.stops[count], out.low[count] = gap, True, 0.0
                count += 1
    return count


@compiled
def _joined(it: RowArrays, s: SystemArrays, b: CoordinateBounds, out: HeldRoom, count: int) -> int:
    """Joints of what hangs together with a touched link, from row ``count`` on; how many rows there are then."""
    b.hot[:] = False
    for link in range(len(b.roots)):
        if b.touched[link]:
            b.hot[b.roots[link]] = True
    for number in range(len(b.where)):
        i = b.where[number]
        if b.hot[b.roots[it.children[i]]]:
            for r in range(s.heights[i]):
                if s.e[i, r] < np.inf:
                    _put(it, out, count, i, r, 1.0, 6 * number + r, b.touched)
                    out.offsets[count], out.compliance[count] = -rate(it, it.twists, i, r), s.e[i, r]
                    out.holds[count], out.low[count] = r < s.counts[i], -np.inf
                    count += 1
    return count


@compiled
def _put(it: RowArrays, out: HeldRoom, k: int, i: int, r: int, sign: float, number: int, touched: Flags) -> None:
    """Row k is row r of joint i, or its opposite; what bounds it is still to be set."""
    child, parent = it.children[i], it.parents[i]
    touched[child] = True
    free = parent == len(it.poses) - 1
    at, w = k * out.width[0], out.width[0]
    out.values[at : at + w] = 0.0
    for c in range(6):
        out.slots[at + c], out.values[at + c] = 6 * child + c, sign * it.child[i, r, c]
        out.slots[at + 6 + c] = 0 if free else 6 * parent + c
        out.values[at + 6 + c] = 0.0 if free else sign * it.parent[i, r, c]
    at += ENTRIES
    for x in range(it.more_first[i], it.more_first[i + 1]):
        for c in range(6):
            out.slots[at + c], out.values[at + c] = 6 * it.more_links[x] + c, sign * it.more[x, c]
        at += 6
    out.number[k], out.offsets[k], out.gaps[k], out.compliance[k] = number, sign * it.lacking[i, r], 0.0, 0.0
    out.stops[k], out.holds[k] = False, False
    out.low[k], out.high[k] = -np.inf, np.inf


@compiled
def _add(it: RowArrays, out: HeldRoom, k: int, i: int, r: int, share: float) -> None:
    """Add a share of row r of joint i, of which row k has another one already."""
    at = k * out.width[0]
    for c in range(6):
        out.values[at + c] += share * it.child[i, r, c]
        if it.parents[i] != len(it.poses) - 1:
            out.values[at + 6 + c] += share * it.parent[i, r, c]

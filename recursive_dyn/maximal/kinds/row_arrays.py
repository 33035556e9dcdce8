"""Rows of joints and loops at the bodies' state, in machine code: every kind of joint by one program for many of them.

Joints come kind by kind, behind them loops, one row of a constraint each; bodies by number, the world behind them.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.intrinsics import foreign_int, run
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, all_finite
from recursive_dyn.maximal.kinds.kind_calls import KindCalls
from recursive_dyn.maximal.sparse.tree_ldlt import Blocks, Sixes

Sevens = Annotated[np.ndarray, float, 7]

NONE, TIME = -1, -2  # places of what is no coordinate found
_CALLS = 4  # of a kind's program, each of some Gauss-Newton steps


class MeasuringCall(NamedTuple):
    """A program over what is measured, and where that is.

    bodies (b,): links of its bodies, frames (12 b,): these in their links; coordinates (c, 3): place in ``found``, -1
    for none, -2 for that of time, joint and row of the rate.
    """

    call: ProgramCall
    bodies: Integers
    frames: Floats
    coordinates: Annotated[np.ndarray, int, 3]


NOTHING = MeasuringCall(NO_PROGRAM, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 3), dtype=np.int64))


class LoopCall(NamedTuple):
    """The program of all constraints, and where its results are.

    rows (m, 5): where a row's numbers begin, where those by the twists of its links, -1 for none, and these two links;
    more (x,): where those by twists of further links are; shares (s, 5): of a row's, a joint and its row, and the
    row's side, 0 or 1, or 2 + x, of this joint's child and parent, -1 for none; begin (1,): of the shares; finding: the
    program of coordinates that joints show together, sought (f,): where these are among those found, still (1,): how
    far from where they are these may be followed.
    """

    measuring: MeasuringCall
    rows: Annotated[np.ndarray, int, 5]
    more: Integers
    shares: Annotated[np.ndarray, int, 5]
    begin: Integers
    finding: MeasuringCall
    sought: Integers
    still: Floats


class RowArrays(NamedTuple):
    """n joints and m loops of n bodies. time (1,); poses (n + 1, 7), twists (n + 1, 6): of bodies; parents, children
    (n + m,): of joints and loops.

    q: coordinates of joints, to follow them from; found, left: where they are, and by how much another step would
    change these; offsets: what coordinates of the model have less. parent_poses to child_twists: of the bodies at each
    joint. parent, child (n + m, 6, 6), errors, rates, drift (n + m, 6): as
    in JointRows, drift what rates grow by in a unit of time while components of twists stay; lacking (n + m, 6):
    what rates have beside those of twists. of_time: which of q are time, timed: joints that time moves.
    """

    time: Floats
    parents: Integers
    children: Integers
    poses: Sevens
    twists: Sixes
    q: Floats
    found: Floats
    left: Floats
    offsets: Floats
    parent_poses: Sevens
    child_poses: Sevens
    parent_twists: Sixes
    child_twists: Sixes
    parent: Blocks
    child: Blocks
    errors: Sixes
    rates: Sixes
    drift: Sixes
    lacking: Sixes
    of_time: Integers
    timed: Integers
    more_first: Integers
    more_links: Integers
    more: Sixes


@compiled
def placed(it: RowArrays, q: Floats, v: Floats) -> None:
    """Bodies at their coordinates q (7 n,) and twists v (6 n,), and time after these, if it is there."""
    placed_some(it, q, v, 0, len(it.poses) - 1)
    n = 7 * (len(it.poses) - 1)
    if len(q) > n:
        it.time[0] = q[n]
    for k in it.of_time:
        it.q[k] = it.time[0] + it.offsets[k]


@compiled
def placed_some(it: RowArrays, q: Floats, v: Floats, begin: int, end: int) -> None:
    """Some bodies, at their coordinates and twists."""
    for i in range(begin, end):
        it.poses[i] = q[7 * i : 7 * i + 7]
        it.twists[i] = v[6 * i : 6 * i + 6]


@compiled
def rows_at(kinds: KindCalls, loops: LoopCall, it: RowArrays, parameters: Floats) -> bool:
    """Fill the rows at the bodies' poses and twists; False where a joint was not followed there, or is not finite."""
    return followed(kinds, it, 0, len(kinds.still)) and rows_beside(loops, it, parameters)


@compiled
def followed(kinds: KindCalls, it: RowArrays, begin: int, end: int) -> bool:
    """Fill the rows of joints of some kinds; whether they were followed to where they are."""
    found = True
    for k in range(begin, end):
        found = found and _followed(kinds, k, it)
    return found


@compiled
def rows_beside(loops: LoopCall, it: RowArrays, parameters: Floats) -> bool:
    """Fill what depends on the rows of joints: what they lack, and loops; whether that was found."""
    for i in it.timed:
        for r in range(6):
            it.lacking[i, r] = it.rates[i, r] - rate(it, it.twists, i, r)
    return len(loops.rows) == 0 or _loops_found(loops, it, parameters)


@compiled
def _followed(kinds: KindCalls, k: int, it: RowArrays) -> bool:
    """Fill the rows of a kind; whether its joints were followed to where they are."""
    own = kinds.numbers[k]
    q, end, v, last, first, count = own[5], own[6], own[7], own[8], own[9], own[1]
    for i in range(own[10], own[10] + count):
        it.parent_poses[i] = it.poses[it.parents[i]]
        it.child_poses[i] = it.poses[it.children[i]]
        it.parent_twists[i] = it.twists[it.parents[i]]
        it.child_twists[i] = it.twists[it.children[i]]
    if count == 0:
        return True
    sources, strides, targets = kinds.sources[k], kinds.strides[k], kinds.targets[k]
    for _ in range(_CALLS):
        if foreign_int(own[0], sources, strides, targets, first, count, own[2], own[3], own[4]):
            return False
        most = 0.0
        for i in range(v, last):
            most = max(most, abs(it.left[i]))
        it.q[q:end] = it.found[q:end]
        if most < kinds.still[k]:
            return True
    return False


@compiled
def measured(own: MeasuringCall, it: RowArrays, parameters: Floats) -> bool:
    """Run a program at what is measured where joints were found; whether its outputs are finite."""
    x, at = own.call.inputs, 0
    for b in own.bodies:
        x[at : at + 7] = it.poses[b]
        at += 7
    for b in own.bodies:
        x[at : at + 6] = it.twists[b]
        at += 6
    x[at : at + len(own.frames)] = own.frames
    at += len(own.frames)
    for i in range(len(own.coordinates)):
        place, joint, row = own.coordinates[i, 0], own.coordinates[i, 1], own.coordinates[i, 2]
        if place == TIME:
            x[at], x[at + 1] = it.time[0], 1.0
        else:
            x[at] = it.found[place] - it.offsets[place] if place >= 0 else 0.0
            x[at + 1] = it.rates[joint, row]
        at += 2
    x[at : at + len(parameters)] = parameters
    run(own.call.address, x, own.call.outputs, own.call.scratch)
    return all_finite(own.call.outputs)


@compiled
def _loops_found(loops: LoopCall, it: RowArrays, parameters: Floats) -> bool:
    """Fill the rows of constraints, of joints that were found."""
    if len(loops.sought) > 0 and not _found_together(loops, it, parameters):
        return False
    if not measured(loops.measuring, it, parameters):
        return False
    out = loops.measuring.call.outputs
    n = len(it.parent_poses)
    for k in range(len(loops.rows)):
        _put(loops, k, n + k, it)
    for s in range(len(loops.shares)):
        _share(loops.shares[s], out[loops.begin[0] + s], n, it)
    for k in range(len(loops.rows)):
        i = n + k
        it.lacking[i, 0] = it.rates[i, 0] - rate(it, it.twists, i, 0)
    return True


@compiled
def _found_together(loops: LoopCall, it: RowArrays, parameters: Floats) -> bool:
    """Follow coordinates that joints show together to where they are; whether that was far enough."""
    n, out = len(loops.sought), loops.finding.call.outputs
    for k in loops.sought:
        it.found[k] = it.q[k]
    for _ in range(_CALLS):
        if not measured(loops.finding, it, parameters):
            return False
        most = 0.0
        for k in range(n):
            it.found[loops.sought[k]] = it.q[loops.sought[k]] = out[k]
            most = max(most, abs(out[n + k]))
        if most < loops.still[0]:
            return True
    return False


@compiled
def _put(loops: LoopCall, k: int, i: int, it: RowArrays) -> None:
    """Row k of the constraints as loop i, without shares of coordinates."""
    out, begin, first, second = loops.measuring.call.outputs, loops.rows[k, 0], loops.rows[k, 1], loops.rows[k, 2]
    for j in range(6):
        it.parent[i, 0, j] = out[first + j] if first >= 0 else 0.0
        it.child[i, 0, j] = out[second + j] if second >= 0 else 0.0
    it.errors[i, 0], it.rates[i, 0] = out[begin], out[begin + 1]
    V, W = it.twists[it.parents[i]], it.twists[it.children[i]]
    it.drift[i, 0] = _turning(it.parent[i, 0], V) + _turning(it.child[i, 0], W) - out[begin + 2]
    for x in range(it.more_first[i], it.more_first[i + 1]):
        at = loops.more[x]
        for j in range(6):
            it.more[x, j] = out[at + j] if at >= 0 else 0.0
        it.drift[i, 0] += _turning(it.more[x], it.twists[it.more_links[x]])


@compiled
def _turning(row: Floats, V: Floats) -> float:
    """A row on [0; omega x v] of a twist."""
    return (
        row[3] * (V[1] * V[5] - V[2] * V[4])
        + row[4] * (V[2] * V[3] - V[0] * V[5])
        + row[5] * (V[0] * V[4] - V[1] * V[3])
    )


@compiled
def _share(own: Integers, share: float, n: int, it: RowArrays) -> None:
    """Add what a loop's row has of the rate of a joint's coordinate."""
    i, joint, row = n + own[0], own[1], own[2]
    _add_side(it, i, own[3], share, it.child[joint, row])
    _add_side(it, i, own[4], share, it.parent[joint, row])
    it.drift[i, 0] += share * it.drift[joint, row]


@compiled
def _add_side(it: RowArrays, i: int, side: int, share: float, J: Floats) -> None:
    """Add to coefficients of a loop's row."""
    for j in range(6):
        if side == 0:
            it.parent[i, 0, j] += share * J[j]
        elif side == 1:
            it.child[i, 0, j] += share * J[j]
        elif side >= 2:
            it.more[side - 2, j] += share * J[j]


@compiled
def rate(it: RowArrays, twists: Sixes, i: int, r: int) -> float:
    """What row r of joint i makes of the bodies' twists (n + 1, 6)."""
    a, b, x, y = it.parent[i, r], it.child[i, r], twists[it.parents[i]], twists[it.children[i]]
    total = a[0] * x[0] + a[1] * x[1] + a[2] * x[2] + a[3] * x[3] + a[4] * x[4] + a[5] * x[5]
    total += b[0] * y[0] + b[1] * y[1] + b[2] * y[2] + b[3] * y[3] + b[4] * y[4] + b[5] * y[5]
    for k in range(it.more_first[i], it.more_first[i + 1]):
        c, z = it.more[k], twists[it.more_links[k]]
        total += c[0] * z[0] + c[1] * z[1] + c[2] * z[2] + c[3] * z[3] + c[4] * z[4] + c[5] * z[5]
    return total


@compiled
def found_at(kinds: KindCalls, loops: LoopCall, it: RowArrays, q: Floats, v: Floats, parameters: Floats) -> bool:
    """``rows_at`` bodies at coordinates q (7 n,) and twists v (6 n,)."""
    placed(it, q, v)
    return rows_at(kinds, loops, it, parameters)

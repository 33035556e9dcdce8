"""The equations of joints over a step, in machine code: what rows are to reach, with which compliance, and springs.

What they are is said by ``joint_action``, which computes the same in arrays.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.maximal.kinds.row_arrays import RowArrays, rate
from recursive_dyn.maximal.kinds.turn_springs import TurnSprings, turn_pull
from recursive_dyn.maximal.sparse.tree_ldlt import Block, Blocks, Sixes, cholesky

AHEAD = 0.5  # of the rates at which joints would open at a step's end if nothing held them, those that they have there
CONSTRAINED, SPRUNG, IMPLICITLY_SPRUNG = range(3)  # how joints hold


class SystemArrays(NamedTuple):
    """Of N joints and loops. method (1,): how joints hold; counts (N,): rows of what each does not allow, told (N,): 1
    for motions, which are met whatever the method, heights (N,): rows that are solved for.

    rotor, damping, stiffness, rest (N, 6): of the coordinates that rows measure, places (N, 6): where these are among
    the coordinates found, -1 for none. turns: springs of balls, whose places are there, too; turn_joints, turn_rows
    (nv,): joint and row of each slot; torsion, pulls (N, 6): how stiff they are, and what they take. K, D (N, 6, 6):
    springs and dampers of "penalty" against displacements of children in their own axes, of loops in [0, 0]; W:
    h^2 K + h D. e, c (N, 6): compliances and right-hand sides.
    """

    method: Integers
    counts: Integers
    told: Integers
    heights: Integers
    rotor: Sixes
    damping: Sixes
    stiffness: Sixes
    rest: Sixes
    places: Annotated[np.ndarray, int, 6]
    turns: TurnSprings
    turn_joints: Integers
    turn_rows: Integers
    torsion: Sixes
    pulls: Sixes
    K: Blocks
    D: Blocks
    W: Blocks
    e: Sixes
    c: Sixes


@compiled
def assemble(it: RowArrays, s: SystemArrays, h: float, straight: Sixes, passing: float) -> None:
    """e and c for a step of h; springs scale their rows so that each has the compliance 1.

    straight (n + 1, 6): rates of twists that nothing acts on; passing: h, or 0 for rows that are not to be reached by a
    flight.
    """
    turn_pulls(it, s)
    assemble_some(it, s, h, straight, passing, 0, len(s.counts))


@compiled
def assemble_some(
    it: RowArrays, s: SystemArrays, h: float, straight: Sixes, passing: float, begin: int, end: int
) -> None:
    """``assemble`` of some joints and loops, after ``turn_pulls``."""
    joints = len(it.parent_poses)
    for i in range(begin, end):
        count = s.counts[i]
        if s.method[0] == CONSTRAINED or s.told[i] == 1:
            for r in range(count):
                s.e[i, r] = 0.0
                s.c[i, r] = passing * (it.drift[i, r] + AHEAD * (rate(it, straight, i, r) - it.drift[i, r]))
                s.c[i, r] -= it.lacking[i, r]
            if s.method[0] != CONSTRAINED and passing > 0.0:  # nothing else brings it back
                s.c[i, 0] -= it.errors[i, 0] / passing
        elif s.method[0] == IMPLICITLY_SPRUNG:
            _spring_rows(it, s, i, h, i < joints)
        else:
            for r in range(count):
                s.e[i, r], s.c[i, r] = np.inf, 0.0
        for r in range(count, s.heights[i]):
            coordinate_row(it, s, i, r, 0.0 if s.method[0] == SPRUNG else h, passing)


@compiled
def coordinate_row(it: RowArrays, s: SystemArrays, i: int, r: int, h: float, passing: float) -> None:
    """A coordinate's rotor, and its damper and spring over a time h."""
    m, d, k = s.rotor[i, r], h * s.damping[i, r], h * s.stiffness[i, r]
    w = m + d + h * (k + h * s.torsion[i, r])
    if w > 0.0:
        s.e[i, r] = 1.0 / w
        pull = k * (_position(it, s, i, r) - s.rest[i, r]) + h * s.pulls[i, r]
        s.c[i, r] = (m * it.rates[i, r] - pull) / w + passing * it.drift[i, r] - it.lacking[i, r]
    else:
        s.e[i, r], s.c[i, r] = np.inf, 0.0


@compiled
def turn_pulls(it: RowArrays, s: SystemArrays) -> None:
    """What springs of balls take, at the coordinates found."""
    out = np.empty(6)
    for k in range(len(s.turns.slots)):
        turn_pull(s.turns, k, it.found, out)
        for j in range(6 if s.turns.free[k] == 1 else 3):
            slot = s.turns.slots[k] + j
            s.pulls[s.turn_joints[slot], s.turn_rows[slot]] = out[j]


@compiled
def _position(it: RowArrays, s: SystemArrays, i: int, r: int) -> float:
    """Of the coordinate that a row measures the rate of."""
    place = s.places[i, r]
    return it.found[place] - it.offsets[place] if place >= 0 else 0.0


@compiled
def _spring_rows(it: RowArrays, s: SystemArrays, i: int, h: float, joint: bool) -> None:
    """Rows scaled by L^T with L L^T = h^2 K + h D, and L^T wanted = -h L^-1 K C."""
    n, L, target = s.counts[i], np.empty((6, 6)), np.empty(6)
    if joint:
        _along(it.child[i], n, s.W[i], L)
    else:
        L[0, 0] = s.W[i, 0, 0]
    cholesky(L, n)
    _pull(it, s.K[i], i, n, joint, it.errors[i], target)
    for r in range(n):
        total = h * target[r]
        for m in range(r):
            total -= L[r, m] * target[m]
        target[r] = total * L[r, r]
        s.e[i, r], s.c[i, r] = 1.0, -target[r]
    for r in range(n):
        for column in range(6):
            a, b = it.child[i, r, column] / L[r, r], it.parent[i, r, column] / L[r, r]
            for m in range(r + 1, n):
                a += L[m, r] * it.child[i, m, column]
                b += L[m, r] * it.parent[i, m, column]
            it.child[i, r, column], it.parent[i, r, column] = a, b
        for k in range(it.more_first[i], it.more_first[i + 1]):  # of one row
            for column in range(6):
                it.more[k, column] /= L[r, r]
        lacking, drift = it.lacking[i, r] / L[r, r], it.drift[i, r] / L[r, r]
        for m in range(r + 1, n):
            lacking += L[m, r] * it.lacking[i, m]
            drift += L[m, r] * it.drift[i, m]
        it.lacking[i, r], it.drift[i, r] = lacking, drift
        s.c[i, r] -= lacking


@compiled
def _along(J: Block, n: int, S: Block, to: Block) -> None:
    """to (n, n) <- J S J^T, the lower triangle."""
    for r in range(n):
        y = np.zeros(6)
        for k in range(6):
            for m in range(6):
                y[k] += S[k, m] * J[r, m]
        for c in range(n):
            total = 0.0
            for k in range(6):
                total += J[c, k] * y[k]
            to[c, r] = total


@compiled
def _pull(it: RowArrays, S: Block, i: int, n: int, joint: bool, x: Floats, to: Floats) -> None:
    """to (n,) <- J S J^T x along the rows of what a joint does not allow, or S x of a loop."""
    if not joint:
        to[0] = S[0, 0] * x[0]
        return
    J, y = it.child[i], np.zeros(6)
    for r in range(n):
        for k in range(6):
            y[k] += J[r, k] * x[r]
    for r in range(n):
        to[r] = 0.0
    for k in range(6):
        total = 0.0
        for m in range(6):
            total += S[k, m] * y[m]
        for r in range(n):
            to[r] += J[r, k] * total


@compiled
def pulled(it: RowArrays, s: SystemArrays, forces: Sixes) -> None:
    """Add to the forces (n + 1, 6) on the bodies what explicit springs, and dampers and springs of coordinates, do."""
    f, d, joints = np.empty(6), np.empty(6), len(it.parent_poses)
    turn_pulls(it, s)
    for i in range(len(s.counts)):
        n, height = s.counts[i], 6 if i < joints else 1
        _pull(it, s.K[i], i, n, i < joints, it.errors[i], f)
        _pull(it, s.D[i], i, n, i < joints, it.rates[i], d)
        for r in range(height):
            if r < n:
                f[r] = -f[r] - d[r]
            else:
                pull = s.stiffness[i, r] * (_position(it, s, i, r) - s.rest[i, r]) + s.pulls[i, r]
                f[r] = -s.damping[i, r] * it.rates[i, r] - pull
        for r in range(height):
            for k in range(6):
                forces[it.children[i], k] += it.child[i, r, k] * f[r]
                forces[it.parents[i], k] += it.parent[i, r, k] * f[r]
        for x in range(it.more_first[i], it.more_first[i + 1]):
            for k in range(6):
                forces[it.more_links[x], k] += it.more[x, k] * f[0]


@compiled
def errors_taken(it: RowArrays, s: SystemArrays, share: float, begin: int, end: int) -> float:
    """e and c of some joints and loops for taking this share of C back; the most of C, m or rad."""
    most = 0.0
    for i in range(begin, end):
        for r in range(s.heights[i]):
            hard = r < s.counts[i]
            s.e[i, r], s.c[i, r] = (0.0, -share * it.errors[i, r]) if hard else (np.inf, 0.0)
            most = max(most, abs(it.errors[i, r])) if hard else most
    return most


@compiled
def lacking_from(it: RowArrays, s: SystemArrays, free: Sixes, begin: int, end: int) -> bool:
    """Take from c of some joints and loops what rows have at twists ``free`` (n + 1, 6); whether any is solved for."""
    some = False
    for i in range(begin, end):
        for r in range(s.heights[i]):
            if s.e[i, r] < np.inf:
                s.c[i, r] -= rate(it, free, i, r)
                some = True
    return some

"""The configuration within limits that is nearest to the targets of tasks, by Levenberg & Marquardt's method.

Least |r|^2 of weighted errors r = W e over coordinates low <= x <= high. Where r moves as r - A d, a step d solves
(A^T A + mu) d = A^T r for the coordinates that are free (``bounded_step``). mu falls with |r|^2, so that a target is
reached quadratically also where A is singular (Fan & Yuan 2005, On the quadratic convergence of the Levenberg-Marquardt
method without nonsingularity assumption, Computing 74). A step that did not keep its promise is bent along the curve on
which heavy rows stay as they are (Transtrum & Sethna 2012, Improvements to the Levenberg-Marquardt algorithm for
nonlinear least-squares minimization).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.control.bounded_step import BoundedStep, bounded_step, solve
from recursive_dyn.control.tasks.task_rows import TaskArrays, task_rows
from recursive_dyn.dynamics.program_calls import ProgramCall, evaluated

MET, NEAREST, SPENT = 0, 1, 2  # targets are met; no way leads nearer; iterations were used up
_HELD = 1e4  # weight of the scene's constraints
_LEAST, _MOST = 1e-12, 1e12  # of mu as a share of |r|^2
_FLOOR = 1e-11  # of mu as a share of the largest diagonal entry of A^T A: rounding must not lead along what is free
_FLAT = 1e-12  # share of |r|^2 below which a step promises nothing
_BETTER = 1e-6  # share of |r|^2 by which another start must lead nearer
_NUDGE = 0.2  # rad, m
_HALF_TURN = math.pi * (1.0 + 1e-9)  # rad, from the start: more is nearer the other way round
_SAME = 1e-9  # share of |r|^2 that rounding of a turn changes


class SearchArrays(NamedTuple):
    """A search in memory that stays where it is.

    Of the n coordinates that may move: slots in v; bounded: their limits, and g = A^T r, H = A^T A at q. weights (k,)
    of the tasks' rows; held (m,): rows of constraints between positions. integrate, phi, gradient: programs.

    begin, q, best (nq,): where it starts, is, and was nearest. r (k + m,), A (k + m) x n row by row: at q, and where a
    step led (trial). bend (n,), move (nv,).
    numbers (4,): most iterations, most starts; iterations taken, state of the random numbers. tolerance (1,).
    """

    tasks: TaskArrays
    slots: Integers
    bounded: BoundedStep
    weights: Floats
    held: Integers
    integrate: ProgramCall
    phi: ProgramCall
    gradient: ProgramCall
    begin: Floats
    q: Floats
    best: Floats
    r: Floats
    A: Floats
    trial_r: Floats
    trial_A: Floats
    bend: Floats
    move: Floats
    numbers: Integers
    tolerance: Floats


@compiled
def nearest(it: SearchArrays) -> int:
    """From q to the nearest configuration that is found, in q: MET, NEAREST or SPENT. r and A are those of it.

    Where that is no target it is sought again: near it, as a stretched arm has no way to itself, then from anywhere.
    """
    it.numbers[2], it.numbers[3] = 0, 1
    it.begin[:] = it.q
    _within(it, it.q)
    code = _descended(it)
    least = _half_square(it.r)
    it.best[:] = it.q
    start = 1
    while code != MET and start < it.numbers[1]:
        it.q[:] = it.best
        _elsewhere(it, start)
        again = _descended(it)
        cost = _half_square(it.r)
        if again == MET or cost < least * (1.0 - _BETTER):
            code, least = again, cost
            it.best[:] = it.q
        start += 1
    if start > 1:
        it.q[:] = it.best
        if _looked(it, it.q):
            _taken(it)
    _unwound(it, code == MET)
    return code


@compiled
def _unwound(it: SearchArrays, met: bool) -> None:
    """Take whole turns off coordinates that ended more than half a turn away, where errors stay as they are."""
    own, tried = it.bounded, False
    for j in range(len(it.slots)):
        place = own.places[j]
        far = it.q[place] - it.begin[place] if place >= 0 else 0.0
        if abs(far) > _HALF_TURN:
            there, cost, tried = it.q[place], _half_square(it.r), True
            it.q[place] = there - 2.0 * math.pi * np.floor(far / (2.0 * math.pi) + 0.5)
            fine = own.lows[j] <= it.q[place] and it.q[place] <= own.highs[j] and _looked(it, it.q)
            if fine:
                _taken(it)
                fine = _met(it) if met else _half_square(it.r) <= cost * (1.0 + _SAME)
            if not fine:
                it.q[place] = there
                if _looked(it, it.q):
                    _taken(it)
    if tried and _looked(it, it.q):
        _taken(it)


@compiled
def _descended(it: SearchArrays) -> int:
    """Down from q, in q."""
    if not _looked(it, it.q):
        it.r[:] = math.inf
        return NEAREST
    _taken(it)
    share, cost = 0.1, _half_square(it.r)
    for _ in range(it.numbers[0]):
        if _met(it):
            return MET
        it.numbers[2] += 1
        promise = bounded_step(it.bounded, it.q, _damping(it, share * cost))
        if promise <= _FLAT * cost:
            return NEAREST
        gain = _tried(it, cost)
        if gain < 0.75 * promise:
            gain = _bent(it, cost, gain)
        if gain > 1e-4 * promise:
            _taken(it)
            it.q[:] = it.tasks.q
            cost = _half_square(it.r)
        if gain > 0.75 * promise:
            share = max(share * 0.1, _LEAST)
        elif gain < 0.25 * promise:
            share = share * 8.0
        if share > _MOST:
            return NEAREST
    return SPENT


@compiled
def _damping(it: SearchArrays, wanted: float) -> float:
    """mu: as wanted, but not so small that rounding leads along what is free."""
    top, n = 0.0, len(it.slots)
    for j in range(n):
        top = max(top, it.bounded.H[j * n + j])
    return wanted + _FLOOR * top


@compiled
def _looked(it: SearchArrays, q: Floats) -> bool:
    """Write trial_r and trial_A of a configuration, which the tasks then have; whether they are finite."""
    tasks, n, k, nv = it.tasks, len(it.slots), len(it.weights), len(it.move)
    tasks.q[:] = q
    if not task_rows(tasks, False):
        return False
    for i in range(k):
        w = it.weights[i]
        it.trial_r[i] = w * tasks.e[i]
        row, J = it.trial_A[i * n : (i + 1) * n], tasks.J[i * nv : (i + 1) * nv]
        for j in range(n):
            row[j] = w * J[it.slots[j]]
    if len(it.held) > 0:
        if not evaluated(it.phi, tasks.q, tasks.none, tasks.none, tasks.parameters):
            return False
        if not evaluated(it.gradient, tasks.q, tasks.none, tasks.none, tasks.parameters):
            return False
        for i in range(len(it.held)):
            it.trial_r[k + i] = -_HELD * it.phi.outputs[it.held[i]]
            row, C = it.trial_A[(k + i) * n : (k + i + 1) * n], it.gradient.outputs[it.held[i] * nv :]
            for j in range(n):
                row[j] = _HELD * C[it.slots[j]]
    return True


@compiled
def _taken(it: SearchArrays) -> None:
    """Be where the trial was: r, A, g and H."""
    n, H, g = len(it.slots), it.bounded.H, it.bounded.g
    it.r[:] = it.trial_r
    it.A[:] = it.trial_A
    H[:] = 0.0
    g[:] = 0.0
    for i in range(len(it.r)):
        row, r = it.A[i * n : (i + 1) * n], it.r[i]
        for a in range(n):
            x = row[a]
            if x != 0.0:
                own, rest = H[a * n + a : (a + 1) * n], row[a:]
                for k in range(n - a):
                    own[k] += x * rest[k]
                g[a] += x * r


@compiled
def _half_square(r: Floats) -> float:
    """|r|^2 / 2."""
    total = 0.0
    for x in r:
        total += x * x
    return 0.5 * total


@compiled
def _met(it: SearchArrays) -> bool:
    """Whether every error at q is within the tolerance."""
    k, limit, fine = len(it.weights), it.tolerance[0], True
    for i in range(len(it.r)):
        fine = fine and abs(it.r[i]) <= limit * (it.weights[i] if i < k else _HELD)
    return fine


@compiled
def _tried(it: SearchArrays, cost: float) -> float:
    """How much |r|^2 / 2 fell where the step leads; what is not finite is infinitely far."""
    _moved(it)
    return cost - _half_square(it.trial_r) if _looked(it, it.tasks.q) else -math.inf


@compiled
def _bent(it: SearchArrays, cost: float, gain: float) -> float:
    """Try the step along the curve instead, if that is better; how much |r|^2 / 2 fell."""
    n, step, wish = len(it.slots), it.bounded.step, it.bounded.wish
    if not math.isfinite(gain):
        return gain
    wish[:] = 0.0
    for i in range(len(it.r)):
        row = it.A[i * n : (i + 1) * n]
        way = it.trial_r[i] - it.r[i]
        for j in range(n):
            way += row[j] * step[j]
        for j in range(n):
            wish[j] += row[j] * way
    it.bend[:] = 0.0
    solve(it.bounded, it.bend)
    for j in range(n):
        step[j] += it.bend[j]
    better = _tried(it, cost)
    if better > gain:
        return better
    for j in range(n):
        step[j] -= it.bend[j]
    return _tried(it, cost)


@compiled
def _moved(it: SearchArrays) -> None:
    """Where the step leads from q, into the tasks' q; what ends on a limit is there to the last bit."""
    n, x, nq = len(it.slots), it.integrate.inputs, len(it.q)
    it.move[:] = 0.0
    for j in range(n):
        it.move[it.slots[j]] = it.bounded.step[j]
    nv = len(it.move)
    x[nq + nv] = 1.0
    if evaluated(it.integrate, it.q, it.move, x[nq + nv : nq + nv + 1], it.tasks.parameters):
        it.tasks.q[:] = it.integrate.outputs
    _within(it, it.tasks.q)


@compiled
def _within(it: SearchArrays, q: Floats) -> None:
    """Coordinates that are beyond their limits onto these."""
    own = it.bounded
    for j in range(len(it.slots)):
        if own.places[j] >= 0:
            q[own.places[j]] = min(max(q[own.places[j]], own.lows[j]), own.highs[j])


@compiled
def _elsewhere(it: SearchArrays, start: int) -> None:
    """Move q: nearby at the first start, then anywhere between limits, or within half a turn, or a few metres."""
    own = it.bounded
    for j in range(len(it.slots)):
        place, share = own.places[j], _random(it) - 0.5
        own.step[j] = 2.0 * _NUDGE * share if start == 1 else 2.0 * math.pi * share
        if start > 1 and place >= 0 and own.highs[j] - own.lows[j] < 2.0 * math.pi:
            own.step[j] = own.lows[j] + (share + 0.5) * (own.highs[j] - own.lows[j]) - it.q[place]
    _moved(it)
    it.q[:] = it.tasks.q


@compiled
def _random(it: SearchArrays) -> float:
    """Between 0 and 1 (Park & Miller 1988, Random number generators: good ones are hard to find)."""
    it.numbers[3] = it.numbers[3] * 16807 % 2147483647
    return it.numbers[3] / 2147483647.0

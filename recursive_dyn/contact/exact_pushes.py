"""Pushes that part what overlaps, where sweeps over gaps come to no end: what is heavy presses on what is light.

A sweep passes a push of something heavy on through something light by its share of the mass. Here all gaps are parted
at once: the way sought is the shortest to where each is as its law wants it, by the method of multipliers, whose minima
Newton's method finds with factors through the trees (Powell, 1969; Hestenes, 1969). As these minima are of squares and
as laws are pieces of lines, it ends after finitely many steps, whatever the masses.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.gap_laws import Pushes, begun, missing, press, pressed
from recursive_dyn.contact.gaps import Gaps, gap_number
from recursive_dyn.contact.newton.assembly import Answers, assemble
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations, block_equations
from recursive_dyn.contact.newton.block_factors import factor, solve
from recursive_dyn.contact.newton.node_order import BODY, LANES
from recursive_dyn.contact.newton.node_rows import along, push, still
from recursive_dyn.contact.tuning import PART_LEFT, PUSH_FACTORS, PUSH_LOOKS, PUSH_STEPS, SETTLED, SOFT, STIFF, STIFFER


@compiled
def push_exactly(it: Island, these: Gaps, slop: float) -> float:
    """Move z to where every gap of an island is as its law wants it, but for friction; the largest weight of any way,
    1 or more, or 0 where that is not found, and nothing is moved. Impulses may have acted for less than they did, not
    for longer: what is light between heavy things would be taken along.
    """
    system = block_equations(it)
    own, x = begun(it, these, system, slop), still(system)
    if not _is_found(it, these, own, system, x, slop):
        return 0.0
    _take(it, these, own, system, x)
    heaviest = 1.0
    for weight in own.weights:
        heaviest = max(heaviest, weight)
    return heaviest


@compiled
def _is_found(it: Island, these: Gaps, own: Pushes, system: BlockEquations, x: Block, slop: float) -> bool:
    """Find the way x, node by node; whether it leads to where gaps are as wanted."""
    n, m = len(it.contacts), len(it.scalars)
    step, X, lines = still(system), np.zeros((n, 36)), np.zeros(m)
    missed, factored, stiff, stiffened = np.inf, 0, SOFT, True
    x[:] = 0.0
    press(it, these, own, slop)
    for _ in range(PUSH_STEPS):
        if late(it.time):
            break
        if stiffened or _differ(own):
            _answer(it, own, X, lines)
            assemble(it, system, X, lines)
            for k in range(len(own.weights)):
                for i in range(BODY):
                    system.numbers[system.base[k], i, i] += own.weights[k] - 1.0
            factored, stiffened = factored + 1, False
            if factored > PUSH_FACTORS or not factor(system):
                break
        _lacking(it, own, system, x, step)
        solve(system, step)
        for e in range(n + m):
            own.rate[e] = along(system, e, it.rows.height[it.contacts[e]] if e < n else 1, 0, step)
        share = _share(own, _product(own, step, x), _product(own, step, step))
        for k in range(len(x)):
            for i in range(LANES):
                x[k, i] += share * step[k, i]
        for e in range(n + m):
            own.gap[e] += share * own.rate[e]
        press(it, these, own, slop)
        if share == 1.0 and not _differ(own):
            missed = missing(own)
            own.last[:] = own.now
            if missed <= SETTLED * slop:
                break
            if stiff < STIFF:
                stiff *= STIFFER
                for e in range(n + m):
                    own.stiff[e] *= STIFFER
                press(it, these, own, slop)
                stiffened = True
    return missed <= 0.5 * slop


@compiled
def _differ(own: Pushes) -> bool:
    """Whether other pushes answer than in the factors."""
    count = 0
    for e in range(len(own.gap)):
        count += own.gives[e] != own.gave[e]
    return count > 0


@compiled
def _answer(it: Island, own: Pushes, X: Answers, lines: Floats) -> None:
    """What pushes do for gaps, for the factors."""
    n = len(it.contacts)
    for e in range(len(own.gap)):
        own.gave[e] = own.gives[e]
        stiff = own.stiff[e] if own.gives[e] else 0.0
        if e < n:
            X[e, 0] = stiff
        else:
            lines[e - n] = stiff


@compiled
def _share(own: Pushes, linear: float, square: float) -> float:
    """How far to go along a step: to its end, or to where what is least along it no longer gets less.

    linear, square: products of the step with the way so far, and with itself."""
    start, end = _slope(own, linear, square, 0.0), _slope(own, linear, square, 1.0)
    enough = PART_LEFT * abs(start)
    if end <= enough:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(PUSH_LOOKS):
        share = 0.5 * (low + high)
        slope = _slope(own, linear, square, share)
        if abs(slope) <= enough:
            return share
        if slope > 0.0:
            high = share
        else:
            low = share
    return low if low > 0.0 else high


@compiled
def _slope(own: Pushes, linear: float, square: float, share: float) -> float:
    result = linear + share * square
    for e in range(len(own.gap)):
        if own.stiff[e] > 0.0:
            result -= pressed(own, e, own.gap[e] + share * own.rate[e]) * own.rate[e]
    return result


@compiled
def _lacking(it: Island, own: Pushes, system: BlockEquations, x: Block, F: Block) -> None:
    """F = A^T p - W x, node by node."""
    n = len(it.contacts)
    for k in range(len(x)):
        for i in range(LANES):
            F[k, i] = -own.weights[k] * x[k, i]
    for e in range(len(own.now)):
        if own.now[e] != 0.0:
            push(system, e, it.rows.height[it.contacts[e]] if e < n else 1, 0, own.now[e], F)


@compiled
def _product(own: Pushes, x: Block, y: Block) -> float:
    """x^T W y."""
    result = 0.0
    for k in range(len(x)):
        for i in range(BODY):
            result += own.weights[k] * x[k, i] * y[k, i]
    return result


@compiled
def _take(it: Island, these: Gaps, own: Pushes, system: BlockEquations, x: Block) -> None:
    """Move what was found, and note its pushes."""
    place = system.order.place
    for slot in it.slots:
        if place[slot] >= 0:
            these.z[slot] += x[place[slot] // LANES, place[slot] % LANES]
    for e in range(len(own.now)):
        c = gap_number(it, e)
        if these.bounded[c]:
            these.push[c] = own.now[e]

"""An island along the central path of its laws, from far away, where it is found from anywhere, to what meets them.

As Coulomb's law makes no convex problem, the path may turn back for a while: nu, which is to vanish, grows again, and
methods that only let it fall come to a standstill there. So it is followed by its length (Keller, 1977; Allgower &
Georg, 1990, Introduction to Numerical Continuation Methods): a step along the tangent, then back to the path across it,
by the tangent's factors as long as these serve. Which way is on is told by the sign of the determinant: it never leads
back to where it came from.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.budget import late
from recursive_dyn.contact.newton.block_equations import Block, BlockEquations
from recursive_dyn.contact.newton.central_equations import answered, evaluate, factored, orientation
from recursive_dyn.contact.newton.central_lengths import add, go, leave, product, size, weigh
from recursive_dyn.contact.newton.central_point import Central, central
from recursive_dyn.contact.newton.natural import Trial
from recursive_dyn.contact.newton.node_rows import still
from recursive_dyn.contact.tuning import (
    CHORDS,
    CONTRACTION,
    FIRST_LENGTH,
    FROM_OUTSIDE,
    LEAST_LENGTH,
    LEAST_PART,
    LEFT_BY,
    LENGTHENED,
    LESS,
    MOST_LENGTH,
    NEAR_PATH,
    ON_PATH,
    ONTO_PATH,
    PATH_END,
    REFACTORED,
    SHORTENED,
    TINY,
    WANTED_MISS,
)


class Path(NamedTuple):
    """How far an island is. at: where; y: room; place (4,): log nu, log nu where it began, how long the next step is to
    be, 0 where it was lost, and by how much, relative, one is to miss the path."""

    at: Central
    y: Block
    place: Floats


@compiled
def from_outside(it: Island, these: Trial, system: BlockEquations, soft: bool, least: float) -> Path:
    """The path's beginning, which is not sought yet.

    soft: whether contacts give way at first; least: the share of their mobility by which they do to the end.
    """
    tau = 2.0 * math.log(max(FROM_OUTSIDE * _fastest(it), PATH_END))
    place = np.empty(4)
    place[0], place[1], place[2], place[3] = tau, tau, FIRST_LENGTH, WANTED_MISS
    return Path(central(it, these, math.exp(tau) if soft else np.inf, least), still(system), place)


@compiled
def along_path(it: Island, these: Trial, system: BlockEquations, path: Path, most: int) -> tuple[int, bool]:
    """On to where nu vanishes, by at most so many factorizations; (how many, whether it came there).

    The trial's impulses are those of where the path is left, which may be gone on from.
    """
    at, y, place, end, outside = path.at, path.y, path.place, 2.0 * math.log(PATH_END), path.place[1] + LEFT_BY
    tau, length, done, rate, known = place[0], place[2], 0, 0.0, False
    if tau == place[1] and length > 0.0:
        found, done = _onto(it, these, at, system, y, math.exp(tau))
        length = length if found else 0.0
    while tau > end and done < most and length > LEAST_LENGTH and not late(it.time):
        if not known:
            rate, done = _tangent(it, these, at, system, y, math.exp(tau)), done + 1
            at.base[:] = at.w
        first, there, more = _step(it, these, at, system, y, tau, rate, length)
        done, known = done + more, first == np.inf and more == 0
        if first < np.inf:
            length = min(length * min(max(place[3] / max(first, TINY), SHORTENED), LENGTHENED), MOST_LENGTH)
            tau = there
            length = length if tau < outside else 0.0
        else:
            at.w[:], length = at.base, SHORTENED * length
    place[0], place[2] = tau, length if length > LEAST_LENGTH else 0.0
    evaluate(it, these, at, system, y, math.exp(tau))
    return done, tau <= end


@compiled
def _fastest(it: Island) -> float:
    """The largest velocity, m/s, by which anything misses its target without impulses."""
    most = 0.0
    for c in it.contacts:
        v, target = it.rows.speed[c], it.targets[c]
        most = max(most, abs(v[0] - target), abs(v[1]), abs(v[2]))
    for s in it.scalars:
        most = max(most, abs(it.lines.speed[s] - it.lines.target[s]))
    return most


@compiled
def _onto(it: Island, these: Trial, at: Central, system: BlockEquations, y: Block, nu: float) -> tuple[bool, int]:
    """Onto the path at nu, by Newton's method; (whether it is found, how many factorizations it took)."""
    squares, n = evaluate(it, these, at, system, y, nu), len(it.contacts)
    for k in range(ONTO_PATH):
        if late(it.time) or not factored(it, these, at, system, nu):
            return False, k + 1
        answered(it, these, at, system, at.miss, 0.0, at.change, y)
        far, share = size(at, n, nu, at.change, 0.0), 1.0
        add(at.w, at.change, 1.0)
        found = evaluate(it, these, at, system, y, nu)
        while not found < (1.0 - LESS * share) * squares and far > ON_PATH and share > LEAST_PART:
            add(at.w, at.change, -0.5 * share)
            share, found = 0.5 * share, evaluate(it, these, at, system, y, nu)
        squares = found
        if far <= ON_PATH:
            return True, k + 1
        if share <= LEAST_PART:
            return False, k + 1
    return False, ONTO_PATH


@compiled
def _tangent(it: Island, these: Trial, at: Central, system: BlockEquations, y: Block, nu: float) -> float:
    """way: the direction in which the path goes on, of size 1; how log nu does."""
    evaluate(it, these, at, system, y, nu)
    weigh(at, len(it.contacts), nu)
    factored(it, these, at, system, nu)
    answered(it, these, at, system, at.none, 1.0, at.along, y)
    rate = -orientation(system) / size(at, len(it.contacts), nu, at.along, 1.0)
    at.way[:] = 0.0
    add(at.way, at.along, rate)
    return rate


@compiled
def _step(
    it: Island, these: Trial, at: Central, system: BlockEquations, y: Block, here: float, rate: float, length: float
) -> tuple[float, float, int]:
    """From the base so far along the way, and back to the path across it, by the factors of the base as long as these
    serve; (the size of the first change, or infinity if it is not found, log nu there, factorizations)."""
    tau, first, last, took, fresh = here + length * rate, np.inf, np.inf, 0, True
    across, n = product(at, at.way, at.along) + rate, len(it.contacts)
    leave(at)
    go(at, n, math.exp(here), at.way, length)
    for _ in range(CHORDS):
        nu = math.exp(tau)
        if not evaluate(it, these, at, system, y, nu) < np.inf:
            break
        if not fresh:
            took += 1
            if not factored(it, these, at, system, nu):
                break
            leave(at)
            answered(it, these, at, system, at.none, 1.0, at.along, y)
            across, fresh = product(at, at.way, at.along) + rate, True
        answered(it, these, at, system, at.miss, 0.0, at.change, y)
        grows = -product(at, at.way, at.change) / across
        add(at.change, at.along, grows)
        far = size(at, n, nu, at.change, grows)
        if first == np.inf:
            if not far < NEAR_PATH:
                break
            first = far
        elif not far < CONTRACTION * last:
            if took > REFACTORED or not far < 2.0 * NEAR_PATH:
                break
            fresh, last = False, np.inf
            continue
        go(at, n, nu, at.change, 1.0)
        tau, last = tau + grows, far
        if far <= ON_PATH:
            return first, tau, took
    return np.inf, here, took

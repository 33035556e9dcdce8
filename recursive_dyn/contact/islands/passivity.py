"""No solve brings energy in: a law of impacts that coefficients of restitution alone do not keep.

Newton's restitution knows of velocities only: where surfaces rub, or bounce off what others push against them, the
impulses that meet all of its targets may do more work than they take. What gives nothing back takes energy; and from
one solution to the other surfaces stay apart and friction within its bounds, as these are convex, while energy is a
parabola. So an island goes as far towards its bounces, by one share, as energy lets it.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.blocks import Island, accumulate, component, moving, velocity
from recursive_dyn.contact.islands.methods import solved
from recursive_dyn.contact.islands.squeezing import clear
from recursive_dyn.contact.tuning import FAILED, GUARDED

Impulses = Annotated[np.ndarray, float, 6]
Lent = Annotated[np.ndarray, float, 3]


@compiled
def solved_without_gain(it: Island, lent: Lent, iterations: int, tolerance: float) -> tuple[int, float]:
    """Solve an island so that its impulses bring no energy in; (sweeps, residual). lent: as in ``without_gain``."""
    sweeps, residual = solved(it, iterations, tolerance)
    return without_gain(it, lent, iterations, tolerance, sweeps, residual)


@compiled
def without_gain(
    it: Island, lent: Lent, iterations: int, tolerance: float, sweeps: int, residual: float
) -> tuple[int, float]:
    """An island that was solved so, again without bounces if they brought energy in, and on from there to where they
    bring none; and without bounces alone where with them there is no solution, as where friction wedges; (sweeps,
    residual).

    lent (n, 3), m/s: what forces change the velocities of each contact by after it bounced: they take or give that on
    the way by which it moves on.
    """
    if residual > FAILED and _gives_up_bounces(it):
        done, residual = solved(it, iterations, tolerance)
        sweeps += done
    (whole, _), pressed, count = gain(it, lent), 0.0, len(it.contacts)
    for c in it.contacts:
        pressed += it.P[c, 0]
    if whole <= min(tolerance, GUARDED) * pressed:
        return sweeps, residual
    P, Q, targets = np.empty((count, 6)), np.empty(len(it.scalars)), it.targets[:].copy()
    for j in range(count):
        P[j] = it.P[it.contacts[j]]
        it.targets[it.contacts[j]] = min(targets[it.contacts[j]], 0.0)
    for j in range(len(it.scalars)):
        Q[j] = it.Q[it.scalars[j]]
    done, change = solved(it, iterations, tolerance)
    it.targets[:] = targets
    least, _ = gain(it, lent)
    if least < 0.0:
        _go_towards(it, lent, P, Q, least, whole)
    return sweeps + done, max(residual, change)


@compiled
def _gives_up_bounces(it: Island) -> bool:
    """Let contacts come to rest that would bounce, from no impulses; whether any would."""
    any_bounce = False
    for c in it.contacts:
        if it.targets[c] > 0.0:
            it.targets[c], any_bounce = 0.0, True
    if any_bounce:
        clear(it)
    return any_bounce


@compiled
def gain(it: Island, lent: Lent) -> tuple[float, float]:
    """Energy that an island's impulses, whose y is known, bring in, J, and the part of it that grows with their square;
    what motors do themselves does not count."""
    rows, lines, linear, square = it.rows, it.lines, 0.0, 0.0
    for c in it.contacts:
        linear -= it.P[c, 0] * lent[c, 0] + it.P[c, 1] * lent[c, 1] + it.P[c, 2] * lent[c, 2]
        for i in range(rows.height[c]):
            k = component(rows.kind[c], i)
            linear += it.P[c, k] * rows.speed[c, k]
            square += 0.5 * it.P[c, k] * (velocity(rows, c, i, it.y) - rows.speed[c, k])
    for s in it.scalars:
        if lines.low[s] == 0.0 or lines.target[s] == 0.0:  # what is not a motor
            linear += it.Q[s] * lines.speed[s]
            square += 0.5 * it.Q[s] * moving(lines, s, it.y)
    return linear + square, square


@compiled
def _go_towards(it: Island, lent: Lent, P: Impulses, Q: Floats, least: float, whole: float) -> None:
    """Move an island's impulses, which bring in ``least``, towards P and Q, which bring in ``whole``, as far as none
    comes in."""
    for j in range(len(it.contacts)):
        for i in range(6):
            here = it.P[it.contacts[j], i]
            it.P[it.contacts[j], i], P[j, i] = P[j, i] - here, here
    for j in range(len(it.scalars)):
        here = it.Q[it.scalars[j]]
        it.Q[it.scalars[j]], Q[j] = Q[j] - here, here
    accumulate(it)
    _, square = gain(it, lent)
    share = share_of(least, whole, square, 0.0)
    for j in range(len(it.contacts)):
        for i in range(6):
            it.P[it.contacts[j], i] = P[j, i] + share * it.P[it.contacts[j], i]
    for j in range(len(it.scalars)):
        it.Q[it.scalars[j]] = Q[j] + share * it.Q[it.scalars[j]]
    accumulate(it)


@compiled
def share_of(least: float, most: float, square: float, left: float) -> float:
    """The share of a way on which no more than ``left`` is won, from where ``least``, which is less, to where ``most``
    is; square: the part of what is won that grows with the square of the way."""
    slope = most - least - square
    root = np.sqrt(max(slope * slope + 4.0 * square * (left - least), 0.0))
    return 2.0 * (left - least) / (slope + root) if slope > 0.0 else 0.5 * (root - slope) / square


@compiled
def tame(it: Island, none: Lent) -> float:
    """Shrink impulses that did not converge to where they take most energy away, if they would bring some in; to which
    share.

    none (n, 3): zeros, for ``gain``.
    """
    accumulate(it)
    whole, square = gain(it, none)
    share = 1.0
    if whole > 0.0:
        share = max(0.5 - 0.5 * whole / square, 0.0) if square > 0.0 else 0.0
        shrink(it, share)
    return share


@compiled
def shrink(it: Island, share: float) -> None:
    """A share of the island's impulses."""
    for c in it.contacts:
        for i in range(6):
            it.P[c, i] *= share
    for s in it.scalars:
        it.Q[s] *= share
    accumulate(it)

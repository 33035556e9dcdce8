"""One scalar row in an interior-point method: an impulse between its bounds, and velocities that press on these.

low (Q - lower bound) = 0 and high (upper bound - Q) = 0, where velocity + soft Q - target = low - high.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island
from recursive_dyn.contact.newton.interior import Interior
from recursive_dyn.contact.newton.natural import Trial
from recursive_dyn.contact.tuning import INSIDE


@compiled
def enter_bounds(it: Island, these: Trial, at: Interior, e: int, margin: float) -> None:
    """Q, low and high inside, by a margin in m/s."""
    lines, s = it.lines, it.scalars[e]
    inside = min(margin / these.line_scale[e], INSIDE * (lines.high[s] - lines.low[s]))
    it.Q[s] = min(max(it.Q[s], lines.low[s] + inside), lines.high[s] - inside)
    miss = these.w[e] + lines.soft[s] * it.Q[s] - lines.target[s]
    at.low[e], at.high[e] = max(miss, margin), max(-miss, margin)


@compiled
def answer_row(it: Island, these: Trial, at: Interior, e: int, soft: float) -> None:
    """x: how the impulse answers the velocity."""
    lines, s = it.lines, it.scalars[e]
    stiff = lines.soft[s] + soft
    if lines.low[s] > -np.inf:
        stiff += at.low[e] / (it.Q[s] - lines.low[s])
    if lines.high[s] < np.inf:
        stiff += at.high[e] / (lines.high[s] - it.Q[s])
    these.x[e] = 1.0 / stiff


@compiled
def aim_row(it: Island, these: Trial, at: Interior, e: int, nu: float, second: float) -> None:
    """wanted, for products nu, less ``second`` times what the last changes do to second order; dlow and dhigh are what
    low and high are to become, but for the change of Q."""
    lines, s = it.lines, it.scalars[e]
    at.wanted[e] = lines.target[s] - these.w[e] - lines.soft[s] * it.Q[s]
    if lines.low[s] > -np.inf:
        at.dlow[e] = (nu - second * at.dlow[e] * at.dQ[e]) / (it.Q[s] - lines.low[s])
        at.wanted[e] += at.dlow[e]
    if lines.high[s] < np.inf:
        at.dhigh[e] = (nu + second * at.dhigh[e] * at.dQ[e]) / (lines.high[s] - it.Q[s])
        at.wanted[e] -= at.dhigh[e]


@compiled
def change_row(it: Island, these: Trial, at: Interior, e: int, change: float) -> None:
    """dQ, dlow and dhigh for a change of its velocity."""
    lines, s = it.lines, it.scalars[e]
    at.dQ[e] = these.x[e] * (at.wanted[e] - change)
    if lines.low[s] > -np.inf:
        at.dlow[e] -= at.low[e] + at.low[e] / (it.Q[s] - lines.low[s]) * at.dQ[e]
    if lines.high[s] < np.inf:
        at.dhigh[e] -= at.high[e] - at.high[e] / (lines.high[s] - it.Q[s]) * at.dQ[e]


@compiled
def row_room(it: Island, at: Interior, e: int) -> float:
    """The largest length <= 1 of the step that stays inside."""
    lines, s, length = it.lines, it.scalars[e], 1.0
    if lines.low[s] > -np.inf:
        length = min(length, _until(at.low[e], at.dlow[e]), _until(it.Q[s] - lines.low[s], at.dQ[e]))
    if lines.high[s] < np.inf:
        length = min(length, _until(at.high[e], at.dhigh[e]), _until(lines.high[s] - it.Q[s], -at.dQ[e]))
    return length


@compiled
def _until(x: float, d: float) -> float:
    return -x / d if d < 0.0 else 1.0


@compiled
def row_gap(it: Island, at: Interior, e: int, length: float) -> tuple[float, float]:
    """The sum of the products after a step of that length, and how many these are."""
    lines, s, way, total, count = it.lines, it.scalars[e], length * at.dQ[e], 0.0, 0.0
    if lines.low[s] > -np.inf:
        count += 1.0
        total += (at.low[e] + length * at.dlow[e]) * (it.Q[s] - lines.low[s] + way)
    if lines.high[s] < np.inf:
        count += 1.0
        total += (at.high[e] + length * at.dhigh[e]) * (lines.high[s] - it.Q[s] - way)
    return total, count

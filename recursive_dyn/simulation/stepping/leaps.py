"""Flights that are taken in parts: those that leap beyond a limit to where a joint is hardly one, as a coin past the
flat, and those in which springs swing that a motor is to hold.

Beside a place where M is singular rates are of any size, and what comes out beyond it is of no use. Parts of a step end
at the limit: its impulses are solved for in each. A motor's impulses, too, are answered by springs as one step of the
flight has them: what stops what halves of it resolved would throw it farther than it ever swung.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.contact.layout import Layout
from recursive_dyn.dynamics.program_calls import evaluated_awake
from recursive_dyn.simulation.flying.flight import DONE
from recursive_dyn.simulation.report import HALVINGS, UNEXPLAINED
from recursive_dyn.simulation.stepping.impulses import forced
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

LEAPS, MOST_LEAPS = 8, 512  # parts of a step that leapt, or of such a part of it; of a step at most
_HARD = 8  # halvings of a flight that was hard to take


@compiled
def leapt(s: StepArrays, layout: Layout, code: int, tally: Floats, counted: Floats) -> bool:
    """Whether a flight that ended with a code is to be taken in parts, each with its limits, or its motors: where a
    coordinate has some, and it left energy unexplained, led to numbers that are too large, or was hard to take and led
    beyond one; or where motors would stop springs that it was too long for."""
    it, driven = s.sources, _drives_springs(s, layout)
    if s.part[1] >= MOST_LEAPS or (len(it.slots) == 0 and not driven):
        return False
    if code != DONE:  # what is far away, or fast, from the start on is large for good reason
        far = 0.0
        for x in s.start_q:
            far = max(far, abs(x))
        for x in s.start_v:
            far = max(far, abs(x) if driven else 0.0)
        return (code == drivers.LARGE or code == drivers.BAD_OUTPUT) and far < drivers.MODERATE
    if len(it.slots) > 0 and tally[UNEXPLAINED] > counted[UNEXPLAINED]:
        return True
    beyond = False
    if tally[HALVINGS] >= counted[HALVINGS] + _HARD:
        beyond = driven and _strikes_springs(s, layout)
        for k in range(len(it.slots)):
            beyond = beyond or not it.low[k] <= s.q[it.places[k]] <= it.high[k]
    return beyond


@compiled
def _drives_springs(s: StepArrays, layout: Layout) -> bool:
    """Whether motors drive trees with springs, by a rule that answers what presses on these by another one."""
    m, found = s.sources.motors.motors, False
    for k in range(m.size[0]):
        found = found or s.impulses.sprung[layout.group[m.slots[k]]] > 0
    return found and len(s.pressed.springs) > 0


@compiled
def _strikes_springs(s: StepArrays, layout: Layout) -> bool:
    """Whether an impulse that stops a tree which motors drive stretches its springs by so much that they change its
    velocity in a step by more than its own: h |a(q - h v / 2) - a(q)| > |v|, a at rest. An impulse is one at the end of
    a whole step, which springs answer as such, and halves of it resolve them otherwise."""
    it, m, h, nv = s.impulses, s.sources.motors.motors, s.settings[0], len(s.v)
    here, way, rest = np.empty(nv), np.empty(nv), np.zeros(nv)
    if not forced(it, s.q, rest, rest, s.parameters):
        return True
    here[:] = it.accelerations.outputs
    for k in range(nv):
        way[k] = -0.5 * h * s.v[k]
    if not evaluated_awake(it.integrate, s.q, way, it.whole, s.parameters):
        return True
    there = it.integrate.outputs.copy()
    finite, changes, speeds = (
        forced(it, there, rest, rest, s.parameters),
        np.zeros(layout.groups),
        np.zeros(layout.groups),
    )
    for k in range(nv):
        changes[layout.group[k]] += (h * (it.accelerations.outputs[k] - here[k])) ** 2
        speeds[layout.group[k]] += s.v[k] ** 2
    strikes = not finite
    for k in range(m.size[0]):
        group = layout.group[m.slots[k]]
        strikes = strikes or (it.sprung[group] > 0 and changes[group] > speeds[group])
    return strikes

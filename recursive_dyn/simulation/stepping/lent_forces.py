"""What holds a tree that motors press on something lasts throughout its flight, and is taken back where that ends.

A flight without what motors, contacts, stops and dry friction do lets a tree go until the solve catches it at the
step's end. Strong motors that press against springs, or legs that fold, are far away by then, where nothing is as it
was: the impulse that brings all back to where it was leaves a velocity of third order in the step, of 0.6 rad/s where
30 N m hold 0.01 kg m^2, forces are told that are as much off, and a contact that opened is not found. So trees that
stand, or that what they had in the last step holds by Gauss' measure (``borne_loads``), fly under the force f by which
they do not accelerate at all. At the flight's end it is taken back as a solve answers it,

    v - M^-1 h f,    q - share h M^-1 h f,    M with what joints' dampers and springs answer,

along which gaps and ways change, but at the places where the flight led. Then impulses are found for all, as if
nothing had been given: whatever f was, nothing changes of what is linear, and what rests rests to rounding, under what
statics says. The force itself is of the present state alone. That of the step before, off by e, comes back as e times
h^2 f L / I with an arm L, as forces turn on the way, which may be any number.

Not so trees of which that takes less than half of a M a / 2: what a limb presses on its stop with, in the air or on a
spinning top, holds but the limb, and f, which turns with bodies, would lead all else astray. Nor those of which a motor
keeps a velocity, which leads where springs are (``led_motors``), those with springs that a step does not resolve, with
joints of several charts, limits of balls, or in scenes with constraints.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import ELIMINATION, Layout, group_of
from recursive_dyn.contact.rows.responses import expand, inverses, moves_at, reduce
from recursive_dyn.contact.rows.warm_start import add_wrench
from recursive_dyn.dynamics.program_calls import evaluated_awake
from recursive_dyn.simulation.joint_laws.actuation import shift_aims
from recursive_dyn.simulation.joint_laws.coordinate_rows import first_motor
from recursive_dyn.simulation.stepping.impulses import forced
from recursive_dyn.simulation.stepping.spring_rates import RESOLVED, know_rates
from recursive_dyn.simulation.stepping.step_arrays import StepArrays
from recursive_dyn.simulation.stepping.step_before import length_before

_SWINGS = 1e-6  # m or rad a step, of a coordinate that nothing but springs and gravity acts on
_STANDS = 1e-4  # m or rad a step, of a tree that is held, whatever was told of its forces
_BETTER = 0.5  # of a M a / 2, that what a tree had in the last step takes from it, if it is held


@compiled
def lend(s: StepArrays, layout: Layout) -> bool:
    """Write what the flight is lent, lent (nv,), N or N m, and lends (groups,), 1 for trees that are held by what
    motors, dry friction, stops and contacts gave in the last step; whether there are any."""
    it, nv, some = s.lending, len(s.v), False
    it.lent[:] = 0.0
    it.ways[:] = 0.0
    it.lends[:] = 0
    it.pressing[:] = 0.0
    if s.sources.motors.motors.size[0] == 0 or s.sources.constraints > 0 or s.flight.asks[0]:
        return False
    if not _touched(s, layout):
        return False
    if not forced(s.impulses, s.q, s.v, s.tau, s.parameters):
        it.lends[:] = 0
    if not evaluated_awake(it.inverse, s.q, s.v, s.impulses.rest[:nv], s.parameters):
        it.lends[:] = 0
    acting, a, falls = s.impulses.varied, s.impulses.accelerations.outputs, np.zeros(layout.groups)
    for k in range(nv):
        it.lent[k] = it.inverse.outputs[k] - acting[k]
        falls[layout.group[k]] -= 0.5 * it.lent[k] * a[k]
    _held(s, layout, falls, a.copy())
    for k in range(nv):
        if it.lends[layout.group[k]] > 0:
            some = True
        else:
            it.lent[k] = 0.0
    return some


@compiled
def _touched(s: StepArrays, layout: Layout) -> bool:
    """Mark the trees with motors of coordinates alone, or springs, on which contacts or stops pressed; whether there
    are any."""
    m, lends, some = s.sources.motors.motors, s.lending.lends, False
    driven, charted = np.zeros(layout.groups, dtype=np.int64), False
    for k in range(m.size[0]):
        driven[layout.group[m.slots[k]]] = 1
        charted = charted or m.sizes[k] > 0
    if charted or len(s.sources.balls.asked) > 0:
        return False
    know_rates(s, layout)
    h = s.settings[0] * float(s.part[1])
    for group in range(layout.groups):
        if s.impulses.sprung[group] > 0:
            driven[group] = 1 if h * h * s.impulses.rates[group] < RESOLVED else 0
    for k in range(m.size[0]):
        if m.rigid[k] > 0.0:
            driven[layout.group[m.slots[k]]] = 0
    for k in range(len(s.v)):
        if s.kept.pressing[k] != 0.0 and driven[layout.group[k]] > 0:
            lends[layout.group[k]], some = 1, True
    stops = len(s.sources.slots)
    for k in range(2 * stops):
        group = layout.group[s.sources.slots[k % stops]]
        if s.kept.rows[k] != 0.0 and driven[group] > 0:
            lends[group], some = 1, True
    return some


@compiled
def _held(s: StepArrays, layout: Layout, falls: Floats, free: Floats) -> None:
    """Unmark trees that do not stand, and that neither all that they had in the last step holds, nor what motors and
    dry friction gave of it, as where something else was struck, and those in which anything swings that nothing of it
    acts on; falls (groups,): a M a / 2 under nothing of that, of accelerations ``free`` (nv,)."""
    own, every = np.zeros(len(s.v)), s.kept.pressing.copy()
    _add_motors(s, own)
    for k in range(len(own)):
        every[k] += own[k]
    _add_stops(s, every)
    power, alone, fastest = np.zeros(layout.groups), np.zeros(layout.groups), np.zeros(layout.groups)
    for k in range(len(s.v)):
        fastest[layout.group[k]] = max(fastest[layout.group[k]], abs(s.v[k]))
    _powers(s, layout, every, power)
    h, halfway = s.settings[0], s.impulses.accelerations.outputs
    for k in range(len(s.v)):
        left = 2.0 * halfway[k] - free[k]
        if every[k] == 0.0 and h * (abs(s.v[k]) + h * abs(left)) > _SWINGS:
            s.lending.lends[layout.group[k]] = 0
    last, asked = length_before(s), False
    for group in range(layout.groups):
        holds = power[group] < -_BETTER * falls[group] * last or fastest[group] * h < _STANDS
        asked = asked or (s.lending.lends[group] > 0 and not holds)
    if asked:
        _powers(s, layout, own, alone)
    for group in range(layout.groups):
        holds = min(power[group], alone[group]) < -_BETTER * falls[group] * last
        if not (holds or fastest[group] * h < _STANDS):
            s.lending.lends[group] = 0


@compiled
def note_pressing(s: StepArrays, layout: Layout, contacts: ContactTable) -> None:
    """Write J^T P of contacts, as they were solved, for the next step to know what pressed."""
    n, factors, links = len(layout.parent), s.impulses.factors.outputs, s.frames.links
    s.lending.pressing[:] = 0.0
    if s.sources.motors.motors.size[0] == 0 or contacts.size[0] == 0:
        return
    F = np.zeros((n, 6))
    for c in range(contacts.size[0]):
        for side in range(2):
            body = contacts.a[c] if side == 0 else contacts.b[c]
            if group_of(layout, links, body) < 0:
                continue
            at = layout.refs + 3 * links[body]
            add_wrench(contacts, c, side, factors[at], factors[at + 1], factors[at + 2], F[links[body]])
    _inward(layout, factors, F, s.lending.pressing)


@compiled
def _inward(layout: Layout, factors: Floats, F: Annotated[np.ndarray, float, 6], p: Floats) -> None:
    """Add S^T F of impulses F (nl, 6) on links to p (nv,): the transpose of ``twists``."""
    for i in range(len(layout.parent) - 1, -1, -1):
        for e in range(layout.first[i], layout.first[i + 1]):
            if layout.kind[e] != ELIMINATION:
                for k in range(6):
                    p[layout.slot[e]] += factors[layout.data[e] + k] * F[i, k]
        parent = layout.parent[i]
        if parent >= 0:
            for k in range(6):
                F[parent, k] += F[i, k]


@compiled
def _add_stops(s: StepArrays, p: Floats) -> None:
    """Add the last impulses of stops to p (nv,)."""
    rows, stops = s.sources, len(s.sources.slots)
    for k in range(stops):
        p[rows.slots[k]] += s.kept.rows[k] - s.kept.rows[stops + k]


@compiled
def _add_motors(s: StepArrays, p: Floats) -> None:
    """Add the last impulses of motors and dry friction to p (nv,)."""
    rows, stops, first, m = s.sources, len(s.sources.slots), first_motor(s.sources), s.sources.motors.motors
    for k in range(len(rows.rubbing)):
        p[rows.rubbing[k]] += s.kept.rows[2 * stops + k]
    for k in range(m.size[0]):
        p[m.slots[k]] += s.kept.rows[first + m.slots[k]]


@compiled
def _powers(s: StepArrays, layout: Layout, p: Floats, power: Floats) -> None:
    """Write p . a of trees (groups,), with a the accelerations under half of impulses p (nv,) of the last step: below 0
    where they accelerate less with p than without by Gauss' measure (``borne_loads``), 0 where there are no numbers."""
    last, tau = length_before(s), s.tau.copy()
    for k in range(len(tau)):
        tau[k] += 0.5 * p[k] / last
    finite = forced(s.impulses, s.q, s.v, tau, s.parameters)
    for k in range(len(tau) if finite else 0):
        power[layout.group[k]] += p[k] * s.impulses.accelerations.outputs[k]


@compiled
def take_back(s: StepArrays, layout: Layout, contacts: ContactTable) -> bool:
    """Take what was lent back from velocities, which ``v`` has as they were, and from gaps of contacts; ways (nv,):
    what positions have to go for it, too. Whether there are finite numbers."""
    it, factors, some = s.lending, s.impulses.factors, False
    it.v[:] = s.v
    for group in range(layout.groups):
        some = some or it.lends[group] > 0
    if not some:
        return True
    nv, h, answering = len(s.v), s.settings[0], s.impulses.answering
    answering[2 : 2 + nv] = s.sources.motors.load
    if not evaluated_awake(factors, s.q, answering, answering[:0], s.parameters):
        return False
    root, V, x, y = np.full(nv, 1.0), np.zeros((len(layout.parent), 6)), np.zeros(nv), np.empty(nv)
    links = s.sleep.moving_links[: s.sleep.counts[0]]
    inverses(layout, factors.outputs, links, root)
    for k in range(nv):
        y[k] = h * it.lent[k]
    reduce(layout, factors.outputs, y)
    for k in range(nv):
        y[k] *= root[k]
    expand(layout, factors.outputs, root, y, links, V, x)
    for k in range(nv):
        x[k] *= 1.0 if it.lends[layout.group[k]] > 0 else 0.0
        it.ways[k] = -s.settings[1] * h * x[k]
        s.v[k] -= x[k]
    _shift_gaps(s, layout, contacts, V)
    return True


@compiled
def _shift_gaps(s: StepArrays, layout: Layout, contacts: ContactTable, V: Annotated[np.ndarray, float, 6]) -> None:
    """Let gaps be those where twists V (nl, 6) of links were taken back."""
    links, factors, most = s.frames.links, s.impulses.factors.outputs, -s.settings[1] * s.settings[0]
    for c in range(contacts.size[0]):
        for side in range(2):
            body = contacts.a[c] if side == 0 else contacts.b[c]
            group = group_of(layout, links, body)
            if group < 0 or s.lending.lends[group] == 0:
                continue
            at, point, n = layout.refs + 3 * links[body], contacts.points[c, side], contacts.normals[c]
            x, y, z = point[0] - factors[at], point[1] - factors[at + 1], point[2] - factors[at + 2]
            moves, share = moves_at(V, links[body], x, y, z), most * (1.0 - 2.0 * side)
            contacts.gaps[c] += share * n[0] * moves[0]
            contacts.gaps[c] += share * n[1] * moves[1]
            contacts.gaps[c] += share * n[2] * moves[2]


@compiled
def shift_rows(s: StepArrays, count: int) -> None:
    """Let the gaps of stops among so many rows be those where ``ways`` led."""
    rows, ways = s.rows, s.lending.ways
    for i in range(count):
        if rows.stops[i]:
            for j in range(rows.first[i], rows.first[i + 1]):
                rows.gaps[i] += rows.values[j] * ways[rows.slots[j]]


@compiled
def aim_back(s: StepArrays) -> None:
    """Let motors aim from where ``ways`` led, if anything was lent."""
    some = False
    for k in range(len(s.v)):
        some = some or s.lending.ways[k] != 0.0
    if some:
        shift_aims(s.sources.motors, s.lending.ways, s.settings[0])


@compiled
def go_on(s: StepArrays) -> None:
    """Let what a solve moves go ``ways`` too."""
    for k in range(len(s.v)):
        s.impulses.changes.q[k] += s.lending.ways[k]

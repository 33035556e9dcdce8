"""What motors lead into that nothing was known of: contacts are looked for where a flight ends, which motors leave.

A flight bears but a part of what motors give where something is pressed on: a spring may lift a foot off the ground
in it, by more than the gap up to which anything is found, and strong motors throw it on, or back, by their impulse at
the step's end. They would throw it into the ground. So where a solve with motors ends elsewhere than the flight, and
than where the step began, pairs are looked for there too, and where it began if anything pressed. Of those that are
new the points go back with their bodies to where the flight ended, and it is solved again. What gets too deep for that
goes there in several parts.

It is of trees that were led away, and of what is solved with them because they press on it. Whether any of them comes
near anything is asked of boxes about them first, where there are such (``bounds``): mostly none does.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout, group_of
from recursive_dyn.dynamics.program_calls import evaluated, evaluated_awake
from recursive_dyn.simulation.bounds import Bounds, meets, note_ways
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

INTO = -6  # of a stage of a step: it is to be looked for what the solve led into
BEGINS, AGAIN, FOUND = 0, 1, 2  # a solve of a step, with more that was found, or one in which nothing more was found
_FAR, _NEAR = 0.02, 2e-4  # m or rad, of a coordinate: up to which what is new, or was there, is no matter


@compiled
def leads_into(s: StepArrays, layout: Layout, contacts: ContactTable, earlier: ContactTable, bounds: Bounds) -> bool:
    """Whether it is to be looked for what a solve led into: it led trees away, and nothing says that these, and what
    is solved with them, which are noted as led, meet nothing there."""
    away = np.zeros(layout.groups, dtype=np.int64)
    if not _leads_away(s, layout, contacts, earlier, away):
        return False
    _lead_along(s, layout, contacts, away)
    for body in range(len(s.frames.links)):
        group = group_of(layout, s.frames.links, body)
        s.led.bodies[body] = away[group] if group >= 0 else 0
    return s.into[2] == 0 or s.led.frames.address == 0 or not _is_clear(s, bounds)


@compiled
def _leads_away(s: StepArrays, layout: Layout, contacts: ContactTable, earlier: ContactTable, away: Integers) -> bool:
    """Mark the trees (groups,) of which a solve led a coordinate far away from where the flight ended, and from where
    the step began: less far, if what pressed on a tree with motors in the last step was not found. Whether any of them
    has motors."""
    it, h, way = s.sources.motors, s.settings[0], s.impulses.changes.q
    if it.motors.size[0] == 0:
        return False
    driven, pressed, some = np.zeros(layout.groups, dtype=np.int64), False, False
    for k in range(it.motors.size[0]):
        driven[layout.group[it.motors.slots[k]]] = 1
    for k in range(len(s.v)):
        pressed = pressed or (s.kept.pressing[k] != 0.0 and driven[layout.group[k]] > 0)
    lost = pressed and _any_lost(contacts, earlier)
    least = np.full(layout.groups, _FAR)
    for k in range(len(s.v)):
        if lost and s.kept.pressing[k] != 0.0 and driven[layout.group[k]] > 0:
            least[layout.group[k]] = _NEAR
    for k in range(len(s.v)):
        group = layout.group[k]
        # of what the flight's velocity moved it by half was taken back
        start = 0.5 * h * (s.start_v[k] + s.v[k]) - 0.5 * s.lending.ways[k] / s.settings[1]
        if min(abs(way[k]), abs(start + way[k])) > least[group]:
            away[group], some = 1, some or driven[group] > 0
    return some


@compiled
def _lead_along(s: StepArrays, layout: Layout, contacts: ContactTable, away: Integers) -> None:
    """Mark the trees (groups,) too that press on marked ones, and so on."""
    links, more = s.frames.links, True
    while more:
        more = False
        for c in range(contacts.size[0]):
            a, b = group_of(layout, links, contacts.a[c]), group_of(layout, links, contacts.b[c])
            P = contacts.impulses[c]
            if a >= 0 and b >= 0 and away[a] != away[b] and (P[0] != 0.0 or P[1] != 0.0 or P[2] != 0.0):
                away[a], away[b], more = 1, 1, True


@compiled
def _is_clear(s: StepArrays, bounds: Bounds) -> bool:
    """Whether what is led meets nothing where the solve led, and on its way there, nor, if anything pressed, where the
    step began, by boxes about it."""
    it, changed, nv, nb, pressed = s.led, s.impulses.changes, len(s.v), len(s.frames.links), False
    v, ways, frames = np.empty(nv), np.empty((nb, 8)), s.led.frames.outputs
    poses, twists, starts, h = frames[: 16 * nb], frames[16 * nb : 22 * nb], s.present.start_twists, s.settings[0]
    for k in range(nv):
        pressed = pressed or s.kept.pressing[k] != 0.0
        v[k] = s.v[k] + changed.v[k]
    if pressed:
        if not evaluated(it.frames, s.start_q, s.start_v, s.q[:0], s.parameters):
            return False
        note_ways(bounds, poses, twists, starts, 0.0, ways)
        if meets(bounds, it.bodies, poses, ways):
            return False
    if not evaluated_awake(s.impulses.integrate, s.q, changed.q, s.impulses.whole, s.parameters):
        return False
    if not evaluated(it.frames, s.impulses.integrate.outputs, v, s.q[:0], s.parameters):
        return False
    note_ways(bounds, poses, twists, starts, h, ways)
    return not meets(bounds, it.bodies, poses, ways)


@compiled
def _any_lost(contacts: ContactTable, earlier: ContactTable) -> bool:
    """Whether an earlier contact pressed that is of a pair which is not found now. Whose it was is not known after
    bytes of a snapshot. Pairs mostly come in the order that they had: each is looked for from the last one on."""
    n, at = contacts.size[0], 0
    for c in range(earlier.size[0]):
        P, ahead = earlier.impulses[c], 0
        if P[0] == 0.0 and P[1] == 0.0 and P[2] == 0.0:
            continue
        while ahead < n and contacts.keys[at] != earlier.keys[c]:
            at, ahead = (at + 1 if at + 1 < n else 0), ahead + 1
        if ahead == n:
            return True
    return False

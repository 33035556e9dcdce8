"""What motors and dry friction bear from one step to the next acts throughout the flight: as a force, not as an impulse
at its end.

A flight in which what motors hold falls freely, until they catch it at its end, bends and speeds up as nothing does
that is held: the impulse that brings it back to where it was leaves a velocity of third order in the step, and motors
bear another load than the one that there is. Springs of what falls so pull, too, and answer in a flight otherwise than
in a solve. So the force of each in the last step acts in the flight, and the solve finds what is left of their laws. Of
what is linear nothing changes by that, whatever the force.

By the default motors lead trees with springs and force elements besides (``led_motors``). What else acts there, a motor
at its bound or dry friction, is borne only where a step resolves the springs: halves that resolve them are thrown by
impulses that are answered in one step. Trees with springs that contacts or stops held as well in the last step bear
what leads, and of what presses on these as much as holds the tree, if any does.

None of that acts on trees that it would speed up: where more holds it than the flight knows, as what a gripper presses
on does, or where a motor was struck or set anew. Sum f . a < 0, with a the accelerations under half of the forces f,
says by Gauss' measure, a M a, that trees accelerate less with all of f than with none.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout, group_of
from recursive_dyn.simulation.joint_laws.actuation import NEAR_BOUND, aim, asked_at_start
from recursive_dyn.simulation.joint_laws.coordinate_rows import first_motor
from recursive_dyn.simulation.stepping.impulses import forced
from recursive_dyn.simulation.stepping.led_motors import lead
from recursive_dyn.simulation.stepping.pressed import press
from recursive_dyn.simulation.stepping.spring_rates import RESOLVED, know_rates
from recursive_dyn.simulation.stepping.step_arrays import StepArrays
from recursive_dyn.simulation.stepping.step_before import length_before

_HELD = 1e-3  # of its acceleration, that a tree may keep


@compiled
def bear(s: StepArrays, layout: Layout) -> None:
    """Add to tau, for the flight, what motors and dry friction bore in the last step, as far as they may now: ``flown``
    and ``rubbed`` say how much.

    Of what both bore on a coordinate the motor has as much as it may: how they share it changes nothing. Where a law
    gives all forces at the flight's stages there is no tau. Of hands that push bodies the accelerations here know
    nothing.
    """
    it, rows, h = s.sources.motors, s.sources, s.settings[0]
    m = it.motors
    it.flown[:] = 0.0
    it.bears[:] = 0.0
    it.led[:] = 0.0
    rows.rubbed[:] = 0.0
    _press_what_rubs(s, layout)
    if s.flight.asks[0]:
        return
    if len(s.pressed.first) > 1:
        aim(it, s.q, s.v, s.kept.rows, first_motor(s.sources), h, s.settings[1], s.parameters)
    touched, power = np.zeros(layout.groups, dtype=np.int64), np.zeros(layout.groups)
    some = _bore(s, layout, touched)
    if some:
        _powers(s, layout, 0.5, power)
        _share(s, layout, touched, power)
    lead(s, layout, touched, power)
    if not some:
        return
    _leave_stiff(s, layout, touched, power)
    for k in range(m.size[0]):
        if it.led[m.slots[k]] > 0.0 or power[layout.group[m.slots[k]]] < 0.0:
            s.tau[m.slots[k]] += it.flown[k] / h
        else:
            it.flown[k] = 0.0
    for k in range(len(rows.rubbing)):
        if power[layout.group[rows.rubbing[k]]] < 0.0:
            s.tau[rows.rubbing[k]] += rows.rubbed[k] / h
        else:
            rows.rubbed[k] = 0.0


@compiled
def _press_what_rubs(s: StepArrays, layout: Layout) -> None:
    """Let trees with springs that stand, and that dry friction holds, be pressed before the first step too: those of
    which it turns an acceleration round."""
    trees, rows, some = s.pressed, s.sources, False
    for k in range(len(rows.rubbing)):
        some = some or _may_hold(s, k)
    if not some or len(trees.first) < 2:
        return
    tau, holds = s.tau.copy(), np.zeros(layout.groups, dtype=np.int64)
    if not forced(s.impulses, s.q, s.v, tau, s.parameters):
        return
    free, a = s.impulses.accelerations.outputs.copy(), s.impulses.accelerations.outputs
    for k in range(len(rows.rubbing)):
        if _may_hold(s, k):
            tau[rows.rubbing[k]] -= rows.friction[k] if free[rows.rubbing[k]] > 0.0 else -rows.friction[k]
    if not forced(s.impulses, s.q, s.v, tau, s.parameters):
        return
    for k in range(len(rows.rubbing)):
        slot = rows.rubbing[k]
        if _may_hold(s, k) and a[slot] * free[slot] <= 0.0:
            holds[layout.group[slot]] = 1
    for g in range(len(trees.first) - 1):
        if trees.springs[g] > 0 and holds[layout.group[trees.slots[trees.first[g]]]] > 0:
            press(trees, s.kept.pressed, g)


@compiled
def _may_hold(s: StepArrays, k: int) -> bool:
    """Whether dry friction k may hold something that stands and is not pressed yet."""
    slot = s.sources.rubbing[k]
    return s.sources.friction[k] > 0.0 and s.v[slot] == 0.0 and s.kept.pressed[slot] == 0.0


@compiled
def _bore(s: StepArrays, layout: Layout, touched: Integers) -> bool:
    """Write what motors and dry friction gave in the last step, and mark the trees (groups,) with springs that
    something else held as well; whether there is anything. There motors that keep no velocity are to give now what
    their laws say: one that is set anew presses, though it held."""
    it, rows, h, some = s.sources.motors, s.sources, s.settings[0], False
    m, left, first = it.motors, s.kept.borne.copy(), first_motor(s.sources)
    last = length_before(s)  # of what bore it
    _touch(s, layout, touched, last)
    for k in range(len(rows.rubbing)):
        left[rows.rubbing[k]] -= s.kept.rows[2 * len(rows.slots) + k] / last
    for k in range(m.size[0]):
        slot = m.slots[k]
        if m.sizes[k] == 0 and s.lending.lends[layout.group[slot]] == 0:
            if touched[layout.group[slot]] > 0:
                asked = asked_at_start(it, k, h) / h
                left[slot] = asked if m.rigid[k] == 0.0 else s.kept.rows[first + slot] / last
            it.flown[k] = h * _within(left[slot], m.forces[k])
            left[slot] -= it.flown[k] / h
            some = some or it.flown[k] != 0.0
    for k in range(len(rows.rubbing)):
        slot = rows.rubbing[k]
        if s.lending.lends[layout.group[slot]] > 0:
            continue
        rows.rubbed[k] = h * _within(left[slot] + s.kept.rows[2 * len(rows.slots) + k] / last, rows.friction[k])
        some = some or rows.rubbed[k] != 0.0
    return some


@compiled
def _touch(s: StepArrays, layout: Layout, touched: Integers, last: float) -> None:
    """Mark trees (groups,) with springs of which ``leave`` left nothing to be borne, though motors gave something;
    last: how long it was in which they did, s. Where a step resolves the springs, motors near their bounds are better
    left to the solve: what they cannot hold they must not hold in the flight."""
    m, trees, first = s.sources.motors.motors, s.pressed, first_motor(s.sources)
    limits, h = np.zeros(layout.groups, dtype=np.int64), s.settings[0] * float(s.part[1])
    for k in range(m.size[0]):
        if abs(s.kept.rows[first + m.slots[k]]) >= NEAR_BOUND * last * m.forces[k]:
            limits[layout.group[m.slots[k]]] = 1
    for g in range(len(trees.first) - 1):
        some, borne = False, trees.springs[g] == 0
        for i in range(trees.first[g], trees.first[g + 1]):
            slot = trees.slots[i]
            borne = borne or s.kept.borne[slot] != 0.0
            some = some or (m.drives[slot] > 0 and s.kept.rows[first + slot] != 0.0)
        some = some and s.lending.lends[layout.group[trees.slots[trees.first[g]]]] == 0
        if some and not borne:
            group = layout.group[trees.slots[trees.first[g]]]
            if limits[group] > 0:
                know_rates(s, layout)
            if limits[group] == 0 or not h * h * s.impulses.rates[group] < RESOLVED:
                touched[group] = 1


@compiled
def _within(x: float, bound: float) -> float:
    return min(max(x, -bound), bound)


@compiled
def _powers(s: StepArrays, layout: Layout, share: float, power: Floats) -> None:
    """Write Sum f . a of trees (groups,), times the step, with a the accelerations under that share of the forces f; 0
    of those that bear nothing, and where there are no numbers."""
    it, m, rows, tau = s.sources.motors, s.sources.motors.motors, s.sources, s.tau.copy()
    power[:] = 0.0
    for k in range(m.size[0]):
        tau[m.slots[k]] += share * it.flown[k] / s.settings[0]
    for k in range(len(rows.rubbing)):
        tau[rows.rubbing[k]] += share * rows.rubbed[k] / s.settings[0]
    finite, a = forced(s.impulses, s.q, s.v, tau, s.parameters), s.impulses.accelerations.outputs
    for k in range(m.size[0] if finite else 0):
        power[layout.group[m.slots[k]]] += it.flown[k] * a[m.slots[k]]
    for k in range(len(rows.rubbing) if finite else 0):
        power[layout.group[rows.rubbing[k]]] += rows.rubbed[k] * a[rows.rubbing[k]]


@compiled
def _share(s: StepArrays, layout: Layout, touched: Integers, power: Floats) -> None:
    """Of trees that something else held as well, and that all they bore would speed up, marked 2 from now on: the share
    of it that holds them best, by Gauss' measure, if that holds them at all; the rest presses on what held them."""
    m, rows, some = s.sources.motors.motors, s.sources, False
    for group in range(layout.groups):
        if touched[group] > 0 and not power[group] < 0.0:
            touched[group], some = 2, True
    if not some:
        return
    half, shares = s.impulses.accelerations.outputs.copy(), np.zeros(layout.groups)
    _powers(s, layout, 0.0, shares)
    for group in range(layout.groups):
        none, answer = shares[group], 2.0 * (power[group] - shares[group])
        shares[group] = 1.0
        if touched[group] == 2:
            shares[group] = _within(-none / answer, 1.0) if answer > 0.0 and none < 0.0 else 0.0
    _need_to_hold(s, layout, half, shares)
    for k in range(m.size[0]):
        s.sources.motors.flown[k] *= shares[layout.group[m.slots[k]]]
    for k in range(len(rows.rubbing)):
        rows.rubbed[k] *= shares[layout.group[rows.rubbing[k]]]


@compiled
def _need_to_hold(s: StepArrays, layout: Layout, half: Floats, shares: Floats) -> None:
    """Write 0 for shares below 1 under which trees (groups,) are hardly slower than under nothing, of which the
    accelerations were found last; half (nv,): those under half of all."""
    free = s.impulses.accelerations.outputs
    fastest, left = np.zeros(layout.groups), np.zeros(layout.groups)
    for k in range(len(s.v)):
        group = layout.group[k]
        fastest[group] = max(fastest[group], abs(free[k]))
        left[group] = max(left[group], abs(free[k] + 2.0 * shares[group] * (half[k] - free[k])))
    for group in range(layout.groups):
        if shares[group] < 1.0 and not left[group] < _HELD * fastest[group]:
            shares[group] = 0.0


@compiled
def _leave_stiff(s: StepArrays, layout: Layout, touched: Integers, power: Floats) -> None:
    """Write 0 for trees of which nothing is borne but what leads: a step does not resolve their springs, or something
    else held them as well; less for those of which a share is borne."""
    h, two_rules = s.settings[0], len(s.pressed.springs) > 0
    if two_rules:
        know_rates(s, layout)
    for group in range(layout.groups):
        stiff = two_rules and s.impulses.sprung[group] > 0 and not h * h * s.impulses.rates[group] < RESOLVED
        if touched[group] == 2:
            power[group] = -1.0
        elif stiff or touched[group] > 0:
            power[group] = 0.0


@compiled
def leave(s: StepArrays, layout: Layout, contacts: ContactTable, base: int) -> None:
    """Write what motors, whose rows are numbered from ``base`` on, and dry friction bear in the next flight: what they
    gave in this step, as far as nothing touched their trees, nor stopped them. Rows of friction, too, come to have what
    it gave in the whole step."""
    pressed, it, stops = np.zeros(layout.groups, dtype=np.int64), s.sources.motors, 2 * len(s.sources.slots)
    for c in range(contacts.size[0]):
        if contacts.impulses[c, 0] != 0.0 or contacts.impulses[c, 1] != 0.0 or contacts.impulses[c, 2] != 0.0:
            _press(pressed, group_of(layout, s.frames.links, contacts.a[c]))
            _press(pressed, group_of(layout, s.frames.links, contacts.b[c]))
    impulses = s.impulses.changes.row_impulses
    for i in range(s.counts[1]):
        if s.rows.stops[i] and impulses[i] != 0.0:
            for j in range(s.rows.first[i], s.rows.first[i + 1]):
                _press(pressed, layout.group[s.rows.slots[j]])
    it.bears[:] = 0.0
    for i in range(s.counts[2]):
        slot, k = s.numbers[i] - base, s.numbers[i] - stops
        if 0 <= k < len(s.sources.rubbing):
            impulses[i] += s.sources.rubbed[k]
            slot = s.sources.rubbing[k]
        if 0 <= slot < len(s.v) and pressed[layout.group[slot]] == 0:
            it.bears[slot] += impulses[i] / s.settings[0]


@compiled
def _press(pressed: Integers, group: int) -> None:
    """Mark a tree, if it is one."""
    if group >= 0:
        pressed[group] = 1

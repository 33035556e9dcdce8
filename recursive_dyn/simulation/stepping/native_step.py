"""A timestep in machine code: what is flown before surroundings are asked, and what is solved and settled after."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.contact.layout import Layout
from recursive_dyn.contact.problem import (
    JUMPED,
    AwakeParts,
    Changes,
    FreeInertias,
    ImpulseProblem,
    Options,
    earlier_by,
    is_short,
)
from recursive_dyn.contact.rows.warm_start import felt_by_bodies
from recursive_dyn.contact.solve import solve
from recursive_dyn.dynamics.program_calls import all_finite, evaluated_awake
from recursive_dyn.integrators.compiled_loop import TALLIED, TALLY
from recursive_dyn.simulation.bounds import Bounds
from recursive_dyn.simulation.flying.flight import DONE, LEAPT, LOST, flown, move_tally
from recursive_dyn.simulation.joint_laws.actuation import aim, exceeded, told
from recursive_dyn.simulation.joint_laws.coordinate_rows import active_rows, first_motor, first_rows, passed
from recursive_dyn.simulation.kept.momentum import located, started
from recursive_dyn.simulation.kept.settling import settled
from recursive_dyn.simulation.kept.sleeping import WOKEN, Sleepers, put_back, rouse, sifted, told_asleep
from recursive_dyn.simulation.present import seen
from recursive_dyn.simulation.stepping.borne_loads import bear, leave
from recursive_dyn.simulation.stepping.bounced_trees import bring_down, energies_left
from recursive_dyn.simulation.stepping.bouncing import note_bouncing
from recursive_dyn.simulation.stepping.impulses import acted_here, forces_here, moved, pulled_here, swinging
from recursive_dyn.simulation.stepping.leaps import leapt
from recursive_dyn.simulation.stepping.led_into import AGAIN, BEGINS, FOUND, INTO, leads_into
from recursive_dyn.simulation.stepping.led_motors import took
from recursive_dyn.simulation.stepping.lent_forces import aim_back, go_on, lend, note_pressing, shift_rows, take_back
from recursive_dyn.simulation.stepping.lone_bodies import kicked, moving_alone, straight
from recursive_dyn.simulation.stepping.pressed import note_pressed, only_pressed, pressed_before, put_in
from recursive_dyn.simulation.stepping.slowed_trees import TOO_LONG, led_far, sweeps_through
from recursive_dyn.simulation.stepping.step_arrays import FreeRoom, StepArrays
from recursive_dyn.simulation.stepping.step_before import longer
from recursive_dyn.simulation.stepping.stopped_trees import keep_slow, led_back
from recursive_dyn.simulation.stepping.struck_into import STRUCK, note_flown, strikes_into
from recursive_dyn.simulation.stepping.time_left import LEFT, allow, begin_step, now, spend
from recursive_dyn.simulation.stepping.wild_steps import WILD, swift


@compiled
def idle(s: Integers) -> int:
    """A stage in which there is nothing to do."""
    return DONE


@compiled
def fly(s: StepArrays, layout: Layout) -> int:
    """A step's start, and on as if nothing touched: DONE, LOST, or the code of ``drivers`` why that cannot be flown.

    Unless it is DONE, or the state where it leads has frames that are not finite, the state stays as it was.
    """
    s.start_q[:] = s.q
    s.start_v[:] = s.v
    tally = s.flight.work[TALLY : TALLY + TALLIED]
    s.start_tally[:], s.start_noted[:] = tally, s.noted
    s.flown[0] = 1
    begin_step(s)
    if s.part[0] == 0 and s.part[1] > 1:
        s.kept.felt[:] = 0.0
    asleep = _asleep(s)
    if s.placed[0]:
        if not seen(s.present, s.q, s.v, s.parameters):
            return LOST
        s.present.start_twists[:] = s.present.twists
        if s.sleep.all[0]:
            return DONE
        started(s.trees, s.kept.momentum, s.owed, s.sleep.floating, s.present)
    lends = lend(s, layout)
    bear(s, layout)
    tau = s.tau
    if lends:
        tau = s.tau.copy()
        for k in range(len(tau)):
            tau[k] += s.lending.lent[k]
    code = _flown(s, tau)
    if leapt(s, code, tally):
        s.q[:], s.v[:], tally[:] = s.start_q, s.start_v, s.start_tally
        return LEAPT
    if asleep > 0 and code == DONE:
        put_back(s.sleep, s.kept.slept, s.q, s.v)
    if code == DONE and s.placed[0] and not seen(s.present, s.q, s.v, s.parameters):
        return LOST
    return code


@compiled
def _asleep(s: StepArrays) -> int:
    """How many trees sleep in a step, after those woke that anything acts on."""
    it, known = s.sleep, s.kept.slept
    if len(it.restless) == 0:
        return 0
    drives, step = s.sources.motors.motors.drives, s.settings[0] * float(s.part[1])
    count = told_asleep(it, known, s.present.asleep)
    if count > 0:
        rouse(it, known, s.q, s.v, s.tau, drives, s.flight.acting, s.parameters, step)
        count = told_asleep(it, known, s.present.asleep)
    return count


@compiled
def _flown(s: StepArrays, tau: Floats) -> int:
    """The flight of all trees under tau (nv,), each by its rule."""
    it, before = s.pressed, s.kept.pressed
    count = pressed_before(it, before)
    if only_pressed(it, count):
        code = flown(s.other, s.q, s.v, tau, s.parameters, s.settings[0])
    elif count > 0:
        it.q[:] = s.q
        it.v[:] = s.v
        code = flown(s.other, it.q, it.v, tau, s.parameters, s.settings[0])
        if code == DONE:
            code = flown(s.flight, s.q, s.v, tau, s.parameters, s.settings[0])
        if code == DONE:
            put_in(it, before, s.q, s.v)
    else:
        code = flown(s.flight, s.q, s.v, tau, s.parameters, s.settings[0])
    if count > 0:
        move_tally(s.other, s.flight)
    return code


@compiled
def solve_and_settle(
    s: StepArrays, layout: Layout, contacts: ContactTable, earlier: ContactTable, free: FreeRoom, bounds: Bounds
) -> int:
    """What impulses make of where the flight led, with the momentum that is owed: DONE, LOST if it is not finite, WILD
    where that is so swift that it is to be weighed, WOKEN where something touches what slept, TOO_LONG, INTO or STRUCK.

    counts say what was solved for: nothing where there are constraints only, which the flight meets."""
    changed = s.impulses.changes
    if s.sleep.all[0]:
        contacts.size[0] = s.counts[0] = s.counts[1] = s.counts[2] = 0
        for k in range(len(changed.acted)):
            changed.acted[k], changed.steady[k] = s.kept.acted[k], s.kept.steady[k]
        return DONE
    sleepy = len(s.sleep.restless) > 0
    if sleepy and not sifted(s.sleep, s.kept.slept, contacts):
        return WOKEN
    n = contacts.size[0]
    lone, floating = s.sleep.moving_lone[: s.sleep.counts[1]], s.sleep.moving_lone[: s.sleep.counts[2]]
    if s.into[1] != FOUND:
        located(floating, s.owed, s.present)
        moving_alone(s.trees, s.owed, s.present, s.lone, lone)
        if not _solved(s, layout, contacts, earlier, free):
            return LOST
        if sweeps_through(s):
            return TOO_LONG
    if s.into[0] > 0 and leads_into(s, layout, contacts, earlier, bounds):
        return INTO
    poses = s.present.poses[:].copy() if s.part[1] > 1 else s.present.poses[:0]
    energies = np.empty((s.impulses.changes.strikes[0] if n > 0 and s.placed[0] else 0, 4))
    bounced = len(energies) > 0 and energies_left(s, layout, energies)
    kinetic = np.empty(layout.groups if s.counts[1] > 0 else 0)
    led = s.counts[1] > 0 and led_back(s, layout, kinetic)
    groups = layout.groups if s.placed[0] and len(floating) > 0 else 0
    left, taken = np.empty(groups), np.empty(groups)
    far = len(left) > 0 and led_far(s, layout, s.counts[2] > 0 or n > 0, bounced, left, taken)
    throws = n > 0 and s.into[3] > 0 and note_flown(s)
    if s.counts[2] > 0 or n > 0:
        straight(s.trees, s.lone, floating, s.present, s.impulses.changes.q)
        if not moved(s.impulses, s.q, s.v, s.tau, s.parameters):
            return LOST
        if led and not keep_slow(s, layout, kinetic):
            return LOST
        if sleepy:
            put_back(s.sleep, s.kept.slept, s.q, s.v)
    if s.placed[0]:
        if not seen(s.present, s.q, s.v, s.parameters):
            return LOST
        if throws and strikes_into(s, contacts, bounds):
            return STRUCK
        if len(s.trees.bases) > 0:
            _settle(s, contacts)
        code = bring_down(s, layout, contacts, energies, bounced, left, taken, far)
        if code != DONE:
            return code
    if s.part[1] > 1:
        felt_by_bodies(contacts, n, poses, s.kept.felt)
    if not (all_finite(s.q) and all_finite(s.v)):
        return LOST
    return WILD if s.counts[2] + n > 0 and swift(s.v) else DONE


@compiled
def _settle(s: StepArrays, contacts: ContactTable) -> None:
    """Give what floats the momentum that it is owed."""
    lone, floating = s.sleep.moving_lone[: s.sleep.counts[1]], s.sleep.moving_lone[: s.sleep.counts[2]]
    n, drives, touched = contacts.size[0], s.sources.motors.motors.drives, np.zeros(len(s.trees.bases), dtype=np.int64)
    kicked(s.owed, s.lone, lone, touched)
    solved = s.impulses.changes.v if s.counts[1] + n > 0 else s.v[:0]
    settled(
        s.trees, s.owed, s.q, s.v, s.tau, drives, s.flight.acting, s.settings[0], contacts, n, floating, solved,
        touched, s.present,
    )  # fmt: skip


@compiled
def _solved(s: StepArrays, layout: Layout, contacts: ContactTable, earlier: ContactTable, free: FreeRoom) -> bool:
    """Find impulses, and again where they led motors beyond their bounds or coordinates beyond limits that were no
    rows; whether there are finite numbers."""
    n, h, it, base = contacts.size[0], s.settings[0], s.sources.motors, first_motor(s.sources)
    answering, before, nv = s.impulses.answering, s.kept.pressed, len(s.v)
    answering[:2] = s.settings[8:10]
    first = s.into[1] == BEGINS
    if first:
        took(s)
    note_bouncing(s, layout, contacts, free.given, answering[2 + nv : 2 + 2 * nv])
    note_pressed(s.pressed, before, s.impulses.changes, it.led, False)
    s.sources.asked[:] = 0
    s.sources.balls.asked[:] = 0
    known = swinging(
        s.impulses, layout, s.frames.links, contacts, s.start_q, s.start_v, s.q, s.v, h, s.tau, s.parameters
    )
    acted = acted_here(s.impulses, s.kept.acted, longer(s), s.kept.steady, s.start_v, s.q, s.v, h, s.parameters)
    acting, asked = s.flight.acting, s.pressed.asked
    pulled = pulled_here(s.impulses, s.q, s.tau, s.parameters, it.motors.drives, acting, asked)
    forces = forces_here(s.impulses, s.q, s.tau, s.parameters, is_short(s.settings[7], s.settings[10], s.settings[6]))
    s.impulses.changes.acted[:], s.impulses.changes.steady[:] = 0.0, JUMPED
    if not take_back(s, layout, contacts):
        return False
    s.into[1] = AGAIN
    motors = aim(it, s.q, s.v, s.kept.rows, base, h, s.settings[1], s.parameters)
    aim_back(s)
    again, still, gaps, points = True, s.sleep.still, contacts.gaps[:n].copy(), contacts.points[:n].copy()
    normals, coasting = contacts.normals[:n].copy(), s.lone.coasting.copy()
    while again:
        rows = active_rows(s.sources, s.rows, s.numbers, s.kept.rows, s.q, s.v, h, s.parameters, still, answering)
        shift_rows(s, rows)
        if n + motors == 0 and rows == s.sources.constraints + s.sources.yielding.total:
            rows = 0
        s.counts[0], s.counts[1], s.counts[2] = n, rows, rows
        s.facts[5] = 0.0
        if n + rows + motors == 0:
            return True
        answering[2 : 2 + nv] = it.diagonal
        if not evaluated_awake(s.impulses.factors, s.q, answering, answering[:0], s.parameters):
            return False
        contacts.gaps[:n], contacts.points[:n], contacts.normals[:n] = gaps, points, normals  # a solve changes them
        s.lone.coasting[:] = coasting
        allow(s, first)
        began = now(s)
        facts = solve(_problem(s, layout, contacts, earlier, free, known, acted, pulled, forces))
        spend(s, began)
        first = False
        go_on(s)
        s.facts[0], s.facts[1], s.facts[2] = float(facts.rows), float(facts.islands), float(facts.sweeps)
        s.facts[3], s.facts[4], s.facts[5] = facts.residual, facts.deepest, facts.swept
        changed = s.impulses.changes
        more = exceeded(it, changed.v)
        again = passed(s.sources, s.q, s.v, h, changed.q, s.settings[4], still) or more
    note_pressed(s.pressed, before, changed, it.led, True)
    s.counts[2] = told(it, s.impulses.changes.v, base, s.numbers, s.impulses.changes.row_impulses, s.counts[1])
    leave(s, layout, contacts, base)
    note_pressing(s, layout, contacts)
    return True


@compiled
def _problem(
    s: StepArrays, layout: Layout, contacts: ContactTable, earlier: ContactTable, free: FreeRoom, known: int,
    acted: int, pulled: int, forces: int,
) -> ImpulseProblem:  # fmt: skip
    """What is to be solved; known, acted, pulled, forces: how many numbers of those are given."""
    it, given, changed = s.impulses, free.given, s.impulses.changes
    k, m, x, swing = free.size[0], s.counts[1], s.settings, it.swing[:known]
    if known > 0 and len(it.leading) > 0:
        swing = swing.copy()
        for slot in it.leading:  # at rest it would not speed up as it is led
            swing[slot] = swing[len(s.v) + slot] = np.nan
    return ImpulseProblem(
        layout, it.factors.outputs, s.v, s.start_v, s.sources.held.astray, swing,
        it.acted[:acted], s.kept.steady[:acted], it.pull[:pulled], it.forces[:forces], s.sources.motors.push, it.sprung,
        s.frames, s.lone, _moving(s.sleep), contacts,
        FreeInertias(given.centers[:k], given.start_twists[:k], given.twists[:k], given.masses[:k], given.spins[:k]),
        first_rows(s.rows, m),
        earlier_by(earlier, longer(s)),
        Options(x[0], x[1], x[2], x[3], x[4], x[5], x[6], int(x[7]), x[LEFT], int(x[11])),
        Changes(changed.v, changed.q, changed.since, free.twists[:k], free.ways[:k], changed.row_impulses[:m],
                changed.acted, changed.steady, changed.strikes, changed.islands, changed.struck),
    )  # fmt: skip


@compiled
def _moving(it: Sleepers) -> AwakeParts:
    return AwakeParts(
        it.moving_links[: it.counts[0]], it.moving_lone[: it.counts[1]], it.moving_slots[: it.counts[3]]
    )  # fmt: skip

"""What a timestep leaves behind, in machine code: contacts, rows, momenta, and who rests, for the next one."""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.contact_buffer import ContactTable
from recursive_dyn.simulation.kept.ended_contacts import felt_so_far
from recursive_dyn.simulation.kept.falling_asleep import fell_asleep, keep_contacts
from recursive_dyn.simulation.kept.momentum import remembered
from recursive_dyn.simulation.kept.sleeping import is_asleep
from recursive_dyn.simulation.kept.touches import Touches, note
from recursive_dyn.simulation.present import seen
from recursive_dyn.simulation.report import PRESSED, UNCONVERGED
from recursive_dyn.simulation.stepping.pressed import pressed_before
from recursive_dyn.simulation.stepping.step_arrays import StepArrays


@compiled
def keep(
    s: StepArrays, contacts: ContactTable, kept: ContactTable, ended: ContactTable, touches: Touches, bodies: int
) -> int:
    """What the next step starts from: contacts and rows as they were solved, momenta as they were settled.

    ``ended`` are contacts of earlier parts of the step that are no more. Events are counted; where this is a whole step
    time goes on. 0, or 1 if there is no room for all contacts, or for
    all pairs that may touch: then nothing was done.
    """
    n, rows, slept = s.counts[0], s.counts[2], s.kept.slept.contacts[0]
    if touches.size[0] + n + slept > len(touches.a) or n + slept > len(kept.gaps):
        return 1
    if s.part[0] > 0 and ended.size[0] + kept.size[0] > len(ended.gaps):
        return 1
    _rest(s, contacts)
    felt_so_far(contacts, kept, ended, n, s.part[0], slept)
    keep_contacts(s.sleep, s.kept.slept, contacts, kept, n)
    s.kept.counts[:] = s.counts
    s.kept.facts[:] = s.facts
    if s.part[0] == 0:
        s.kept.totals[:] = np.nan
        s.kept.told[0] = 0
    _keep_rows(s)
    for i in range(rows):
        number, impulse = s.numbers[i], s.impulses.changes.row_impulses[i]
        s.kept.rows[number] = impulse
        if np.isnan(s.kept.totals[number]):
            s.kept.totals[number] = impulse
            s.kept.numbers[s.kept.told[0]] = number
            s.kept.told[0] += 1
        else:
            s.kept.totals[number] += impulse
    if len(s.trees.bases) > 0 and s.sleep.all[0] == 0:
        remembered(s.kept.momentum, s.owed)
    if pressed_before(s.pressed, s.kept.pressed) > 0:
        s.noted[PRESSED] += 1
    for k in range(len(s.pressed.left)):
        if len(s.sleep.restless) == 0 or not is_asleep(s.kept.slept, s.sleep.slots[k]):
            s.kept.pressed[k] = s.pressed.left[k]
    for k in range(len(s.impulses.changes.acted)):
        if s.impulses.hanging[k]:
            s.kept.acted[k], s.kept.steady[k] = s.impulses.changes.acted[k], s.impulses.changes.steady[k]
    s.kept.borne[:] = s.sources.motors.bears
    s.kept.pressing[:] = s.lending.pressing
    s.kept.tolerance[0] = s.settings[6]
    if n + s.counts[1] > 0 and s.facts[3] > s.settings[6]:
        s.noted[UNCONVERGED] += 1
    s.kept.times[:2] = s.times[:2]
    s.kept.times[2:] = s.times[3:5]
    s.kept.steps[0] += 1
    s.kept.parts[0] = s.kept.cut[0] = s.part[1]
    note(kept, touches, bodies, s.kept.slept.contacts[0] if s.part[0] > 0 else 0)
    s.present.asleep[:] = 0
    if s.part[1] == 1:
        s.clock[0] += s.settings[0]
    s.flown[0] = 0
    return 0


@compiled
def _rest(s: StepArrays, contacts: ContactTable) -> None:
    """Let fall asleep who rested for long enough: they stand, and nothing is owed to them."""
    it, known, owed = s.sleep, s.kept.slept, s.owed
    if len(it.restless) == 0 or it.all[0]:
        return
    drives, h = s.sources.motors.motors.drives, s.settings[0]
    if not fell_asleep(
        it, known, contacts, s.present.twists, s.q, s.v, s.tau, drives, s.flight.acting, s.parameters, h,
        h * float(s.part[1]),
    ):  # fmt: skip
        return
    seen(s.present, s.q, s.v, s.parameters)
    s.present.known[0] = 0
    if len(it.bases) > 0:
        for k in range(len(it.bases)):
            if is_asleep(known, it.bases[k]):
                owed.linear[k] = 0.0
                owed.spin[k] = 0.0
        owed.v[:] = s.v


@compiled
def _keep_rows(s: StepArrays) -> None:
    """Forget the rows' impulses, but of what slept, which are told once in a step."""
    it, kept, whole = s.sleep, s.kept, s.part[0] == 0
    for number in range(len(kept.rows)):
        if len(it.still) == 0 or it.rows[number] < 0 or it.still[it.rows[number]] == 0:
            kept.rows[number] = 0.0
        elif whole and kept.rows[number] != 0.0:
            kept.totals[number] = kept.rows[number]
            kept.numbers[kept.told[0]] = number
            kept.told[0] += 1

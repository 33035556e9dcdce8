"""A step's solve again, with what motors led into that was not known where its flight ended (see ``led_into``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.contact.contact_buffer import NOBODY, ContactBuffer
from recursive_dyn.contact.settings import Settings
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.report import HURRIED
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.detection import Detection
from recursive_dyn.simulation.stepping.led_into import AGAIN, FOUND, INTO
from recursive_dyn.simulation.stepping.looking_again import add_moved, be_at, look
from recursive_dyn.simulation.surroundings import NOT_KNOWN, Surrounded

if TYPE_CHECKING:
    from recursive_dyn.simulation.stepping.step_machine import StepMachine

_Found = tuple[ContactBuffer, np.ndarray, np.ndarray]  # contacts, poses (nb, 4, 4) of bodies there, who was led


def _add_new(
    buffer: ContactBuffer, there: ContactBuffer, led: np.ndarray, poses_there: np.ndarray, poses: np.ndarray
) -> None:
    """Add to a buffer, of bodies at ``poses`` (nb, 4, 4), the contacts of others that are ``_new`` to it."""
    new = np.flatnonzero(_new(buffer, there, led))
    if len(new):
        add_moved(buffer, there, new, poses_there, poses)


def _new(buffer: ContactBuffer, there: ContactBuffer, led: np.ndarray) -> np.ndarray:
    """Which contacts (n,) of others are of pairs that a buffer does not have, and of a body that is led (nb + 1,); none
    where there are free bodies."""
    keys, known = there.table.keys[: there.count], buffer.table.keys[: buffer.count]
    if buffer.free is not NOBODY or there.free is not NOBODY or np.array_equal(keys, known):
        return np.zeros(len(keys), dtype=bool)
    a, b = there.table.a[: there.count], there.table.b[: there.count]
    return np.asarray(~np.isin(keys, known) & ((led[a] | led[b]) > 0))


def looked_into(
    dynamics: Dynamics, detection: Detection, machine: StepMachine, simulation: Surrounded, settings: Settings,
    state: State, present: Present, h: float, room: bool,
) -> int:  # fmt: skip
    """Go on from a solve that led away: if anything new is met where the step began, or where the solve led, it is
    solved again with that; what the solve says. TooFar where that gets too deep into something, and there is room for
    more parts of the step, of h seconds."""
    it, buffer, found, q = machine.arrays, machine.buffer, list[_Found](), state.q.copy()
    v, solved, looked, led = state.v.copy(), buffer.copy(), detection.looked, it.led.bodies
    for ended in (False, True) if it.kept.pressing.any() else (True,):  # nothing else is left behind by a flight
        to = it.start_q, it.start_v
        if ended:
            to = dynamics.integrate(q, it.impulses.changes.q, 1.0), v + it.impulses.changes.v
        _look_at(detection, machine, simulation, settings, state, present, to)
        if ended:
            it.noted[HURRIED] += detection.hurried(simulation, settings, h, NOT_KNOWN, int(it.part[1]), room)
        if _new(solved, buffer, led).any():
            found.append((buffer.copy(), present.poses.copy(), led.copy()))
            _look_at(detection, machine, simulation, settings, state, present, (q, it.lending.v))
            for there, poses, whose in found:
                _add_new(buffer, there, whose, poses, present.poses)
            it.into[:2] = not ended, AGAIN
            machine.bounded(detection.bounds)
            said = machine.solve(None)
            if said != INTO:
                return said
            v, solved, looked = state.v.copy(), buffer.copy(), detection.looked
    if buffer.free is NOBODY and solved.free is NOBODY:
        be_at(state, present, (q, it.lending.v))
    else:  # surroundings answer those whom they placed last
        _look_at(detection, machine, simulation, settings, state, present, (q, it.lending.v))
    buffer.become(solved)
    detection.looked = looked
    state.v[:], it.into[:2] = v, (0, FOUND)
    return machine.solve(None)


def _look_at(
    detection: Detection, machine: StepMachine, simulation: Surrounded, settings: Settings, state: State,
    present: Present, at: StatePair,
) -> None:  # fmt: skip
    """Let the state be there, and find contacts."""
    be_at(state, present, at)
    look(detection, machine, simulation, settings)

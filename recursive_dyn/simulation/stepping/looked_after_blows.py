"""A step's solve again, with what blows led into that was not known where its flight ended (see ``struck_into``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.contact.contact_buffer import NOBODY, ContactBuffer
from recursive_dyn.contact.settings import Settings
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.detection import Detection
from recursive_dyn.simulation.stepping.led_into import AGAIN, FOUND
from recursive_dyn.simulation.stepping.looking_again import add_moved, be_at, look
from recursive_dyn.simulation.stepping.struck_into import STRUCK
from recursive_dyn.simulation.surroundings import Surrounded

if TYPE_CHECKING:
    from recursive_dyn.simulation.stepping.step_machine import StepMachine

_TOUCHED = 5e-4  # m: overlaps up to this are none
_SAME = 5e-3  # m between places on a body, up to which they are one
_Points = tuple[np.ndarray, np.ndarray]


def looked_after_blows(
    detection: Detection, machine: StepMachine, simulation: Surrounded, settings: Settings, state: State,
    present: Present,
) -> int:  # fmt: skip
    """Go on from where a solve's blows led: as long as anything new is met there, it is solved again with that; what
    the last solve says."""
    it, buffer, led, said = machine.arrays, machine.buffer, machine.arrays.led, STRUCK
    found = list[tuple[ContactBuffer, np.ndarray]]()
    while said == STRUCK:
        solved, v, way = buffer.copy(), led.v.copy(), led.way.copy()
        look(detection, machine, simulation, settings)
        new = _new(solved, led.poses.reshape(-1, 4, 4), buffer, present.poses)
        if new.any():
            found.append((_only(buffer, new), present.poses.copy()))
        be_at(state, present, (led.q, it.lending.v))
        if new.any():
            look(detection, machine, simulation, settings)
            for there, where in found:
                _add(buffer, there, where, present.poses)
            it.into[0], it.into[1], it.into[3] = 0, AGAIN, it.into[3] - 1
            machine.bounded(detection.bounds)
        else:
            buffer.become(solved)
            state.v[:], it.impulses.changes.q[:] = v, way
            it.into[0], it.into[1], it.into[3] = 0, FOUND, 0
        said = machine.solve(None)
    return said


def _places(buffer: ContactBuffer, poses: np.ndarray) -> _Points:
    """Where on bodies at poses (nb, 4, 4) points of A and B are, (n, 3) each."""
    on_a, on_b = buffer.contacts().located(poses).local
    return on_a, on_b


def _new(buffer: ContactBuffer, poses: np.ndarray, there: ContactBuffer, poses_there: np.ndarray) -> np.ndarray:
    """Which contacts (n,) that are found elsewhere overlap, at no place of two bodies where a buffer has one. What
    gives back all is left to the next step, which keeps its energy: here it is known a blow too late."""
    table, own = there.table, buffer.table
    new = (table.gaps[: there.count] < -_TOUCHED) & (table.frictions[: there.count, 4] < 1.0)
    if not new.any() or buffer.free is not NOBODY or there.free is not NOBODY:
        return np.zeros(there.count, dtype=bool)
    (a, b), (c, d) = _places(buffer, poses), _places(there, poses_there)
    for k in np.flatnonzero(new):
        same = own.keys[: buffer.count] == table.keys[k]
        off = np.minimum(np.linalg.norm(a[same] - c[k], axis=1), np.linalg.norm(b[same] - d[k], axis=1))
        new[k] = not (off < _SAME).any()
    return new


def _only(buffer: ContactBuffer, which: np.ndarray) -> ContactBuffer:
    """Some of the contacts (n,) of a buffer, in a new one."""
    result, rows = ContactBuffer(0), np.flatnonzero(which)
    result.add(buffer, rows, len(rows))
    return result


def _add(buffer: ContactBuffer, there: ContactBuffer, poses_there: np.ndarray, poses: np.ndarray) -> None:
    """Add to a buffer, of bodies at ``poses`` (nb, 4, 4), contacts found elsewhere, as they are at these poses. Nothing
    is told of them there, so none is closed: what seems to be so turned, too far for what is carried along where it is
    deep."""
    added = add_moved(buffer, there, np.arange(there.count), poses_there, poses, -_SAME)
    gaps = buffer.table.gaps[added]
    gaps[:] = np.maximum(gaps, 0.0)

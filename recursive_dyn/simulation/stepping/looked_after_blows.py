"""A step's solve again, with what blows led into that was not known where its flight ended (see ``struck_into``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from recursive_dyn.codegen.compiled import Flags, compiled
from recursive_dyn.contact.contact_buffer import NOBODY, ContactBuffer, ContactTable
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
_Places = Annotated[np.ndarray, float, 3]


def warm_up() -> None:
    """Compile or load what the first look takes."""
    _mark_new.warm()


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
    if buffer.free is not NOBODY or there.free is not NOBODY:
        return np.zeros(there.count, dtype=bool)
    new = np.zeros(there.count, dtype=bool)
    (a, b), (c, d) = _places(buffer, poses), _places(there, poses_there)
    _mark_new(there.table, buffer.table, c, d, a, b, new)
    return new


@compiled
def _mark_new(
    there: ContactTable, known: ContactTable, on_a: _Places, on_b: _Places, known_a: _Places, known_b: _Places,
    new: Flags,
) -> None:  # fmt: skip
    """``_new``; places on bodies of both, as ``_places`` has them. In machine code, as of what sank there are hundreds,
    each of which is compared with those of its pair."""
    n, nearest = known.size[0], _SAME * _SAME
    for k in range(there.size[0]):
        new[k] = there.gaps[k] < -_TOUCHED and there.frictions[k, 4] < 1.0
        c = 0
        while new[k] and c < n:
            if known.keys[c] == there.keys[k]:
                off_a, off_b = 0.0, 0.0
                for i in range(3):
                    off_a += (known_a[c, i] - on_a[k, i]) ** 2
                    off_b += (known_b[c, i] - on_b[k, i]) ** 2
                new[k] = not (min(off_a, off_b) < nearest)
            c += 1


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

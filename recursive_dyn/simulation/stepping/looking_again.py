"""Looks elsewhere than where a step's flight ended, and what they find there, to be solved for where it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.settings import Settings
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.simulation.present import Present
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.detection import Detection
from recursive_dyn.simulation.surroundings import Surrounded

if TYPE_CHECKING:
    from recursive_dyn.simulation.stepping.step_machine import StepMachine


def be_at(state: State, present: Present, at: StatePair) -> None:
    """Let the state be there."""
    state.q[:], state.v[:] = at
    present.update(state.q, state.v)


def look(detection: Detection, machine: StepMachine, simulation: Surrounded, settings: Settings) -> None:
    """Find contacts where bodies are, in machine code if that can be."""
    lookout = detection.lookout(machine.present, machine.buffer, machine.h, settings)
    said = lookout.look() if lookout is not None and lookout.look is not None else None
    detection.look(simulation, machine.buffer, settings, said)


def add_moved(
    buffer: ContactBuffer, there: ContactBuffer, rows: np.ndarray, poses_there: np.ndarray, poses: np.ndarray,
    least: float = -np.inf,
) -> slice:  # fmt: skip
    """Add to a buffer, of bodies at ``poses`` (nb, 4, 4), contacts found elsewhere, rows (m,) of those, as they are at
    these poses, but those with gaps below ``least``, m, then; which ones they are."""
    moved = there.contacts().located(poses_there).moved(poses)
    rows = rows[moved.distance[rows] >= least]
    added, own = buffer.add(there, rows, len(rows)), buffer.table
    own.points[added, 0], own.points[added, 1] = moved.point_a[rows], moved.point_b[rows]
    own.gaps[added] = moved.distance[rows]
    return added

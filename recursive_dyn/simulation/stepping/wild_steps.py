"""Steps with impulses that end so swiftly that Python weighs whether energy came of nothing.

A flight is weighed by itself. What runs away by what flights and impulses do to each other, as springs that are let go
and caught anew, is seen in whole steps only.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.flying.plausible import SLOW, Weighing
from recursive_dyn.simulation.flying.untaken import too_much_energy
from recursive_dyn.simulation.joint_laws.actuation import flown_by_slot
from recursive_dyn.simulation.joint_laws.coordinate_rows import first_motor
from recursive_dyn.simulation.stepping.step_arrays import StepArrays

WILD = -5  # of a stage of a step: its end is so swift that it is to be weighed


@compiled
def swift(v: Floats) -> bool:
    """Whether something moves faster than what moves by itself usually does."""
    fastest = 0.0
    for k in range(len(v)):
        fastest = max(fastest, abs(v[k]))
    return fastest > SLOW


class WildSteps:
    """Steps of a dynamics that are weighed, one after the other."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics, self._weighing = dynamics, Weighing()

    def weigh(
        self, it: StepArrays, buffer: ContactBuffer, flight: Flight, borne: np.ndarray, time: float, integrator: str
    ) -> None:  # fmt: skip
        """StateError for a step, or part of one, from a time on, that ends with more energy than could be; borne (nv,):
        forces of motors and dry friction in its flight, N or N m."""
        (tau, pushes), start, h = flight.forces(it.tau - borne), (it.start_q, it.start_v), float(it.settings[0])
        more = _work_of_motors(it) + _given_by_what_moves(buffer, self._dynamics.model.nb)
        moves = self._weighing.absurd(self._dynamics, start, (it.q, it.v), tau, h, pushes, more)
        if moves is not None:
            told = too_much_energy(self._dynamics, start, moves, h, integrator)
            raise StateError(f"simulation at t = {time:.6g} s: {told}")


def _work_of_motors(it: StepArrays) -> float:
    """What motors gave, J: by a flight's forces and by impulses at its end, each times the mean of the velocities
    before and after."""
    changed, given, flown = it.impulses.changes, np.zeros(len(it.v)), flown_by_slot(it.sources.motors)
    numbers, impulses = it.numbers[: int(it.counts[2])], changed.row_impulses[: int(it.counts[2])]
    slots = numbers - first_motor(it.sources)
    own = (slots >= 0) & (slots < len(given))
    np.add.at(given, slots[own], impulses[own])
    left = it.v - changed.v  # where the flight ended
    return max(float(flown @ (it.start_v + left) + (given - flown) @ (left + it.v)) / 2.0, 0.0)


def _given_by_what_moves(buffer: ContactBuffer, bodies: int) -> float:
    """What bodies that are none of these can have given at contacts, at most, J."""
    table, free = buffer.table, buffer.free
    n = int(table.size[0])
    speeds = np.linalg.norm(table.drift[:n], axis=1)
    spins, ways = np.linalg.norm(np.maximum(abs(free.before), abs(free.twist)).reshape(-1, 2, 3), axis=2).T
    for side, numbers in enumerate((table.a[:n], table.b[:n])):
        (theirs,) = (numbers >= bodies).nonzero()
        other = numbers[theirs] - bodies
        speeds[theirs] += ways[other] + spins[other] * np.linalg.norm(table.arms[theirs, side], axis=1)
    return float(np.linalg.norm(table.impulses[:n], axis=1) @ speeds)

"""Timesteps that touch nothing, many at once in machine code where nothing has to be asked between them."""

from __future__ import annotations

from functools import partial

import numpy as np

from recursive_dyn.errors import StateError
from recursive_dyn.simulation.flying.chart_switching import Charts
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.kept.memory import Memory
from recursive_dyn.simulation.report import UNEXPLAINED
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.parts_of_flight import in_parts
from recursive_dyn.simulation.stepping.step_forces import StepForces


def untouched_steps(
    flight: Flight, forces: StepForces, state: State, memory: Memory, tau: np.ndarray, h: float, count: int,
    charts: Charts | None,
) -> int:  # fmt: skip
    """Up to ``count`` timesteps of length h that touch nothing and end within the limits; their number.

    Charts, if any are to be watched, are improved before each, state and tau (nv,) with them.
    """
    start, done, stopped, lands = state.time, 0, False, forces.lands
    while done < count and not stopped:
        if charts:
            charts.improve(state, tau)
        forces.begin(state, h)
        q, v = (state.q.copy(), state.v.copy()) if lands else (state.q, state.v)
        counted = flight.tally.copy() if lands else flight.tally
        now, most, flown = forces.forces(state, tau, h), 1 if forces.one_by_one else count - done, 0
        if forces.parts > 1:
            q[:], v[:] = in_parts(flight, forces, q, v, tau, h, state.time)
            flown = 1
        if charts and most > 1:
            flown = charts.glide(flight, state, now, h, most)
        if not flown:
            flown, stopped = _within_limits(flight, q, v, now, h, 1 if charts else most, state.time)
        if lands and flown:
            again = partial(flight.retaken, state.q, state.v, now, h)
            try:
                state.q[:], state.v[:] = forces.landed(q, v, state.time, again)
            except StateError:
                flight.tally[:] = counted
                raise
        # state and time are written with no call in between: Python serves interrupts at calls, and finds both
        done += flown
        state.clock[0] = start + done * h
        if forces.timed:
            forces.end(state)
    if done:
        memory.forget()
    return done


def _within_limits(
    flight: Flight, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, count: int, time: float
) -> tuple[int, bool]:
    """``Flight.advance`` up to a limit, or to where energy cannot be explained on the way to one."""
    if not flight.limited:
        return flight.advance(q, v, tau, h, count, time, limits=True)
    start, counted = (q.copy(), v.copy()), flight.tally.copy()
    for most in (count, 1):
        try:
            done, stopped = flight.advance(q, v, tau, h, most, time, limits=True)
        except StateError:  # what is told by who tries it in parts
            flight.tally[:] = counted
            return 0, True
        if flight.tally[UNEXPLAINED] <= counted[UNEXPLAINED]:
            return done, stopped
        (q[:], v[:]), flight.tally[:] = start, counted
    return 0, True

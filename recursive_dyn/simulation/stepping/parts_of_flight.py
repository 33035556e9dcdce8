"""A flight in maximal coordinates that is cut into parts where joints cannot hold what whirls over all of it."""

from __future__ import annotations

import numpy as np

from recursive_dyn.errors import StateError
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.maximal.acting.whirl import MOST
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.report import HALVED, HALVINGS
from recursive_dyn.simulation.stepping.step_forces import StepForces

HALVES = 2  # into which a part is cut that gets too far into something
FINEST = 1 << 30  # into which no part is cut again, whatever is how fast
AT_ONCE = 16  # parts, up to which a step is cut into as many as that asks for: of more, most fly free


class PartTooLong(Exception):
    """Shorter parts are asked for, by so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times


class TooFar(PartTooLong):
    """As this one leads too far into something."""


def pieces(part: tuple[int, int], times: int) -> list[tuple[int, int]]:
    """So many parts of the k-th of n parts of a step, (k, n), of their own numbers, the last one first."""
    k, n = part
    return [(k * times + i, n * times) for i in reversed(range(times))]


def in_parts(
    flight: Flight, forces: StepForces, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, time: float,
    path: list[np.ndarray] | None = None,
) -> StatePair:  # fmt: skip
    """Where a step of h leads from q (nq,), v (nv,), of which ``forces`` said that it is too long.

    Parts are halves, halves of halves and so on, none longer than one before. After each, but for the last, bodies are
    brought onto their joints.
    StateError where the shortest is too long still. path: gets where parts lead, q before each is brought there.
    """
    done, size, asked = 0, MOST, forces.parts
    q, v, counted = q.copy(), v.copy(), flight.tally.copy()
    try:
        while done < MOST:
            if asked > size:
                raise too_fast(forces.whirling, h, time)
            while asked > 1:
                flight.tally[HALVINGS] += 1
                size, asked = size // 2, asked // 2
            part, now = h * size / MOST, time + h * done / MOST
            total = forces.on_bodies(q, v, tau, part)
            asked = forces.parts
            if asked == 1:
                flight.advance(q, v, total, part, 1, now, limits=False)
                done += size
                if path is not None:
                    path.append(q.copy())
                if done < MOST and forces.lands:
                    q, v = forces.landed(q, v, now)
    except BaseException:
        flight.tally[:] = counted
        raise
    flight.tally[HALVED] += 1
    return q, v


def too_fast(joint: str, h: float, time: float) -> StateError:
    """Of a joint whose bodies whirl too fast for any part of a step of h."""
    return StateError(
        f"simulation at t = {time:.6g} s: the joint of '{joint}' cannot hold its bodies, which whirl too fast for a"
        f" step of {h:.3g} s, however it is cut; use a smaller timestep. The last good state is kept"
    )

"""Where a simulation's bodies are at its present state, in arrays that stay where they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import (
    NO_PROGRAM,
    ProgramCall,
    equal,
    equal_where,
    evaluated,
    evaluated_awake,
    program_call,
)
from recursive_dyn.recursion.momenta.impulse import FLOATING


class FrameArrays(NamedTuple):
    """Where the bodies (nb of them) are at the state q, v with these parameters, if known (1,) is 1.

    frames: the program, whose outputs are poses (16 nb,), twists (6 nb,), and momenta, the numbers of the trees that
    float; start_twists (6 nb,): at the start of the step; asleep (nb,): 1 for bodies that sleep in it, 0 in between.
    still_places (1 + nq,), still_slots (nv,): 0, and 1 for what belongs to trees that slept in the last step: these are
    not looked at again where they are as they were.
    """

    frames: ProgramCall
    poses: Floats
    twists: Floats
    momenta: Floats
    start_twists: Floats
    asleep: Integers
    still_places: Integers
    still_slots: Integers
    q: Floats
    v: Floats
    parameters: Floats
    known: Integers


class Present:
    """poses (nb, 4, 4), twists (nb, 6), momenta (k, FLOATING) of what floats: of all at the last state given to
    ``update``, as ``Dynamics`` has them; frames (22 nb,): the twists behind the poses; start_twists (nb, 6): those at
    the start of the step, or part of one, that is being taken; asleep (nb,): 1 for bodies that sleep while one is,
    of whose contacts with each other and with what does not move nothing need be told. To be read only.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        count, nq, nv = len(dynamics.bodies), dynamics.nq, dynamics.nv
        still, parameters = np.zeros(1 + nq, dtype=np.int64), np.zeros(len(dynamics.parameters.values_array))
        frames = program_call(dynamics, "frames", still)
        poses, twists, momenta = (
            frames.outputs[: 16 * count], frames.outputs[16 * count : 22 * count], frames.outputs[22 * count :]
        )  # fmt: skip
        self.arrays = FrameArrays(
            frames, poses, twists, momenta, np.zeros(6 * count), np.zeros(count, dtype=np.int64), still,
            np.zeros(nv, dtype=np.int64), np.zeros(nq), np.zeros(nv), parameters, np.zeros(1, dtype=np.int64),
        )  # fmt: skip
        self.frames = frames.outputs[: 22 * count]
        self.poses, self.twists = poses.reshape(count, 4, 4), twists.reshape(count, 6)
        self.momenta = momenta.reshape(-1, FLOATING)
        self.start_twists, self.asleep = self.arrays.start_twists.reshape(count, 6), self.arrays.asleep
        self._dynamics = dynamics
        self._bound: tuple[Any, Any, Any] = (None, None, None)

    def __reduce__(self) -> Any:
        return Present, (self._dynamics,)

    def update(self, q: np.ndarray, v: np.ndarray) -> None:
        """Be at q (nq,), v (nv,) and the dynamics' present parameters; StateError where that has no numbers."""
        at_q, at_v, look = self._bound
        if at_q is not q or at_v is not v:
            look = seen.bind(self.arrays, q, v, self._dynamics.parameters.values_array)
            self._bound = q, v, look
        if not look():
            self._dynamics.call("frames", q, v)


_EMPTY = np.zeros(0)
NOWHERE = FrameArrays(
    NO_PROGRAM, *(_EMPTY,) * 4, *(_EMPTY.astype(np.int64),) * 3, *(_EMPTY,) * 3, np.zeros(1, dtype=np.int64)
)


@compiled
def seen(present: FrameArrays, q: Floats, v: Floats, parameters: Floats) -> bool:
    """Be at a state, unless it is that one; whether all there is finite."""
    if present.known[0] and equal(present.q, q) and equal(present.v, v) and equal(present.parameters, parameters):
        return True
    rest = equal_where(present.still_places[1:], present.q, q) and equal_where(present.still_slots, present.v, v)
    rest = rest and equal(present.parameters, parameters)
    present.q[:] = q
    present.v[:] = v
    present.parameters[:] = parameters
    if rest:
        finite = evaluated_awake(present.frames, q, v, q[:0], parameters)
    else:
        finite = evaluated(present.frames, q, v, q[:0], parameters)
    present.known[0] = 1 if finite else 0
    return finite

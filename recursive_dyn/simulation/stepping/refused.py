"""What a refused step leaves: all that was written before a rule saw the state is as it was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.step_forces import StepForces


class Before:
    """Where a step begins: numbers that what comes before its flight may write, and what constraints and motions know.

    A state may be brought onto constraints, into another chart or to where motions lead it, and a control be asked.
    """

    def __init__(self, state: State, others: Sequence[np.ndarray], forces: StepForces) -> None:
        self._clock, self._forces = state.clock, forces
        self._arrays = (state.q, state.v, *others)
        self._were = [array.copy() for array in self._arrays]

    def note(self, tau: np.ndarray) -> None:
        """A step begins from what is now, under tau (nv,)."""
        self._time, self._known = self._clock.item(), self._forces.noted()
        self._tau, self._tau_was = tau, tau.copy()
        for array, was in zip(self._arrays, self._were, strict=True):
            was[:] = array

    def back(self) -> None:
        """All is what it was, unless the step was taken after all: an interrupt may come right after it."""
        if self._clock.item() != self._time:
            return
        with Held():
            for array, was in zip(self._arrays, self._were, strict=True):
                array[:] = was
            self._tau[:] = self._tau_was
            self._forces.back(self._known)

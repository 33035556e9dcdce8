"""What constraints transmitted in a step: their multipliers at its start, and what contacts, limits and motors added to
them as means over the step, or over the part of one."""

from __future__ import annotations

import math

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.simulation.coordinate_rows import row_names
from recursive_dyn.simulation.memory import Memory


class ConstraintLoads:
    """Loads of the constraints of dynamics with strengths. peaks: the greatest norm of a constraint's multipliers since
    ``begin``, by its name; N where its rows measure m."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics, self._bearing = dynamics, dynamics.hanging.bearing
        known, numbers = dynamics.constraints, row_names(dynamics.model)
        self._rows = {name: [known.index(r) for r in own.rows if r in known] for name, own in self._bearing.items()}
        self._first = numbers.index(f"constraint {known[0]}") if known else 0
        self._start = np.zeros(len(known))
        self.peaks = dict.fromkeys(self._bearing, 0.0)

    def begin(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        """A step begins at q, v under tau, passive forces included."""
        self._start[:] = self._dynamics.multipliers(q, v, tau)
        self.peaks = dict.fromkeys(self._bearing, 0.0)

    def note(self, memory: Memory, h: float) -> None:
        """A step, or a part of one, of length h ended."""
        loads = self._start + memory.arrays.rows[self._first : self._first + len(self._start)] / h
        for name, rows in self._rows.items():
            self.peaks[name] = max(self.peaks[name], math.hypot(*loads[rows]))

    def broken(self) -> list[str]:
        """Names of the constraints that transmitted more than they bear since ``begin``."""
        return [name for name, peak in self.peaks.items() if peak > self._bearing[name].force]

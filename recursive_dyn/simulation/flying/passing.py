"""Flights past positions in which constraints depend on each other, as where all bars of a loop lie on one line.

A rule that meets constraints by their rates divides by how far the position is, and halves of its steps come nearer to
it. One that meets them where its steps end (``chord_constraints``) does not happen to end there: a step that cannot be
taken otherwise, or would have to be halved very often, is taken in parts by that.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.simulation.flying.engine import Law, Load
from recursive_dyn.simulation.flying.flight import Flight

_PARTS = 8  # of a step that is taken by the other rule
_OFTEN = 32  # halvings of a step, above which it is
_HALVED, _HALVINGS, _UNEXPLAINED = range(3)  # entries of a tally
_Pushes = tuple[np.ndarray, np.ndarray, Law | None, np.ndarray | None]


def flight_of(dynamics: Dynamics, integrator: str, tally: np.ndarray | None = None) -> Flight:
    """One that passes such positions, where the rule has another for that, and the constraints are of positions."""
    constraints = dynamics.model.constraints
    passes = registry.find(integrator).passing and constraints and all(c.holonomic for c in constraints)
    return (PassingFlight if passes else Flight)(dynamics, integrator, tally)


class PassingFlight(Flight):
    """A flight whose steps are taken by the rule's ``passing`` where constraints come to depend on each other."""

    def __init__(self, dynamics: Dynamics, integrator: str, tally: np.ndarray | None = None) -> None:
        super().__init__(dynamics, integrator, tally)
        self._other: Flight | None = None
        self._driven_by: _Pushes | None = None

    def drive(
        self, pushes: np.ndarray, acting: np.ndarray, law: Law | None = None, tau: np.ndarray | None = None,
        load: Load | None = None,
    ) -> None:  # fmt: skip
        super().drive(pushes, acting, law, tau, load)
        self._driven_by = pushes, acting, law, tau

    def drive_nothing(self) -> None:
        super().drive_nothing()
        self._driven_by = None

    def advance(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, count: int, time: float, limits: bool
    ) -> tuple[int, bool]:
        start, counted = (q.copy(), v.copy()), self.tally.copy()
        try:
            done, stopped = super().advance(q, v, tau, h, count, time, limits)
        except StateError:
            self.tally[:] = counted
            if (other := self.retaken(*start, tau, h)) is None:
                raise
            done, stopped = 1, False
            q[:], v[:] = other
        else:
            if done == 1 and self.strained(counted):
                tried, self.tally[:] = self.tally.copy(), counted
                if (other := self.retaken(*start, tau, h)) is None:
                    self.tally[:] = tried
                else:
                    q[:], v[:] = other
        return done, stopped

    def strained(self, counted: np.ndarray) -> bool:
        often = self.tally[_HALVINGS] - counted[_HALVINGS] > _OFTEN
        return bool(often or self.tally[_UNEXPLAINED] > counted[_UNEXPLAINED])

    def retaken(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> StatePair | None:
        if self._other is None:
            self._other = Flight(self._dynamics, self._rule.passing)
        if self._driven_by is None:
            self._other.drive_nothing()
        else:
            self._other.drive(*self._driven_by)
            self._other.driving().beside = self.driving().beside
        found = self._other.in_parts(q, v, tau, h, _PARTS)
        if found is not None:
            self.tally[_HALVED] += 1
            self.tally[_HALVINGS] += _PARTS - 1
        return found

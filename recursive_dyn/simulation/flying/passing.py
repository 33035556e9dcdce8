"""Flights past positions in which constraints depend on each other, as where all bars of a loop lie on one line.

A rule that meets constraints by their rates divides by how far the position is, and halves of its steps come nearer to
it. One that meets them where its steps end (``chord_constraints``) does not happen to end there: a step that cannot be
taken otherwise, or would have to be halved very often, is taken in parts by that.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.projection import NARROW
from recursive_dyn.dynamics.taut import stress
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.simulation.flying.engine import Law, Load
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.flying.plausible import energies

_PARTS, _MOST_PARTS, _TURN = 8, 64, 0.02  # of a step that is taken by the other rule; rad or m that one is to resolve
_OFTEN = 32  # halvings of a step, above which it is
_ALIKE = 1e-2  # of kinetic energy, by which it may end with another one then than where it was halved and watched
_HALVED, _HALVINGS, _UNEXPLAINED = range(3)  # entries of a tally
_ENERGIES = "kinetic_energy", "potential_energy", "elastic_energy"
_Pushes = tuple[np.ndarray, np.ndarray, Law | None, np.ndarray | None]


def flight_of(dynamics: Dynamics, integrator: str, tally: np.ndarray | None = None) -> Flight:
    """One that passes such positions, where the rule has another for that, and the constraints are of positions."""
    constraints = dynamics.model.constraints
    passes = registry.find(integrator).passing and constraints and all(c.holonomic for c in constraints)
    return (PassingFlight if passes else Flight)(dynamics, integrator, tally)


def led_from(dynamics: Dynamics, q: np.ndarray, v: np.ndarray, h: float) -> StatePair | None:
    """Where motions alone lead in a step of h, s, from q (nq,), v (nv,) where rows depend on each other; else None.

    A chain that was taut lies so when its end comes back: how it sags is found where that is brought onto the rows.
    """
    model = dynamics.model
    if not model.motions or model.clock is None or stress(dynamics, q)[1] >= NARROW:
        return None
    q = q.copy()
    q[model.clock[0]] += h
    there, v = np.split(dynamics.call("in_time", q, v), [len(q)])
    return there, v


class PassingFlight(Flight):
    """A flight whose steps are taken by the rule's ``passing`` where constraints come to depend on each other."""

    def __init__(self, dynamics: Dynamics, integrator: str, tally: np.ndarray | None = None) -> None:
        super().__init__(dynamics, integrator, tally)
        self._other: Flight | None = None
        self._driven_by: _Pushes | None = None
        self._explained = float(self.tally[_UNEXPLAINED])

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
        self._explained = float(counted[_UNEXPLAINED])
        try:
            done, stopped = super().advance(q, v, tau, h, count, time, limits)
        except StateError:
            self.tally[:] = counted
            if (other := self.retaken(*start, tau, h) or led_from(self._dynamics, *start, h)) is None:
                raise
            done, stopped = 1, False
            q[:], v[:] = other
        else:
            if done == 1 and self.strained(counted):
                tried, self.tally[:] = self.tally.copy(), counted
                other = self.retaken(*start, tau, h)
                if other is None or not self._better(start, (q, v), other, tried[_UNEXPLAINED] - counted[_UNEXPLAINED]):
                    self.tally[:] = tried
                else:
                    q[:], v[:] = other
            elif done == 1 and self._rule.beside is None:
                self._calm(start, q, v, tau, h)
        return done, stopped

    def _calm(self, start: StatePair, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> None:
        """Where a rule that does not watch energy makes some of a step, or loses it, and the other rule does not half
        of that, lead to the other's end, in q and v: forces and dampers do the same by both."""
        (before, moved), (after, moving) = map(self._sums, (start, (q, v)))
        if abs(after - before) <= _ALIKE * max(moved, moving):
            return
        counted = self.tally.copy()
        other = self.retaken(*start, tau, h)
        if other is not None and abs(self._sums(other)[0] - before) < 0.5 * abs(after - before):
            q[:], v[:] = other
        else:
            self.tally[:] = counted

    def _shorter(self, code: int, h: float, limited: int, large: int, since: float = 0.0) -> int:
        """By the other rule where that leaves half as much energy unexplained as a whole step did, else in halves."""
        if code != drivers.UNEXPLAINED or since:
            return super()._shorter(code, h, limited, large, since)
        start, end = (self._q.copy(), self._v.copy()), self._loop.output[: len(self._q) + len(self._v)]
        whole, counted = np.split(end.copy(), [len(self._q)]), self.tally.copy()
        other = self.retaken(*start, self._tau.copy(), h)
        if other is not None:
            (before, _), (after, _), (there, _) = map(self._sums, (start, (whole[0], whole[1]), other))
            if abs(there - before) < 0.5 * abs(after - before):
                self._q[:], self._v[:] = other
                self.tally[_HALVED] = counted[_HALVED]  # which is counted by who asked
                return drivers.OK
        self.tally[:] = counted
        return super()._shorter(code, h, limited, large, since)

    def _sums(self, state: StatePair) -> tuple[float, float]:
        """All energy, and that of motion, J."""
        moving, height = energies(self._dynamics, *state)
        return moving + height, moving

    def _better(self, start: StatePair, watched: StatePair, other: StatePair, unexplained: float) -> bool:
        """Whether a step is to lead to the other state than to where it was halved and watched, with so much energy
        that nothing accounts for. Where there is none, it is to have as much there, as it has not of what is halved
        because it whirls fast, far from such positions; elsewhere to be as near to what there was, unless motions
        change that."""
        (before, _), (one, moving), (two, _) = map(self._sums, (start, watched, other))
        least = _ALIKE * moving
        if not unexplained > 0.0:
            return abs(two - one) <= least
        if self._dynamics.model.motions:
            return True
        if two - before > least:  # dampers may have taken what is missing
            self.tally[_UNEXPLAINED] += min(two - before, unexplained)
        return abs(two - before) <= abs(one - before) + least

    def warm_up(self) -> None:
        for function in _ENERGIES:
            self._dynamics.kernel(function)

    def untold(self) -> None:
        self.tally[_UNEXPLAINED] = self._explained

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
        parts, way = _PARTS, h * float(np.abs(v).max(initial=0.0))
        while parts < _MOST_PARTS and way > _TURN * parts:
            parts *= 2
        found = self._other.in_parts(q, v, tau, h, parts)
        if found is not None:
            self.tally[_HALVED] += 1
            self.tally[_HALVINGS] += parts - 1
        return found

"""Prescribed motions as steps go through them: where they jump, and what their kinks do to what they lead.

A motion whose rate jumps strikes: an impulse on its coordinate changes that rate, and what hangs on it keeps the
momenta that it has of its own (M_ff dv_f = -M_fp dv_p, with constraints). No step sees that in accelerations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.motion_jumps import WrittenMotion, elsewhere, together
from recursive_dyn.simulation.stepping.sampled_motion import COUNT, Motions, SampledMotion

_KINK = 1e-5  # rad or m a second, and of a rate, from where on it has jumped: polynomials of a step are good to less


class Leading:
    """The motions of a simulation's dynamics that steps look at before they begin; strikes: whether kinks of those that
    expressions say are given as impulses (a rule of momenta sees them itself), and of any."""

    def __init__(self, dynamics: Dynamics, motions: Motions, strikes: tuple[bool, bool]) -> None:
        self._dynamics, self._written_strike, self._sampled_strike = dynamics, *strikes
        model, parameters = dynamics.model, list(dynamics.parameters) if motions else []
        names = {model.coordinates[m.slot].name: m for m in model.motions} if motions else {}
        self._sampled = [
            (m, parameters.index(m.parameters[0]), names[m.name].slot if m.name in names else -1)
            for m in motions
            if isinstance(m, SampledMotion)
        ]
        self._written = [(m, names[m.name].place, names[m.name].slot) for m in motions if isinstance(m, WrittenMotion)]
        self._left: np.ndarray | None = None  # v where the last step ended
        self._places = [(model.coordinates[m.slot].name, m.place) for m in model.motions]
        self._slots, self._changed = [m.slot for m in model.motions], False
        own = [first for _, first, _ in self._sampled]
        # parameters, which come before the numbers of samples
        self._own = min(own) if own else len(dynamics.parameters.values_array)
        self._then_was: tuple[float, bytes] | None = None  # time and parameters where motions were last known to be
        self._there: np.ndarray | None = None  # q then
        self.moved: list[tuple[str, float]] = []  # motions that parameters moved before this step, and by how much

    def move(self, state: State, h: float) -> None:
        """A step of h begins: sample motions, and go to where parameters have them now. StateError where one jumps."""
        self.moved.clear()
        for sampled, first, _ in self._sampled:
            sampled.sample(state.time, h, self._dynamics.parameters.values_array[first : first + COUNT])
        self._changed = bool(self._places) and self._moment(state) != self._then_was
        if self._changed:
            self._goes_on(state)

    def strike(self, state: State, h: float) -> None:
        """Strike what hangs on motions whose rates jump, as the step of h that begins here has them."""
        d, nq = self._dynamics, self._dynamics.model.nq
        changes = dict[int, float]()
        for written, place, slot in self._written:
            changes[slot] = written.check(lambda t: self._then(state, t), place, nq + slot, state.time, h)
        if not self._written_strike:
            changes.clear()
        slots = [slot for _, _, slot in self._sampled if slot >= 0] if self._sampled_strike else []
        if self._changed:  # by parameters, or as the time was set: no rule's step sees what was before
            slots = self._slots
        if slots and self._left is not None:
            now = self._then(state, state.time)
            for slot in slots:
                if state.v[slot] == self._left[slot]:  # nobody set it since
                    changes[slot] = float(now[nq + slot] - state.v[slot])
        for slot, change in changes.items():
            if abs(change) > _KINK * (1.0 + abs(state.v[slot])):
                state.v[:] += impulse_on(d, state.q, slot, change, d.model.prescribed)

    def rates(self, state: State) -> np.ndarray:
        """v (nv,) of a state with what is prescribed as it moves there, where somebody set it otherwise since."""
        v, now = state.v.copy(), self._then(state, state.time)[len(state.q) :]
        for slot in self._slots:
            if self._left is None or v[slot] != self._left[slot]:
                v[slot] = now[slot]
        return v

    def end(self, state: State) -> None:
        """It has ended: what is prescribed is where time says."""
        if self._dynamics.model.motions:
            state.q[:], state.v[:] = np.split(self._dynamics.call("in_time", state.q, state.v), [len(state.q)])
            self._left = state.v.copy()
            self.is_at(state)

    def is_at(self, state: State, moved: bool = False) -> None:
        """Motions go on from this state; moved: only if it is where they have it, as it is another one."""
        self._then_was = None if moved else self._moment(state)
        self._there = state.q.copy()

    def noted(self) -> tuple[Any, ...]:
        """Where motions were, to go ``back`` to where a step is refused."""
        return self._left, self._then_was, self._there

    def back(self, noted: tuple[Any, ...]) -> None:
        """They were there."""
        self._left, self._then_was, self._there = noted

    def _moment(self, state: State) -> tuple[float, bytes]:
        """What motions depend on."""
        return state.clock.item(), self._dynamics.parameters.values_array[: self._own].tobytes()

    def _goes_on(self, state: State) -> None:
        """StateError if a motion is neither where it was nor where the coordinate is, as another time or another state
        has it; where parameters do, it goes on from there, and ``moved`` says so."""
        now, was = self._then(state, state.time), self._then_was
        there = now if self._there is None else self._there
        for name, place in self._places:
            before, after = float(there[place]), float(now[place])
            if together(before, after) or together(state.q[place], after):
                continue
            if was is None or was[0] != state.clock.item():
                raise elsewhere(name, before, after, state.time, f"simulation.q[{place}]")
            self.moved.append((name, abs(after - before)))
            state.q[place] = after
        if self.moved:
            self._then_was = self._moment(state)  # told once, whatever the step comes to

    def _then(self, state: State, time: float) -> np.ndarray:
        """q and v (nq + nv,) of a state with what is prescribed as it is at another time."""
        clock, q = self._dynamics.model.clock, state.q.copy()
        if clock is not None:
            q[clock[0]] = time
        return self._dynamics.call("in_time", q, state.v)


def impulse_on(dynamics: Dynamics, q: np.ndarray, slot: int, change: float, prescribed: frozenset[int]) -> np.ndarray:
    """The change of v (nv,) by an impulse on one coordinate that changes its velocity so much, and by constraints."""
    result = np.zeros(dynamics.nv)
    free = [k for k in range(dynamics.nv) if k != slot and k not in prescribed]
    M = dynamics.mass_matrix(q)
    C = dynamics.constraint_jacobian(q) if dynamics.model.constraints else np.zeros((0, dynamics.nv))
    m = len(C)
    system = np.block([[M[np.ix_(free, free)], C[:, free].T], [C[:, free], np.zeros((m, m))]])
    result[free] = np.linalg.lstsq(system, -change * np.append(M[free, slot], C[:, slot]), rcond=None)[0][: len(free)]
    result[slot] = change
    return result

"""Whether constraints hold where steps begin, and bringing states there that somebody, an edit or a parameter left."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.simulation.loads.kicks import Kick
from recursive_dyn.simulation.report import Landings
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.missed_rates import brought_on, missed_rates
from recursive_dyn.simulation.stepping.pulled_together import PulledTogether


class MetConstraints:
    """Of one simulation of dynamics with constraints.

    met: where the last step ended, as bytes (``State.moment``); known: whether it is known what is stuck there;
    written: whether the state is another one since, as far as is known; gaping: the one that somebody left with gaps,
    until these are closed; kicked: the plastic impulse with which a step began since somebody asked, None where none
    was needed; floating: what moves as one rigid body where a gap is closed.
    """

    met: tuple[bytes, ...] = ()
    known, written = False, True
    gaping: StatePair | None = None
    kicked: Kick | None = None
    _by_parameters = False  # alone

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics, self.floating = dynamics, PulledTogether(dynamics)

    def noted(self) -> tuple[Any, ...]:
        """What is known, to go ``back`` to where a step is refused."""
        return self.met, self.known, self.written, self.gaping, self.kicked, self._by_parameters

    def back(self, noted: tuple[Any, ...]) -> None:
        """Know what was noted."""
        self.met, self.known, self.written, self.gaping, self.kicked, self._by_parameters = noted

    def forget(self) -> None:
        """Steps go on from another state: where that has gaps, too, they are found there."""
        self.gaping = None

    def begins(self, state: State, landings: Landings) -> Landings:
        """Steps go on from a state that an edit left; landings with the gap that is there."""
        found = landings.with_gap(self._dynamics, state.q)
        if found.closed > landings.closed:
            self.gaping, self.met = (state.q.copy(), state.v.copy()), ()
        return found

    def look(self, state: State) -> None:
        """See whether somebody wrote to the state, or to parameters, since the last step."""
        last, self.met = self.met, self._moment(state)
        self.known = self.known and last[:1] == self.met[:1]
        if last != self.met:
            self.written, self._by_parameters = True, last[:2] == self.met[:2]

    def left(self, state: State) -> None:
        """A step ended here."""
        self.met = self._moment(state)

    def moved(self, state: State) -> bool:
        """Whether since the last step, which ended in this state, only parameters changed."""
        now = self._moment(state)
        return self.met[:2] == now[:2] and self.met != now

    def stands(self, state: State, moved: bool) -> None:
        """Steps go on from this state as if the last one had ended there; moved: and parameters had changed since."""
        self.met = (*self._moment(state)[:2], b"") if moved else ()

    @property
    def only_parameters(self) -> bool:
        """Whether what changed since the last step are parameters alone."""
        return self.written and self._by_parameters

    def bring(self, state: State, v: np.ndarray, landings: Landings, moved: bool) -> Landings:
        """Bring a state that was changed, of velocities v (nv,), onto the constraints before any rule sees it; landings
        with that. moved: by parameters alone. Where it cannot be done a step says why."""
        self.written = False
        state.keep_time()
        found = landings if self.gaping is not None else landings.with_gap(self._dynamics, state.q)
        gap = self.gaping is not None or found is not landings
        if not gap and not missed_rates(self._dynamics, state.q, v):
            return found
        began = state.q.copy(), v.copy()
        self.gaping = began if gap else None
        try:
            (q, after), brought = brought_on(self.floating, began, found, gap, moved)
        except StateError:
            return found
        state.q[:], state.v[:] = q, after
        self.gaping, self.met = None, self._moment(state)
        self.kicked = None if gap else Kick(q.copy(), began[1], after.copy())  # nobody knows what moving bodies takes
        return brought

    def _moment(self, state: State) -> tuple[bytes, ...]:
        return state.moment(self._dynamics.parameters.values_array)

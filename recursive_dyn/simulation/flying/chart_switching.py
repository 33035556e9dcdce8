"""Switching charts: before a step, a joint whose coordinates have become badly conditioned goes on in better ones.

Si & Guenter (2011), section 6. The state is carried over exactly: q from the same pose, in closed form or by Newton's
method, v from the same twist S v, and tau so that it does the same work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen.evaluator import Array
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.joint.chart_changes import Change, JointCharts, charts_of
from recursive_dyn.simulation.flying.chart_watch import ChartWatch
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.state import State

# Quality is 1 where a chart is as it typically is; the cosine of a latitude, or of an Euler joint's middle angle, then
# is 0.8. Of two such charts with poles at right angles one is always above 0.8, and 0.6 is 30 degrees from a pole.
# Of surfaces that touch, quality is the cosine itself.
_BAD = 0.6
_BETTER = 1.2  # the gain that a switch must bring, so that no state switches to and fro


class Charts:
    """Which charts are in force, and when to leave them: the numbers themselves are parameters of ``dynamics``.

    state: q (nq,) that they are of, which other views of the dynamics then refuse in other charts, if it is known.
    """

    def __init__(self, dynamics: Dynamics, state: Array | None = None) -> None:
        self._dynamics, self._state = dynamics, state
        if state is not None:
            dynamics.knows(state)
        self._links = dynamics.model.charted
        names = [name for name, _ in dynamics.model.parameters]
        self._places = [names.index(str(link.chart)) for link in self._links]
        self._used = [i for i, name in enumerate(names) if any(name in link.joint.parameters for link in self._links)]
        self._made_at: bytes | None = None
        self._charts: list[JointCharts] = []
        self._watch: ChartWatch | None = None
        self._watched = b""  # the charts of which it knows what they are worth

    def __reduce__(self) -> Any:
        return Charts, (self._dynamics, self._state)

    @property
    def present(self) -> list[int]:
        """Number of the chart in force of each charted joint."""
        return [int(x) for x in self._dynamics.parameters.values_array[self._places]]

    def improve(self, state: State, tau: Array) -> bool:
        """Switch, in place, every joint whose chart is badly conditioned while another one is better; whether any was.

        StateError names a joint whose chart is singular at the state, so that nothing can be carried over.
        """
        before = self.present
        try:
            if not self._watching().serves(state.q):
                with Held():
                    for k in np.flatnonzero(self._bad(state.q).reshape(-1, 2).any(axis=1)):
                        self._leave(int(k), state.q, state.v, tau)
        except StateError as error:
            raise StateError(f"simulation at t = {state.time:.6g} s: {error}") from None
        return before != self.present

    def glide(self, flight: Flight, state: State, tau: Array, h: float, count: int) -> int:
        """Steps of length h, at most ``count``, that a flight takes while charts in force serve; how many it took.

        That is none where ``flight.advance`` has more to do, or to say, than to take a step.
        """
        return self._watching().glide(flight, state.q, state.v, tau, h, count)

    def warm_up(self) -> None:
        """Have all that steps may need."""
        self._watching().warm_up()

    def _watching(self) -> ChartWatch:
        """What watches the charts in force."""
        self._refresh()
        if self._watch is None:
            self._watch = ChartWatch(self._dynamics)
        now = self._dynamics.parameters.values_array[self._places].tobytes()
        if now != self._watched:
            typical = [charts.typical[k] for charts, k in zip(self._charts, self.present, strict=True)]
            self._watch.least[:] = _BAD * np.concatenate(typical)
            self._watched = now
        return self._watch

    def _bad(self, q: Array) -> Array:
        """Which measures (2 a joint) are too low for the charts in force."""
        least = self._watching().least
        try:
            return np.asarray(self._dynamics.call("chart_quality", q) < least)
        except StateError:  # one of them is singular: find out which
            return np.full(least.shape, np.isfinite(q).all())

    def switch(self, body: Any, chart: int, q: Array, v: Array, tau: Array) -> None:
        """Express q (nq,), v (nv,) and tau (nv,), in place, in chart number ``chart`` of the joint of ``body``."""
        name = getattr(body, "name", body)
        known = {link.name: k for k, link in enumerate(self._links)}
        if name not in known:
            raise ModelError(
                f"body '{name}' has no joint of several charts; {', '.join(map(repr, known)) or 'no body'} has"
            )
        self._refresh()
        k, present = known[name], self.present
        count = len(self._charts[k].typical)
        if chart not in range(count):
            raise StateError(f"the joint of '{name}' has the charts 0 to {count - 1}, not {chart!r}")
        if chart == present[k]:
            return
        link = self._links[k]
        here = q[list(link.places)]
        self._quality(k, q)
        found = self._charts[k].change(present[k], chart, here, v[list(link.slots)])
        if found is None:
            raise StateError(
                f"chart {chart} of the joint of '{name}' is singular at the present pose, or does not have it or the"
                " present velocity"
            )
        self._carry(k, chart, found, (q, v, tau))

    def _leave(self, k: int, q: Array, v: Array, tau: Array) -> None:
        link = self._links[k]
        least = _BETTER * self._quality(k, q)
        found = self._charts[k].best(self.present[k], q[list(link.places)], v[list(link.slots)], least)
        if found is not None:
            self._carry(k, *found, (q, v, tau))

    def _quality(self, k: int, q: Array) -> float:
        link = self._links[k]
        quality = self._charts[k].quality(self.present[k], q[list(link.places)])
        if not np.isfinite(quality):
            raise StateError(
                f"the joint of '{link.name}' is singular in its chart {self.present[k]} at this state, which cannot be"
                " carried over to another; start away from there, or in another chart"
            )
        return quality

    def _carry(self, k: int, chart: int, change: Change, state: tuple[Array, Array, Array]) -> None:
        q, v, tau = state
        slots = list(self._links[k].slots)
        q[list(self._links[k].places)] = change.q
        v[slots] = change.v
        tau[slots] = change.W @ tau[slots]
        self._dynamics.parameters.values_array[self._places[k]] = chart

    def _refresh(self) -> None:
        """Make the charts anew where a parameter that enters them has changed."""
        if self._charts and not self._used:
            return
        now = self._dynamics.parameters.values_array[self._used].tobytes()
        if now != self._made_at:
            parameters = dict(self._dynamics.parameters)
            self._charts = [charts_of(link.joint, parameters) for link in self._links]
            self._made_at, self._watched = now, b""

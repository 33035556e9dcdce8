"""Switching charts: before a step, a joint whose coordinates have become badly conditioned goes on in better ones.

Si & Guenter (2011), section 6. The state is carried over exactly: q from the same pose by Newton's method, v from the
same twist S v, and tau so that it does the same work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.codegen.evaluator import Array
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.joint.chart import Chart, Place, spans
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.state import State

# Quality is 1 where a chart is as it typically is; the cosine of a latitude, or of an Euler joint's middle angle, then
# is 0.8. Of two such charts with poles at right angles one is always above 0.8, and 0.6 is 30 degrees from a pole.
_BAD = 0.6
_BETTER = 1.2  # the gain that a switch must bring, so that no state switches to and fro
_SAME_POSE = 1e-12  # rad, or share of the distance
_SAME_TWIST = 1e-9  # what rounding leaves of S_a v_a - S_b v_b at a quality near 0


class Charts:
    """Which charts are in force, and when to leave them: the numbers themselves are parameters of ``dynamics``."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._links = dynamics.model.charted
        names = [name for name, _ in dynamics.model.parameters]
        self._places = [names.index(str(link.chart)) for link in self._links]
        self._used = [i for i, name in enumerate(names) if any(name in link.joint.parameters for link in self._links)]
        self._made_at: bytes | None = None
        self._charts: list[list[Chart]] = []
        self._typical: list[Array] = []

    def __reduce__(self) -> Any:
        return Charts, (self._dynamics,)

    @property
    def present(self) -> list[int]:
        """Number of the chart in force of each charted joint."""
        return [int(x) for x in self._dynamics.parameters.values_array[self._places]]

    def improve(self, state: State, tau: Array) -> None:
        """Switch, in place, every joint whose chart is badly conditioned while another one is better.

        StateError names a joint whose chart is singular at the state, so that nothing can be carried over.
        """
        try:
            with Held():
                self._improve(state.q, state.v, tau)
        except StateError as error:
            raise StateError(f"simulation at t = {state.time:.6g} s: {error}") from None

    def _improve(self, q: Array, v: Array, tau: Array) -> None:
        self._refresh()
        limits = _BAD * np.concatenate([typical[k] for typical, k in zip(self._typical, self.present, strict=True)])
        try:
            bad = self._dynamics.call("chart_quality", q) < limits
        except StateError:  # one of them is singular: find out which
            bad = np.full(limits.shape, np.isfinite(q).all())
        if bad.any():
            for k in np.flatnonzero(bad.reshape(-1, 2).any(axis=1)):
                self._leave(int(k), q, v, tau)

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
        count = len(self._charts[k])
        if chart not in range(count):
            raise StateError(f"the joint of '{name}' has the charts 0 to {count - 1}, not {chart!r}")
        if chart == present[k]:
            return
        place = self._place(k, q)
        found = self._same(k, chart, place, v)
        if found is None:
            raise StateError(f"chart {chart} of the joint of '{name}' does not have the present pose and velocity")
        self._carry(k, chart, place, found, (q, v, tau))

    def _leave(self, k: int, q: Array, v: Array, tau: Array) -> None:
        place = self._place(k, q)
        found = {c: self._same(k, c, place, v) for c in range(len(self._charts[k])) if c != self.present[k]}
        better = {c: p for c, p in found.items() if p is not None and p.quality > _BETTER * place.quality}
        if better:
            best = max(better, key=lambda c: better[c].quality)
            self._carry(k, best, place, better[best], (q, v, tau))

    def _place(self, k: int, q: Array) -> Place:
        link = self._links[k]
        place = self._charts[k][self.present[k]].place(q[list(link.places)])
        if not (np.isfinite(place.pose).all() and np.isfinite(place.S).all()):
            raise StateError(
                f"the joint of '{link.name}' is singular in its chart {self.present[k]} at this state, which cannot be"
                " carried over to another; start away from there, or in another chart"
            )
        return place

    def _same(self, k: int, chart: int, place: Place, v: Array) -> Place | None:
        """Where another chart has the same pose and the twist of ``v`` (nv,), if it has."""
        found = self._charts[k][chart].find(place.pose, _SAME_POSE)
        twist = place.S @ v[list(self._links[k].slots)]
        return found if found is not None and spans(found.S, twist, _SAME_TWIST) else None

    def _carry(self, k: int, chart: int, place: Place, found: Place, state: tuple[Array, Array, Array]) -> None:
        q, v, tau = state
        slots = list(self._links[k].slots)
        q[list(self._links[k].places)] = found.q
        v[slots] = np.linalg.lstsq(found.S, place.S @ v[slots], rcond=None)[0]
        tau[slots] = (np.linalg.pinv(place.S) @ found.S).T @ tau[slots]
        self._dynamics.parameters.values_array[self._places[k]] = chart

    def _refresh(self) -> None:
        """Make the charts anew where a parameter that enters them has changed."""
        now = self._dynamics.parameters.values_array[self._used].tobytes()
        if now != self._made_at:
            parameters = dict(self._dynamics.parameters)
            self._charts = [[Chart(joint, parameters) for joint in link.joint.charts] for link in self._links]
            self._typical = [np.array([chart.typical for chart in charts]) for charts in self._charts]
            self._made_at = now

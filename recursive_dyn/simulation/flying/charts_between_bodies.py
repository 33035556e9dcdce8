"""Charts of joints between free bodies: which are in force, and how coordinates go on in others; bodies do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.simulation.flying.chart_switching import Charts
from recursive_dyn.simulation.state import State

Array = np.ndarray


class ChartsBetweenBodies(Charts):
    """Of the joints of free bodies, whose coordinates are kept in ``near`` (jointed.nq,)."""

    def __init__(self, bodies: MaximalDynamics, near: Array) -> None:
        super().__init__(bodies.reduced)
        self._bodies, self._near = bodies, near

    def __reduce__(self) -> Any:
        return ChartsBetweenBodies, (self._bodies, self._near)

    def improve(self, state: State, tau: Array) -> bool:
        own, n = self._present(state.q, state.v, state.time), self._bodies.reduced.nq
        switched = super().improve(own, np.zeros(self._bodies.reduced.nv))
        if switched:
            self._near[:] = self._bodies.extended(own.q[:n])[0]
        return switched

    def switch(self, body: Any, chart: int, q: Array, v: Array, tau: Array) -> None:
        own = self._present(q, v)
        super().switch(body, chart, own.q, own.v, np.zeros(self._bodies.reduced.nv))
        self._near[:] = self._bodies.extended(own.q)[0]

    def _present(self, q: Array, v: Array, time: float = 0.0) -> State:
        """The state in joint coordinates, in charts that are in force."""
        near = self._near[: self._bodies.reduced.nq] if np.isfinite(self._near).all() else None
        places, rates = self._bodies.to_reduced(q, v, near)
        return State(places.copy(), rates.copy(), time)


def charts_in_use(dynamics: Dynamics, near: Array, q: Array) -> Charts | None:
    """Those of the dynamics' joints at a state q (nq,); near: joint coordinates between free bodies. None where all
    have one."""
    if isinstance(dynamics, MaximalDynamics):
        return ChartsBetweenBodies(dynamics, near) if dynamics.tree.charted else None
    return Charts(dynamics, q) if dynamics.model.charted else None

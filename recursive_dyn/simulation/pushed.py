"""What a person does to a simulation's bodies: push, turn, take hold of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.simulation.applied_forces import AppliedForce, acting, applied, generalized
from recursive_dyn.simulation.chart_switching import Charts
from recursive_dyn.simulation.commands import Control, StageControl, commanded, held
from recursive_dyn.simulation.grab import DAMPING, FREQUENCY, MAX_SPEED, Grab, Hands
from recursive_dyn.simulation.placed_state import PlacedState
from recursive_dyn.simulation.preparation import Preparing


class Pushed(PlacedState):
    """A simulation whose bodies are pushed around."""

    control: Control | None
    _hands: Hands
    _charts: Charts | None
    preparing: Preparing

    def apply_force(self, body: Any, force: Any, point: Any = (0.0, 0.0, 0.0)) -> None:
        """Push with ``force`` (3,), N, world axes, at ``point`` of the body's frame, during the next step call."""
        self._forces.append(applied(self._dynamics, body, np.zeros(3), force, point))

    def apply_torque(self, body: Any, torque: Any) -> None:
        """Turn with ``torque`` (3,), N m, world axes, during the next step call."""
        self._forces.append(applied(self._dynamics, body, torque, np.zeros(3), np.zeros(3)))

    def grab(
        self, body: Any, point: Any = (0.0, 0.0, 0.0), frequency: float = FREQUENCY, damping: float = DAMPING,
        max_force: float = np.inf, max_speed: float = MAX_SPEED,
    ) -> Grab:  # fmt: skip
        """Take hold of ``point`` of the body's frame, and lead it with ``grab.move(target)`` until ``grab.release()``.

        As a spring of ``frequency``, Hz, and ``damping``, 1 is critical, would lead it whatever hangs on it, with at
        most ``max_force``, N, towards targets far away at ``max_speed``, m/s. StateError for what is not above 0.
        """
        grab = Grab(
            self._dynamics, self._state, body, point, frequency=frequency, damping=damping, max_force=max_force,
            max_speed=max_speed,
        )  # fmt: skip
        self._hands.append(grab)
        return grab

    def _applied(self) -> tuple[np.ndarray, np.ndarray]:
        """tau (nv,) of the next timestep, in charts that serve, as ``control`` has it, with forces of this call where
        they do not act at the stages; and with all of them as they are at its start."""
        state, tau, d = self._state, self._tau, self._dynamics
        if self._charts:  # before a step rather than after it, so that a state given by hand is served as well
            self._charts.improve(state, tau)
        law = None
        if self.control is not None:
            tau[:] = commanded(d, self.control, state, self._timestep)
            law = None if held(self.control) else StageControl(d, self.control, state, tau.copy())
        self._timesteps.flight.foresee(getattr(self.control, "implicit", False))
        given = acting(d, self._timesteps.flight, state.q, tau, self._forces, law)
        beside = self._forces and given is tau and (self._hands or self._timesteps.loads)
        pushed = generalized(d, state.q, self._forces) if beside else 0.0
        total = self._pulled(given + pushed)
        if law is not None and self._hands:
            law.beside = total - pushed - tau
        return total - pushed, total

    def _pulled(self, tau: np.ndarray) -> np.ndarray:
        """tau with what hands do beside it."""
        return self._hands.pull(self._dynamics, self._state, tau, self._timestep) if self._hands else tau

    def _let_go(self) -> None:
        """The forces of this call have acted, and ``control`` was asked for the last time in it."""
        self._timesteps.flight.drive_nothing()
        self._forces.clear()
        self.preparing.pushed = True

    def _acting(self) -> list[AppliedForce]:
        """All that acts on bodies from outside in this timestep, hands included."""
        return [*self._forces, *(grab.acting(self._dynamics) for grab in self._hands)]

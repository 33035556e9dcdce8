"""What a person does to a simulation's bodies: push, turn, take hold of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.simulation.flying.applied_forces import Acted, AppliedForce, acting, applied, generalized
from recursive_dyn.simulation.flying.chart_switching import Charts
from recursive_dyn.simulation.handling.commands import Control, StageControl, commanded, held
from recursive_dyn.simulation.handling.grab import DAMPING, FREQUENCY, MAX_SPEED, Grab, Hands
from recursive_dyn.simulation.results.sensors import Sensors
from recursive_dyn.simulation.saved.placed_state import PlacedState
from recursive_dyn.simulation.stepping.preparation import Preparing


class Pushed(PlacedState):
    """A simulation whose bodies are pushed around."""

    _control: Control | None = None
    _answers: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # load, lead, and v at the step's start
    _hands: Hands
    _sensors: Sensors | None
    _charts: Charts | None
    preparing: Preparing

    @property
    def control(self) -> Control | None:
        """A function (q, v, time) -> tau (nv,) that is asked for forces, see ``Simulation``, or None.

        What it gave last goes with it: tau is 0 once another takes its place, or None.
        """
        return self._control

    @control.setter
    def control(self, control: Control | None) -> None:
        if self._control is not None and control is not self._control:
            self._tau[:] = 0.0
        self._control = control

    def apply_force(self, body: Any, force: Any, point: Any = (0.0, 0.0, 0.0)) -> None:
        """Push with ``force`` (3,), N, world axes, at ``point`` of the body's frame, during the next step call."""
        self._forces.append(applied(self._dynamics, body, np.zeros(3), force, point))

    def apply_torque(self, body: Any, torque: Any) -> None:
        """Turn with ``torque`` (3,), N m, world axes, during the next step call."""
        self._forces.append(applied(self._dynamics, body, torque, np.zeros(3), np.zeros(3)))

    def grab(
        self, body: Any, point: Any = (0.0, 0.0, 0.0), frequency: float = FREQUENCY, damping: float = DAMPING,
        max_force: float | None = None, max_speed: float = MAX_SPEED,
    ) -> Grab:  # fmt: skip
        """Take hold of ``point`` of the body's frame, and lead it with ``grab.move(target)`` until ``grab.release()``.

        As a spring of ``frequency``, Hz, and ``damping``, 1 is critical, would lead it whatever hangs on it, with at
        most ``max_force``, N, None for twice what that takes of all that hangs together, towards targets far away at
        ``max_speed``, m/s. StateError for what is not above 0.
        """
        grab = Grab(
            self._dynamics, self._state, body, point, frequency=frequency, damping=damping, max_force=max_force,
            max_speed=max_speed,
        )  # fmt: skip
        self._hands.append(grab)
        return grab

    def _applied(self) -> tuple[np.ndarray, np.ndarray]:
        """tau (nv,) of the next timestep, in charts that serve, as ``control`` has it, with forces of this call and of
        hands where they do not act at the stages; and, where joints may break, with all of them as they are at its
        start."""
        state, tau, d = self._state, self._tau, self._dynamics
        self._timesteps.meet()
        # before a step rather than after it, so that a state given by hand is served as well
        if self._charts and self._charts.improve(state, tau):
            self._timesteps.memory.arrays.acted[:] = 0.0  # on velocities of coordinates that are no more
        law, flight = None, self._timesteps.flight
        if self.control is not None:
            tau[:] = commanded(d, self.control, state, self._timestep)
            law = None if held(self.control) else StageControl(d, self.control, state, tau.copy())
        answering = law is None and (flight.loads or not flight.staged)
        answers = getattr(self.control, "load", None) if answering else None
        flight.load[:] = 0.0 if answers is None else answers[0]
        self._answers = None if answers is None else (*answers, state.v.copy())
        load = answers if flight.loads else None
        pulled: np.ndarray | float = 0.0
        if self._hands:  # they see what else acts
            beside = generalized(d, state.q, self._forces) if self._forces else 0.0
            pulled = self._hands.pull(d, state, tau + beside, self._timestep, self._timesteps.tried)
            if law is not None:
                law.beside = pulled
        forces = [*self._forces, *(grab.acting(d) for grab in self._hands if grab.swift)]
        if flight.driven and not forces and law is None and load is None:
            flight.drive_nothing()
        given = acting(d, flight, state.q, tau, forces, law, load)
        told = self._timesteps.loads and forces and given is tau
        given = given + pulled
        return given, given + generalized(d, state.q, forces) if told else given

    def _let_forget(self) -> None:
        super()._let_forget()
        for grab in self._hands:
            grab.forget()

    def _answered(self) -> None:
        """A timestep is over: tau becomes what a law whose forces answer accelerations gave in its mean."""
        if self._answers is not None:
            load, lead, start = self._answers
            self._tau -= load * ((self._state.v - start) / self._timestep - lead)

    def _let_go(self, stepped: bool) -> None:
        """The forces of this call have acted, if it took a step, and ``control`` was asked for the last time in it."""
        if stepped:
            model = self._dynamics.model
            asked = self._sensors or model.prescribed or model.constraints
            self._timesteps.memory.acted = Acted(self._tau.copy(), tuple(self._acting())) if asked else None
        if not (self._forces or self.control is not None or self._timesteps.flight.driven):
            return
        self._timesteps.flight.load[:] = 0.0
        self._timesteps.flight.drive_nothing()
        self._forces.clear()
        self.preparing.pushed = True

    def _acting(self) -> list[AppliedForce]:
        """All that acts on bodies from outside in this timestep, hands included."""
        return [*self._forces, *(grab.acting(self._dynamics) for grab in self._hands)]

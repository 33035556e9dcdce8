"""What a person does to a simulation's bodies: push, turn, take hold of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from recursive_dyn.simulation.applied_forces import AppliedForce, applied
from recursive_dyn.simulation.grab import DAMPING, FREQUENCY, MAX_SPEED, Grab, Hands
from recursive_dyn.simulation.placed_state import PlacedState
from recursive_dyn.simulation.preparation import Preparing


class Pushed(PlacedState):
    """A simulation whose bodies are pushed around."""

    _hands: Hands
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

    def _acting(self) -> list[AppliedForce]:
        """All that acts on bodies from outside in this timestep, hands included."""
        return [*self._forces, *(grab.acting(self._dynamics) for grab in self._hands)]

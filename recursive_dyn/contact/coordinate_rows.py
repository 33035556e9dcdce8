"""Rows on coordinates: limits within reach, motors, dry friction, and the scene's constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recursive_dyn.contact.solve import Single
from recursive_dyn.model.model import Model

if TYPE_CHECKING:
    from recursive_dyn.simulation.simulation import Simulation

_NEAR = 0.02  # rad or m: what forces that are not in the flight may move a coordinate by in a step


class CoordinateRows:
    """All that a model's coordinates and constraints may ask of a solve."""

    def __init__(self, model: Model) -> None:
        self._model = model
        places = {slot: place for place, slot in model.plain_slots}
        limited = [s for s, c in enumerate(model.coordinates) if np.isfinite(c.limits).any() and s in places]
        self._slots = np.array(limited, dtype=int)
        self._places = np.array([places[s] for s in limited], dtype=int)
        self._limits = np.array([model.coordinates[s].limits for s in limited]).reshape(-1, 2)
        self._limit_names = [
            [f"{side} limit of {model.coordinates[s].name}" for s in limited] for side in ("low", "high")
        ]
        rubbing = [s for s, c in enumerate(model.coordinates) if c.friction > 0.0]
        self._rubbing = np.array(rubbing, dtype=int)
        self._friction = np.array([model.coordinates[s].friction for s in rubbing])
        self._friction_names = [f"friction of {model.coordinates[s].name}" for s in rubbing]
        self._constraint_names = [f"constraint {c.name}" for c in model.constraints]

    def active(self, sim: Simulation, h: float, memory: dict[str, float]) -> tuple[list[str], Single]:
        """Names and rows of a step of length h at the simulation's state, which is its end without impulses.

        memory: impulses of the last step by name, to start from.
        """
        model, motors = self._model, sim.motors.arrays()
        names, slots, signs, gaps = self._near(sim, h)
        stops, rubbing, driven, m = len(names), len(self._rubbing), len(motors.names), len(model.constraints)
        count = stops + rubbing + driven
        C, offsets = np.zeros((count + m, model.nv)), np.zeros(count + m)
        C[np.arange(count), np.concatenate([slots, self._rubbing, motors.slots])] = 1.0
        C[np.arange(stops), slots] = signs
        targets = np.zeros(count + m)
        targets[stops + rubbing : count] = motors.velocities(sim.q, h)
        bounds = np.full(count + m, np.inf)
        bounds[stops:count] = h * np.concatenate([self._friction, motors.forces])
        low = -bounds
        low[:stops] = 0.0
        if m:
            C[count:] = sim.dynamics.call("constraint_jacobian", sim.q)
            offsets[count:] = sim.dynamics.call("constraint_velocities", sim.q, sim.v) - C[count:] @ sim.v
        gaps = np.concatenate([gaps, np.zeros(rubbing + driven + m)])
        soft = np.zeros(count + m)
        soft[stops + rubbing : count] = motors.softness
        names = names + self._friction_names + motors.names + self._constraint_names
        start = np.array([memory.get(name, 0.0) for name in names])
        return names, Single(C, offsets, gaps, np.arange(count + m) < stops, targets, low, bounds, soft, start)

    def _near(self, sim: Simulation, h: float) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
        """Names, slots, directions and gaps of the limits that a step might reach."""
        if not len(self._slots):
            return [], self._slots, np.zeros(0), np.zeros(0)
        q, reach = sim.q[self._places], _NEAR + h * np.abs(sim.v[self._slots])
        low, high = q - self._limits[:, 0], self._limits[:, 1] - q
        at_low, at_high = np.flatnonzero(low <= reach), np.flatnonzero(high <= reach)
        names = [self._limit_names[0][k] for k in at_low] + [self._limit_names[1][k] for k in at_high]
        slots = np.concatenate([self._slots[at_low], self._slots[at_high]])
        signs = np.concatenate([np.ones(len(at_low)), -np.ones(len(at_high))])
        return names, slots, signs, np.concatenate([low[at_low], high[at_high]])

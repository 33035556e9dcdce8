"""Rows on coordinates: limits within reach, motors, dry friction, and the scene's constraints."""

from __future__ import annotations

import numpy as np

from recursive_dyn.contact.problem import GeneralizedRows
from recursive_dyn.contact.tuning import LIMIT_REACH
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.model import Model
from recursive_dyn.simulation.motors import MotorArrays


class CoordinateRows:
    """All that a model's coordinates and constraints may ask of a solve; ``has_friction`` if any has dry friction."""

    def __init__(self, model: Model) -> None:
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
        self.has_friction = bool(rubbing)
        self._constraint_names = [f"constraint {c.name}" for c in model.constraints]

    def active(
        self, dynamics: Dynamics, q: np.ndarray, v: np.ndarray, motors: MotorArrays, h: float, earlier: dict[str, float]
    ) -> tuple[list[str], GeneralizedRows]:
        """Names and rows of a step of length h that would end at q, v without impulses.

        earlier: impulses of the last step by name, to start from.
        """
        names, slots, signs, gaps = self._near(q, v, h)
        stops, rubbing, driven, m = len(names), len(self._rubbing), len(motors.names), len(self._constraint_names)
        count = stops + rubbing + driven
        coefficients, offsets = np.ones(count), np.zeros(count + m)
        coefficients[:stops] = signs
        slots, first = np.concatenate([slots, self._rubbing, motors.slots]), np.arange(count + 1)
        targets = np.zeros(count + m)
        targets[stops + rubbing : count] = motors.velocities(q, h)
        bounds = np.full(count + m, np.inf)
        bounds[stops:count] = h * np.concatenate([self._friction, motors.forces])
        low = -bounds
        low[:stops] = 0.0
        if m:
            C = dynamics.call("constraint_jacobian", q)
            offsets[count:] = dynamics.call("constraint_velocities", q, v) - C @ v
            slots, coefficients = np.append(slots, np.tile(np.arange(len(v)), m)), np.append(coefficients, C)
            first = np.append(first, count + len(v) * np.arange(1, m + 1))
        gaps = np.concatenate([gaps, np.zeros(rubbing + driven + m)])
        softness = np.zeros(count + m)
        softness[stops + rubbing : count] = motors.softness
        names = names + self._friction_names + motors.names + self._constraint_names
        start = np.array([earlier.get(name, 0.0) for name in names])
        row = np.arange(count + m)
        return names, GeneralizedRows(
            first, slots, coefficients, offsets, gaps, row < stops, row >= count, targets, low, bounds, softness, start
        )

    def _near(self, q: np.ndarray, v: np.ndarray, h: float) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
        """Names, slots, directions and gaps of the limits that a step might reach."""
        if not len(self._slots):
            return [], self._slots, np.zeros(0), np.zeros(0)
        q, reach = q[self._places], LIMIT_REACH + h * np.abs(v[self._slots])
        low, high = q - self._limits[:, 0], self._limits[:, 1] - q
        at_low, at_high = np.flatnonzero(low <= reach), np.flatnonzero(high <= reach)
        names = [self._limit_names[0][k] for k in at_low] + [self._limit_names[1][k] for k in at_high]
        slots = np.concatenate([self._slots[at_low], self._slots[at_high]])
        signs = np.concatenate([np.ones(len(at_low)), -np.ones(len(at_high))])
        return names, slots, signs, np.concatenate([low[at_low], high[at_high]])
